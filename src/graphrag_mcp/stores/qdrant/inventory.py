"""What a project's copy holds, as its writer states it: the versions of its files, and the commit that they are from.

A version is listed while the server has all chunks of it: it leaves the list before they are removed, and enters it
after they were written. A search of the server for what is listed, and of the local index for the rest, misses nothing,
also while another machine writes.
"""

import base64
import secrets
import time
from collections.abc import Collection
from typing import Annotated

import numpy as np
from msgspec import Meta, Struct, ValidationError, convert
from qdrant_client import models

from graphrag_mcp.stores.qdrant.schema import QdrantProject
from graphrag_mcp.stores.replica import Inventory, Seconds, point_key
from graphrag_mcp.system.git import is_name

_VERSIONS = 20_000  # Of one point; its payload has 210,000 characters then.


class _FirstPart(Struct, frozen=True):
    """What the first point states. A server is not trusted: all that is counted or shown has bounds."""

    stamp: str
    parts: Annotated[int, Meta(ge=1, le=10_000)]
    chunks: Annotated[int, Meta(ge=0, lt=1 << 53)]
    mean_length: Annotated[float, Meta(gt=0, lt=1 << 33)]
    is_whole: bool
    commit: str
    written_at: Seconds


class QdrantInventory:
    """The inventory of one project, in points that belong to no project, so no search returns them."""

    def __init__(self, project: QdrantProject) -> None:
        self._project = project

    def stamp(self) -> str:
        """Return what differs with each inventory; "" where there is none."""
        records = self._project.retrieve([self._key(0)], with_payload=["stamp"])
        return str((records[0].payload or {}).get("stamp", "")) if records else ""

    def read(self) -> Inventory | None:
        """Return the inventory; None where the project was never copied, is being rebuilt, or it cannot be understood.

        Of one that is being written, only what is already there counts.
        """
        try:
            return self._read()
        except (KeyError, TypeError, ValueError, ValidationError):
            return None

    def _read(self) -> Inventory | None:
        records = self._project.retrieve([self._key(0)], with_payload=True)
        first = (records[0].payload or {}) if records else {}
        if not first:
            return None
        row = convert(first, _FirstPart)
        records += self._project.retrieve([self._key(part) for part in range(1, row.parts)], with_payload=True)
        packed = [values["versions"] for values in (record.payload or {} for record in records)
                  if values["stamp"] == row.stamp]  # fmt: skip
        versions = np.frombuffer(b"".join(map(base64.b64decode, packed)), dtype="<u8")
        commit = row.commit if is_name(row.commit) else ""
        written_at, is_whole = row.written_at, row.is_whole
        return Inventory(np.sort(versions), row.chunks, row.mean_length, commit, written_at, row.stamp, is_whole)

    def write(self, versions: Collection[int], chunks: int, mean_length: float, commit: str, *, is_whole: bool) -> None:
        """Replace the inventory. versions: their numbers. chunks: of all these files. mean_length: as it was before."""
        known = np.sort(np.fromiter(versions, dtype="<u8", count=len(versions)))
        stamp, parts = secrets.token_hex(8), max(1, -(-len(known) // _VERSIONS))
        about = {"inventory_of": self._project.name, "stamp": stamp}
        whole = {
            "parts": parts,
            "chunks": chunks,
            "mean_length": mean_length,
            "is_whole": is_whole,
            "commit": commit,
            "written_at": time.time(),
        }
        points = [
            models.PointStruct(
                id=self._key(part),
                vector={},
                payload={
                    **about,
                    **(whole if part == 0 else {}),
                    "versions": base64.b64encode(known[part * _VERSIONS : (part + 1) * _VERSIONS].tobytes()).decode(),
                },
            )
            for part in range(parts)
        ]
        self._project.upsert(points, 1)

    def delete(self) -> None:
        """Remove it, so that nothing counts as held."""
        self._project.delete(models.PointIdsList(points=[self._key(0)]))

    def _key(self, part: int) -> str:
        return point_key(self._project.name, "inventory", part)
