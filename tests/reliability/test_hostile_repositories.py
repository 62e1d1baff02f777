"""A repository's git configuration names programs for every occasion; to look at the repository runs none of them."""

import os
import random
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from graphrag_mcp.app.local import App
from graphrag_mcp.errors import RequestError, RootError
from graphrag_mcp.index.ages import commit_times
from graphrag_mcp.model.search import SearchRequest
from graphrag_mcp.search.evaluation.history import export_tree, read_history
from graphrag_mcp.settings import load_settings
from graphrag_mcp.system.git import head_commit, origin
from graphrag_mcp.tools.index_status import render_status
from graphrag_mcp.tools.table import TOOLS
from tests.reliability.conftest import Report, Size
from tests.repositories import commit, copied, git
from tests.serving.running import running_page

CODE = "def open_cookie_jar(path):\n    return Jar(path)\n"
OLD = 1_500_000_000
TIMEOUT = 20.0

# What git would start, and when. `{}` is the program that leaves a mark.
SETTINGS = {
    "core.fsmonitor": "{}",
    "core.hooksPath": "{hooks}",
    "core.pager": "{}",
    "core.editor": "{}",
    "core.sshCommand": "{}",
    "core.gitProxy": "{}",
    "core.askPass": "{}",
    "core.alternateRefsCommand": "{}",
    "core.preloadIndex": "true",
    "core.untrackedCache": "true",
    "pager.log": "{}",
    "pager.config": "{}",
    "pager.ls-files": "{}",
    "pager.diff-index": "{}",
    "pager.rev-parse": "{}",
    "interactive.diffFilter": "{}",
    "sequence.editor": "{}",
    "diff.external": "{}",
    "diff.evil.command": "{}",
    "diff.evil.textconv": "{}",
    "diff.evil.cachetextconv": "true",
    "diff.renames": "copies",
    "diff.submodule": "log",
    "diff.ignoreSubmodules": "none",
    "merge.evil.driver": "{}",
    "filter.evil.clean": "{}",
    "filter.evil.smudge": "{}",
    "filter.evil.process": "{}",
    "filter.evil.required": "true",
    "log.showSignature": "true",
    "gpg.program": "{}",
    "gpg.format": "openpgp",
    "gpg.openpgp.program": "{}",
    "gpg.x509.program": "{}",
    "gpg.ssh.program": "{}",
    "gpg.ssh.defaultKeyCommand": "{}",
    "credential.helper": "!{}",
    "uploadpack.packObjectsHook": "{}",
    "receive.procReceiveRefs": "refs",
    "browser.evil.cmd": "{}",
    "man.viewer": "{}",
    "gc.auto": "1",
    "gc.recentObjectsHook": "{}",
    "maintenance.auto": "true",
    "submodule.recurse": "true",
    "submodule.sub.update": "!{}",
    "trailer.evil.command": "{}",
    "trailer.evil.cmd": "{}",
    "tar.evil.command": "{}",
    "remote.origin.vcs": "evil",
    "remote.origin.uploadpack": "{}",
    "remote.origin.promisor": "true",
    "remote.origin.partialclonefilter": "blob:none",
    "protocol.allow": "always",
    "protocol.ext.allow": "always",
    **{
        f"alias.{name}": "!{}"
        for name in (
            *("log", "ls-files", "rev-parse", "diff-index", "config", "ls-tree", "cat-file", "check-ignore", "status"),
        )
    },
}
# All of githooks(5), and the names that git's own samples have.
HOOKS = (
    *("applypatch-msg", "pre-applypatch", "post-applypatch", "pre-commit", "pre-merge-commit", "prepare-commit-msg"),
    *("commit-msg", "post-commit", "pre-rebase", "post-checkout", "post-merge", "pre-push", "pre-receive", "update"),
    *("proc-receive", "post-receive", "post-update", "reference-transaction", "push-to-checkout", "pre-auto-gc"),
    *("post-rewrite", "sendemail-validate", "fsmonitor-watchman", "query-watchman", "post-index-change"),
    *("p4-changelist", "p4-prepare-changelist", "p4-post-changelist", "p4-pre-submit"),
)


