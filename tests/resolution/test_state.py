"""What the resolver remembers does not depend on what was asked before."""

import pytest

from graphrag_mcp.model.links import How
from graphrag_mcp.resolution import state as module
from graphrag_mcp.resolution.linking import Linker
from graphrag_mcp.resolution.state import State
from tests.resolution.projects import Project


def _values(state: State, *asked: str) -> list[str | None]:
    """Return what the names give: a is what b gives, and b is what a gives, else "B"."""

    def value(name: str) -> str | None:
        if name == "a":
            return state.once(("a",), lambda: value("b"))
        return state.once(("b",), lambda: value("a") or "B")

    return [value(name) for name in asked]


def test_an_answer_on_the_way_round_is_not_kept() -> None:
    """Whatever is asked first, each name gives the same."""
    assert _values(State(Project({})), "b", "a") == ["B", "B"]
    assert _values(State(Project({})), "a", "b") == ["B", "B"]
    state = State(Project({}))
    assert _values(state, "b", "b", "a", "a") == ["B", "B", "B", "B"]


def test_what_was_cut_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """A question that took too many steps is answered when there are enough of them."""
    monkeypatch.setattr(module, "MAX_STEPS", 1)
    state = State(Project({}))
    assert _values(state, "a") == [None]
    monkeypatch.setattr(module, "MAX_STEPS", 100)
    state.begin()
    assert _values(state, "a") == ["B"]


def test_what_is_left_of_a_file_after_so_many_steps_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that takes very long ends, and says so for each of its names."""
    files = {"a.py": "class A:\n    def f(self): pass\n" + "".join(f"def g{n}(): A().f()\n" for n in range(50))}
    calls = [link.how for link in Linker(Project(files)).link("a.py").links if link.use == "call" and link.line > 30]
    assert set(calls) == {How.CERTAIN}
    monkeypatch.setattr(module, "MAX_OF_FILE", 60)
    calls = [link.how for link in Linker(Project(files)).link("a.py").links if link.use == "call" and link.line > 30]
    assert set(calls) == {How.UNDECIDED}


STEPS = range(1, 31)
DOUBLED = {
    "a function type": (
        "a.ts",
        "type A0<T> = (x: T) => T",
        "type A{k}<T> = A{j}<A{j}<T>>",
        "function f(x: A30<B>) {{ x(x).go() }}",
    ),
    "a tuple type": (
        "a.ts",
        "type A0<T> = [T, T]",
        "type A{k}<T> = A{j}<[T, T]>",
        "function f(x: A30<B>) {{ x[0].go() }}",
    ),
    "values": ("a.py", "a0 = (1, 2)", "a{k} = (a{j}, a{j})", "a30[0].go()"),
    "a base type": (
        "A.java",
        "class A0<T> { T go; }",
        "class A{k}<T> extends A{j}<A{j}<T>> {{}}",
        "class F { void f(A30<F> x) {{ x.go.go(); }} }",
    ),
    "an alias": (
        "a.rs",
        "type A0<T> = fn(T) -> T;",
        "type A{k}<T> = A{j}<A{j}<T>>;",
        "fn f(x: A30<u8>) {{ x(x).go(); }}",
    ),
}


@pytest.mark.parametrize("what", DOUBLED)
def test_what_doubles_with_each_step_is_unknown(what: str) -> None:
    """Thirty lines make a type of a billion parts, or of two to that power."""
    path, first, step, last = DOUBLED[what]
    lines = [first, *(step.format(k=k, j=k - 1) for k in STEPS), last.replace("{{", "{").replace("}}", "}")]
    links = [link for link in Linker(Project({path: "\n".join(lines)})).link(path).links if link.line == 32]
    assert not [link for link in links if link.use == "call" and link.how == How.CERTAIN]


@pytest.mark.parametrize(
    ("path", "first", "step"),
    [
        ("a.py", "class C0:\n    def go(self): pass\n", "class C{k}(C{j}):\n    def m{k}(self): self.go()\n"),
        ("A.java", "class C0 {\n void go() {} }\n", "class C{k} extends C{j} {{\n void m{k}() {{ this.go(); }} }}\n"),
        ("a.ts", "class C0 {\n go() {} }\n", "class C{k} extends C{j} {{\n m{k}() {{ this.go(); }} }}\n"),
    ],
)
def test_what_is_very_far_above_a_type_is_unknown(path: str, first: str, step: str) -> None:
    """Many types above each other are followed a part of the way, and the rest of the file is resolved."""
    text = first + "".join(step.format(k=k, j=k - 1) for k in range(1, 350))
    calls = [link for link in Linker(Project({path: text})).link(path).links if link.use == "call"]
    assert (calls[0].how, calls[-1].how) == (How.CERTAIN, How.UNDECIDED)
