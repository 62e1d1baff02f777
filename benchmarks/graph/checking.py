"""Makes the truth about a repository: a checkout at its commit, what it depends on, and the checker of its language."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from xml.sax.saxutils import escape

HERE = Path(__file__).parent
CHECKERS = HERE / "checkers"
NODE_TOOLS = ("typescript@5.9.3", "@types/node@24", "node@24")  # TypeScript 7 has no such interface.
PYTHON_TOOLS = ("jedi==0.20.1", "pyright==1.1.414")
NODE_MEGABYTES = 6000


class Language(StrEnum):
    """The languages that have a checker."""

    GO = "go"
    TYPESCRIPT = "typescript"
    JAVASCRIPT = "javascript"
    PYTHON = "python"
    JAVA = "java"


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository at a commit. install: what its checker needs of its dependencies."""

    repo: str
    commit: str
    install: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name without the owner."""
        return self.repo.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Places:
    """The folders of one run. origin: where the repositories are cloned from."""

    origin: str
    work: Path

    def checkout(self, repository: Repository) -> Path:
        """Return the folder of a repository."""
        return self.work / "repos" / repository.name

    def truth(self, repository: Repository) -> Path:
        """Return the file of its truth."""
        return self.work / "truth" / f"{repository.name}.jsonl"

    def tools(self, name: str) -> Path:
        """Return the folder of the programs that a checker needs."""
        return self.work / "tools" / name


def read_repositories(language: Language) -> list[Repository]:
    """Return the repositories of a language."""
    listed = json.loads((HERE / "repositories.json").read_text(encoding="utf-8"))[language]
    return [Repository(row["repo"], row["commit"], tuple(row.get("install", ()))) for row in listed]


def make_truth(language: Language, repository: Repository, places: Places) -> Path:
    """Return the file of the truth, made where it is missing; its problems are in a file beside it."""
    truth = places.truth(repository)
    if not truth.exists():
        _check_out(repository, places)
        truth.parent.mkdir(parents=True, exist_ok=True)
        command, environment = _CHECKERS[language](repository, places)
        files = "".join(f"{path}\n" for path in _files(places.checkout(repository), _SUFFIXES[language]))
        unfinished = truth.with_suffix(".part")
        with unfinished.open("w") as out, truth.with_suffix(".problems").open("w") as problems:
            subprocess.run(
                command, input=files, stdout=out, stderr=problems, text=True, check=True, env=os.environ | environment
            )
        unfinished.rename(truth)
    return truth


def _check_out(repository: Repository, places: Places) -> None:
    folder = places.checkout(repository)
    if not folder.exists():
        _run("git", "clone", "--quiet", "--no-checkout", f"{places.origin}/{repository.repo}", str(folder))
        _run("git", "-C", str(folder), "checkout", "--quiet", repository.commit)


_SUFFIXES = {
    Language.GO: r"\.go",
    Language.TYPESCRIPT: r"\.[cm]?[jt]sx?",
    Language.JAVASCRIPT: r"\.[cm]?jsx?",
    Language.PYTHON: r"\.py",
    Language.JAVA: r"\.java",
}
_NO_CODE = re.compile(r"(^|/)\.|\.min\.js$|(^|/)(module|package)-info\.java$")


def _files(root: Path, suffix: str) -> list[str]:
    listed = _run("git", "-C", str(root), "ls-files", "-z").split("\0")
    wanted = re.compile(suffix + r"\Z")
    return [path for path in listed if wanted.search(path) and not _NO_CODE.search(path) and (root / path).is_file()]


def _run(*command: str, folder: Path | None = None, environment: Mapping[str, str] | None = None) -> str:
    done = subprocess.run(command, cwd=folder, env=os.environ | (environment or {}), stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}")
    return done.stdout


# ---------------------------------------------------------------- one function a checker

Prepared = tuple[Sequence[str], Mapping[str, str]]  # A command, and variables of its environment.


def _go(repository: Repository, places: Places) -> Prepared:
    program = places.tools("go") / "truth"
    _run("go", "build", "-o", str(program.absolute()), ".", folder=CHECKERS / "go")
    return [str(program), str(places.checkout(repository))], {}


def _node(repository: Repository, places: Places) -> Prepared:
    tools = places.tools("node").absolute()
    programs = tools / "node_modules" / ".bin"
    if not programs.exists():
        tools.mkdir(parents=True)
        _run("npm", "install", "--no-audit", "--no-fund", "--prefix", str(tools), *NODE_TOOLS)
    path = {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    checkout = places.checkout(repository)
    if not (checkout / "node_modules").exists():
        _run(*_node_install(*repository.install), folder=checkout, environment=path)
    command = ["node", f"--max-old-space-size={NODE_MEGABYTES}", str(CHECKERS / "typescript.cjs"), str(checkout)]
    return command, {"NODE_PATH": str(tools / "node_modules")}


def _node_install(manager: str, *options: str) -> Sequence[str]:
    """Return the command that installs what a repository needs, with its own version of pnpm; no script is run."""
    if manager == "npm":
        return ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", *options]
    # This version is used; another one that package.json names is not loaded.
    as_given = ["--config.manage-package-manager-versions=false", "--config.pmOnFail=ignore"]
    relaxed = [*as_given, "--no-frozen-lockfile", "--config.minimumReleaseAge=0"]
    return [
        "npm",
        "exec",
        "--yes",
        f"--package={manager}",
        "--",
        "pnpm",
        "install",
        "--ignore-scripts",
        *relaxed,
        *options,
    ]


def _python(repository: Repository, places: Places) -> Prepared:
    checker = _environment(places.tools("python"), PYTHON_TOOLS)
    checkout = places.checkout(repository).absolute()
    of_repository = _environment(places.tools(f"python-{repository.name}"), ["-e", str(checkout), *repository.install])
    return [str(checker), str(CHECKERS / "python.py"), str(checkout), str(of_repository)], {}


def _environment(folder: Path, packages: Sequence[str]) -> Path:
    python = folder.absolute() / "bin" / "python"
    if not python.exists():
        _run(sys.executable, "-m", "venv", str(folder))
        _run(str(python), "-m", "pip", "install", "--quiet", *packages)
    return python


def _java(repository: Repository, places: Places) -> Prepared:
    project = places.tools(f"java-{repository.name}").absolute()
    listed = project / "classpath"
    if not listed.exists():
        project.mkdir(parents=True, exist_ok=True)
        (project / "pom.xml").write_text(_pom(repository.install))
        _run(
            "mvn",
            "--quiet",
            "--batch-mode",
            "dependency:build-classpath",
            f"-Dmdep.outputFile={listed}",
            folder=project,
        )
    return ["java", str(CHECKERS / "Truth.java"), str(places.checkout(repository)), listed.read_text()], {}


def _pom(dependencies: Sequence[str]) -> str:
    parts = ("groupId", "artifactId", "version")
    rows = [zip(parts, one.split(":"), strict=True) for one in [*dependencies]]
    written = ("".join(f"<{name}>{escape(value)}</{name}>" for name, value in row) for row in rows)
    listed = "".join(f"<dependency>{one}</dependency>" for one in written)
    itself = "<groupId>truth</groupId><artifactId>truth</artifactId><version>1</version>"
    return f"<project><modelVersion>4.0.0</modelVersion>{itself}<dependencies>{listed}</dependencies></project>"


_CHECKERS: Mapping[Language, Callable[[Repository, Places], Prepared]] = {
    Language.GO: _go,
    Language.TYPESCRIPT: _node,
    Language.JAVASCRIPT: _node,
    Language.PYTHON: _python,
    Language.JAVA: _java,
}
