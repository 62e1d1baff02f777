"""Prints what jedi and pyright say of the files of a folder, as the records of ../README.md.

    python python.py ROOT PYTHON < FILES > truth.jsonl

FILES has one relative path a line; PYTHON is the interpreter of the environment that the files are read with. A target
is certain where both name it, or pyright alone does: it reads declared types only. What jedi alone names, from the
calls that it finds, and what the two name differently, is disputed.
"""

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import jedi  # type: ignore[import-not-found,unused-ignore]

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DEFINITIONS = (*FUNCTIONS, ast.ClassDef)
CONSTRUCTORS = {"__init__", "__new__"}
PROPERTIES = {"property", "cached_property", "setter", "getter", "deleter"}


class Place(NamedTuple):
    """Where a declaration is."""

    path: str
    line: int
    name: str


@dataclass(frozen=True, slots=True)
class Symbol:
    """A function or class. owner: the class that declares it."""

    place: Place
    column: int
    start: int
    end: int
    qualified: str
    kind: str
    local: bool
    owner: Place | None

    @property
    def group(self) -> tuple[str, str]:
        """What the declarations of one thing share: overloads, and the parts of a property."""
        return self.place.path, self.qualified


@dataclass(frozen=True, slots=True)
class Use:
    """A name in an expression; columns count characters from 0. means: its name where it was imported from. inside: the
    class of its method.
    """

    line: int
    column: int
    name: str
    means: str
    kind: str
    receiver: str
    inside: Place | None


@dataclass(slots=True)
class Opinion:
    """What one checker says of a name."""

    targets: set[Place] = field(default_factory=set)
    outside: bool = False
    local: bool = False


class Source:
    """One file."""

    def __init__(self, root: Path, path: str) -> None:
        self.path = path
        self.file = root / path
        self.text = self.file.read_text(encoding="utf-8")
        self.tree = ast.parse(self.text)
        self.lines = self.text.split("\n")

    @cached_property
    def symbols(self) -> list[Symbol]:
        """The functions and classes, in the order of their lines."""
        return list(self._declared(self.tree, (), local=False, owner=None))

    def _declared(self, node: ast.AST, outer: tuple[str, ...], *, local: bool, owner: Place | None) -> Iterator[Symbol]:
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, DEFINITIONS):
                yield from self._declared(child, outer, local=local, owner=owner)
                continue
            place = Place(self.path, child.lineno, child.name)
            column = self.lines[child.lineno - 1].index(child.name, child.col_offset + 3)
            start = min([child.lineno, *(one.lineno for one in child.decorator_list)])
            names = (*outer, child.name)
            kind = _kind(child, owner)
            yield Symbol(place, column, start, child.end_lineno or start, ".".join(names), kind, local, owner)
            is_class = isinstance(child, ast.ClassDef)
            yield from self._declared(child, names, local=local or not is_class, owner=place if is_class else None)

    def uses(self, names: set[str]) -> list[Use]:
        """Return the uses of some names."""
        return [use for use in Uses(self).found if use.means in names]

    def column(self, line: int, offset: int) -> int:
        """Return the character at an offset in bytes."""
        return len(self.lines[line - 1].encode()[:offset].decode(errors="replace"))


def _kind(node: ast.stmt, owner: Place | None) -> str:
    if isinstance(node, ast.ClassDef):
        return "class"
    assert isinstance(node, FUNCTIONS)
    decorators = {ast.unparse(one).rpartition(".")[2] for one in node.decorator_list}
    if owner is not None and decorators & PROPERTIES:
        return "property"
    return "method" if owner is not None else "function"


