"""People in tmux see how their conversations stand: in status lines, and by messages (docs/tmux.md)."""