class Trap:
    """A program that leaves a mark, and a repository whose configuration can name it."""

    def __init__(self, folder: Path, history: Path) -> None:
        self.folder = folder
        self.mark = folder / "marks"
        self.program = folder / "program"
        self.program.write_text(f"#!/bin/sh\necho \"$0 $*\" >> '{self.mark}'\nexit 1\n")
        self.program.chmod(0o755)
        self.hooks = folder / "hooks"
        _copy_to_hooks(self.program, self.hooks)
        self.root = copied(history, folder / "project")

    @property
    def ran(self) -> list[str]:
        """What ran, each with its arguments."""
        return self.mark.read_text().splitlines() if self.mark.exists() else []

    def values(self, settings: Mapping[str, str]) -> dict[str, str]:
        """Return the settings with the program in them."""
        return {name: value.format(self.program, hooks=self.hooks) for name, value in settings.items()}

    def write(self, file: Path, settings: Mapping[str, str] = SETTINGS) -> None:
        """Put all settings into a file of configuration."""
        lines = []
        for name, value in (*self.values(settings).items(), ("remote.origin.url", f"ext::{self.program} %S")):
            section, _, key = name.rpartition(".")
            section, _, inner = section.partition(".")
            lines.append(
                f'[{section} "{inner}"]\n\t{key} = {value}\n' if inner else f"[{section}]\n\t{key} = {value}\n"
            )
        with file.open("a", encoding="utf-8") as stream:
            stream.writelines(lines)

    def touch(self) -> None:
        """Make git look at the contents of the files: their times are not those that it remembers."""
        for file in self.root.glob("*.py"):
            os.utime(file, (OLD + 7, OLD + 7))


# All of gitattributes(5).
ATTRIBUTES = """* diff=evil merge=evil
*.py filter=evil diff=evil text eol=crlf ident working-tree-encoding=ISO-8859-1 whitespace=trailing-space
*.py export-subst delta encoding=latin1 conflict-marker-size=9
*.md export-ignore filter=lfs
"""


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository of four commits; git would have to verify the signature of the last."""
    root = tmp_path_factory.mktemp("history")
    git(root, "init", "-q")
    commit(root, {"jar.py": CODE, "sub/box.py": CODE.replace("jar", "box")}, OLD)
    commit(root, {"jar.py": CODE + "\n\nJAR = 1\n"}, OLD)
    git(root, "commit", "-q", "--allow-empty", "-m", "Open the cookie jar only while somebody holds it")
    commit(root, {"jar.py": CODE + "\n\nJAR = 2\n", ".gitattributes": ATTRIBUTES})
    git(root, "commit", "-q", "--amend", "-m", "Open the cookie jar only while somebody holds it")
    header, _, message = git(root, "cat-file", "commit", "HEAD").partition("\n\n")
    signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n iQEzBAABCAAdFiEE\n -----END PGP SIGNATURE-----"
    unwritten = tmp_path_factory.mktemp("signed") / "commit"
    unwritten.write_text(f"{header}\n{signature}\n\n{message}")
    signed = git(root, "hash-object", "-t", "commit", "-w", str(unwritten)).strip()
    git(root, "reset", "-q", "--hard", signed)
    return root


@pytest.fixture
def trap(history: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trap:
    """A repository with a history, not yet hostile, and an empty home folder."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GRAPHRAG_DATA_DIR", str(tmp_path / "data"))
    for name in ("XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GRAPHRAG_ROOT", "CLAUDE_PROJECT_DIR"):
        monkeypatch.delenv(name, raising=False)
    return Trap(tmp_path, history)


# ---------------------------------------------------------------- ways to bring the settings in


def in_its_configuration(trap: Trap) -> None:
    """The plain way."""
    trap.write(trap.root / ".git/config")


def in_an_included_file(trap: Trap) -> None:
    """`include.path`, relative to the configuration, to a file that is committed."""
    trap.write(trap.root / "settings.inc")
    git(trap.root, "config", "include.path", "../settings.inc")


def in_a_file_included_on_a_condition(trap: Trap) -> None:
    """`includeIf` for this folder and for this branch, each to a file outside."""
    trap.write(trap.folder / "settings.inc")
    git(trap.root, "config", f"includeIf.gitdir:{trap.root}/.path", str(trap.folder / "settings.inc"))
    git(trap.root, "config", "includeIf.onbranch:main.path", str(trap.folder / "settings.inc"))


