"""Python: modules and packages, classes and their order, the own instance, annotations, decorators and results."""

import pytest

from tests.resolution.projects import OTHER, UNDECIDED, Project

CLASSES = """
class Base:
    def run(self): ...
    def stop(self): pass

class Other:
    def run(self): pass

class Child(Base):
    def stop(self): pass
"""  # Lines: Base 2, run 3, stop 4; Other 6, run 7; Child 9, stop 10.


def ask(text: str, **files: str) -> str:
    """Return what the marked name in `main.py` refers to; other files by their path without the suffix."""
    others = {f"{path.replace('__in__', '/')}.py": content for path, content in files.items()}
    return Project({"classes.py": CLASSES, **others, "main.py": text}).answer()


# ---------------------------------------------------------------- modules


@pytest.mark.parametrize(
    "code",
    [
        "from classes import Base\n«Base»",
        "from classes import Base as B\n«B»",
        "import classes\nclasses.«Base»",
        "import classes as c\nc.«Base»",
        "from classes import *\n«Base»",
        "def f():\n    from classes import Base\n    return «Base»()",
        "try:\n    from classes import Base\nexcept ImportError:\n    Base = None\n«Base»",
        "from classes import «Base»",
    ],
)
def test_an_imported_name_is_that_of_its_module(code: str) -> None:
    """However it is imported, and wherever the import stands."""
    assert ask(code) == "classes.py:2 Base"


@pytest.mark.parametrize(
    "body",
    [
        "    def __init__(self):\n        self.classes = self.make()\n    def make(self) -> classes.Other: ...\n",
        "    classes: classes.Other\n",
    ],
)
def test_an_annotation_in_a_class_names_a_module_though_an_attribute_has_its_name(body: str) -> None:
    """What methods assign to the instance is no name in the body of the class, nor is what is just being declared."""
    code = f"import classes\nclass Shop:\n{body}    def run(self):\n        self.classes.«run»()\n"
    assert ask(code) == "classes.py:7 run"


def test_a_package_passes_on_what_it_imports() -> None:
    """The name of a package's own import is a name of the package."""
    project = Project(
        {
            "pkg/__init__.py": "from .inner import make as build\n",
            "pkg/inner.py": "def make(): pass\n",
            "main.py": "import pkg\npkg.«build»()\n",
        }
    )
    assert project.answer() == "pkg/inner.py:1 make"


def test_a_package_imports_its_own_module_from_itself() -> None:
    """`from . import inner` in `__init__` means the file, not the name that it binds."""
    project = Project(
        {
            "pkg/__init__.py": "from . import inner\ninner.«make»()\n",
            "pkg/inner.py": "def make(): pass\n",
        }
    )
    assert project.answer() == "pkg/inner.py:1 make"


@pytest.mark.parametrize(
    ("root", "user"), [("", "main.py"), ("src/", "tests/test_it.py"), ("python/", "setup/deep/run.py")]
)
def test_a_package_is_found_in_the_folders_of_sources(root: str, user: str) -> None:
    """At the root, or in `src` and its like beside the file or above it."""
    project = Project(
        {
            f"{root}pkg/__init__.py": "",
            f"{root}pkg/inner.py": "def make(): pass\n",
            user: "import pkg.inner\npkg.inner.«make»()\n",
        }
    )
    assert project.answer() == f"{root}pkg/inner.py:1 make"


def test_a_folder_without_init_is_a_package() -> None:
    """A namespace package has no file of its own."""
    project = Project(
        {
            "space/part/inner.py": "def make(): pass\n",
            "main.py": "import space.part.inner\nspace.part.inner.«make»()\n",
            "other.py": "from space.part import inner\ninner.«make»()\n",
        }
    )
    assert project.answers() == ["space/part/inner.py:1 make"] * 2


def test_a_module_of_the_standard_library_is_not_its_namesake_in_a_package() -> None:
    """`import json` in a package that has a module `json` is the standard one."""
    project = Project(
        {
            "pkg/__init__.py": "",
            "pkg/json.py": "def dumps(): pass\n",
            "pkg/app.py": "import json\njson.«dumps»()\n",
        }
    )
    assert project.answer() == OTHER


def test_a_name_that_a_foreign_star_import_may_give_is_undecided() -> None:
    """It cannot be followed."""
    assert ask("from foreign import *\n«Base»()\n") == UNDECIDED


