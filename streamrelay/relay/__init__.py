"""Relays: the machine that decides who receives what, and the session that carries it out."""
