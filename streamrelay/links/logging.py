"""What is logged of links: that one was made at INFO, each delivery at DEBUG, and never what was said.

At INFO a session is its id. Its title is whatever a program or a person made of it, and may say what is worked on.
"""

import logging

from streamrelay.events import Event, LinkCreated, RelayDelivered
from streamrelay.links.registry import LinkRegistry

logger = logging.getLogger(__name__)


def note(event: Event, registry: LinkRegistry) -> None:
    """Log an event, given the links as they stand after it."""
    match event:
        case LinkCreated():
            logger.info("%s links %s and %s, budget %d", event.link, *event.parties, event.budget)
            logger.debug("%s: the titles are %r and %r", event.link, *event.titles)
        case RelayDelivered() if logger.isEnabledFor(logging.DEBUG):
            link = next((link for link in registry.links() if link.link_id == event.relay), None)
            if link is not None:
                left = "no limit" if link.remaining is None else f"{link.remaining} left"
                logger.debug("%s: delivery %d, %s", event.relay, link.deliveries, left)
        case _:
            pass
