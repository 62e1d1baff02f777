"""Imports: from what a statement says to names and module paths."""

import pytest

from graphrag_mcp.languages.language import ImportStyle
from graphrag_mcp.parsing.code.imports import expand_imports, module_path


@pytest.mark.requirement("004-07")
@pytest.mark.parametrize(
    ("style", "path", "module", "expected"),
    [
        (ImportStyle.PYTHON, "src/shop/a.py", "shop.cart", "shop/cart"),
        (ImportStyle.PYTHON, "src/shop/a.py", ".cart", "/src/shop/cart"),
        (ImportStyle.PYTHON, "src/shop/a.py", "..", "/src"),
        (ImportStyle.PYTHON, "a.py", "....far", "/far"),
        (ImportStyle.PATH, "src/shop/a.ts", "./cart.js", "/src/shop/cart"),
        (ImportStyle.PATH, "src/shop/a.ts", "../../b", "/b"),
        (ImportStyle.PATH, "src/shop/a.ts", "@/cart", "cart"),
        (ImportStyle.PATH, "src/shop/a.ts", "@acme/cart", "@acme/cart"),
        (ImportStyle.PATH, "bin/run.sh", "$HOME/tools/retry.bash", "tools/retry"),
        (ImportStyle.INCLUDE, "src/a.c", "util/memory.h", "util/memory"),
        (ImportStyle.INCLUDE, "src/a.c", "../memory.h", "/memory"),
        (ImportStyle.GO, "a.go", "net/http", "net/http"),
        (ImportStyle.GO, "a.go", "github.com/acme/shop/cart", "cart"),
        (ImportStyle.GO, "a.go", "github.com/acme/shop", "shop"),
        (ImportStyle.RUST, "crates/shop/src/cart.rs", "crate::money", "/crates/shop/src/money"),
        (ImportStyle.RUST, "src/bin/tool/main.rs", "crate::money", "/src/bin/tool/money"),
        (ImportStyle.RUST, "src/bin/tool.rs", "crate::money", "/src/money"),
        (ImportStyle.RUST, "src/cart/mod.rs", "super::money", "/src/money"),
        (ImportStyle.RUST, "src/cart.rs", "self::money", "/src/cart/money"),
        (ImportStyle.RUST, "src/cart.rs", "serde::de", "serde/de"),
        (ImportStyle.SNAKE, "lib/a.ex", "Acme.UserAccount", "acme/user_account"),
        (ImportStyle.NAMESPACE, "src/A.php", "Acme\\Mail\\Job", "Acme/Mail/Job"),
    ],
)
def test_a_module_becomes_a_path(style: ImportStyle, path: str, module: str, expected: str) -> None:
    """From the root where the statement says so, else the end of a path; never with an extension."""
    assert module_path(style, path, module) == expected


def test_groups_are_expanded() -> None:
    """Nested braces, aliases and `self` bind one name each; a wildcard binds none."""
    found = expand_imports(ImportStyle.RUST, "src/a.rs", 0, "crate::b::{self, c as d, e::{F, g::*}}", [], "")
    assert [(one.name, one.target, one.module) for one in found] == [
        ("b", "b", "/src/b"),
        ("d", "c", "/src/b"),
        ("F", "F", "/src/b/e"),
    ]


@pytest.mark.requirement("004-11")
@pytest.mark.parametrize("text", ["", "{", "}}", "a::{b", "a::b}, c", "{{{,,,}", "...", "::", "*", "use", "'"])
@pytest.mark.parametrize("style", ImportStyle)
def test_half_a_statement_is_no_error(style: ImportStyle, text: str) -> None:
    """While someone types, imports are incomplete."""
    expand_imports(style, "src/a.x", 0, text, [], "")
    expand_imports(style, "", 0, text, [("a", "")], "b")
