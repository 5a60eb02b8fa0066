"""The ids of the messages of a relay, link or gathering: its own id, and a number or word that counts there.

    relay-1f2e0a9b-7            the seventh message, by the process that opened the relay
    relay-1f2e0a9b-c40d17-8     the eighth one, by a process that restored it: c40d17 is its life

Each outbox takes a message with a known id for a repetition. A number alone is not unique: a process whose stored state
went back, as after a loss of power, counts again from an earlier number. So each process that restores a conversation
has a *life*, a random mark. Within one life a number does not go back.
"""


def numbered_id(conversation: str, life: str, what: object) -> str:
    """Return the id of a message; `life` is empty in the process that began the conversation."""
    return f"{conversation}-{life}-{what}" if life else f"{conversation}-{what}"
