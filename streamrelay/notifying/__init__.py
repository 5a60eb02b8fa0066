"""Shows the state of conversations to people in tmux: in status lines and by messages (docs/tmux.md)."""
