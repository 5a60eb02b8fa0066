from tests.mcp.conftest import household

__all__ = ["household"]
