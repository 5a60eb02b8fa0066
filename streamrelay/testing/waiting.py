"""The test kit's bounded waiting, in place of sleeping to synchronise.

Both functions live in `streamrelay.waiting`, because the private server of `streamrelay doctor` needs them too. Tests
import them from here.
"""

from streamrelay.waiting import POLL_SECONDS, wait_until, wait_until_async

__all__ = ["POLL_SECONDS", "wait_until", "wait_until_async"]
