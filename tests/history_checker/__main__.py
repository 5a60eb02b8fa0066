"""`python -m tests.history_checker FOLDER`."""

import sys
from pathlib import Path

from tests.history_checker.checker import check, read_histories

verdict = check(read_histories(Path(sys.argv[1])))
for finding in verdict.findings[:50]:
    print(*finding)
print(verdict)
sys.exit(1 if verdict.findings else 0)
