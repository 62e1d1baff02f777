"""What a name refers to is settled when it is asked: sure where the source is, candidates where it is not."""

import pytest
from msgspec.structs import replace

from graphrag_mcp.model.files import Relation, RelationKind, Resolution, Symbol, SymbolKind
from graphrag_mcp.model.graph import Certainty
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import GraphNeighbour
from tests.contracts.conftest import Backend, Source

SURE, BY_NAME, GUESS = (Certainty.CERTAIN, False), (Certainty.BY_NAME, False), (Certainty.BY_NAME, True)


def _how(found: GraphNeighbour) -> tuple[Certainty, bool]:
    return found.certainty, found.is_guess


def _function(name: str, qualified: str = "", line: int = 1) -> Symbol:
    return Symbol(name, qualified or name, SymbolKind.FUNCTION, line, line + 1)


def _call(target: str, module: str = "", source: str = "run", line: int = 2) -> Relation:
    return Relation(RelationKind.CALLS, source, target, line, 1.0, Resolution.UNRESOLVED, module)


def _seed(backend: Backend, name: str, path: str) -> int:
    return next(match.chunk_id for match in backend.graph.find_symbols([name], Scope(), 50) if match.path == path)


def _neighbours(backend: Backend, seed: int, hops: int = 1) -> list[GraphNeighbour]:
    return backend.graph.neighbours([seed], hops, 20, Scope())


def test_the_own_file_wins(backend: Backend) -> None:
    """A call means the definition in its own file, though another file has the name too."""
    backend.write(
        [
            Source(
                "a.py",
                ["run", "help"],
                symbols=(_function("run"), _function("help", line=11)),
                relations=(_call("help"),),
            ),
            Source("b.py", ["help"], symbols=(_function("help"),)),
        ]
    )
    (found,) = _neighbours(backend, _seed(backend, "run", "a.py"))
    assert (found.chunk.path, _how(found), found.confidence) == ("a.py", SURE, 1.0)


def test_a_call_inside_one_chunk_never_leads_to_another_file(backend: Backend) -> None:
    """The caller and what it calls may share a chunk; a definition elsewhere of that name is still not meant."""
    backend.write(
        [
            Source(
                "a.py", ["run help"], symbols=(_function("run"), _function("help", line=5)), relations=(_call("help"),)
            ),
            Source("b.py", ["help"], symbols=(_function("help"),)),
        ]
    )
    assert _neighbours(backend, _seed(backend, "run", "a.py")) == []


def test_the_imported_module_wins_over_the_others(backend: Backend) -> None:
    """A call of an imported name means the module it was imported from."""
    backend.write(
        [
            Source("a.py", ["run"], symbols=(_function("run"),), relations=(_call("help", "pkg/tools"),)),
            Source("src/pkg/tools.py", ["help"], symbols=(_function("help"),)),
            Source("src/pkg/other.py", ["help"], symbols=(_function("help"),)),
        ]
    )
    (found,) = _neighbours(backend, _seed(backend, "run", "a.py"))
    assert (found.chunk.path, _how(found)) == ("src/pkg/tools.py", SURE)


@pytest.mark.parametrize(
    "scope",
    [Scope(paths=("!tools.py",)), Scope(excluded_keys=frozenset({"tools.py"}))],
    ids=["paths", "excluded_files"],
)
def test_what_a_search_hides_is_still_what_a_name_means(backend: Backend, scope: Scope) -> None:
    """Otherwise a narrow search would state relations that are not there."""
    backend.write(
        [
            Source("a.py", ["run"], symbols=(_function("run"),), relations=(_call("help", "pkg/tools"),)),
            Source("src/pkg/tools.py", ["help"], symbols=(_function("help"),)),
            Source("src/pkg/other.py", ["help"], symbols=(_function("help"),)),
        ]
    )
    for name, path in (("run", "a.py"), ("help", "src/pkg/other.py")):
        assert backend.graph.neighbours([_seed(backend, name, path)], 1, 20, scope) == []


