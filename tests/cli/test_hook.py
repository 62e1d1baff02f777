"""`graphrag-mcp hook` over a project in several languages."""

import io
import json
import math
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stderr, redirect_stdout
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from graphrag_mcp.cli import hook
from graphrag_mcp.cli.hook import MOST_CHARACTERS
from graphrag_mcp.cli.hook_notes import MOST_SEARCHES, MOST_UNUSED, PATIENCE, paths_of, read_notes
from graphrag_mcp.cli.init import HOOK_SETTINGS
from graphrag_mcp.cli.run import DONE, run
from graphrag_mcp.tools.excerpts import CHARACTERS_PER_TOKEN
from tests.repositories import write_files
from tests.waiting import HANG_SECONDS

# The real command, but for its limit of a second, which a busy machine reaches.
PATIENT = """\
import sys
from graphrag_mcp.cli import hook, run
hook.SECONDS = 60
run.run(["hook"])
"""
IMPORTED = f"{PATIENT}sys.stderr.write(' '.join(sys.modules))"
FILES = {
    "py/store.py": '''\
"""A store."""
from functools import cache
from typing import Protocol


def save(item, key):
    return item


def load(path, mode="r", *rest):
    return path


def traced(function):
    return lambda *given: function(*given)


@cache
def send(one):
    return one


class Store:
    def __init__(self, path, size):
        self.path = path.save(size, 2)

    def put(self, item, key):
        return save(item, key)

    def get(self, key, default=None):
        return key

    @staticmethod
    def fix(item):
        return item


class Base:
    def run(self, one):
        return one


class Below(Base):
    def run(self, one, two=2):
        return two


class Reading(Protocol):
    def read(self, size):
        ...
''',
    "py/main.py": """\
from store import Base, Reading, Store, load, save, send


def main(store: Store, base: Base, given, reading: Reading, unknown):
    save(1, 2)
    save(*given)
    save(1, key=2)
    save(1, **given)
    store.put(1, 2)
    Store.put(store, 1, 2)
    Store("a", 3)
    store.get(1, 2)
    Store.get(store, 1)
    Store.fix(1)
    load("a")
    send(1)
    base.run(1)
    reading.read(1)
    unknown.put(1, 2)
""",
    "py/test_store.py": """\
from store import save


def test_save():
    assert save(1, 2)
""",
    "ts/store.ts": """\
export function save(item: string, key: number): void {}
export function wide(item: string, ...rest: number[]): void {}
export function over(item: string): void;
export function over(item: string, key: number): void;
export function over(item: string, key?: number): void {}
export class Box<T> {
  constructor(path: string, size: number) {}
  put(item: T, key: number): void { save("a", key); }
}
export const twice = (item: number, key: number) => item + key;
export const typed: (item: number, key: number) => number = (item, key) => item;
""",
    "ts/main.ts": """\
import { save, wide, over, Box, twice, typed } from "./store";
export function main(box: Box<string>, given: [string, number]) {
  save("a", 1);
  save(...given);
  wide("a");
  over("a");
  box.put("a", 1);
  new Box<string>("a", 1);
  new Box("a", 1);
  twice(1, 2);
  typed(1, 2);
}
""",
    "ts/plain.js": """\
import { save } from "./store";
save("a", 1);
""",
    "java/p/Store.java": """\
package p;
class Store {
  Store(String path, int size) {}
  void put(String item, int key) { save(item, key); }
  static int save(String item, int key) { return key; }
  int over(int a) { return a; }
  int over(int a, int b) { return a; }
  int many(int a, int... rest) { return a; }
  public String toString() { return ""; }
}
""",
    "java/p/Above.java": """\
package p;
class Above { void go(int a, int b) {} }
class Below extends Above { void go(int a) {} }
""",
    "java/p/Main.java": """\
package p;
class Main {
  void main(Store s, Below b) {
    Store.save("a", 1);
    s.put("a", 2);
    new Store("a", 3);
    s.over(1);
    s.many(1);
    s.toString();
    b.go(1);
  }
}
""",
    "go/go.mod": "module example.com/x\n\ngo 1.21\n",
    "go/a/a.go": """\
package a

func Save(item string, key int) int { return key }
func Many(item string, keys ...int) int { return 0 }
func Any(item string, keys ...int) int { return 0 }
func Two() (string, int) { return "", 1 }

type Store struct{}

func (s *Store) Put(item string, key int) int { return Save(item, key) }
""",
    "go/a/a_linux.go": "package a\n\nfunc Where(x int) int { return x }\n",
    "go/a/a_windows.go": "package a\n\nfunc Where(x int) int { return x }\n",
    "go/b/b.go": """\
package b

import "example.com/x/a"

func Run(s *a.Store) {
	a.Save("x", 1)
	a.Save(a.Two())
	a.Many("x")
	a.Any(a.Two())
	a.Where(1)
	s.Put("x", 1)
	(*a.Store).Put(s, "x", 1)
}
""",
    "rs/Cargo.toml": '[package]\nname = "x"\nversion = "0.1.0"\n',
    "rs/src/lib.rs": 'pub fn store(item: &str, key: u32) -> u32 { key }\npub fn run() { store("a", 1); }\n',
    "many.py": "".join(f"class C{n}:\n    def often(self):\n        pass\n\n\n" for n in range(4)),
}
_NUMBERS = count()


