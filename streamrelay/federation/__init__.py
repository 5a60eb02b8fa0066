"""Several machines, one conversation: what nodes tell each other, in which order, and how it travels over Redis."""