def test_a_narrow_search_does_not_make_a_guess_sure(backend: Backend) -> None:
    """A second definition of the name counts, where it may not be shown too."""
    backend.write(
        [
            Source("src/a.py", ["run"], symbols=(_function("run"),), relations=(_call("help"),)),
            Source("src/b.py", ["help"], symbols=(_function("help"),)),
            Source("lib/c.py", ["help"], symbols=(_function("help"),)),
        ]
    )
    for seed in (_seed(backend, "run", "src/a.py"), _seed(backend, "help", "src/b.py")):
        (found,) = backend.graph.neighbours([seed], 1, 20, Scope(paths=("/src",)))
        assert _how(found) == GUESS


def test_the_only_definition_is_meant(backend: Backend) -> None:
    """One definition of a name in the whole project is it, with less confidence than an import."""
    backend.write(
        [
            Source("a.py", ["run"], symbols=(_function("run"),), relations=(_call("help"),)),
            Source("b.py", ["help"], symbols=(_function("help"),)),
        ]
    )
    (found,) = _neighbours(backend, _seed(backend, "run", "a.py"))
    assert (_how(found), found.direction) == (BY_NAME, "out")
    assert 0 < found.confidence < 0.9


def test_an_ambiguous_call_stays_a_choice(backend: Backend) -> None:
    """An ambiguous call is candidates, each with its share of the confidence, never a fact."""
    backend.write(
        [
            Source("a.py", ["run"], symbols=(_function("run"),), relations=(_call("help"),)),
            Source("b.py", ["help"], symbols=(_function("help"),)),
            Source("c.py", ["help"], symbols=(_function("help"),)),
        ]
    )
    found = _neighbours(backend, _seed(backend, "run", "a.py"))
    assert [(one.chunk.path, _how(one)) for one in found] == [
        ("b.py", GUESS),
        ("c.py", GUESS),
    ]
    assert all(one.confidence < 0.5 for one in found)


def test_overloads_are_one_thing(backend: Backend) -> None:
    """However many there are, a call means them all, and is no guess."""
    overloads = tuple(_function("help", "Tools.help", line) for line in range(1, 80, 10))
    backend.write(
        [
            Source("a.py", ["run"], symbols=(_function("run"),), relations=(_call("help"),)),
            Source("b.py", ["help"] * 8, symbols=overloads),
        ]
    )
    seed = _seed(backend, "run", "a.py")
    found = _neighbours(backend, seed)
    assert [one.chunk.start_line for one in found] == list(range(1, 80, 10))
    assert {(_how(one), one.confidence) for one in found} == {(BY_NAME, 0.5)}
    (caller,) = (one for one in _neighbours(backend, _seed(backend, "help", "b.py")) if one.direction == "in")
    assert (caller.chunk.chunk_id, _how(caller)) == (seed, BY_NAME)


@pytest.mark.parametrize("first", ["src/tools.h", "src/tools.c"])
def test_what_a_header_declares_is_one_thing(backend: Backend, first: str) -> None:
    """With its definitions for each platform; without a header they are strangers."""
    backend.write(
        [
            Source("a.c", ["run"], symbols=(_function("run"),), relations=(_call("help"),)),
            *(Source(path, ["help"], symbols=(_function("help"),)) for path in (first, "unix/tools.c", "win/tools.c")),
        ]
    )
    found = _neighbours(backend, _seed(backend, "run", "a.c"))
    assert [one.chunk.path for one in found] == [first, "unix/tools.c", "win/tools.c"]
    assert {_how(one) for one in found} == {BY_NAME if first.endswith(".h") else GUESS}


def test_code_never_means_a_heading(backend: Backend) -> None:
    """And what a document says of a function makes nobody doubt which function is meant."""
    heading = Symbol("help", "Guide > help", SymbolKind.SECTION, 1, 2)
    backend.write(
        [
            Source("a.py", ["run"], symbols=(_function("run"),), relations=(_call("help"), _call("guide", line=3))),
            Source("b.py", ["help"], symbols=(_function("help"),)),
            Source("docs/help.md", ["help"], symbols=(heading, replace(heading, name="guide", qualified_name="guide"))),
        ]
    )
    (found,) = _neighbours(backend, _seed(backend, "run", "a.py"))
    assert (found.chunk.path, _how(found)) == ("b.py", BY_NAME)
    assert _neighbours(backend, _seed(backend, "help", "docs/help.md")) == []


