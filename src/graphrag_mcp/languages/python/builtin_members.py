"""The members of Python's builtin types, as data: what is stored must not depend on the Python that runs this program.

`types.json` has those of every version from 3.11 on; a type's row begins with the type that it extends.
"""

import json
from collections.abc import Mapping, Sequence
from importlib import resources


def _members(types: Mapping[str, Sequence[str]]) -> dict[str, frozenset[str]]:
    members = {"": frozenset[str]()}
    for name, (above, *lines) in types.items():
        members[name] = members[above].union(" ".join(lines).split())
    del members[""]
    return members


# Each builtin type has those that it inherits, too.
MEMBERS = _members(json.loads(resources.files(__package__).joinpath("types.json").read_text(encoding="utf-8")))
