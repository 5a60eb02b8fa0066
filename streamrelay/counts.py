"""Counts in sentences: the number and its noun, in the singular for one. Pure."""


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return `1 delivery` or `1,204 deliveries`; without `plural` the noun takes an `s`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def deliveries(number: int) -> str:
    """Return a number of deliveries."""
    return counted(number, "delivery", "deliveries")