class Uses(ast.NodeVisitor):
    """Collects the names of a file that are not declarations, with how each is used."""

    def __init__(self, source: Source) -> None:
        self.found: list[Use] = []
        self._source = source
        self._kinds: dict[int, str] = {}  # By the id of a node.
        imported = (one for node in ast.walk(source.tree) if isinstance(node, ast.ImportFrom) for one in node.names)
        self._imported = {one.asname: one.name for one in imported if one.asname}
        self._classes: list[Place | None] = [None]
        self.visit(source.tree)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._mark(node.decorator_list, "call")
        self._mark(node.bases, "base")
        self._classes.append(Place(self._source.path, node.lineno, node.name))
        self.generic_visit(node)
        self._classes.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._mark(node.decorator_list, "call")
        self._annotate(node.returns)
        self.generic_visit(node)

    visit_AsyncFunctionDef = visit_FunctionDef  # type: ignore[assignment]  # noqa: N815

    def visit_arg(self, node: ast.arg) -> None:
        self._annotate(node.annotation)
        self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self._annotate(node.annotation)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        self._mark([node.func], "call")
        self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self._add(node, node.lineno, self._source.column(node.lineno, node.col_offset), node.id, "bare")

    def visit_Attribute(self, node: ast.Attribute) -> None:
        line = node.end_lineno or node.lineno
        column = self._source.column(line, node.end_col_offset or 0) - len(node.attr)
        if not isinstance(node.ctx, ast.Load):
            self._kinds[id(node)] = "write"
        self._add(node, line, column, node.attr, _shape(node.value))
        self.generic_visit(node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for one in node.names:
            self._kinds[id(one)] = "import"
            self._add(one, one.lineno, self._source.column(one.lineno, one.col_offset), one.name, "bare")

    def _add(self, node: ast.AST, line: int, column: int, name: str, receiver: str) -> None:
        kind = self._kinds.get(id(node), "value")
        means = self._imported.get(name, name) if receiver == "bare" else name
        self.found.append(Use(line, column, name, means, kind, receiver, self._classes[-1]))

    def _mark(self, nodes: Iterable[ast.AST], kind: str) -> None:
        for node in nodes:
            inner = node.value if isinstance(node, ast.Subscript) else node
            self._kinds.setdefault(id(inner), kind)

    def _annotate(self, annotation: ast.expr | None) -> None:
        """Mark the names of an annotation; a quoted one is read where it stands."""
        for node in ast.walk(annotation) if annotation is not None else ():
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.lineno == node.end_lineno:
                self._quoted(node)
            self._kinds[id(node)] = "type"

    def _quoted(self, node: ast.Constant) -> None:
        try:
            inner = ast.parse(str(node.value), mode="eval")
        except SyntaxError:
            return
        start = self._source.column(node.lineno, node.col_offset) + 1
        for one in ast.walk(inner):
            if isinstance(one, ast.Name):
                self._kinds[id(one)] = "type"
                self._add(one, node.lineno, start + one.col_offset, one.id, "bare")


def _shape(node: ast.expr) -> str:
    """Say how the qualifier of a name is written; errors are counted by it."""
    match node:
        case ast.Name(id="self" | "cls"):
            return "self"
        case ast.Name():
            return "name"
        case ast.Call(func=ast.Name(id="super")):
            return "super()"
        case ast.Call():
            return "call().x"
        case ast.Attribute(value=ast.Name(id="self" | "cls")):
            return "self.a.x"
        case ast.Attribute():
            return "a.b.x"
        case ast.Constant() | ast.JoinedStr():
            return "literal"
        case ast.Subscript():
            return "a[i].x"
        case _:
            return "other"


class Project:
    """The files of a folder, and what is declared in them."""

    def __init__(self, root: Path, paths: Iterable[str]) -> None:
        self.root = root
        self.sources = [source for path in paths if (source := _source(root, path)) is not None]
        declared = [symbol for source in self.sources for symbol in source.symbols]
        self.symbols = {symbol.place: symbol for symbol in declared}
        self.names = {symbol.place.name for symbol in declared}
        self._at = {
            (symbol.place.path, line): symbol for symbol in declared for line in (symbol.start, symbol.place.line)
        }

    def judge(self, opinion: Opinion, file: str, line: int, name: str) -> None:
        """Add one definition that a checker names."""
        path = Path(file)
        if not path.is_relative_to(self.root):
            opinion.outside = True
            return
        symbol = self._at.get((path.relative_to(self.root).as_posix(), line))
        if symbol is not None and symbol.owner is not None and symbol.place.name in CONSTRUCTORS - {name}:
            symbol = self.symbols[symbol.owner]  # Of `C()`.
        if symbol is not None and symbol.place.name == name:
            opinion.targets.add(symbol.place)
        elif ".venv" in path.parts or "site-packages" in path.parts:
            opinion.outside = True
        else:
            opinion.local = True


def _source(root: Path, path: str) -> Source | None:
    try:
        return Source(root, path)
    except (SyntaxError, UnicodeDecodeError):
        print(path, "is not parsed", file=sys.stderr)
        return None


# ---------------------------------------------------------------- the two checkers


def ask_jedi(project: Project, settings: jedi.Project, source: Source, uses: Iterable[Use]) -> list[Opinion]:
    """Return what jedi says of each use."""
    script = jedi.Script(source.text, path=source.file, project=settings)
    opinions = []
    for use in uses:
        opinion = Opinion()
        try:
            found = script.goto(use.line, use.column, follow_imports=True, follow_builtin_imports=True)
        except Exception as error:  # jedi fails in many ways; it then has no opinion.
            print(source.path, use.line, repr(error)[:80], file=sys.stderr)
            found = []
        for name in found:
            if name.module_path is not None and name.line is not None:
                project.judge(opinion, str(name.module_path), name.line, use.means)
            elif name.in_builtin_module():
                opinion.outside = True
        opinions.append(opinion)
    return opinions


class Pyright:
    """Its language server, over standard input and output."""

    def __init__(self, root: Path, python: str) -> None:
        command = [str(Path(sys.executable).parent / "pyright-langserver"), "--stdio"]
        self._server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        folder = {"uri": root.as_uri(), "name": root.name}
        self._settings = {"python": {"pythonPath": python}, "python.analysis": {"diagnosticMode": "openFilesOnly"}}
        self._number = 0
        self._ask("initialize", processId=os.getpid(), rootUri=folder["uri"], workspaceFolders=[folder],
                  capabilities={"workspace": {"configuration": True}})  # fmt: skip
        self._answers(1)
        self._send({"method": "initialized", "params": {}})

    def definitions(self, source: Source, uses: list[Use]) -> list[list[tuple[str, int]]]:
        """Return the file and the line of each definition of each use."""
        document = {"uri": source.file.as_uri()}
        opened = {**document, "languageId": "python", "version": 1, "text": source.text}
        self._send({"method": "textDocument/didOpen", "params": {"textDocument": opened}})
        found = []
        for use in uses:
            self._ask(
                "textDocument/definition",
                textDocument=document,
                position={"line": use.line - 1, "character": use.column},
            )
            (answer,) = self._answers(1)
            places = [answer] if isinstance(answer, dict) else answer or []
            found.append([(_path_of(one["uri"]), one["range"]["start"]["line"] + 1) for one in places])
        self._send({"method": "textDocument/didClose", "params": {"textDocument": document}})
        return found

    def close(self) -> None:
        """End the server."""
        self._server.kill()

    def _ask(self, method: str, **params: object) -> None:
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})

    def _answers(self, count: int) -> list[Any]:
        found: list[Any] = []
        while len(found) < count:
            message = self._receive()
            if message.get("method") == "workspace/configuration":
                result = [self._settings.get(item["section"], {}) for item in message["params"]["items"]]
                self._send({"id": message["id"], "result": result})
            elif "method" in message and "id" in message:
                self._send({"id": message["id"], "result": None})
            elif "id" in message:
                found.append(message.get("result"))
        return found

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._server.stdin is not None
        self._server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self._server.stdin.flush()

    def _receive(self) -> dict[str, Any]:
        assert self._server.stdout is not None
        length = 0
        while (line := self._server.stdout.readline().strip()) or not length:
            if line.lower().startswith(b"content-length:"):
                length = int(line.partition(b":")[2])
        message: dict[str, Any] = json.loads(self._server.stdout.read(length))
        return message


