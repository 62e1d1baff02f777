"""What JSON has of a record, where that is not exactly its fields."""

from collections.abc import Callable
from typing import TypeVar

_Record = TypeVar("_Record", bound=type)


def shown(*names: str, **others: str) -> Callable[[_Record], _Record]:
    """Name the fields and properties of a record that JSON has, in this order; `tools/printing.py` writes them.

    others: names of JSON for what a part of the record has, for example `path="node.path"`.
    """

    def mark(record: _Record) -> _Record:
        record.in_json = {name: name for name in names} | others  # type: ignore[attr-defined]
        return record

    return mark
