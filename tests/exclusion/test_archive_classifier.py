"""What counts as archived."""

import pytest

from graphrag_mcp.errors import SettingsError
from graphrag_mcp.exclusion.manager import ArchiveClassifier


def penalty(path: str, *patterns: str) -> float | None:
    """Return the penalty of a path under the built-in patterns, or under those given."""
    found = ArchiveClassifier(patterns).classify(path)
    return found.penalty if found else None


@pytest.mark.requirement("000-22", "000-32", "K-05")
@pytest.mark.parametrize(
    "path",
    [
        *(".archive/old.py", ".deprecated/x/y.py", "src_backup/file.js", "archive/a.py", "src/backup/db.py"),
        *("docs/archive/adr.md", "docs/deprecated/api.md", "lib/archived/x.go", "Archive/NOTES.md", "src.old/a.py"),
    ],
)
def test_a_file_in_an_archive_folder_keeps_half(path: str) -> None:
    """Archive folders count segment by segment, in the root too, whatever their case."""
    assert penalty(path) == 0.5


@pytest.mark.requirement("000-33")
@pytest.mark.parametrize("path", ["x.old", "a/b.py.bak", "conf.backup", "api.deprecated", "src/x.old.py", "X.BAK"])
def test_a_file_set_aside_by_its_name_keeps_seven_tenths(path: str) -> None:
    """`.old`, `.backup`, `.bak` and `.deprecated` files."""
    assert penalty(path) == 0.7


@pytest.mark.requirement("B-10")
def test_a_set_aside_file_in_an_archive_folder_is_penalised_once() -> None:
    """The smaller factor alone, never both."""
    assert penalty(".archive/.deprecated/x.old") == 0.5


@pytest.mark.requirement("B-10")
@pytest.mark.parametrize(
    "path",
    [
        *("x.older/a.py", "archiver.py", "backup_service.py", "src/archives.py", "archive.py", "backup.ts", "old.py"),
        *("threshold.py", "compose.backup.yml", "src/backups/run.go"),
    ],
)
def test_a_part_of_a_name_archives_nothing(path: str) -> None:
    """No substring tests."""
    assert penalty(path) is None


@pytest.mark.requirement("000-21", "K-05")
def test_the_reason_names_folder_and_pattern() -> None:
    """The reason is stored with the file."""
    found = ArchiveClassifier().classify("app/src_backup/file.js")
    assert found is not None
    assert found.reason == "folder app/src_backup/ matches *_backup/"


@pytest.mark.requirement("000-39", "K-05")
def test_the_settings_replace_the_patterns() -> None:
    """The seed's own value of GRAPHRAG_ARCHIVE_PATTERNS keeps its sense."""
    patterns = (".archive/", ".deprecated/", "_backup/")
    assert penalty("src_backup/a.py", *patterns) == 0.5
    assert penalty("archive/a.py", *patterns) is None
    assert penalty("a.old", *patterns) is None


@pytest.mark.requirement("K-05")
def test_a_plus_adds_to_the_patterns() -> None:
    """`+legacy/` adds to the built-in list, and `+!src/backup/` takes from it."""
    assert penalty("legacy/a.py", "+legacy/", "+!src/backup/") == 0.5
    assert penalty("archive/a.py", "+legacy/", "+!src/backup/") == 0.5
    assert penalty("src/backup/a.py", "+legacy/", "+!src/backup/") is None


@pytest.mark.requirement("K-05")
def test_malformed_patterns_are_reported_together() -> None:
    """Every pattern that can never match is named at once."""
    with pytest.raises(SettingsError) as caught:
        ArchiveClassifier(["[", "ok/", "x\\"])
    assert len(caught.value.problems) == 2


@pytest.mark.requirement("K-23")
def test_a_name_that_is_not_utf8_is_classified() -> None:
    """Bytes that are not UTF-8 do no harm."""
    assert penalty("archive/caf\udce9.py") == 0.5
