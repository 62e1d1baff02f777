"""The names that Python itself provides, as data: what is stored must not depend on the Python that runs this program.

`python_names.json` has the names of every version from 3.11 on; a type's row begins with the type that it extends.
"""

import json
from collections.abc import Mapping, Sequence
from importlib import resources

_DATA = json.loads(resources.files(__package__).joinpath("python_names.json").read_text(encoding="utf-8"))


def _members(types: Mapping[str, Sequence[str]]) -> dict[str, frozenset[str]]:
    members = {"": frozenset[str]()}
    for name, (above, *lines) in types.items():
        members[name] = members[above].union(" ".join(lines).split())
    del members[""]
    return members


MODULES = frozenset(" ".join(_DATA["modules"]).split())
BUILTINS = frozenset(" ".join(_DATA["builtins"]).split())
MEMBERS = _members(_DATA["types"])  # Of each builtin type, with those that it inherits.