@pytest.fixture(scope="module")
def environ(tmp_path_factory: pytest.TempPathFactory) -> Iterator[pytest.MonkeyPatch]:
    """An environment whose indexes are in a folder of their own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRAPHRAG_DATA_DIR", str(tmp_path_factory.mktemp("data")))
        patch.delenv("CLAUDE_PROJECT_DIR", raising=False)
        yield patch


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory, environ: pytest.MonkeyPatch) -> Path:
    """An indexed project; tests leave its files as they were."""
    root = tmp_path_factory.mktemp("project")
    write_files(root, FILES)
    assert run(["index", "--root", str(root)]) == DONE
    return root


@pytest.fixture
def fresh(root: Path) -> Iterator[Path]:
    """The notes of the project, of which there are none before and after."""
    notes = paths_of(root).hooks
    notes.unlink(missing_ok=True)
    yield notes
    notes.unlink(missing_ok=True)


def answer_to(event: bytes | Mapping[str, Any], root: Path) -> str:
    """Return what the hook says of an event, "" for nothing; it ends well, and writes nothing else."""
    data = event if isinstance(event, bytes) else json.dumps(event).encode()
    said, complaints = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(said), redirect_stderr(complaints):
        patch.chdir(root)
        patch.setattr(hook, "SECONDS", HANG_SECONDS)
        patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
        assert run(["hook"]) == DONE
    assert complaints.getvalue() == ""
    return text_of(said.getvalue(), data)


def process_answers(event: Mapping[str, Any], root: Path) -> str:
    """Return what a process of its own says, as Claude Code starts it."""
    data = json.dumps(event).encode()
    done = subprocess.run([sys.executable, "-c", PATIENT], cwd=root, input=data, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    return text_of(done.stdout.decode(), data)


def text_of(written: str, event: bytes) -> str:
    """Return the text of an answer for the model, "" for none."""
    if not written:
        return ""
    (output,) = json.loads(written).values()
    assert output["hookEventName"] == json.loads(event)["hook_event_name"]
    return str(output["additionalContext"])


def event_of(root: Path, name: str, tool: str, given: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """Return an event of a new session as Claude Code 2.1 sends it."""
    number = next(_NUMBERS)
    return {
        "session_id": f"session-{number}", "transcript_path": str(root / "none.jsonl"), "cwd": str(root),
        "permission_mode": "default", "hook_event_name": name, "tool_name": tool, "tool_input": given,
        "tool_use_id": f"toolu_{number}", **more,
    }  # fmt: skip


def edited(root: Path, path: str, old: str, new: str, **more: Any) -> str:
    """Return what is said after an edit of a file, which is undone."""
    file, before = root / path, FILES[path]
    assert before.count(old) == 1
    file.write_text(before.replace(old, new))
    response = {"filePath": str(file), "oldString": old, "newString": new, "originalFile": before}
    given = {"file_path": str(file), "old_string": old, "new_string": new}
    try:
        return answer_to(event_of(root, "PostToolUse", "Edit", given, tool_response=response, **more), root)
    finally:
        file.write_text(before)


def searched(root: Path, pattern: str, **more: Any) -> str:
    """Return what is said before a search with Grep."""
    return answer_to(event_of(root, "PreToolUse", "Grep", {"pattern": pattern}, **more), root)


def ran(root: Path, command: str) -> str:
    """Return what is said before a command."""
    return answer_to(event_of(root, "PreToolUse", "Bash", {"command": command}), root)


CALLS_OF_SAVE = ["py/main.py:5", "py/main.py:7", "py/store.py:28", "py/test_store.py:5"]
CERTAIN = [
    ("py/store.py", "def save(item, key)", "def save(item, key, ttl)",
     f"`save` takes 3 arguments now; 4 certain calls pass 2: {', '.join(CALLS_OF_SAVE)}."),
    ("py/store.py", "def save(item, key)", "def save(item, name)",
     "`save` takes no `key` now; 1 certain call passes `key`: py/main.py:7."),
    ("py/store.py", "def save(item, key)", "def save(item, *rest)",
     "`save` takes no `key` now; 1 certain call passes `key`: py/main.py:7."),
    ("py/store.py", "def save(item, key)", "def save(item, name, ttl)",
     ("`save` takes 3 arguments now; 3 certain calls pass 2: py/main.py:5, py/store.py:28, py/test_store.py:5; "
     "1 certain call passes `key`: py/main.py:7.")),
    ("py/store.py", "def put(self, item, key)", "def put(self, item, key, *, ttl)",
     "`put` takes 3 arguments now; 2 certain calls pass no `ttl`: py/main.py:9, py/main.py:10."),
    ("py/store.py", "def put(self, item, key)", "def put(self)",
     "`put` takes 0 arguments now; 1 certain call passes 2: py/main.py:9."),
    ("py/store.py", "def __init__(self, path, size)", "def __init__(self, path, size, mode, user=1)",
     "`Store` takes 3 to 4 arguments now; 1 certain call passes 2: py/main.py:11."),
    ("py/store.py", "def fix(item)", "def fix(item, other, *rest)",
     "`fix` takes at least 2 arguments now; 1 certain call passes 1: py/main.py:14."),
    ("ts/store.ts", "save(item: string, key: number)", "save(item: string)",
     "`save` takes 1 argument now; 2 certain calls pass 2: ts/main.ts:3, ts/store.ts:8."),
    ("ts/store.ts", "put(item: T, key: number)", "put(item: T, key: number, ttl: number)",
     "`put` takes 3 arguments now; 1 certain call passes 2: ts/main.ts:7."),
    ("ts/store.ts", "constructor(path: string, size: number)", "constructor(path: string)",
     "`Box` takes 1 argument now; 2 certain calls pass 2: ts/main.ts:8, ts/main.ts:9."),
    ("ts/store.ts", "(item: number, key: number) => item", "(item: number, key: number, more: string) => item",
     "`twice` takes 3 arguments now; 1 certain call passes 2: ts/main.ts:10."),
    ("java/p/Store.java", "put(String item, int key)", "put(String item, int key, int ttl)",
     "`put` takes 3 arguments now; 1 certain call passes 2: java/p/Main.java:5."),
    ("java/p/Store.java", "save(String item, int key)", "save(int key)",
     "`save` takes 1 argument now; 2 certain calls pass 2: java/p/Main.java:4, java/p/Store.java:4."),
    ("java/p/Store.java", "Store(String path, int size)", "Store(String path)",
     "`Store` takes 1 argument now; 1 certain call passes 2: java/p/Main.java:6."),
    ("go/a/a.go", "func Save(item string, key int)", "func Save(item string, key, ttl int)",
     "`Save` takes 3 arguments now; 2 certain calls pass 2: go/a/a.go:10, go/b/b.go:6."),
    ("go/a/a.go", "Put(item string, key int)", "Put(item string, key, ttl int)",
     "`Put` takes 3 arguments now; 1 certain call passes 2: go/b/b.go:11."),
]  # fmt: skip


@pytest.mark.parametrize(("path", "old", "new", "text"), CERTAIN, ids=[f"{row[0]}: {row[2]}" for row in CERTAIN])
def test_calls_that_an_edit_certainly_breaks_are_named(
    root: Path, fresh: Path, path: str, old: str, new: str, text: str
) -> None:
    """By the text just written; a call that spreads its arguments, or is of a language that takes any, is not."""
    assert edited(root, path, old, new) == f"graphrag-mcp: {text}"


UNCERTAIN = {
    "a default": ("py/store.py", "def save(item, key)", "def save(item, key, ttl=1)"),
    "a name that no call gives": ("py/store.py", "def save(item, key)", "def save(thing, key)"),
    "another name of TypeScript": ("ts/store.ts", "save(item: string, key: number)", "save(a: string, b: number)"),
    "any names": ("py/store.py", "def save(item, key)", "def save(item, **rest)"),
    "any number before": ("py/store.py", 'def load(path, mode="r", *rest)', 'def load(path, mode="r")'),
    "a decorator": ("py/store.py", "def send(one)", "def send(one, two)"),
    "a decorator that comes with the edit": ("py/store.py", "def save(item, key)", "@traced\ndef save(item, key, ttl)"),
    "an override": ("py/store.py", "    def run(self, one):", "    def run(self):"),
    "a protocol": ("py/store.py", "def read(self, size)", "def read(self, size, more)"),
    "a call with the instance": ("py/store.py", "def get(self, key, default=None)", "def get(self, key)"),
    "a new name": ("py/store.py", "def save(item, key)", "def store(item, key, ttl)"),
    "a text that does not parse": ("py/store.py", "def save(item, key)", "1 = = 2\n\n\ndef save(item, key, ttl)"),
    "an own body": ("py/store.py", "return item\n\n\ndef load", "return key\n\n\ndef load"),
    "an overload": ("ts/store.ts", "over(item: string, key?: number)", "over(item: string, key: number, more: string)"),
    "all further arguments": ("ts/store.ts", "save(item: string, key: number)", "save(...rest: number[])"),
    "what may be void": (
        "ts/store.ts",
        "save(item: string, key: number)",
        "save(a: string, b: number, c: number | void)",
    ),
    "a type parameter": ("ts/store.ts", "put(item: T, key: number)", "put(item: T, key: number, more: T)"),
    "a variable with a type": ("ts/store.ts", "= (item, key) => item", "= (item) => item"),
    "an overload of Java": ("java/p/Store.java", "over(int a)", "over(int a, int b, int c)"),
    "one that is inherited": ("java/p/Above.java", "go(int a) {}", "go(int a, int b, int c) {}"),
    "a member of every object": ("java/p/Store.java", "toString()", "toString(int indent)"),
    "any number of Java": ("java/p/Store.java", "many(int a, int... rest)", "many(int... rest)"),
    "any number of Go": ("go/a/a.go", "Many(item string, keys ...int)", "Many(item ...string)"),
    "a call that gives several arguments": ("go/a/a.go", "Any(item string, keys ...int)", "Any(item string, key int)"),
    "another file that defines it": ("go/a/a_linux.go", "Where(x int)", "Where(x, y int)"),
    "a language that is compared by names": ("rs/src/lib.rs", "store(item: &str, key: u32)", "store(item: &str)"),
}


@pytest.mark.parametrize("case", UNCERTAIN)
def test_an_edit_that_may_be_right_is_passed_over(root: Path, fresh: Path, case: str) -> None:
    """Something else may run, the call may fit, or it is not known what it passes."""
    assert edited(root, *UNCERTAIN[case]) == ""
    assert not fresh.exists()


def test_calls_in_files_that_changed_since_are_left_out(root: Path, fresh: Path) -> None:
    """The index has the lines of another text; the file that is edited too, if the edit moves a call."""
    edit = ("py/store.py", "def save(item, key)", "def save(item, key, ttl)")
    main = root / "py/main.py"
    main.write_text("\n" + FILES["py/main.py"])
    try:
        assert edited(root, *edit).endswith("2 certain calls pass 2: py/store.py:28, py/test_store.py:5.")
    finally:
        main.write_text(FILES["py/main.py"])
    assert edited(root, *edit[:2], "\n\n\ndef save(item, key, ttl)").endswith(
        "py/main.py:5, py/main.py:7, py/test_store.py:5."
    )
    before, old = FILES["py/store.py"], edit[1]
    other = before.replace("2)\n\n    def put", "2)  # changed since\n\n    def put")
    file = root / "py/store.py"
    file.write_text(other.replace(old, edit[2]))
    response = {"originalFile": other}
    try:
        event = event_of(root, "PostToolUse", "Write", {"file_path": str(file)}, tool_response=response)
        assert "py/store.py" not in answer_to(event, root)
    finally:
        file.write_text(before)


def test_a_search_for_a_defined_name_is_answered(root: Path, fresh: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With as many callers as a trace lists."""
    said = "graphrag-mcp: `{}` is defined at {}; trace_relations lists them."
    assert searched(root, "load") == said.format("load", "py/store.py:10 (1 certain caller, 0 in tests)")
    for pattern in ("save", r"\bsave\b", r"save\("):
        text = searched(root, pattern)
        assert "py/store.py:6 (3 certain callers, 1 in tests)" in text
        assert len(text) <= MOST_CHARACTERS["search"]
    capsys.readouterr()
    assert run(["trace", "py/store.py::save", "--root", str(root), "--no-update", "--json"]) == DONE
    steps = json.loads(capsys.readouterr().out)["rows"]
    assert len({step["source"]["symbol"] for step in steps if step["edge"]["certainty"] == "certain"}) == 3


