"""Logs links: a new link at INFO, each delivery at DEBUG, and never the text.

At INFO a session appears by its id. A program or a person sets its title, which may reveal the current work.
"""

import logging

from streamrelay.events import Event, LinkCreated, RelayDelivered
from streamrelay.links.registry import LinkRegistry

logger = logging.getLogger(__name__)


def note(event: Event, registry: LinkRegistry) -> None:
    """Log an event; `registry` has the links after it."""
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
