"""The service: sessions, messages, links, relays, gatherings and the journal, with the calls to use them."""
