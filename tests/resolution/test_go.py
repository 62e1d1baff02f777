"""What names mean in Go."""

import pytest

from tests.resolution.projects import OTHER, UNDECIDED, Project

MODULE = {"go.mod": "module example.com/shop\n"}
TYPES = """package shop

type Base struct{ inner *Store }
type Store struct {
\tBase
\titems map[string]*Item
\tlist  []Item
}
type Item struct{ Name string }
type Getter interface{ Get() *Item }
type Handler func(*Item) *Store

func (b *Base) Close() {}
func (s *Store) Get() *Item { return nil }
func (i *Item) Use() {}
func New() (*Store, error) { return nil, nil }
func Open(g Getter) Handler { return nil }
"""


def ask(body: str, **files: str) -> list[str]:
    """Return what is marked in a function of the same package."""
    return Project({"a.go": TYPES, "b.go": f"package shop\n\n{body}\n", **files}).answers()


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("func f(s *Store) { s.«Get»() }", "a.go:14 Get"),
        ("func f() { s, _ := New(); s.«Get»() }", "a.go:14 Get"),
        ("func f() { (&Store{}).«Get»() }", "a.go:14 Get"),
        ("func f() { s := new(Store); s.«Get»() }", "a.go:14 Get"),
        ("func f(x any) { x.(*Store).«Get»() }", "a.go:14 Get"),
        ("func f(x any) { if s, ok := x.(*Store); ok { s.«Get»() } }", "a.go:14 Get"),
        ("func f(x any) { switch s := x.(type) { case *Store: s.«Get»() } }", "a.go:14 Get"),
        ("func f(s *Store) { s.Get().«Use»() }", "a.go:15 Use"),
        ("func f(s *Store) { s.items[\"a\"].«Use»() }", "a.go:15 Use"),
        ("func f(s *Store) { for _, i := range s.items { i.«Use»() } }", "a.go:15 Use"),
        ("func f(s *Store) { for k := range s.items { k.«Use»() } }", OTHER),
        ("func f(s *Store) { s.list[0].«Use»() }", "a.go:15 Use"),
        ("func f(s *Store) { append(s.list, Item{})[0].«Use»() }", "a.go:15 Use"),
        ("func f(c chan Item) { i := <-c; i.«Use»() }", "a.go:15 Use"),
        ("func f(c chan Item) { for i := range c { i.«Use»() } }", "a.go:15 Use"),
        ("func f(h Handler) { h(nil).«Get»() }", "a.go:14 Get"),
        ("func f(g Getter) { Open(g)(nil).«Get»() }", "a.go:14 Get"),
        ("func f(s *Store) { s.«Close»() }", "a.go:13 Close"),
        ("func f(s *Store) { s.Base.inner.«Get»() }", "a.go:14 Get"),
        ("func f(g Getter) { g.«Get»() }", "a.go:10 Get"),
        ("var all = map[string]func() *Store{}\nfunc f() { all[\"a\"]().«Get»() }", "a.go:14 Get"),
        ("func f() { func() *Store { return nil }().«Get»() }", "a.go:14 Get"),
        ("type Other Store\nfunc f(o Other) { o.«list»[0].Use() }", "a.go:7 list"),
        ("type Same = Store\nfunc f(o Same) { o.«Get»() }", "a.go:14 Get"),
        ("func f() { _ = Store{«list»: nil} }", "a.go:7 list"),
        ("func f() { _ = []Item{{«Name»: \"a\"}} }", "a.go:9 Name"),
        ("func f() { _ = map[string]Item{\"a\": {«Name»: \"a\"}} }", "a.go:9 Name"),
    ],
)  # fmt: skip
def test_a_member_is_that_of_the_type_of_its_receiver(body: str, expected: str) -> None:
    """However the receiver came by its type."""
    assert ask(body) == [expected]


@pytest.mark.parametrize(
    "body",
    [
        "func f(New func()) { «New»() }",
        "func f() { New := 1; _ = «New» + other(New) }\nfunc other(int) int { return 0 }",
        "func f() { for New := range 3 { go «New»() } }",
        "func f[New any](x New) { _ = «New»(x) }",
        "func f() (New func()) { «New»(); return }",
    ],
)
def test_a_local_name_hides_that_of_the_package(body: str) -> None:
    """A parameter, a result, a variable, a loop and a type parameter do."""
    project = Project({"a.go": TYPES, "b.go": f"package shop\n\n{body}\n"})
    assert project.unmentioned() or project.answers() == [OTHER]


def test_a_name_is_visible_after_its_declaration_only() -> None:
    """`s := s.Get()` calls what the outer name is."""
    assert ask("func f(s *Store) { if true { s := s.«Get»(); s.«Use»() } }") == ["a.go:14 Get", "a.go:15 Use"]


def test_a_parameter_does_not_hide_the_package_in_its_own_type() -> None:
    """`func f(shop shop.Store)` names the package first."""
    lib = "package shop\n\ntype Store struct{}\nfunc (s Store) Get() {}\n"
    text = 'package main\n\nimport "example.com/shop/shop"\n\nfunc f(shop shop.«Store») { shop.«Get»() }\n'
    project = Project({**MODULE, "shop/a.go": lib, "main.go": text})
    assert project.answers() == ["shop/a.go:3 Store", "shop/a.go:4 Get"]


