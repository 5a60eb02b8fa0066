"""Who hears whom: the machine that decides, and the session that carries it out."""
