"""A demonstration on a private tmux server: real programs, the clean stream of what they say, and a relay."""