def test_a_name_that_everything_defines_leads_nowhere(backend: Backend) -> None:
    """`get` of twenty classes is no neighbour of anybody who calls it on something unknown."""
    backend.write(
        [
            Source("a.py", ["run"], symbols=(_function("run"),), relations=(_call("get"),)),
            *(Source(f"m{number}.py", ["get"], symbols=(_function("get"),)) for number in range(20)),
        ]
    )
    assert _neighbours(backend, _seed(backend, "run", "a.py")) == []


def test_a_later_file_settles_an_earlier_call(backend: Backend) -> None:
    """Nothing is resolved when it is written, so the order of writing does not matter."""
    backend.write([Source("a.py", ["run"], symbols=(_function("run"),), relations=(_call("help"),))])
    assert _neighbours(backend, _seed(backend, "run", "a.py")) == []
    backend.write([Source("b.py", ["help"], symbols=(_function("help"),))])
    assert [one.chunk.path for one in _neighbours(backend, _seed(backend, "run", "a.py"))] == ["b.py"]
    backend.delete(["b.py"])
    assert _neighbours(backend, _seed(backend, "run", "a.py")) == []


def test_callers_are_found_from_the_definition(backend: Backend) -> None:
    """The way in leads from the definition to the chunk in which the call stands."""
    backend.write(
        [
            Source("a.py", ["other", "run"], symbols=(_function("run", line=11),), relations=(_call("help", line=12),)),
            Source("b.py", ["help"], symbols=(_function("help"),)),
        ]
    )
    (found,) = _neighbours(backend, _seed(backend, "help", "b.py"))
    assert (found.chunk.path, found.chunk.start_line, found.direction, found.source) == ("a.py", 11, "in", "run")


def test_a_member_belongs_to_its_own_class(backend: Backend) -> None:
    """Two classes of a file may have members of one name; each contains its own."""
    contains = Relation(RelationKind.CONTAINS, "B", "save", 31, 1.0, Resolution.SYNTAX)
    members = (_function("save", "A.save", 21), _function("save", "B.save", 31))
    holders = (Symbol("A", "A", SymbolKind.TYPE, 1, 2), Symbol("B", "B", SymbolKind.TYPE, 11, 12))
    backend.write([Source("a.py", ["A", "B", "save A", "save B"], symbols=(*holders, *members), relations=(contains,))])
    (found,) = _neighbours(backend, _seed(backend, "B", "a.py"))
    assert (found.target, found.chunk.start_line) == ("B.save", 31)


@pytest.mark.requirement("K-11")
def test_hops_are_honoured(backend: Backend) -> None:
    """Max_hops 0 to 3."""
    names = ["one", "two", "three", "four"]
    backend.write(
        [
            Source(
                f"{name}.py",
                [name],
                symbols=(_function(name),),
                relations=(_call(names[place + 1]),) if place < 3 else (),
            )
            for place, name in enumerate(names)
        ]
    )
    seed = _seed(backend, "one", "one.py")
    assert [len(_neighbours(backend, seed, hops)) for hops in range(4)] == [0, 1, 2, 3]
    assert [one.hops for one in _neighbours(backend, seed, 3)] == [1, 2, 3]


@pytest.mark.requirement("001-08b")
def test_a_document_that_links_to_a_file_is_its_neighbour(backend: Backend) -> None:
    """Links between documents are edges of the same graph."""
    link = Relation(RelationKind.LINKS_TO, "Guide", "setup", 3, 1.0, Resolution.UNRESOLVED, "/docs/setup")
    guide = Symbol("Guide", "Guide", SymbolKind.SECTION, 1, 9)
    backend.write(
        [
            Source("docs/guide.md", ["guide"], symbols=(guide,), relations=(link,)),
            Source("docs/setup.md", ["how to"]),
        ]
    )
    (found,) = _neighbours(backend, _seed(backend, "Guide", "docs/guide.md"))
    assert (found.chunk.path, found.relation) == ("docs/setup.md", RelationKind.LINKS_TO)


def test_what_a_chunk_mentions_leads_to_the_files_that_define_it(backend: Backend) -> None:
    """A rare name counts, one that half the project defines does not, nor does one of the chunk's own file."""
    backend.write(
        [
            Source(
                "a.py",
                ["run", "own"],
                symbols=(_function("run"), _function("own", line=11)),
                relations=(_call("rare"), _call("get"), _call("own")),
            ),
            Source("b.py", ["other"], relations=(_call("rare"),)),
            Source("rare.py", ["rare"], symbols=(_function("rare"),)),
            *(Source(f"m{number}.py", ["get"], symbols=(_function("get"),)) for number in range(9)),
        ]
    )
    seed = _seed(backend, "run", "a.py")
    (found,) = backend.graph.mentions([seed], Scope())
    assert (found.chunk_id, found.occurrences) == (seed, 2)
    assert backend.places([found.definition_chunk_id]) == [("rare.py", 0)]
    assert backend.graph.mentions([seed], Scope(excluded_keys=frozenset({"rare.py"}))) == []