def in_the_configuration_of_the_work_tree(trap: Trap) -> None:
    """`extensions.worktreeConfig`, with everything in `config.worktree`."""
    git(trap.root, "config", "core.repositoryFormatVersion", "1")
    git(trap.root, "config", "extensions.worktreeConfig", "true")
    trap.write(trap.root / ".git/config.worktree")


def in_a_git_folder_elsewhere(trap: Trap) -> None:
    """`.git` is a file that leads to a hostile folder outside."""
    (trap.root / ".git").rename(trap.folder / "gitdir")
    (trap.root / ".git").write_text(f"gitdir: {trap.folder}/gitdir\n")
    trap.write(trap.folder / "gitdir/config")


def in_a_common_folder_elsewhere(trap: Trap) -> None:
    """`.git` holds only a pointer to where the configuration is shared."""
    git(trap.root, "worktree", "add", "-q", "--detach", str(trap.folder / "second"))
    trap.write(trap.root / ".git/config")
    trap.root = trap.folder / "second"


def with_another_work_tree(trap: Trap) -> None:
    """`core.worktree` leads git to files outside."""
    shutil.copytree(trap.root, trap.folder / "elsewhere", ignore=shutil.ignore_patterns(".git"))
    trap.write(trap.root / ".git/config")
    git(
        trap.folder, "config", "--file", str(trap.root / ".git/config"), "core.worktree", str(trap.folder / "elsewhere")
    )


def as_a_partial_clone(trap: Trap) -> None:
    """Objects are missing, and a program fetches them."""
    git(trap.root, "config", "core.repositoryFormatVersion", "1")
    git(trap.root, "config", "extensions.partialClone", "origin")
    for name in ("HEAD~2^{tree}", "HEAD:jar.py", "HEAD~2"):
        lost = git(trap.root, "rev-parse", name).strip()
        (trap.root / ".git/objects" / lost[:2] / lost[2:]).unlink(missing_ok=True)
    trap.write(trap.root / ".git/config")


def with_hooks_of_its_own(trap: Trap) -> None:
    """Hooks where git looks for them by itself, and a file system monitor as hook."""
    trap.write(trap.root / ".git/config")
    git(trap.folder, "config", "--file", str(trap.root / ".git/config"), "--unset", "core.hooksPath")
    _copy_to_hooks(trap.program, trap.root / ".git/hooks")


def with_borrowed_objects(trap: Trap) -> None:
    """The objects lie in another hostile repository, which `alternates` names."""
    shutil.copytree(trap.root / ".git", trap.folder / "lender")
    trap.write(trap.folder / "lender/config")
    (trap.root / ".git/objects/info").mkdir(exist_ok=True)
    (trap.root / ".git/objects/info/alternates").write_text(f"{trap.folder}/lender/objects\n")
    trap.write(trap.root / ".git/config")


def as_a_bare_repository_in_the_tree(trap: Trap) -> None:
    """A folder of the tree that git takes for a repository, and the root of the project in it, without any `.git`."""
    inner = trap.root / "fixtures/bare"
    shutil.copytree(trap.root / ".git", inner)
    trap.write(inner / "config")
    git(trap.folder, "config", "--file", str(inner / "config"), "core.bare", "false")
    git(trap.folder, "config", "--file", str(inner / "config"), "core.worktree", str(trap.root))
    shutil.rmtree(trap.root / ".git")
    shutil.copy(trap.root / "jar.py", inner / "jar.py")
    trap.root = inner


WAYS: tuple[Callable[[Trap], None], ...] = (
    in_its_configuration,
    in_an_included_file,
    in_a_file_included_on_a_condition,
    in_the_configuration_of_the_work_tree,
    in_a_git_folder_elsewhere,
    in_a_common_folder_elsewhere,
    with_another_work_tree,
    as_a_partial_clone,
    with_hooks_of_its_own,
    with_borrowed_objects,
    as_a_bare_repository_in_the_tree,
)


# ---------------------------------------------------------------- the laws


