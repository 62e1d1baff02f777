"""Queries out of a repository's history, with a real git."""

import subprocess
from pathlib import Path

import pytest

from graphrag_mcp.errors import RequestError
from graphrag_mcp.search.evaluation.history import export_tree, read_history


class Repository:
    """A repository whose commits a test writes."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir()
        self.git("init", "--quiet", "--initial-branch", "main")

    def git(self, *arguments: str) -> str:
        """Run git."""
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
        done = subprocess.run(["git", *identity, *arguments], cwd=self.root, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def commit(self, message: str, **files: str) -> str:
        """Write files (`a__b_py` is a/b.py), commit, and return the hash."""
        for name, text in files.items():
            stem, _, suffix = name.replace("__", "/").rpartition("_")
            file = self.root / f"{stem}.{suffix}"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", message)
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """A repository with one commit."""
    repository = Repository(tmp_path / "repository")
    repository.commit("Begin with a session and its store", session_py="a = 1\n", store_py="b = 1\n", README_md="x\n")
    return repository


@pytest.mark.requirement("001-17")
def test_a_commit_asks_for_the_files_it_changed(repository: Repository) -> None:
    """The message without references and trailers; tests and documents are no answer, nor files it adds."""
    first = repository.git("rev-parse", "HEAD")
    chosen = repository.commit(
        "Refresh the session before it expires (#12)\n\nThe store kept the old one.\nFixes #11\n\nSecond paragraph.",
        session_py="a = 2\n",
        tests__test_session_py="assert True\n",
        fresh_py="new = 1\n",
    )
    history = read_history(repository.root, 10)
    (query,) = history.queries
    assert query.id == chosen[:10]
    assert query.query == "Refresh the session before it expires\nThe store kept the old one."
    assert query.relevant == {"session.py"}
    assert (history.tree, query.language, query.category) == (first, "python", "message")


@pytest.mark.requirement("001-17")
@pytest.mark.parametrize(
    ("message", "files"),
    [
        ("Fix typo", {"session_py": "a = 3\n"}),
        ("Bump the version of the package to 3.1.4", {"session_py": "a = 3\n"}),
        ("Explain in the readme how sessions expire", {"README_md": "y\n"}),
        ("Rename a variable in every file of the package", {f"file{number}_py": "c = 1\n" for number in range(9)}),
    ],
)
def test_a_commit_that_asks_for_nothing_is_left_out(
    repository: Repository, message: str, files: dict[str, str]
) -> None:
    """Routine, documents alone, and changes of everything make no query."""
    repository.commit(message, **files)
    with pytest.raises(RequestError, match="no commit whose message"):
        read_history(repository.root, 10)


@pytest.mark.requirement("001-17")
def test_no_answer_is_in_the_tree(repository: Repository, tmp_path: Path) -> None:
    """The tree is the one before all of the chosen commits, links and filters left out."""
    repository.git("config", "filter.shout.smudge", "tr a-z A-Z")
    (repository.root / ".gitattributes").write_text("*.py filter=shout\n")
    (repository.root / "link.py").symlink_to("/etc/passwd")
    repository.commit("Add a link and the attributes of a filter")
    tree = repository.git("rev-parse", "HEAD")
    repository.commit("Keep the session in the store for longer", store_py="b = 2\n")
    repository.commit("Refresh the session before it expires", session_py="a = 2\n")
    history = read_history(repository.root, 2)
    assert history.tree == tree
    export_tree(repository.root, history.tree, tmp_path / "tree")
    assert (tmp_path / "tree" / "session.py").read_text() == "a = 1\n"
    assert (tmp_path / "tree" / "store.py").read_text() == "b = 1\n"
    assert not (tmp_path / "tree" / "link.py").exists()


@pytest.mark.requirement("001-20")
def test_a_folder_without_history_is_a_sentence(tmp_path: Path) -> None:
    """The folder is named, and nothing is written."""
    with pytest.raises(RequestError, match=str(tmp_path)):
        read_history(tmp_path, 10)
