"""Applies the SQL files in `migrations/`, each once, in the order of their numbers."""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_NAME = re.compile(r"^(\d{4})_[a-z0-9_]+\.sql$")
LOCK_ID = 72_001


@dataclass(frozen=True)
class Migration:
    number: int
    name: str
    sql: str

    @property
    def checksum(self) -> str:
        return hashlib.sha256(self.sql.encode()).hexdigest()


class ChangedMigration(RuntimeError):
    """A file was edited after it had been applied somewhere."""


def read_migrations(folder: Path) -> list[Migration]:
    """Return the migrations of a folder by number; files with other names are left alone."""
    found = []
    for path in sorted(folder.iterdir()):
        if match := _NAME.match(path.name):
            found.append(Migration(int(match[1]), path.name, path.read_text(encoding="utf-8")))
    return found


def pending_migrations(known: dict[int, str], migrations: list[Migration]) -> list[Migration]:
    """Return what has not been applied; raises ChangedMigration when an applied file has another checksum."""
    for migration in migrations:
        if migration.number in known and known[migration.number] != migration.checksum:
            raise ChangedMigration(f"{migration.name} was changed after it had been applied")
    return [migration for migration in migrations if migration.number not in known]


def apply_migrations(connection: Any, folder: Path) -> list[str]:
    """Bring the schema up to date and return the names of what ran. An advisory lock lets only one process do it."""
    connection.execute("SELECT pg_advisory_lock(%s)", (LOCK_ID,))
    try:
        rows = connection.fetch_all("SELECT number, checksum FROM schema_migrations")
        waiting = pending_migrations({row["number"]: row["checksum"] for row in rows}, read_migrations(folder))
        for migration in waiting:
            connection.execute(migration.sql)
            connection.execute(
                "INSERT INTO schema_migrations (number, checksum) VALUES (%s, %s)",
                (migration.number, migration.checksum),
            )
        return [migration.name for migration in waiting]
    finally:
        connection.execute("SELECT pg_advisory_unlock(%s)", (LOCK_ID,))