def _path_of(uri: str) -> str:
    from urllib.parse import unquote, urlparse

    return unquote(urlparse(uri).path)


# ---------------------------------------------------------------- what both say


def decide(project: Project, jedi_says: Opinion, pyright_says: Opinion) -> tuple[str, set[Place]]:
    """Return what a name is, and its targets."""
    one, other = jedi_says.targets, pyright_says.targets
    groups = {project.symbols[place].group for place in one} & {project.symbols[place].group for place in other}
    if groups:
        return "project", {place for place in one | other if project.symbols[place].group in groups}
    if one or other:
        alone = other and not (one or jedi_says.outside or jedi_says.local)
        return "project" if alone else "disputed", one | other
    if jedi_says.outside or pyright_says.outside:
        return "outside", set()
    return "local" if jedi_says.local or pyright_says.local else "unknown", set()


class Hierarchy:
    """Which class is below which, and which method overrides which."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._bases: dict[Place, list[Place]] = {}
        self._members: dict[tuple[Place, str], Place] = {}
        for symbol in project.symbols.values():
            if symbol.owner is not None:
                self._members[symbol.owner, symbol.place.name] = symbol.place

    def add(self, below: Place, above: Place) -> None:
        """Add a base of a class."""
        self._bases.setdefault(below, []).append(above)

    def above(self, below: Place) -> set[Place]:
        """Return all the classes above one."""
        found: set[Place] = set()
        waiting = [below]
        while waiting:
            new = set(self._bases.get(waiting.pop(), ())) - found
            found |= new
            waiting += new
        return found - {below}

    def constructor(self, of: Place) -> set[Place]:
        """Return the `__init__` that a call of a class runs, of the first class above that has one."""
        waiting = [of]
        for owner in waiting:
            if (owner, "__init__") in self._members:
                return {self._members[owner, "__init__"]}
            waiting += (base for base in self._bases.get(owner, ()) if base not in waiting)
        return set()

    def pairs(self) -> Iterator[tuple[str, Place, Place]]:
        """Return what extends and what overrides what."""
        for below, bases in self._bases.items():
            yield from (("extends", below, base) for base in bases)
        for (owner, name), place in self._members.items():
            yield from (
                ("overrides", place, self._members[base, name])
                for base in self.above(owner)
                if (base, name) in self._members
            )

    @cached_property
    def _overriders(self) -> dict[Place, list[Place]]:
        found: dict[Place, list[Place]] = {}
        for kind, below, above in self.pairs():
            if kind == "overrides":
                found.setdefault(above, []).append(below)
        return found

    def dispatch(self, target: Place, use: Use) -> list[Place]:
        """Return what a call of a method may reach besides it."""
        if use.kind != "call" or use.receiver in ("bare", "super()"):
            return []
        below = self._overriders.get(target, [])
        if use.receiver != "self" or use.inside is None:
            return below
        owners = {place: self._project.symbols[place].owner for place in below}
        return [place for place, owner in owners.items() if owner and use.inside in {owner, *self.above(owner)}]


def main() -> None:
    """Print the records of the files."""
    root, python = Path(sys.argv[1]).resolve(), sys.argv[2]
    project = Project(root, sys.stdin.read().splitlines())
    settings = jedi.Project(root, environment_path=python, added_sys_path=[str(root), str(root / "src")])
    pyright = Pyright(root, python)
    hierarchy = Hierarchy(project)
    decided: list[tuple[Source, Use, str, set[Place]]] = []
    for source in project.sources:
        uses = source.uses(project.names)
        by_jedi = ask_jedi(project, settings, source, uses)
        for use, one, places in zip(uses, by_jedi, pyright.definitions(source, uses), strict=True):
            other = Opinion()
            for file, line in places:
                project.judge(other, file, line, use.means)
            found, targets = decide(project, one, other)
            decided.append((source, use, found, targets))
            if use.kind == "base" and found == "project" and use.inside is not None:
                for target in targets:
                    hierarchy.add(use.inside, target)
        print(source.path, len(uses), file=sys.stderr, flush=True)
    pyright.close()
    write(project, hierarchy, decided)


def write(project: Project, hierarchy: Hierarchy, decided: Iterable[tuple[Source, Use, str, set[Place]]]) -> None:
    """Print all records."""
    for source in project.sources:
        show(record="file", path=source.path)
    for symbol in project.symbols.values():
        show(
            record="symbol",
            **symbol.place._asdict(),
            column=symbol.column + 1,
            start_line=symbol.start,
            end_line=symbol.end,
            qualified=symbol.qualified,
            kind=symbol.kind,
            local=symbol.local,
        )
    for kind, below, above in hierarchy.pairs():
        show(record="pair", kind=kind, source=below, target=above)
    for source, use, found, targets in decided:
        reached = {place for target in targets for place in hierarchy.dispatch(target, use)}
        kind = _kind_of(project, use, targets)
        created = {place for one in targets for place in hierarchy.constructor(one)} if kind == "instantiate" else set()
        show(
            record="site",
            path=source.path,
            line=use.line,
            column=use.column + 1,
            name=use.name,
            kind=kind,
            found=found,
            targets=sorted(targets | created),
            dispatch=sorted(reached),
            receiver=use.receiver,
        )


def _kind_of(project: Project, use: Use, targets: set[Place]) -> str:
    kinds = {project.symbols[target].kind for target in targets}
    if use.kind == "call" and kinds == {"class"}:
        return "instantiate"
    if kinds == {"property"} and use.kind in ("value", "call"):
        return "read"
    return use.kind


def show(**record: object) -> None:
    """Print one record."""
    print(json.dumps(record))


if __name__ == "__main__":
    main()
