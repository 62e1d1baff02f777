"""What a manifest says of the names under which folders are imported: `go.mod`, `package.json` and others."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

OUTPUT = "<output>"  # The folder that a compiler writes to, and the one that it reads.


@dataclass(frozen=True, slots=True)
class Manifest:
    """One manifest. folder: where it is, "" for the root; name: of the module or package that it declares.

    targets: places that a name stands for, the first that exists counts; `*` stands for the same text in both.
    requires: the versions of other packages that it needs, as they are written.
    """

    folder: str
    kind: str  # The file's name.
    name: str = ""
    targets: Mapping[str, Sequence[str]] = field(default_factory=dict)
    version: str = ""
    requires: Mapping[str, str] = field(default_factory=dict)


def write_manifest(manifest: Manifest) -> str:
    """Return a manifest as JSON."""
    return json.dumps(asdict(manifest))


def load_manifest(text: str) -> Manifest:
    """Return what `write_manifest` wrote."""
    return Manifest(**json.loads(text))