def test_a_foreign_name_or_one_of_the_project_is_undecided() -> None:
    """The first import that works counts, and it is not known which does."""
    code = "try:\n    from foreign import Base\nexcept ImportError:\n    from classes import Base\n«Base»()\n"
    assert ask(code) == UNDECIDED


# ---------------------------------------------------------------- names


def test_a_parameter_hides_a_function() -> None:
    """The same name inside is the parameter's."""
    assert ask("def run(): pass\ndef f(run):\n    «run»()\n") == OTHER


def test_a_name_of_a_class_is_not_seen_in_its_methods() -> None:
    """A bare name in a method is that of the module."""
    assert (
        ask("def run(): pass\nclass C:\n    def run(self): pass\n    def f(self):\n        «run»()\n")
        == "main.py:1 run"
    )


def test_a_name_of_a_class_is_seen_in_its_body() -> None:
    """Also in a decorator there."""
    assert ask("def run(): pass\nclass C:\n    def run(self): pass\n    x = «run»\n") == "main.py:3 run"


def test_a_nested_function_is_seen_in_its_function() -> None:
    """And hides one of the module."""
    assert ask("def g(): pass\ndef f():\n    def g(): pass\n    «g»()\n") == "main.py:3 g"


def test_a_global_name_is_bound_in_the_module() -> None:
    """What a function gives it counts everywhere."""
    code = "from classes import Base, Other\nx = Base()\ndef f():\n    global x\n    x = Other()\nx.«run»()\n"
    assert ask(code) == "classes.py:3 run, classes.py:7 run"


# ---------------------------------------------------------------- classes


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("Child().«run»()", "classes.py:3 run"),
        ("Child().«stop»()", "classes.py:10 stop"),
        ("Child.«run»", "classes.py:3 run"),
        ("x = Child()\nx.«run»()", "classes.py:3 run"),
        ("x, (y, z) = 1, (Other(), Child())\nz.«stop»()", "classes.py:10 stop"),
        ("for x in [Child()]:\n    x.«stop»()", "classes.py:10 stop"),
        ("[x.«stop»() for x in (Child(), Child())]", "classes.py:10 stop"),
        ("{'a': Child()}['a'].«stop»()", "classes.py:10 stop"),
        ("(x := Child()).«stop»()", "classes.py:10 stop"),
        ("class C(Child):\n    def go(self):\n        self.«stop»()", "classes.py:10 stop"),
        ("class C(Child):\n    def stop(self):\n        super().«stop»()", "classes.py:10 stop"),
        ("class C(Child):\n    @classmethod\n    def go(cls):\n        cls().«stop»()", "classes.py:10 stop"),
        (
            "class C:\n    def __init__(self):\n        self.x = Child()\n    def go(self):\n        self.x.«stop»()",
            "classes.py:10 stop",
        ),
        ("class C(Child):\n    @staticmethod\n    def go(self):\n        self.«stop»()", UNDECIDED),
        ("class C(foreign.Thing, Child): pass\nC().«stop»()", UNDECIDED),
        ("class C(dict, Child): pass\nC().«stop»()", "classes.py:10 stop"),
        ("class C(dict, Child): pass\nC().«run»()", "classes.py:3 run"),
        ("class C:\n    def __getattr__(self, name): pass\nC().«run»()", UNDECIDED),
    ],
)
def test_a_member_is_looked_for_in_the_class_of_the_value(code: str, found: str) -> None:
    """And in what is above it; a foreign class that comes first may have it."""
    assert ask(f"import foreign\nfrom classes import Base, Child, Other\n{code}\n") == found


def test_members_are_looked_for_in_the_order_of_c3() -> None:
    """A class stands before its bases, also where two paths lead to one of them."""
    code = """
class A:
    def f(self): pass
class B(A): pass
class C(A):
    def f(self): pass
class D(B, C): pass
D().«f»()
"""
    assert ask(code) == "main.py:6 f"


def test_what_a_foreign_container_above_may_have_is_not_of_the_project() -> None:
    """And what no builtin type has is of a type below it, which is not known."""
    code = "from typing import Mapping\nclass C(Mapping[str, int]):\n    def f(self): self.«run»()\n"
    assert ask(code) == OTHER
    assert ask("def f(x: ValueError):\n    x.«run»()\n") == UNDECIDED


