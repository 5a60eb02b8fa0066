"""One place where everything is done: sessions, messages, links, relays, the journal; and what it is asked by."""
