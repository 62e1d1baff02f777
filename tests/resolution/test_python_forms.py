"""Python: asynchronous blocks, variables that are made of themselves, fields of classes below foreign ones."""

import pytest

from tests.resolution.projects import OTHER, UNDECIDED, Project

CLASSES = """from contextlib import asynccontextmanager
from typing import Self
import lib, typing
class Job:
    def run(self): pass
class Own:
    async def __aenter__(self): return self
    def run(self): pass
class Told:
    async def __aenter__(self) -> Self: ...
    def run(self): pass
class Maker:
    def __enter__(self): return Own()
    async def __aenter__(self): return Job()
class Low(Own): pass
@asynccontextmanager
async def make():
    yield Job()
async def later(): return Own()
"""


@pytest.mark.parametrize(
    ("block", "line"),
    [
        ("async with Own() as x: x.«run»()", 8),
        ("async with Low() as x: x.«run»()", 8),
        ("async with Told() as x: x.«run»()", 11),
        ("async with Maker() as x: x.«run»()", 5),
        ("with Maker() as x: x.«run»()", 8),
        ("async with make() as x: x.«run»()", 5),
        ("async with (await later()) as x: x.«run»()", 8),
        ("async with Told() as y, Maker() as x: x.«run»()", 5),
        ("async with (Told() as y, Maker() as x): x.«run»()", 5),
        ("own = Own()\n    async with own as x: x.«run»()", 8),
    ],
)
def test_an_asynchronous_block_binds_what_awaiting_the_entrance_gives(block: str, line: int) -> None:
    """Not what the entrance of a plain block gives, where a class has both."""
    assert Project({"a.py": f"{CLASSES}async def f():\n    {block}\n"}).answer() == f"a.py:{line} run"


PLACE = "class Place:\n    def copy(self): return Place()\n    def size(self): pass\n"


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("def f():\n    u = Place()\n    u = u.copy()\n    u.«size»()", "a.py:3 size"),
        ("def f(u: Place):\n    u = u.copy()\n    u.«size»()", "a.py:3 size"),
        ("def f():\n    u = Place()\n    for _ in range(3):\n        u = u.copy()\n    u.«size»()", "a.py:3 size"),
        ("def f(v):\n    u = Place()\n    u = u if v else u.copy()\n    u.«size»()", "a.py:3 size"),
        ("u = Place()\nu = u.copy()\nu.«size»()", "a.py:3 size"),
        ("def f(v):\n    u = Place()\n    u = v(u)\n    u.«size»()", UNDECIDED),
    ],
)
def test_a_variable_that_is_made_of_itself_keeps_its_type(code: str, found: str) -> None:
    """Each value is made of those before; one that is not known leaves it unknown."""
    assert Project({"a.py": f"{PLACE}{code}\n"}).answer() == found


@pytest.mark.parametrize("base", ["lib.Any", "typing.MutableMapping[str, str]", "unknown(1)"])
def test_a_field_of_an_instance_is_what_it_holds(base: str) -> None:
    """Only an attribute of the class itself is asked what it gives when it is read."""
    code = f"import lib, typing\nclass Wide({base}):\n    def pick(self): pass\nclass R:\n    of_class = Wide()\n"
    code += (
        "    def __init__(self):\n        self.w = Wide()\ndef f(r: R):\n    r.w.«pick»()\n    r.of_class.«pick»()\n"
    )
    assert Project({"a.py": code}).answers() == ["a.py:3 pick", UNDECIDED]


def test_a_class_called_protocol_of_a_library_is_no_empty_one() -> None:
    """`asyncio.Protocol` has members, `typing.Protocol` has none."""
    code = "import asyncio, typing\nclass A(asyncio.Protocol): pass\nclass B(typing.Protocol): pass\n"
    code += "class Other:\n    def other(self): pass\n"
    code += "def f(a: A, b: B):\n    a.«other»()\n    b.«other»()\n"
    assert Project({"a.py": code}).answers() == [OTHER, UNDECIDED]


@pytest.mark.parametrize(
    ("made", "found"),
    [
        ('importlib.import_module("shop.cart")', "shop/cart.py:1 total"),
        ("importlib.import_module('shop.cart')", "shop/cart.py:1 total"),
        ("importlib.import_module(name)", UNDECIDED),
        ('importlib.import_module(f"shop.{name}")', UNDECIDED),
        ('importlib.import_module(".cart", "shop")', UNDECIDED),
        ("pickle.loads(name)", UNDECIDED),
        ('importlib.import_module("json")', OTHER),
    ],
)
def test_what_is_loaded_by_its_name_may_be_of_the_project(made: str, found: str) -> None:
    """A module whose name is written is known; any other is not said to be something else."""
    code = f"import importlib\nimport pickle\ndef f(name):\n    cart = {made}\n    cart.«total»()\n"
    cart = "def total(): pass\nclass Cart:\n    def total(self): pass\n"
    assert Project({"a.py": code, "shop/__init__.py": "", "shop/cart.py": cart}).answer() == found


@pytest.mark.parametrize(
    "code",
    [
        "def f():\n    u = Place.__new__(Place)\n    u.«size»()",
        "def f():\n    u = object.__new__(Place)\n    u.«size»()",
        "def f():\n    u = Near.__new__(Near)\n    u.«size»()\nclass Near(Place): pass",
        "class Near(Place):\n    def __new__(cls):\n        made = super().__new__(cls)\n        made.«size»()",
    ],
)
def test_making_an_instance_without_its_constructor_gives_one(code: str) -> None:
    assert Project({"a.py": f"{PLACE}{code}\n"}).answer() == "a.py:3 size"


def test_a_type_may_make_something_else() -> None:
    code = "class Made:\n    def size(self): pass\nclass Odd(Place):\n    def __new__(cls): return Made()\n"
    assert (
        Project({"a.py": f"{PLACE}{code}def f():\n    u = Odd.__new__(Odd)\n    u.«size»()\n"}).answer()
        == "a.py:5 size"
    )


def test_a_function_of_the_project_that_is_called_like_that_of_a_library_is_itself() -> None:
    code = "class Own:\n    @staticmethod\n    def import_module(name): return Place()\n"
    code += 'def f():\n    u = Own.import_module("shop.cart")\n    u.«size»()\n'
    files = {"a.py": f"{PLACE}{code}", "shop/__init__.py": "", "shop/cart.py": "def size(): pass\n"}
    assert Project(files).answer() == "a.py:3 size"
