"""A demonstration on a private tmux server: real programs, their clean stream, a relay and a link."""
