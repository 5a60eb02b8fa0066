"""What was said, delivered and decided: journaled, and found again."""

from streamrelay.history.found import Found, History, SearchHistory
from streamrelay.history.journal import Journal
from streamrelay.history.searching import HistorySearch

__all__ = ["Found", "History", "HistorySearch", "Journal", "SearchHistory"]