def test_a_mention_never_means_a_key(backend: Backend) -> None:
    """Neither a key of the same name elsewhere, nor one in the file that mentions the name."""
    keys = [Symbol("port", "port", SymbolKind.KEY, line, line) for line in (1, 3)]
    backend.write(
        [
            Source("a.py", ["run"], symbols=(_function("run"), keys[1]), relations=(_call("port"),)),
            Source("port.py", ["port"], symbols=(_function("port"),)),
            *(Source(f"{name}.yaml", ["port: 1"], symbols=(keys[0],)) for name in "bcd"),
        ]
    )
    (found,) = backend.graph.mentions([_seed(backend, "run", "a.py")], Scope())
    assert backend.places([found.definition_chunk_id]) == [("port.py", 0)]


@pytest.mark.requirement("001-08b", "001-09", "K-14", "B-15")
def test_backlinks_count_the_files_that_lead_to_one(backend: Backend) -> None:
    """Distinct other files, not archived, that call, import or link to it."""
    link = Relation(RelationKind.LINKS_TO, "", "guide", 2, 1.0, Resolution.UNRESOLVED, "/docs/guide")
    backend.write(
        [
            Source("lib.py", ["help"], symbols=(_function("help"),)),
            Source("a.py", ["run"], symbols=(_function("run"),), relations=(_call("help"), _call("help", line=3))),
            Source("b.py", ["go"], symbols=(_function("go"),), relations=(_call("help", source="go"),)),
            Source("archive/c.py", ["old"], archived=True, relations=(_call("help", source="old"),)),
            Source("docs/guide.md", ["guide"]),
            Source("README.md", ["read"], relations=(link,)),
        ]
    )
    wanted = {path: _first(backend, path) for path in ("lib.py", "a.py", "docs/guide.md")}
    counts = backend.graph.backlinks(list(wanted.values()))
    assert {path: counts.get(chunk_id, 0) for path, chunk_id in wanted.items()} == {
        "lib.py": 2,
        "a.py": 0,
        "docs/guide.md": 1,
    }
    assert backend.graph.backlinks([]) == {}


@pytest.mark.requirement("K-14")
def test_a_name_that_several_files_define_is_no_backlink(backend: Backend) -> None:
    """The name does not decide which of them is meant."""
    backend.write(
        [
            Source("one.py", ["help"], symbols=(_function("help"),)),
            Source("two.py", ["help"], symbols=(_function("help"),)),
            Source("a.py", ["run"], symbols=(_function("run"),), relations=(_call("help"),)),
        ]
    )
    assert backend.graph.backlinks([_first(backend, "one.py"), _first(backend, "two.py")]) == {}


def test_a_call_of_one_of_several_overloads_is_a_backlink(backend: Backend) -> None:
    """Which of them is meant is not known, but their file is."""
    overloads = [
        replace(_function("help", line=line), signature=f"fun help(a: {kind})") for line, kind in ((1, "Int"), (5, "A"))
    ]
    backend.write(
        [
            Source("lib.kt", ["help help"], language="kotlin", symbols=tuple(overloads)),
            Source("a.kt", ["run"], language="kotlin", symbols=(_function("run"),), relations=(_call("help"),)),
        ]
    )
    found = _first(backend, "lib.kt")
    assert backend.graph.backlinks([found]) == {found: 1}


def _first(backend: Backend, path: str) -> int:
    found = [one for word in ("help", "run", "guide") for one in backend.keywords.search([word], 20, Scope())]
    return next(one.chunk_id for one in found if backend.places([one.chunk_id]) == [(path, 0)])


