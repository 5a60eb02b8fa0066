"""A real daemon with scripted agents."""

from tests.mcp.conftest import household
from tests.web.conftest import house

__all__ = ["house", "household"]