def test_a_property_gives_what_its_function_gives() -> None:
    """Its read is a relation, and so is what follows it."""
    code = "from classes import Base\nclass C:\n    @property\n    def it(self) -> Base: ...\nC().«it».«run»()\n"
    assert Project({"classes.py": CLASSES, "main.py": code}).answers() == ["main.py:4 it", "classes.py:3 run"]


# ---------------------------------------------------------------- annotations


@pytest.mark.parametrize(
    "annotation",
    ["Base", "'Base'", "Optional[Base]", "Base | None", "Union['Base', None]", "'Base | None'", "Annotated[Base, 1]"],
)
def test_an_annotation_says_what_a_parameter_is(annotation: str) -> None:
    """Also as text, and where it may be None."""
    code = "from typing import Annotated, Optional, Union\nfrom classes import Base\n"
    assert ask(f"{code}def f(x: {annotation}):\n    x.«run»()\n") == "classes.py:3 run"


@pytest.mark.parametrize(
    ("annotation", "use"),
    [
        ("list[Base]", "x[0]"),
        ("dict[str, Base]", "x['a']"),
        ("t.Mapping[str, 'Base']", "x.get('a')"),
        ("tuple[int, Base]", "x[1]"),
        ("t.Callable[[int], Base]", "x(1)"),
        ("type[Base]", "x()"),
        ("list[Base]", "x.pop()"),
        ("dict[str, list[Base]]", "x['a'][0]"),
    ],
)
def test_a_container_gives_what_is_written_in_its_annotation(annotation: str, use: str) -> None:
    """An element, a value, a result."""
    assert (
        ask(f"import typing as t\nfrom classes import Base\ndef f(x: {annotation}):\n    {use}.«run»()\n")
        == "classes.py:3 run"
    )


@pytest.mark.parametrize(
    ("given", "found"),
    [("x: Any", UNDECIDED), ("x: object", UNDECIDED), ("x", UNDECIDED), ("x: str", OTHER), ("x: list", UNDECIDED)],
)
def test_what_an_annotation_leaves_open_is_undecided(given: str, found: str) -> None:
    """`Any` says nothing, and a list holds anything; text has no methods of the project."""
    use = "x[0]" if given.endswith("list") else "x"
    assert ask(f"from typing import Any\nfrom classes import Base\ndef f({given}):\n    {use}.«run»()\n") == found


def test_a_loop_over_a_map_gives_its_keys() -> None:
    """Its items give both."""
    code = "from classes import Base, Other\ndef f(x: dict[Base, Other]):\n    for k in x:\n        k.«run»()\n"
    assert ask(code) == "classes.py:3 run"
    code = (
        "from classes import Base, Other\ndef f(x: dict[Base, Other]):\n    for k, v in x.items():\n        v.«run»()\n"
    )
    assert ask(code) == "classes.py:7 run"


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("if isinstance(x, Base):\n        x.«run»()", "classes.py:3 run"),
        ("if isinstance(x, Base) and more:\n        x.«run»()", "classes.py:3 run"),
        ("if isinstance(x, Base) and x.«run»():\n        pass", "classes.py:3 run"),
        ("return x.«run»() if isinstance(x, Base) else 1", "classes.py:3 run"),
        ("assert isinstance(x, Base)\n    x.«run»()", "classes.py:3 run"),
        ("if not isinstance(x, Base):\n        return\n    x.«run»()", "classes.py:3 run"),
        ("if isinstance(x, str):\n        x.«run»()", OTHER),
        ("if isinstance(x, Base) or more:\n        x.«run»()", UNDECIDED),
        ("if isinstance(x, Base):\n        x = y\n        x.«run»()", UNDECIDED),
        ("if isinstance(x, Base):\n        pass\n    x.«run»()", UNDECIDED),
        ("if not isinstance(x, Base):\n        y()\n    x.«run»()", UNDECIDED),
    ],
)
def test_a_test_of_the_type_says_what_a_name_is_from_there_on(code: str, found: str) -> None:
    """In the block that it guards, unless the name is bound anew there."""
    assert ask(f"from classes import Base\ndef f(x, y):\n    {code}\n") == found


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("for x in a:\n        x.«run»()\n    for x in b:\n        pass", "classes.py:3 run"),
        ("for x in a:\n        pass\n    for x in b:\n        x.«run»()", "classes.py:7 run"),
        ("for x in a:\n        x = unknown(x)\n        x.«run»()", UNDECIDED),
        ("for x in a or []:\n        x.«run»()", "classes.py:3 run"),
        ("for x in [] if c else a:\n        x.«run»()", "classes.py:3 run"),
        ("for x in sorted(list(a)):\n        x.«run»()", "classes.py:3 run"),
        ("next(iter(a)).«run»()", "classes.py:3 run"),
        ("max(a, key=c).«run»()", UNDECIDED),
    ],
)
def test_a_loop_says_what_its_name_is_inside(code: str, found: str) -> None:
    """Whatever other loops give to the same name."""
    parameters = "a: list[Base], b: list[Other], c"
    assert ask(f"from classes import Base, Other\ndef f({parameters}):\n    {code}\n") == found