@pytest.mark.parametrize("make_hostile", WAYS, ids=lambda way: way.__name__)
def test_nothing_that_a_repository_names_is_run(
    trap: Trap, make_hostile: Callable[[Trap], None], report: Report
) -> None:
    """Neither an index, nor a search, nor the status, nor a look at its history starts a program; plain git does."""
    make_hostile(trap)
    trap.touch()
    assert trap.ran == []
    _look_at(trap.root, trap.folder)
    ran = trap.ran
    _tempt(trap)
    report("hostile repository", way=make_hostile.__name__, settings=len(SETTINGS), ran=len(ran), by_git=len(trap.ran))
    assert ran == []
    assert trap.ran, "the trap itself does not work"


def test_the_commands_run_nothing_either(trap: Trap, size: Size) -> None:
    """The same of whole processes, started in the repository as a user would."""
    in_its_configuration(trap)
    _copy_to_hooks(trap.program, trap.root / ".git/hooks")
    trap.touch()
    commands = [["index"], ["eval", "--from-history", "--commits", "2"]]
    commands += [["search", "cookie jar"], ["status"], ["watch", "--help"], ["eval", "--help"]][: size(0, 4)]
    done = [_run(trap.root, *arguments) for arguments in commands]
    assert [one.returncode for one in done] == [0] * len(done), [one.stderr[-500:] for one in done]
    assert trap.ran == []
    _tempt(trap)
    assert trap.ran, "the trap itself does not work"


CONTROLS = {
    "core.fsmonitor": ("status",),
    "core.hooksPath": ("commit", "-q", "--allow-empty", "-m", "x"),
    "core.editor": ("commit", "--allow-empty"),
    "diff.external": ("diff",),
    "diff.evil.command": ("diff",),
    "diff.evil.textconv": ("log", "-p", "-1"),
    "filter.evil.clean": ("add", "jar.py"),
    "filter.evil.process": ("add", "jar.py"),
    "gpg.program": ("log", "--show-signature"),
    "alias.evil": ("evil",),
}


