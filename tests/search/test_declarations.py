"""What only names something ranks behind what defines it."""

from msgspec.structs import replace

from graphrag_mcp.model.files import DECLARATIONS, IMPORTS
from graphrag_mcp.model.search import Hit
from graphrag_mcp.search.select import behind_definitions
from tests.fakes import make_chunk


def _hit(path: str, kind: str, score: float, *names: str, text: str = "") -> Hit:
    return Hit(replace(make_chunk(path=path), kind=kind, names=names, text=text), score, 0.5)


def _order(*hits: Hit) -> list[str]:
    return [hit.chunk.path for hit, _ in behind_definitions([(hit, None) for hit in hits])]


PROTOTYPES = _hit("server.h", DECLARATIONS, 1.0, "expire", "flush")
IMPORTING = _hit("__init__.py", IMPORTS, 0.9, text="from shop.cart import Cart")
OTHER = _hit("other.c", "function", 0.8, "propagate")
DEFINITION = _hit("expire.c", "function", 0.7, "expire")
CART = _hit("cart.py", "type", 0.6, "Cart")
LAST = _hit("last.c", "function", 0.5, "list")


def test_a_declaration_is_right_behind_its_definition() -> None:
    """It keeps a place: it is the interface of what was asked for."""
    assert _order(PROTOTYPES, OTHER, DEFINITION, LAST) == ["other.c", "expire.c", "server.h", "last.c"]


def test_imports_are_right_behind_what_they_import() -> None:
    """A re-export is no answer where the class is one."""
    assert _order(IMPORTING, OTHER, CART, LAST) == ["other.c", "cart.py", "__init__.py", "last.c"]


def test_a_file_of_declarations_is_behind_the_implementation() -> None:
    """Its classes have bodies, in which nothing is done."""
    typed = _hit("lib/cart.d.ts", "type", 1.0, "Cart")
    assert _order(typed, CART) == ["cart.py", "lib/cart.d.ts"]
    assert _order(typed, OTHER) == ["lib/cart.d.ts", "other.c"]


def test_without_a_definition_a_declaration_stays_first() -> None:
    """Then it is the best answer there is."""
    assert _order(PROTOTYPES, OTHER, LAST) == ["server.h", "other.c", "last.c"]


def test_the_order_is_that_of_the_scores_and_the_reason_is_a_factor() -> None:
    """The score of a declaration that was moved is that of its definition."""
    moved = [hit for hit, _ in behind_definitions([(hit, None) for hit in (PROTOTYPES, DEFINITION, LAST)])]
    assert [hit.score for hit in moved] == [0.7, 0.7, 0.5]
    assert [(factor.name, factor.value) for factor in moved[1].factors][-1] == ("only names", 0.7)


def test_a_declaration_behind_a_definition_keeps_its_place() -> None:
    """One definition of what it names is enough."""
    assert _order(OTHER, CART, IMPORTING, _hit("user.py", "function", 0.1, "shop")) == [
        "other.c",
        "cart.py",
        "__init__.py",
        "user.py",
    ]