@pytest.mark.requirement("K-11")
def test_who_names_a_type_is_related_when_asked_for(backend: Backend) -> None:
    """Beside a result everything else is shown; and no field is meant that is called as its type."""
    uses = Relation(RelationKind.USES, "run", "Box", 2, 0.5, Resolution.UNRESOLVED)
    backend.write(
        [
            Source(
                "a.py",
                ["run", "Box"],
                symbols=(_function("run"), Symbol("Box", "Crate.Box", SymbolKind.FIELD, 11, 11)),
                relations=(uses,),
            ),
            Source("b.py", ["Box"], symbols=(Symbol("Box", "Box", SymbolKind.TYPE, 1, 2),)),
        ]
    )
    seed = _seed(backend, "run", "a.py")
    assert _neighbours(backend, seed) == []
    (found,) = backend.graph.neighbours([seed], 1, 20, Scope(), [RelationKind.USES])
    assert (found.chunk.path, found.relation, found.direction) == ("b.py", RelationKind.USES, "out")
    assert backend.graph.mentions([seed], Scope()) == []


def test_what_the_language_brings_is_never_meant_by_its_name_alone(backend: Backend) -> None:
    """Only a module of the project that has the very name of the language's own."""
    call = _call("start", "platform")._replace(resolution=Resolution.LIBRARY)
    backend.write(
        [
            Source("a.py", ["run"], symbols=(_function("run"),), relations=(call,)),
            Source("b.py", ["start"], symbols=(_function("start"),)),
        ]
    )
    assert _neighbours(backend, _seed(backend, "run", "a.py")) == []
    backend.write([Source("platform.py", ["start"], symbols=(_function("start"),))])
    (found,) = _neighbours(backend, _seed(backend, "run", "a.py"))
    assert (found.chunk.path, _how(found)) == ("platform.py", SURE)


def test_a_member_of_an_unknown_value_is_a_guess(backend: Backend) -> None:
    """Though nothing else has its name; and a function that is no method is no member."""
    method = Symbol("load", "Box.load", SymbolKind.METHOD, 1, 2)
    call = _call("load")._replace(resolution=Resolution.UNKNOWN, confidence=0.3)
    backend.write(
        [
            Source("a.py", ["run"], symbols=(_function("run"),), relations=(call,)),
            Source("b.py", ["load"], symbols=(method,)),
            Source("c.py", ["load"], symbols=(_function("load"),)),
        ]
    )
    (found,) = _neighbours(backend, _seed(backend, "run", "a.py"))
    assert (found.chunk.path, _how(found)) == ("b.py", GUESS)


def test_a_name_of_the_language_may_be_the_projects(backend: Backend) -> None:
    """A function of it, and no method; it is a guess."""
    call = _call("min")._replace(resolution=Resolution.BUILTIN, confidence=0.25)
    backend.write(
        [
            Source("a.go", ["run"], symbols=(_function("run"),), relations=(call,)),
            Source("b.go", ["min"], symbols=(_function("min"),)),
            Source("c.go", ["min"], symbols=(Symbol("min", "Box.min", SymbolKind.METHOD, 1, 2),)),
        ]
    )
    seed = _seed(backend, "run", "a.go")
    (found,) = _neighbours(backend, seed)
    assert (found.chunk.path, _how(found)) == ("b.go", GUESS)


def test_only_the_named_definitions_of_a_chunk_have_relations(backend: Backend) -> None:
    """Those of a member count as its type's; what the chunk's others call, and who calls them, is left out."""
    box = Symbol("Box", "Box", SymbolKind.TYPE, 1, 5)
    opens = Symbol("open", "Box.open", SymbolKind.METHOD, 2, 3)
    backend.write(
        [
            Source(
                "a.py",
                ["box open close"],
                symbols=(box, opens, _function("close", line=7)),
                relations=(_call("turn", source="Box.open", line=3), _call("shut", source="close", line=8)),
            ),
            Source("b.py", ["turn"], symbols=(_function("turn"),)),
            Source("c.py", ["shut"], symbols=(_function("shut"),)),
            Source("d.py", ["late"], symbols=(_function("late"),), relations=(_call("close", source="late"),)),
        ]
    )
    seed = _seed(backend, "close", "a.py")

    def related(*symbols: str) -> list[str]:
        return sorted(one.chunk.path for one in backend.graph.neighbours([seed], 1, 20, Scope(), (), symbols))

    assert related() == ["b.py", "c.py", "d.py"]
    assert related("Box.open") == related("Box") == ["b.py"]
    assert related("close") == ["c.py", "d.py"]