@pytest.mark.parametrize(
    ("command", "is_answered"),
    [
        ("rg load", True),
        ("rg -n -t py 'load' py", True),
        ("grep -rn --include '*.py' \"load\" . | head -5", True),
        ("cd py && grep -rnw -e load .", True),
        ("git grep -n load", True),
        ("bash -lc 'rg -n load'", True),
        ("cat py/store.py | grep load", False),
        ("rg 'load|save'", False),
        ("rg load /etc", False),
        ("rg nothing_of_this_name", False),
        ("echo load", False),
        ("rg 'load", False),
    ],
)
def test_commands_that_search_for_a_name_are_read(root: Path, fresh: Path, command: str, is_answered: bool) -> None:
    """Whatever their options; a filter, another pattern and another place are none."""
    assert ("py/store.py:10" in ran(root, command)) == is_answered


def test_a_name_that_says_too_little_is_passed_over(root: Path, fresh: Path) -> None:
    """Many definitions, a short name, a sentence, a folder that is not of the project, or a file that changed."""
    assert [searched(root, pattern) for pattern in ("often", "a", "save the load", "A store")] == [""] * 4
    assert answer_to(event_of(root, "PreToolUse", "Grep", {"pattern": "load", "path": "/etc"}), root) == ""
    file = root / "py/store.py"
    file.write_text(FILES["py/store.py"] + "\n")
    try:
        assert searched(root, "load") == ""
    finally:
        file.write_text(FILES["py/store.py"])


