"""Tells which file names can be stored, sent and shown as text."""


def is_utf8(name: str) -> bool:
    """Tell whether a name is UTF-8 on the disk; Python holds other bytes as surrogates, which nothing can encode."""
    if name.isascii():
        return True
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
