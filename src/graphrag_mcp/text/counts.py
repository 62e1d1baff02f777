"""Writes a number with the noun that it counts, singular or plural."""


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return `1 file`, `2 files`, `10,000 files`; `plural` is needed where it is not the noun with an "s"."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
