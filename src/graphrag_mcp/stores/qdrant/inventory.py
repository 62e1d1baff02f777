"""What a project's copy holds, as its writer states it: the versions of its files, and the commit that they are from.

A version is listed while the server has all chunks of it: it leaves the list before they are removed, and enters it
after they were written. A search of the server for what is listed, and of the local index for the rest, misses nothing,
also while another machine writes.
"""

import base64
import secrets
import time
from collections.abc import Collection

import numpy as np
from qdrant_client import models

from graphrag_mcp.stores.qdrant.schema import QdrantProject
from graphrag_mcp.stores.replica import Inventory, point_key
from graphrag_mcp.system.git import is_name

_VERSIONS = 20_000  # Of one point; its payload has 210,000 characters then.
_MOST_PARTS = 10_000


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
        except (KeyError, TypeError, ValueError):
            return None

    def _read(self) -> Inventory | None:
        records = self._project.retrieve([self._key(0)], with_payload=True)
        first = (records[0].payload or {}) if records else {}
        if not first:
            return None
        parts = min(int(first["parts"]), _MOST_PARTS)
        if parts > 1:
            records += self._project.retrieve([self._key(part) for part in range(1, parts)], with_payload=True)
        packed = [values["versions"] for values in (record.payload or {} for record in records)
                  if values["stamp"] == first["stamp"]]  # fmt: skip
        versions = np.frombuffer(b"".join(map(base64.b64decode, packed)), dtype="<u8")
        commit = first["commit"] if is_name(first["commit"]) else ""
        numbers = int(first["chunks"]), max(1.0, float(first["mean_length"]))
        written_at, is_whole = float(first["written_at"]), first["is_whole"] is True
        return Inventory(np.sort(versions), *numbers, commit, written_at, first["stamp"], is_whole)

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
