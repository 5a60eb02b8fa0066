"""The journal alone, searched as everything is."""

from typing import Any

from streamrelay.history import FoundText, HistorySearch, Journal, SearchHistory
from streamrelay.history.places import Place


async def searched(journal: Journal, words: str, place: Place | None = None, **asked: Any) -> list[FoundText]:
    session = "" if place is None else "a session"
    request = SearchHistory(words=words, transcripts=False, session=session, **asked)
    return (await HistorySearch(journal, lambda: ()).search(request, place)).found
