"""What was said, delivered and decided: journaled, and found again."""

from streamrelay.history.journal import Journal
from streamrelay.history.results import FoundText, History, SearchHistory
from streamrelay.history.search import HistorySearch

__all__ = ["FoundText", "History", "HistorySearch", "Journal", "SearchHistory"]
