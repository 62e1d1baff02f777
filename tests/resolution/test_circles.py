"""Programs in which members are given each other in circles: each file is resolved, whatever depends on itself."""

import random
from collections.abc import Sequence

import pytest

from graphrag_mcp.resolution.linking import Linker
from tests.resolution.projects import Project

NAMES, MEMBERS = "abcd", "xyz"
TYPESCRIPT = (
    ["import net from 'node:net'\nimport { Ext, make } from 'ext'\nimport * as lib from './b'"],
    [
        "let {a}: net.Socket",
        "const {a} = make()",
        "let {a} = new Ext()",
        "let {a}: typeof {b}",
        "const {a} = {{ x: {b} }}",
        "export const {a} = lib.{b}",
        "class C{a} extends C{b} {{ x = {c}; y() {{ return this.{x} }} }}\nconst {a} = new C{a}()",
    ],
    [
        "{a}.{x} = {b}.{y}",
        "{a}.{x} = {b}.{y}.{z}",
        "{a}.{x} = () => {b}.{y}()",
        "{a}.{x}.{y} = {b}.{z}",
        "const {{ {x} }} = {a}.{y}",
        "function f{x}(p = {a}.{y}) {{ return p.{z} = {b}.{x} }}\n{a}.{x} = f{x}({b}.{z})",
        "{a}.prototype.{x} = {b}.prototype.{y}",
        "exports.{x} = require('./b').{y}",
        "for (const q of {a}.{x}) q.{y} = {b}.{x}",
    ],
)
PYTHON = (
    ["import net\nfrom ext import Ext, make\nfrom b import *\nimport b as lib"],
    [
        "{a} = make()",
        "{a}: Ext = Ext()",
        "{a} = lib.{b}",
        "{a} = {{'x': {b}}}",
        "class C{a}(C{b}, Ext):\n    x = {c}\n    def y(self): self.x = {b}.y; return self.{x}\n{a} = C{a}()",
    ],
    [
        "{a}.{x} = {b}.{y}",
        "{a}.{x} = {b}.{y}.{z}",
        "{a}.{x} = lambda: {b}.{y}()",
        "{a}.{x}.{y} = {b}.{z}",
        "def f{x}(p={a}.{y}): p.{z} = {b}.{x}; return p\n{a}.{x} = f{x}({b}.{z})",
        "for q in {a}.{x}: q.{y} = {b}.{x}",
        "with {a}.{x} as {y}: {b}.{z} = {y}.{x}",
    ],
)


def program(form: tuple[Sequence[str], Sequence[str], Sequence[str]], choice: random.Random) -> str:
    """Return a program of random declarations and assignments."""
    head, declarations, statements = form

    def filled(line: str, name: str) -> str:
        names = {"a": name, "b": choice.choice(NAMES), "c": choice.choice(NAMES)}
        return line.format(**names, **{place: choice.choice(MEMBERS) for place in MEMBERS})

    declared = [filled(choice.choice(declarations), name) for name in NAMES]
    return "\n".join([*head, *declared, *(filled(choice.choice(statements), choice.choice(NAMES)) for _ in range(12))])


@pytest.mark.parametrize("seeds", [range(12), pytest.param(range(12, 120), marks=pytest.mark.slow)])
@pytest.mark.parametrize(("suffix", "form"), [("ts", TYPESCRIPT), ("js", TYPESCRIPT), ("py", PYTHON)])
def test_circles_of_assignments_end(
    suffix: str, form: tuple[Sequence[str], Sequence[str], Sequence[str]], seeds: range
) -> None:
    """One of ten such programs once took the relations of its whole file."""
    for seed in seeds:
        choice = random.Random(seed)
        project = Project({f"{name}.{suffix}": program(form, choice) for name in "ab"})
        linker = Linker(project)
        for path in project.paths():
            assert linker.link(path).links, seed


def test_a_member_that_a_type_of_a_library_is_given_from_itself_is_unknown() -> None:
    """The rest of the file is resolved."""
    text = """import net from 'node:net'
export class A {
  real: net.Socket
  constructor(readonly socket: net.Socket) {}
  go() { this.socket.handle = this.real.handle; this.«stop»() }
  stop() {}
}
"""
    assert Project({"a.ts": text}).answers() == ["a.ts:6 stop"]