def test_each_handler_has_an_exception_of_its_own() -> None:
    """Under the same name."""
    code = (
        "class A(Exception):\n    def run(self): ...\ntry: pass\nexcept OSError as e: pass\nexcept A as e: e.«run»()\n"
    )
    assert ask(code) == "main.py:2 run"


def test_members_are_bound_from_the_parts_of_a_tuple() -> None:
    """Each to its own part."""
    code = "from classes import Base, Other\ndef two() -> tuple[Base, Other]: ...\nclass C:\n    def __init__(self):\n"
    assert (
        ask(f"{code}        self.a, self.b = two()\n    def f(self):\n        self.b.«run»()\n") == "classes.py:7 run"
    )


def test_an_alias_of_a_type_is_that_type() -> None:
    """As an assignment, or as a statement."""
    head = "from typing import Optional\nfrom classes import Base\nMaybe = Optional[Base]\n"
    assert ask(f"{head}def f(x: Maybe):\n    x.«run»()\n") == "classes.py:3 run"


# ---------------------------------------------------------------- calls


@pytest.mark.parametrize(
    "code",
    [
        "def make() -> Base: ...\nmake().«run»()",
        "def make():\n    return Base()\nmake().«run»()",
        "def make():\n    return lambda: Base()\nmake()().«run»()",
        "async def make() -> Base: ...\nasync def f():\n    (await make()).«run»()",
        "async def make():\n    return Base()\nasync def f():\n    x = await make()\n    x.«run»()",
        "def make():\n    yield Base()\nfor x in make():\n    x.«run»()",
        "def make() -> Iterator[Base]: ...\nfor x in make():\n    x.«run»()",
        "@contextmanager\ndef make():\n    yield Base()\nwith make() as x:\n    x.«run»()",
        "class M:\n    def __enter__(self) -> Base: ...\nwith M() as x:\n    x.«run»()",
        "class M(Base):\n    def __enter__(self):\n        return self\nwith M() as x:\n    x.«run»()",
        "class M:\n    def __call__(self) -> Base: ...\nM()().«run»()",
        "class M:\n    def __iter__(self) -> Iterator[Base]: ...\nfor x in M():\n    x.«run»()",
        "def same(x: T) -> T: ...\nsame(Base()).«run»()",
        "def deco(f) -> Base: ...\n@deco\ndef make(): pass\nmake.«run»()",
        "def deco(f: Callable[[T], T]) -> Base: ...\n@deco\ndef make(): pass\nmake.«run»()",
        "def keep(f: F) -> F: ...\n@keep\ndef make() -> Base: ...\nmake().«run»()",
        "cast(Base, 1).«run»()",
    ],
)
def test_a_call_gives_what_the_function_says_or_returns(code: str) -> None:
    """Through annotations, returns, yields, contexts, type parameters and decorators."""
    head = "from contextlib import contextmanager\nfrom typing import Callable, Iterator, TypeVar, cast\n"
    head += "from classes import Base\nT = TypeVar('T')\nF = TypeVar('F')\n"
    assert ask(f"{head}{code}\n") == "classes.py:3 run"


def test_a_method_that_returns_itself_gives_the_class_that_it_is_called_on() -> None:
    """Not the class where it is written."""
    code = """
from typing import Self
class A:
    def me(self): return self
    def also(self) -> Self: ...
    def f(self): pass
class B(A):
    def f(self): pass
B().me().«f»()
B().also().«f»()
"""
    assert Project({"main.py": code}).answers() == ["main.py:8 f"] * 2


