"""A demonstration on a private tmux server: real programs, the clean stream of what they say, a relay and a link."""
