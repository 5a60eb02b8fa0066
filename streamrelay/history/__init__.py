"""The journal of outputs, deliveries and decisions, and the search in it."""

from streamrelay.history.journal import Journal
from streamrelay.history.results import FoundText, History, SearchHistory
from streamrelay.history.search import HistorySearch

__all__ = ["FoundText", "History", "HistorySearch", "Journal", "SearchHistory"]
