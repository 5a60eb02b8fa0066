"""Sessions that are started in tmux by a profile, and ended."""