@pytest.mark.parametrize("name", CONTROLS)
def test_the_trap_catches_git_itself(trap: Trap, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One setting at a time, plain git runs the program: a look that ran it would be seen."""
    value = SETTINGS.get(name, "!{}")
    git(trap.root, "config", name, value.format(trap.program, hooks=trap.hooks))
    (trap.root / "jar.py").write_text("JAR = 3\n")
    for variable in ("GIT_EDITOR", "VISUAL", "EDITOR"):
        monkeypatch.delenv(variable, raising=False)
    command = ["git", "-c", "user.name=Test", "-c", "user.email=test@example.org", *CONTROLS[name]]
    environment = os.environ | {"TERM": "xterm"}
    subprocess.run(command, cwd=trap.root, env=environment, check=False, capture_output=True, timeout=TIMEOUT)
    assert trap.ran


# ---------------------------------------------------------------- every setting, every call


PLACEHOLDERS = {"<name>": ("origin", "main", "sub", "evil"), "<driver>": ("evil", "lfs", "python")}


def every_setting() -> dict[str, str]:
    """Return each key that git's own documentation lists, with the program as its value."""
    listed = subprocess.run(["git", "help", "--config"], capture_output=True, text=True, check=True).stdout.split()
    keys: set[str] = set()
    for key in (key for key in listed if re.fullmatch(r"\w+\.[\w.<>*-]+", key)):
        hole = re.search(r"<[\w-]+>|\*", key)
        for filling in PLACEHOLDERS.get(hole[0], ("evil",)) if hole else ("",):
            keys.add(re.sub(r"<[\w-]+>|\*", filling, key))
    assert len(keys) > 600
    return dict.fromkeys(keys, "{}") | {"include.path": "{hooks}/include"} | SETTINGS


def snapshot(folder: Path) -> dict[str, object]:
    """Return what every file below a folder is: its kind, time, size and content."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        found[str(path.relative_to(folder))] = (status.st_mode, status.st_mtime_ns, status.st_size, content)
    return found


TEXTS = (
    *("open_cookie_jar", "jar.py", "jar.py:1", "sub/box.py::open_cookie_box", "HEAD~1", "main~1..HEAD", "main...HEAD"),
    *("2015-01-01", "cookie", "--output=victim", "Test", "callers", "like open_cookie_jar"),
)


def forms(schema: Mapping[str, Any]) -> list[Any]:
    """Return values that an argument of this schema takes."""
    if "enum" in schema:
        return list(schema["enum"])
    if "anyOf" in schema:
        return [value for one in schema["anyOf"] for value in forms(one)]
    kind = schema.get("type")
    if kind == "boolean":
        return [True, False]
    if kind == "integer":
        return sorted({max(1, schema.get("minimum", 1)), max(5, schema.get("minimum", 1))})
    if kind == "array":
        return [[value] for value in forms(schema["items"])] + [["jar.py", "open_cookie_jar"]]
    return list(TEXTS) if kind == "string" else []


def every_call(name: str) -> Iterator[dict[str, Any]]:
    """Yield calls of a tool: each text argument alone and with each form of each other argument."""
    properties = TOOLS[name].schema()["properties"]
    texts = [key for key, schema in properties.items() if schema.get("type") in ("string", "array")]
    yield {}
    for subject in (key for key in texts if "enum" not in properties[key]):
        for value in forms(properties[subject]):
            yield {subject: value}
            for other, schema in properties.items():
                for form in forms(schema) if other != subject else ():
                    yield {subject: value, other: form}


def test_no_call_runs_what_any_setting_names_or_changes_a_byte(trap: Trap, size: Size, report: Report) -> None:
    """Each key, attribute and hook that git documents; each tool with each form of its arguments; page and history."""
    git(trap.root, "branch", "side", "HEAD~1")
    shutil.copytree(trap.program.parent / "hooks", trap.root / ".git/hooks", dirs_exist_ok=True)
    settings = every_setting()
    trap.write(trap.root / ".git/config", settings)
    trap.write(trap.root / ".git/config.worktree", settings)
    trap.write(trap.root / ".gitconfig", settings)
    (trap.root / ".git/info").mkdir(exist_ok=True)
    (trap.root / ".git/info/attributes").write_text(ATTRIBUTES)
    (trap.root / ".lfsconfig").write_text(f"[lfs]\n\turl = ext::{trap.program}\n")
    (trap.root / "jar.py").write_text(CODE + "\n\nJAR = 3\n")
    trap.touch()
    before = snapshot(trap.root)
    asked, answered = 0, 0
    chosen = random.Random(1)
    with closing(App(trap.root, load_settings(trap.root, {"GRAPHRAG_DATA_DIR": str(trap.folder / "data")}))) as app:
        app.index()
        for name, tool in TOOLS.items():
            calls = list(every_call(name))
            chosen.shuffle(calls)
            for arguments in calls[: size(120, len(calls))]:
                asked += 1
                with suppress(RequestError):
                    call = tool.read(arguments, app.settings, app.root)
                    assert tool.write(app.ask(tool.ask, call), call)
                    answered += 1
    assert trap.ran == []
    assert snapshot(trap.root) == before
    report("every setting", settings=len(settings), hooks=len(HOOKS), calls=asked, answered=answered)
    assert answered > asked / 5


@pytest.mark.slow
def test_no_command_runs_what_any_setting_names_or_changes_a_byte(trap: Trap) -> None:
    """The same of the commands, and of the page."""
    trap.write(trap.root / ".git/config", every_setting())
    shutil.copytree(trap.program.parent / "hooks", trap.root / ".git/hooks", dirs_exist_ok=True)
    (trap.root / "jar.py").write_text(CODE + "\n\nJAR = 3\n")
    trap.touch()
    before = snapshot(trap.root)
    commands = ["index", "status", "doctor", "search jar", "impact", "impact --base main~1..main"]
    commands += ["history --symbol open_cookie_jar", "history --path jar.py --line 1", "grep Jar"]
    commands += ["read open_cookie_jar", "map", "sync", "eval --from-history --commits 2", "init --help"]
    done = {command: _run(trap.root, *command.split()) for command in commands}
    with running_page(trap.root, trap.folder / "data") as page:
        page.wait_ready()
        asked = {"arguments": {"query": "cookie jar"}}
        answers = [page.ask(name) for name in ("project", "status", "files", "skipped")]
        answers += [page.ask("search", asked), page.ask("graph", {"symbol": "open_cookie_jar"})]
        calls = {"impact": {}, "find_history": {"symbol": "open_cookie_jar"}, "find_occurrences": {"text": "cookie"}}
        answers += [page.ask("call", {"tool": tool, "arguments": given}) for tool, given in calls.items()]
    watching = subprocess.Popen([sys.executable, "-m", "graphrag_mcp", "watch"], cwd=trap.root, stderr=subprocess.PIPE)
    try:
        time.sleep(3)
    finally:
        watching.terminate()
        watching.communicate()
    assert trap.ran == []
    assert snapshot(trap.root) == before
    assert {command: one.returncode for command, one in done.items() if one.returncode not in (0, 1)} == {"sync": 2}
    assert not any("Traceback" in one.stderr for one in done.values())
    assert {answer.status for answer in answers} == {200}


def test_a_message_is_never_taken_for_a_commit(trap: Trap) -> None:
    """Bytes that a format of git's log could use, with options in the place of a name, write no file."""
    git(trap.root, "commit", "-q", "--allow-empty", "-m", "x")
    tree = git(trap.root, "write-tree").strip()
    (trap.root / "jar.py").write_text(CODE.replace("path", "place"))
    git(trap.root, "add", "-A")
    tree = git(trap.root, "write-tree").strip()
    head = git(trap.root, "rev-parse", "HEAD").strip()
    for mark in ("\x01\x02", "\x01", "\x1e", "\x1f", "\n\n", "commit "):
        victim = trap.folder / "VICTIM"
        message = f"x\n\nA LINE\n{mark}--output={victim} 1700000000\n{mark}{head} 1700000000\n"
        forged = f"tree {tree}\nparent {head}\nauthor A <a@b> 1700000000 +0000\ncommitter A <a@b> 1700000000 +0000\n\n"
        made = subprocess.run(
            ["git", "hash-object", "-t", "commit", "-w", "--stdin", "--literally"],
            cwd=trap.root, input=(forged + message).encode(), capture_output=True, check=True,
        )  # fmt: skip
        git(trap.root, "reset", "-q", "--hard", made.stdout.decode().strip())
        head = git(trap.root, "rev-parse", "HEAD").strip()
    with closing(App(trap.root, load_settings(trap.root, {"GRAPHRAG_DATA_DIR": str(trap.folder / "data")}))) as app:
        app.index()
        for arguments in (
            {"symbol": "open_cookie_jar", "since": "2020-01-01"},
            {"query": "line"},
            {"path": "jar.py"},
            {"since": "2020-01-01"},
        ):
            call = TOOLS["find_history"].read(arguments, app.settings, app.root)
            assert "A LINE" in TOOLS["find_history"].write(app.ask(TOOLS["find_history"].ask, call), call)
    assert not list(trap.folder.rglob("VICTIM*"))


# ---------------------------------------------------------------- helpers


def _look_at(root: Path, folder: Path) -> None:
    """Do everything that runs git in a repository, as a server does and as `eval --from-history` does."""
    settings = load_settings(root, {"GRAPHRAG_DATA_DIR": str(folder / "data"), "GRAPHRAG_WATCH": "off"})
    with suppress(RootError), closing(App(root, settings)) as app:  # A repository without files is refused.
        assert app.index().added
        assert app.search(SearchRequest("open_cookie_jar")).primary
        assert render_status(app.status())
    files = [file for file in root.rglob("*.py") if ".git" not in file.parts]
    commit_times(root, {file.relative_to(root).as_posix(): 1 for file in files}, TIMEOUT)
    head_commit(root)
    origin(root)
    tree = folder / "exported"
    tree.mkdir()
    try:
        history = read_history(root, 5)
        export_tree(root, history.tree, tree)
    except Exception as error:  # Not every one of them has a history that can be read.
        assert type(error).__name__ == "RequestError"


def _tempt(trap: Trap) -> None:
    """Do with plain git what would run the programs."""
    for arguments in (("status",), ("diff",), ("log", "-p"), ("add", "-A"), ("fetch", "origin")):
        subprocess.run(
            ["git", "-c", "safe.bareRepository=all", *arguments],
            cwd=trap.root,
            check=False,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=TIMEOUT,
        )


def _run(root: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "graphrag_mcp", *arguments]
    return subprocess.run(command, cwd=root, check=False, capture_output=True, text=True, timeout=120)


def _copy_to_hooks(program: Path, folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    for name in HOOKS:
        (folder / name).write_bytes(program.read_bytes())
        (folder / name).chmod(0o755)
