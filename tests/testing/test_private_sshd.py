"""The private sshd ends with the test process, however that ends."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from streamrelay.testing.sshd import missing_program
from streamrelay.testing.tmux import is_alive
from streamrelay.testing.waiting import wait_until

KILLED = """
import os, signal, sys
from pathlib import Path
from streamrelay.testing.sshd import PrivateSshd
with PrivateSshd(Path(sys.argv[1])) as sshd:
    Path(sys.argv[1], "pid").write_text(str(sshd._process.pid))
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a child with its parent")
@pytest.mark.skipif(bool(missing_program()), reason="there is no sshd here")
def test_a_killed_test_leaves_no_sshd_behind(tmp_path: Path) -> None:
    killed = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], timeout=60, check=False)
    pid = int((tmp_path / "pid").read_text())
    try:
        assert killed.returncode == -9
        wait_until(lambda: not is_alive(pid), 20, "sshd to end")
    finally:
        if is_alive(pid):
            os.kill(pid, 15)
