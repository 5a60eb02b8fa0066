"""What a call of the service works with."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # The client of a daemon imports the declarations of the calls, and none of what carries them out.
    from streamrelay.service.core import Core
    from streamrelay.service.councils import Councils


@dataclass(frozen=True, slots=True)
class ServiceParts:
    """The parts of one `LocalService`, handed to each of its calls."""

    core: "Core"
    councils: "Councils"