@pytest.mark.parametrize(
    "code",
    [
        "import queue\nq = queue.Queue()\nq.put(Base())\nq.get().«run»()",
        "import foreign\nforeign.wrap(Base()).«run»()",
        "import foreign\n@foreign.deco\ndef make() -> Base: ...\nmake().«run»()",
        "getattr(Base(), 'x').«run»()",
        "def f(x=None):\n    x.«run»()",
        "import foreign\nx = Base()\nx = foreign.make()\nx.«run»()",
    ],
)
def test_what_a_foreign_function_may_have_been_given_is_undecided(code: str) -> None:
    """It may give it back, and a default of None says nothing."""
    assert ask(f"from classes import Base\n{code}\n") == UNDECIDED


def test_overloads_are_told_apart_by_their_arguments() -> None:
    """By their number, and a text is no function."""
    code = """
from typing import Callable, overload
from classes import Base, Other
@overload
def make(name: Callable[[], int]) -> Base: ...
@overload
def make(name: str | None = None) -> Other: ...
def make(name=None): return foreign(name)
make().«run»()
make("a").«run»()
"""
    found = Project({"classes.py": CLASSES, "main.py": code}).answers()
    assert found == ["classes.py:7 run"] * 2


def test_a_call_of_what_a_call_gives_is_a_mention_without_a_name() -> None:
    """It leads to the function that was returned."""
    project = Project({"main.py": "def f(): pass\ndef g():\n    return f\ng()()\n"})
    (mention,) = (one for one in project.facts("main.py").mentions if not one.name)  # type: ignore[union-attr]
    found = project.resolver.resolve("main.py", mention)
    assert found is not None
    assert [project.resolver.declared(symbol).name for symbol in found.value.symbols] == ["f"]  # type: ignore[union-attr]


@pytest.mark.parametrize("code", ["x = [f]\nx[0]", "x = {'a': f}\nx['a']"])
def test_which_function_a_list_holds_is_undecided(code: str) -> None:
    """It may be given others later."""
    assert ask(f"def f(): ...\n{code}().«run»()\n") == UNDECIDED


def test_an_argument_with_a_name_is_not_that_of_its_place() -> None:
    """What it tells of a type parameter is unknown."""
    code = "from typing import TypeVar\nfrom classes import Base\nT = TypeVar('T')\n"
    assert ask(f"{code}def pick(a: T, b: int) -> T: ...\npick(b=Base(), a=1).«run»()\n") == UNDECIDED


def test_a_member_of_an_enumeration_is_an_instance_of_it() -> None:
    """Whatever it is given."""
    code = "import enum\nclass Color(enum.Enum):\n    RED = 1\n    def mix(self): pass\nColor.RED.«mix»()\n"
    assert ask(code) == "main.py:4 mix"


def test_a_field_that_decides_what_it_gives_is_undecided() -> None:
    """A descriptor is not what reading it gives."""
    code = "class D:\n    def __get__(self, it, kind): return unknown\n    def run(self): pass\nclass C:\n    x = D()\n"
    assert ask(f"{code}C().x.«run»()\n") == UNDECIDED


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("Lamp.«Color»", "main.py:2 Color"),
        ("Lamp.«Color».RED", "main.py:2 Color"),
        ("Lamp.«Color»()", "main.py:2 Color"),
        ("Color.«RED»", "main.py:5 RED"),
        ("Lamp.Color.«RED»", UNDECIDED),
    ],
)
def test_a_member_in_a_pattern_is_that_of_what_stands_before_it(pattern: str, found: str) -> None:
    """Not what the file calls so."""
    text = "class Lamp:\n    class Color:\n        RED = 1\nclass Color:\n    RED = 2\nRED = 3\n"
    assert ask(f"{text}def f(x):\n    match x:\n        case {pattern}:\n            pass\n") == found


@pytest.mark.parametrize("text", ["class A:\n    limit = 1\n", "def f(limit): pass\n"])
def test_what_is_in_the_first_declaration_of_a_file_is_no_name_of_the_module(text: str) -> None:
    """Also where that begins with the file."""
    assert Project({"a.py": text, "b.py": "from a import limit\n«limit»()\n"}).answer() in (OTHER, UNDECIDED)


def test_a_module_is_no_promise() -> None:
    """In other languages one has `then`."""
    assert ask("import classes\nclasses.«then»()") == UNDECIDED
