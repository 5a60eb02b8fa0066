"""The parts of a local service that its calls use."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # The daemon's client may import a module of `calls` for its types; it must not load the implementation with it.
    from streamrelay.service.core import Core
    from streamrelay.service.councils import Councils


@dataclass(frozen=True, slots=True)
class ServiceParts:
    """The parts of one `LocalService`, handed to each of its calls."""

    core: "Core"
    councils: "Councils"
