"""What was said, delivered and decided: journaled, and found again."""

from streamrelay.history.journal import Found, Journal

__all__ = ["Found", "Journal"]
