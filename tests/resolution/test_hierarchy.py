"""Which types implement an interface, and which methods a call of it may reach."""

import pytest

from graphrag_mcp.model.facts import SymbolId
from graphrag_mcp.resolution.hierarchy import Hierarchy
from graphrag_mcp.resolution.linking import Linker
from tests.resolution.projects import Project


def below(files: dict[str, str], name: str) -> set[str]:
    """Return what is below a type, or overrides a method, by qualified names."""
    return _names(files, name, of_type="children", of_method="overriding")


def above(files: dict[str, str], name: str) -> set[str]:
    """Return what is above a type, or is overridden by a method."""
    return _names(files, name, of_type="parents", of_method="overridden")


def _names(files: dict[str, str], name: str, *, of_type: str, of_method: str) -> set[str]:
    search = Project(files).search
    hierarchy, declared = Hierarchy(search), search.resolver.declared
    symbols = [
        symbol
        for path in files
        for number, one in enumerate(search.source.facts(path).declared)
        if one.qualified == name
        for symbol in [SymbolId(path, number)]
    ]
    (symbol,) = symbols
    find = getattr(hierarchy, of_method if declared(symbol).kind == "method" else of_type)
    return {declared(one).qualified for one in find(symbol)}


READERS = """package a

type Reader interface { Read(p []byte) (int, error) }
type File struct{}
func (f *File) Read(p []byte) (int, error) { return 0, nil }
type Other struct{}
func (o Other) Read(p string) (int, error) { return 0, nil }
type Wrapped struct{ *File }
type Field struct{ Read func(p []byte) (int, error) }
"""


def test_a_type_with_all_methods_of_an_interface_implements_it() -> None:
    """With the same signatures, its own methods or those that it embeds; a field is no method."""
    assert below({"a.go": READERS}, "Reader") == {"File", "Wrapped"}
    assert above({"a.go": READERS}, "File") == {"Reader"}


def test_a_call_of_an_interface_may_reach_the_methods_of_its_implementers() -> None:
    """Also one that a type embeds."""
    assert below({"a.go": READERS}, "Reader.Read") == {"File.Read"}
    assert above({"a.go": READERS}, "File.Read") == {"Reader.Read"}


def test_a_foreign_type_in_a_struct_makes_its_methods_unknown() -> None:
    """Then it is not said to implement anything that it does not have by itself."""
    text = 'package a\n\nimport "bytes"\n\ntype Reader interface { Read() }\ntype B struct{ *bytes.Buffer }\n'
    assert below({"a.go": text}, "Reader") == set()


def test_an_interface_may_demand_what_one_of_the_standard_library_does() -> None:
    """The methods of the usual ones are known."""
    text = """package a

type Failure interface { error; Code() int }
type Mine struct{}
func (m Mine) Error() string { return "" }
func (m Mine) Code() int { return 0 }
type Silent struct{}
func (s Silent) Code() int { return 0 }
"""
    assert below({"a.go": text}, "Failure") == {"Mine"}


def test_an_interface_that_embeds_another_is_below_it() -> None:
    """It demands at least as much."""
    text = "package a\n\ntype A interface { One() }\ntype B interface { A; Two() }\n"
    assert below({"a.go": text}, "A") == {"B"}


def test_an_empty_interface_has_no_implementers() -> None:
    """Every type would be one."""
    assert below({"a.go": "package a\n\ntype Any interface{}\ntype T struct{}\nfunc (t T) Run() {}\n"}, "Any") == set()


JAVA = """interface Shape<T> { void draw(T on); default void draw(T on, int times) {} }
abstract class Base { void draw(String on) {} void draw(int on) {} static void all() {} private void hide() {} }
class Circle extends Base implements Shape<String> {
  public void draw(String on) {}
  static void all() {}
  void hide() {}
  Shape<Circle> inner = new Shape<Circle>() { public void draw(Circle on) {} };
}
class Ring extends Circle { public void draw(int on) {} }
"""


def test_a_named_or_nameless_class_is_below_what_it_names() -> None:
    """Classes below classes and interfaces, and classes without a name by their base."""
    assert below({"A.java": JAVA}, "Shape") == {"Circle", ""}
    assert below({"A.java": JAVA}, "Base") == {"Circle"}
    assert above({"A.java": JAVA}, "Circle") == {"Shape", "Base"}


def test_a_method_overrides_one_that_takes_the_same() -> None:
    """With the type arguments of its class; overloads, static and private methods and constructors are others."""
    found = {name: above({"A.java": JAVA}, name) for name in ("Circle.draw", "Ring.draw", "Circle.all", "Circle.hide")}
    assert found == {
        "Circle.draw": {"Shape.draw", "Base.draw"},
        "Ring.draw": {"Base.draw"},
        "Circle.all": set(),
        "Circle.hide": set(),
    }


def test_a_method_overrides_one_of_an_imported_class() -> None:
    """Whatever name the import gives it, with and without type arguments."""
    files = {
        "a.ts": "export class Base<T> { run() {} }\n",
        "b.ts": """import { Base as B } from './a'
class One extends B { run() {} }
class Two extends B<string> { run() {} }
""",
    }
    assert [above(files, name) for name in ("One.run", "Two.run", "One")] == [{"Base.run"}, {"Base.run"}, {"Base"}]


def _links(path: str, text: str) -> int:
    return len(Linker(Project({path: text})).link(path).links)


@pytest.mark.parametrize("path", ["a.py", "a.go"])
def test_the_links_of_a_hierarchy_grow_with_its_types(path: str) -> None:
    """A chain of types, and interfaces that all types satisfy, cost no pair of each with each."""

    def text(count: int) -> str:
        if path == "a.py":
            first = "class C0:\n    def run(self): pass\n"
            return first + "".join(f"class C{n}(C{n - 1}):\n    def run(self): pass\n" for n in range(1, count))
        types = "type T{0} struct{{}}\nfunc (t *T{0}) Run() {{}}\ntype I{0} interface {{ Run() }}\n"
        return "package a\n" + "".join(types.format(n) for n in range(count))

    assert _links(path, text(80)) <= 2.1 * _links(path, text(40))