def test_nothing_is_said_twice_and_five_searches_are_answered_in_a_session(root: Path, fresh: Path) -> None:
    """Another session is told again."""
    names = ["load", "send", "save", "Store", "Base", "Below", "Reading"]
    assert [bool(searched(root, name, session_id="one")) for name in ("load", "load")] == [True, False]
    texts = [searched(root, name, session_id="one") for name in names]
    assert sum(map(bool, texts)) == MOST_SEARCHES - 1
    assert searched(root, "load", session_id="two")
    edit = ("py/store.py", "def fix(item)", "def fix(item, other)")
    assert [bool(edited(root, *edit, session_id="one")) for _ in range(2)] == [True, False]


def transcript_of(file: Path, calls: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    """Write a transcript with calls, and return its path."""
    blocks = [
        {"type": "tool_use", "id": f"later_{n}", "name": name, "input": given} for n, (name, given) in enumerate(calls)
    ]
    events: list[dict[str, Any]] = [{"message": {"role": "assistant", "content": [block]}} for block in blocks]
    file.write_text(
        "".join(json.dumps(event) + "\n" for event in [{"message": {"content": "hello"}}, *events]) + '{"half'
    )
    return str(file)


def test_a_hook_that_is_not_used_in_ten_showings_says_nothing_more(root: Path, fresh: Path, tmp_path: Path) -> None:
    """Until `init --hooks` is run again; the other hook goes on, and one use counts for all before it."""

    def show(used: Mapping[str, Any] | None = None) -> bool:
        """Show a text in a new session, in which something else is done then, or what uses it."""
        transcript = tmp_path / f"{next(_NUMBERS)}.jsonl"
        is_shown = bool(searched(root, "load", transcript_path=str(transcript)))
        transcript_of(transcript, [("Read", used or {"file_path": str(root / "go/a/a.go")})] * PATIENCE)
        return is_shown

    assert show()
    assert show({"file_path": str(root / "py/store.py")})
    assert all(show() for _ in range(MOST_UNUSED))
    assert read_notes(fresh).tallies["search"].used == 1
    assert not show()
    assert read_notes(fresh).tallies["search"].is_muted
    assert not show()
    assert edited(root, "py/store.py", "def fix(item)", "def fix(item, other)")
    assert run(["init", "--hooks", "--remove", "--yes", "--root", str(root)]) == DONE
    assert show()


@pytest.mark.parametrize(
    ("tool", "given", "is_used"),
    [
        ("Read", {"file_path": "py/store.py"}, True),
        ("Bash", {"command": "sed -n 1,9p py/store.py"}, True),
        ("mcp__graphrag__trace_relations", {"symbol": "load"}, True),
        ("Bash", {"command": "graphrag-mcp trace load"}, True),
        ("Grep", {"pattern": "load"}, False),
        ("mcp__graphrag__trace_relations", {"symbol": "save"}, False),
    ],
)
def test_a_text_is_used_by_what_asks_for_more(
    root: Path, fresh: Path, tmp_path: Path, tool: str, given: Mapping[str, Any], is_used: bool
) -> None:
    """It opens a file that was named, or asks us for the name; the call that was answered does not count."""
    transcript = tmp_path / "session.jsonl"
    transcript.write_text("")
    event = event_of(
        root, "PreToolUse", "Grep", {"pattern": "load"}, transcript_path=str(transcript), tool_use_id="later_0"
    )
    assert answer_to(event, root)
    transcript_of(transcript, [("Grep", {"pattern": "load", "path": "py/store.py"}), *[(tool, given)] * PATIENCE])
    assert searched(root, "send", session_id=event["session_id"])
    assert read_notes(fresh).tallies["search"].used == is_used


def test_usage_counts_what_hooks_said(
    root: Path, fresh: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """How often, how long, and how often that was used."""
    length = len(searched(root, "load"))
    transcript = transcript_of(tmp_path / "a.jsonl", [("Read", {"file_path": "a"})])
    capsys.readouterr()
    assert run(["usage", transcript, "--root", str(root)]) == DONE
    tokens = math.ceil(length / CHARACTERS_PER_TOKEN)
    assert f"Hook before a search: 0 of 1 text used, {tokens} tokens each." in capsys.readouterr().out
    assert run(["usage", transcript, "--root", str(root), "--json"]) == DONE
    assert json.loads(capsys.readouterr().out)["hooks"]["search"] == {
        "shown": 1,
        "characters": length,
        "used": 0,
        "unused": 0,
    }


DAMAGED = [
    b"", b"{", b"\xff\xfe", b"null", b"[]", b'"text"', b"{}", b"[" * 100_000, b'{"hook_event_name": 1}',
    json.dumps({"hook_event_name": "PostToolUse", "session_id": "a", "tool_name": "Edit", "tool_input": []}).encode(),
    json.dumps({"hook_event_name": "PostToolUse", "session_id": "a", "tool_name": "Edit", "tool_input": {}}).encode(),
    json.dumps({"hook_event_name": "Stop", "session_id": "a", "tool_name": "", "tool_input": {}}).encode(),
]  # fmt: skip


@pytest.mark.parametrize("data", DAMAGED, ids=range(len(DAMAGED)))
def test_damaged_events_are_passed_over(root: Path, fresh: Path, data: bytes) -> None:
    """Nothing is said, and the call of the tool goes on."""
    assert answer_to(data, root) == ""


@pytest.mark.parametrize(
    "changes",
    [
        {"tool_input": {"file_path": 3}}, {"tool_input": {"file_path": "/etc/passwd"}},
        {"tool_input": {"file_path": "py/../../other.py"}}, {"tool_input": {"file_path": "py/store.py\0"}},
        {"tool_response": None}, {"tool_response": {"originalFile": None}}, {"tool_response": {"originalFile": 3}},
        {"tool_response": "done"}, {"cwd": "/nowhere"}, {"session_id": None}, {"transcript_path": ["a"]},
    ],
)  # fmt: skip
def test_events_with_wrong_fields_are_passed_over(root: Path, fresh: Path, changes: Mapping[str, Any]) -> None:
    """Their types are checked, and files outside of the project are not read."""
    before = FILES["py/store.py"].replace("def save(item, key)", "def save(item)")
    event = event_of(root, "PostToolUse", "Edit", {"file_path": "py/store.py"}, tool_response={"originalFile": before})
    assert answer_to({**event, **changes}, root) == ""


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"tallies": {"search": {"unused": "many"}}}', b"\0" * 10_000])
def test_damaged_notes_are_begun_anew(root: Path, fresh: Path, damage: bytes) -> None:
    """A power cut costs the counts."""
    fresh.write_bytes(damage)
    assert searched(root, "load")
    assert read_notes(fresh).tallies["search"].shown == 1


def test_hooks_at_once_lose_no_count(root: Path, fresh: Path) -> None:
    """Claude Code runs several calls at the same time; one that would have to wait says nothing."""
    events = [event_of(root, "PreToolUse", "Grep", {"pattern": "load"}) for _ in range(8)]
    with ThreadPoolExecutor(4) as pool:
        said = list(pool.map(lambda event: process_answers(event, root), events))
    notes = read_notes(fresh)
    assert notes.tallies["search"].shown == len(notes.keys) == sum(map(bool, said)) > 0


def test_the_notes_stay_small(root: Path, fresh: Path) -> None:
    """Those of old sessions are forgotten."""
    assert searched(root, "load", session_id="x" * 100_000)
    size = fresh.stat().st_size
    notes = json.loads(fresh.read_bytes())
    assert size < 1_000_000
    assert all(len(session) < 200 for session in notes["keys"])


def test_without_an_index_nothing_is_said_or_made(tmp_path: Path, environ: pytest.MonkeyPatch) -> None:
    """Nor with one of another format."""
    (tmp_path / "store.py").write_text(FILES["py/store.py"])
    event = event_of(tmp_path, "PreToolUse", "Grep", {"pattern": "load"})
    paths = paths_of(tmp_path.resolve())
    assert answer_to(event, tmp_path) == ""
    assert not paths.folder.exists()
    paths.folder.mkdir(parents=True)
    paths.file.write_bytes(b"SQLite format 3\0" + b"x" * 5_000)
    assert answer_to(event, tmp_path) == ""


def test_nothing_is_written_in_the_project(root: Path, fresh: Path) -> None:
    """Its notes are beside the index."""
    files = {file: file.stat().st_mtime_ns for file in root.rglob("*") if file.is_file()}
    assert searched(root, "load")
    assert {file: file.stat().st_mtime_ns for file in root.rglob("*") if file.is_file()} == files


def test_it_ends_after_a_second_whatever_happens(root: Path) -> None:
    """An event that never ends, for example."""
    with subprocess.Popen(
        [sys.executable, "-m", "graphrag_mcp", "hook"], cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert (process.wait(HANG_SECONDS), process.stdout.read()) == (0, b"")


def test_it_imports_only_what_it_needs(root: Path, fresh: Path) -> None:
    """It runs at every edit: without settings, arrays and the resolver."""
    file, before = root / "py/store.py", FILES["py/store.py"].replace("def save(item, key)", "def save(item)")
    edit = event_of(root, "PostToolUse", "Edit", {"file_path": str(file)}, tool_response={"originalFile": before})
    search, other = (event_of(root, "PreToolUse", "Grep", {"pattern": pattern}) for pattern in ("load", "no name"))
    for event, packages in ((edit, {"sqlite3", "tree_sitter"}), (search, {"sqlite3"}), (other, set[str]())):
        data = json.dumps(event).encode()
        done = subprocess.run([sys.executable, "-c", IMPORTED], cwd=root, input=data, capture_output=True, check=True)
        imported = set(done.stderr.decode().split())
        assert imported & {"sqlite3", "tree_sitter", "pydantic", "numpy", "graphrag_mcp.resolution"} == packages


# ---------------------------------------------------------------- settings

OTHERS = {
    "permissions": {"allow": ["Bash(ls)"]},
    "hooks": {
        "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "mine"}]}],
        "Stop": [{"hooks": [{"type": "command", "command": "done"}]}],
    },
}


def init(root: Path, *more: str) -> int:
    return run(["init", "--root", str(root), "--hooks", "--yes", *more])


@pytest.mark.parametrize("text", [None, json.dumps(OTHERS, indent=2) + "\n", json.dumps(OTHERS, indent=4) + "\n"])
def test_hooks_are_added_once_and_removed_without_a_trace(
    tmp_path: Path, environ: pytest.MonkeyPatch, text: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    """The user's own hooks and settings stay, and no client is connected."""
    file = tmp_path / HOOK_SETTINGS
    if text is not None:
        file.parent.mkdir()
        file.write_text(text)
    assert init(tmp_path) == DONE
    written = file.read_text()
    hooks = json.loads(written)["hooks"]
    assert [hook["command"] for hook in hooks["PostToolUse"][0]["hooks"]] == ["graphrag-mcp hook || exit 0"] * 3
    assert text is None or hooks["PreToolUse"][0] == OTHERS["hooks"]["PreToolUse"][0]  # type: ignore[index]
    capsys.readouterr()
    assert init(tmp_path) == DONE
    assert "is already set up" in capsys.readouterr().out
    assert file.read_text() == written
    assert not (tmp_path / ".mcp.json").exists()
    assert init(tmp_path, "--remove") == DONE
    assert (file.read_text() if file.exists() else None) == text


def test_older_hooks_of_ours_are_replaced(tmp_path: Path, environ: pytest.MonkeyPatch) -> None:
    """Also beside another one in a group."""
    ours, other = ({"type": "command", "command": command} for command in ("graphrag-mcp hook --old", "mine"))
    settings = {
        "hooks": {"PostToolUse": [{"matcher": "Edit", "hooks": [ours, other]}, {"matcher": "*", "hooks": [ours]}]}
    }
    file = tmp_path / HOOK_SETTINGS
    file.parent.mkdir()
    file.write_text(json.dumps(settings))
    assert init(tmp_path) == DONE
    kept, new = json.loads(file.read_text())["hooks"]["PostToolUse"]
    assert kept == {"matcher": "Edit", "hooks": [other]}
    assert "--old" not in json.dumps(new)


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"hooks": []}', '{"hooks": {"Stop": {}}, "a": 1', '{"hooks": {"Stop": [3]}}']
)
def test_settings_that_cannot_be_read_are_left_for_a_person(
    tmp_path: Path, environ: pytest.MonkeyPatch, text: str
) -> None:
    """They may have comments, for example."""
    file = tmp_path / HOOK_SETTINGS
    file.parent.mkdir()
    file.write_text(text)
    assert init(tmp_path) != DONE
    assert init(tmp_path, "--remove") != DONE
    assert file.read_text() == text


def test_settings_elsewhere_are_not_written(tmp_path: Path, environ: pytest.MonkeyPatch) -> None:
    """A cloned repository may link to the user's own."""
    outside, project = tmp_path / "home", tmp_path / "project"
    outside.mkdir()
    project.mkdir()
    (project / ".claude").symlink_to(outside, target_is_directory=True)
    assert init(project) != DONE
    assert not [*outside.iterdir()]