def test_an_import_is_the_package_of_the_folder_whatever_its_name() -> None:
    """The clause of the package counts, not the last word of the path."""
    text = 'package main\n\nimport "example.com/shop/go-store"\n\nfunc f() { store.«Open»() }\n'
    lib = "package store\n\nfunc Open() {}\n"
    assert Project({**MODULE, "go-store/a.go": lib, "main.go": text}).answer() == "go-store/a.go:3 Open"


def test_another_module_of_the_repository_imports_a_released_version() -> None:
    """Unless it replaces the module by its folder, or a workspace has both."""
    files = {
        **MODULE,
        "a.go": "package shop\n\nfunc Open() {}\n",
        "tool/main.go": 'package main\n\nimport "example.com/shop"\n\nfunc f() { shop.«Open»() }\n',
    }
    alone = "module example.com/tool\n\nrequire example.com/shop v1.2.3\n"
    assert Project({**files, "tool/go.mod": alone}).answer() == OTHER
    assert Project({**files, "tool/go.mod": f"{alone}replace example.com/shop => ../\n"}).answer() == "a.go:3 Open"
    work = {"go.work": "go 1.22\n\nuse (\n\t.\n\t./tool\n)\n"}
    assert Project({**files, "tool/go.mod": alone, **work}).answer() == "a.go:3 Open"


def test_variants_of_a_build_are_all_meant() -> None:
    """Which of two files is built is not known."""
    files = {"a_linux.go": "package a\n\nfunc Run() {}\n", "a_windows.go": "package a\n\nfunc Run() {}\n"}
    text = "package a\n\nfunc f() { «Run»() }\n"
    assert Project({**files, "b.go": text}).answer() == "a_linux.go:3 Run, a_windows.go:3 Run"


def test_tests_of_a_package_from_outside_are_a_package_of_their_own() -> None:
    """`package shop_test` sees what it imports."""
    text = 'package shop_test\n\nimport "example.com/shop"\n\nfunc f() { «New»(); shop.«New»() }\nfunc New() {}\n'
    found = Project({**MODULE, "a.go": TYPES, "a_test.go": text}).answers()
    assert found == ["a_test.go:6 New", "a.go:16 New"]


def test_a_constant_without_a_value_repeats_the_type_before_it() -> None:
    """As the constants of an enumeration do."""
    text = "type Kind int\nfunc (k Kind) Show() {}\nconst (\n\tA Kind = iota\n\tB\n)\nfunc f() { B.«Show»() }"
    assert ask(text) == ["b.go:4 Show"]


def test_a_generic_type_and_function_keep_their_arguments() -> None:
    """By plain substitution, given or inferred."""
    text = """type Box[T any] struct{ held T }
func (b *Box[E]) Held() E { return b.held }
func Wrap[T any](held T) *Box[T] { return nil }
func f(b *Box[*Item], s *Store) {
\tb.Held().«Use»()
\tWrap(s).Held().«Get»()
\tb.held.«Use»()
}
func g[T any](b *Box[T]) { b.Held().«Use»() }"""
    assert ask(text) == ["a.go:15 Use", "a.go:14 Get", "a.go:15 Use", UNDECIDED]


def test_what_a_foreign_function_gives_is_foreign_unless_it_may_be_given_back() -> None:
    """A generic function may give what it was given."""
    text = """import (
\t"net/http"
\t"slices"
\t"github.com/other/lib"
)

func f(s *Store) {
\thttp.NewRequest().«Get»()
\tslices.Max(s.list).«Use»()
\tlib.Any(s).«Get»()
\tlib.Any(1).«Get»()
}"""
    assert ask(text) == [OTHER, UNDECIDED, UNDECIDED, OTHER]


def test_a_file_that_does_not_parse_never_proves_that_a_name_is_another() -> None:
    """What stands in the lines that were lost may declare it."""
    assert ask("func f() { «missing»() }\nfunc g( {") == [UNDECIDED]
    assert ask("func f() { «missing»() }") == [OTHER]


def test_a_long_chain_of_calls_is_followed_to_its_end() -> None:
    """As builders are written."""
    chain = ".Again()" * 40
    text = f"type B struct{{}}\nfunc (b *B) Again() *B {{ return b }}\nfunc f(b *B) {{ b{chain}.«Again»() }}"
    assert ask(text) == ["b.go:4 Again"]


def test_a_type_that_embeds_a_foreign_type_may_have_any_member() -> None:
    """What it does not declare itself is foreign; at the same depth nothing is decided."""
    text = """import "net/http"

type A struct{ *http.Client }
type B struct { *http.Client; *Store }

func f(a A, b B) { a.«Get»(); b.«Get»() }"""
    assert ask(text) == [OTHER, UNDECIDED]


def test_fields_of_a_nameless_struct_are_members_of_their_variable() -> None:
    """As in tables of tests."""
    text = (
        "func f() {\n\ttests := []struct{ Name string; of Item }{}\n\tfor _, one := range tests { one.of.«Use»() }\n}"
    )
    assert ask(text) == ["a.go:15 Use"]
