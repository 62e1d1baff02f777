"""Compares the keys of configuration with the environment variables that set them.

Frameworks derive `SERVER_HTTP_PORT` from `server.http.port`, often with the program's name before it, and differ in
what they do with hyphens and inner capitals; so only letters and digits are compared.
"""

_JOINTS = ("_", "-", "")
_MOST_PARTS = 8
_ENOUGH_PARTS = 2  # After a program's name: one word alone is in too many variables.


def key_names(variable: str) -> list[str]:
    """Return the names, in lower case, that a key may have whose value a variable sets; none if it is no variable."""
    if not _is_variable(variable):
        return []
    parts = variable.lower().split("_")
    tails = [parts[start:] for start in range(len(parts))]
    return list(dict.fromkeys(joint.join(tail) for tail in tails for joint in _JOINTS))


def sets_key(variable: str, key: str) -> bool:
    """Return whether a variable has the name of a key (`server.http.port`), or that behind a program's name."""
    if not _is_variable(variable):
        return False
    parts = variable.lower().split("_")
    wanted = "".join(letter for letter in key.lower() if letter.isalnum())
    starts = range(max(1, len(parts) - _ENOUGH_PARTS + 1))
    return any("".join(parts[start:]) == wanted for start in starts)


def _is_variable(text: str) -> bool:
    return text.isupper() and 1 <= text.strip("_").count("_") < _MOST_PARTS and text.replace("_", "").isalnum()
