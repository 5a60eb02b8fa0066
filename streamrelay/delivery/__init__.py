"""Typing into panes on behalf of others: checked, one at a time, with an account of how far it came."""
