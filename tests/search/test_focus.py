"""Which definition of a chunk a result is headed by, its best lines, and the definitions it points at."""

from pathlib import Path

import pytest

from graphrag_mcp.model.files import Symbol, SymbolKind
from graphrag_mcp.model.search import Factor, FactorKind, Focus, Frequencies, Hit, StoredChunk
from graphrag_mcp.parsing.parser import parse_file
from graphrag_mcp.search.focus import POINTERS, Terms, find_focus, focus_hits
from graphrag_mcp.search.query.understand import understand
from tests.fakes import make_chunk

SESSION = '''class Session:
    """Keeps what one client has said."""

    limit = 10

    def open(self, token):
        """Begin to listen."""
        return Socket(token)

    # Waits for a while before it asks once more.
    def retry(self, delay):
        sleep(delay)
        return self.open(self.token)

    def close(self):
        self.socket.shutdown()
'''
HELPERS = """def read_header(stream):
    return stream.read(8)


def read_body(stream, size):
    return stream.read(size)
"""


def parsed(path: str, text: str) -> tuple[StoredChunk, tuple[Symbol, ...]]:
    """Return a file as its one chunk, and its definitions, as the indexer reads them."""
    file = parse_file(path, text.encode())
    (chunk,) = file.chunks
    stored = make_chunk(path, chunk.start_line, text=chunk.text, kind=chunk.kind, symbol=chunk.symbol)
    return stored, file.symbols


def focus(query: str, path: str = "session.py", text: str = SESSION, frequencies: Frequencies | None = None) -> Focus:
    chunk, definitions = parsed(path, text)
    return find_focus(Hit(chunk, 1.0, 1.0), definitions, Terms(understand(query), frequencies), {})


def name_of(found: Focus) -> str:
    assert found.symbol is not None
    return found.symbol.qualified_name


@pytest.mark.parametrize(
    ("query", "name", "lines"),
    [
        ("how long does it wait before a retry", "Session.retry", (10, 13)),
        ("shutdown of the socket on close", "Session.close", (15, 16)),
        ("what has one client said", "Session", (1, 16)),
        ("Session.open", "Session.open", (6, 8)),
        ("Session.limit", "Session.limit", (4, 4)),
    ],
)
def test_a_result_is_headed_by_the_member_that_matched(query: str, name: str, lines: tuple[int, int]) -> None:
    """With the member's own lines and the comment above it; the class where its own lines match."""
    found = focus(query)
    assert (name_of(found), (found.start_line, found.end_line)) == (name, lines)


def test_the_second_function_of_a_merged_chunk_is_the_heading_if_it_matched() -> None:
    """Whichever is larger."""
    assert name_of(focus("size of the body", "wire.py", HELPERS)) == "read_body"
    assert name_of(focus("read the header", "wire.py", HELPERS)) == "read_header"


def test_a_chunk_in_which_nothing_stands_out_is_shown_as_a_whole() -> None:
    """Both functions match alike: neither is claimed to be the one."""
    found = focus("read stream", "wire.py", HELPERS)
    assert (found.start_line, found.end_line) == (1, 6)
    assert found.names == ("read_header", "read_body")
    assert focus("size of the body", "wire.py", HELPERS).names == ()


def test_a_name_that_the_query_gives_exactly_wins() -> None:
    """Over a definition with more of the query's words."""
    text = "def sum_all_rows_of_table(table):\n    return rows(table)\n\n\ndef sumAll(x):\n    return x\n"
    assert name_of(focus("sum rows of table in sumAll", "sums.py", text)) == "sumAll"


def test_rare_words_decide() -> None:
    """A word that half of the chunks contain says little about which definition is meant."""
    text = "def get_value(value):\n    return value\n\n\ndef get_lease(lease):\n    return lease\n"
    common = Frequencies({"get": 90, "valu": 80, "leas": 2}, 100)
    assert name_of(focus("get value lease", "leases.py", text, common)) == "get_lease"


def test_what_a_definition_does_decides_between_equal_words() -> None:
    """By the gain of its sketch, where the file has been sketched."""
    chunk, definitions = parsed("wire.py", HELPERS)
    terms = Terms(understand("read stream"), None)
    header, body = definitions
    assert name_of(find_focus(Hit(chunk, 1.0, 1.0), definitions, terms, {header: 1.1, body: 0.4})) == "read_header"
    assert name_of(find_focus(Hit(chunk, 1.0, 1.0), definitions, terms, {header: 0.4, body: 1.1})) == "read_body"


def test_without_definitions_the_chunk_itself_is_the_heading() -> None:
    """A store that knows none, and a text without any."""
    chunk, _ = parsed("session.py", SESSION)
    found = find_focus(Hit(chunk, 1.0, 1.0), (), Terms(understand("retry"), None), {})
    assert (found.symbol, found.start_line, found.end_line) == (None, 1, 16)
    assert found.lines == (11,)


def test_the_best_lines_show_different_words() -> None:
    """A line that repeats what another one shows comes after one that adds a word; the heading shows the signature."""
    text = "def load(path):\n    cache = {}\n    cache = {}\n    cache = {}\n    expire(cache)\n    return evict\n"
    assert sorted(focus("cache expire evict", "load.py", text).lines) == [2, 5, 6]


def test_a_file_is_pointed_at_once_by_its_best_definitions() -> None:
    """Chosen by their names, not by their places; never what a result is headed by already."""
    names = ["alpha", "beta", "gamma", "delta", "renew_lease", "omega", "sigma", "expire_lease"]
    text = "".join(f"def {name}(value):\n    return {name!r} * value\n\n\n" for name in names)
    chunk, definitions = parsed("lease.py", text)
    other = make_chunk("lease.py", 13, text="def delta(value):\n    return 'delta' * value", symbol="delta")
    hits = [Hit(chunk, 1.0, 1.0), Hit(other, 0.9, 0.9)]
    first, second = focus_hits(hits, Terms(understand("how is a lease renewed"), None), {1: definitions})
    assert first.focus is not None
    assert second.focus is not None
    assert name_of(first.focus) == "renew_lease"
    pointed = [symbol.name for symbol in first.focus.also_here]
    assert pointed[0] == "expire_lease"
    assert len(pointed) == POINTERS
    assert {"renew_lease", "delta"}.isdisjoint(pointed)
    assert second.focus.also_here == ()


def test_one_name_is_pointed_at_once() -> None:
    """The variants of a macro would leave no room for others."""
    text = "#if A\n" + "".join(f"#define LEASE_FACTOR {number}\n" for number in range(9)) + "#endif\n\n"
    text += "int renew(int lease) {\n  return lease * LEASE_FACTOR;\n}\n\nint drop_lease(int lease) {\n  return 0;\n}\n"
    chunk, definitions = parsed("lease.c", text)
    (hit,) = focus_hits(
        [Hit(chunk, 1.0, 1.0)], Terms(understand("where does it renew a lease"), None), {1: definitions}
    )
    assert hit.focus is not None
    assert name_of(hit.focus) == "renew"
    assert sorted(symbol.name for symbol in hit.focus.also_here) == ["LEASE_FACTOR", "drop_lease"]


def test_every_shown_line_is_a_line_of_its_chunk() -> None:
    """For every definition of a real file asked for by its name: the lines lie inside its own."""
    path = Path(__file__)
    file = parse_file(path.name, path.read_bytes())
    for chunk in file.chunks:
        stored = make_chunk(path.name, chunk.start_line, text=chunk.text, symbol=chunk.symbol)
        for symbol in file.symbols:
            found = find_focus(Hit(stored, 1.0, 1.0), file.symbols, Terms(understand(symbol.name), None), {})
            assert chunk.start_line <= found.start_line <= found.end_line <= chunk.end_line
            assert all(found.start_line <= line <= found.end_line for line in found.lines)
            if found.symbol is symbol and chunk.start_line <= symbol.start_line <= chunk.end_line:
                assert found.start_line <= symbol.start_line


def test_of_two_definitions_of_the_name_that_is_asked_for_one_heads_the_result() -> None:
    """Overloads are equally good, and each is better than a longer function beside them."""
    text = """class Injector {
    Provider getProvider(Key key) {
        check(key);
        check(key.type());
        return providers.get(key);
    }
    Object getInstance(Key key) { return getProvider(key).get(); }
    Object getInstance(Class type) { return getInstance(Key.of(type)); }
}
"""
    assert name_of(focus("Injector.getInstance", "Injector.java", text)) == "Injector.getInstance"


def test_the_definition_with_the_quoted_text_or_the_named_line_heads_the_result() -> None:
    """Its other words are those of the function beside it."""
    text = """def read_header(stream):
    raise ValueError("the stream is too short")


def check_stream_is_long_enough_for_the_header(stream):
    return len(stream) >= HEADER and stream.is_open and not stream.is_short
"""
    chunk, definitions = parsed("reader.py", text)
    found = Hit(chunk, 1.0, 1.0, factors=(Factor("literal", 1.0, FactorKind.BONUS),))
    quoted = find_focus(
        found, definitions, Terms(understand('long enough stream: "the stream is too short"'), None), {}
    )
    assert (name_of(quoted), quoted.lines[0]) == ("read_header", 2)
    assert name_of(focus("long enough stream, reader.py:2", "reader.py", text)) == "read_header"


BAKING = """OVEN_SECONDS = 90
LOAVES, SHEETS = 4, 2
log = open("bake.log")


def bake(dough):
    log.write("in")
    return heat(dough, OVEN_SECONDS, LOAVES)


def cool():
    return 90
"""


def test_constants_that_the_lines_name_are_given_with_their_values() -> None:
    """Not what is computed, and not what stands in the lines."""
    found = focus("how long does it bake dough", "bake.py", BAKING)
    assert name_of(found) == "bake"
    assert [(symbol.start_line, symbol.value) for symbol in found.used] == [(1, "90")]


@pytest.mark.parametrize(
    ("signature", "value"),
    [
        ("const MAX: usize = 250;", "250"),
        ('public static final String NAME = "loaf";', '"loaf"'),
        ("SIZES = [1, 2]", "[1, 2]"),
        ("export const isHot = false", "false"),
        ("limit: int = -1", "-1"),
        ("log = getLogger(__name__)", ""),
        ("var made = Other.made", ""),
        ("int count;", ""),
        ("is_one = x == 1", ""),
        ("TIMEOUT = Timeout(total=5)", ""),
        ("C = field(default=False)", ""),
        ('AT = Pattern.compile("a=5")', ""),
        ('@Column(name = "x") private String y;', ""),
        ("A = 5  # five", "5"),
        ("const wait = 5 * time.Second", "5 * time.Second"),
        ("LOAVES, SHEETS = 4, 2", ""),
    ],
)
def test_a_value_is_a_number_a_text_or_whether(signature: str, value: str) -> None:
    assert Symbol("name", "name", SymbolKind.CONSTANT, 1, 1, signature).value == value


@pytest.mark.parametrize("question", ["how long is bread kept", "bread storage"])
def test_a_section_shows_what_stands_below_its_heading(question: str) -> None:
    """The heading is the name of the result; where no line below has a word of the question, the next one is shown."""
    text = "# Bread storage\n\n- Bread is kept for two days.\n- Rolls are not.\n"
    assert focus(question, "guide.md", text).lines[0] == 3


def test_a_field_of_another_type_is_not_what_a_parameter_of_its_name_is() -> None:
    text = "class Oven:\n    limit = 5\n\n\nclass Pan:\n    limit = 7\n\n    def heat_it(self):\n        return limit\n"
    found = focus("heat it", "pan.py", text)
    assert name_of(found) == "Pan.heat_it"
    assert [symbol.value for symbol in found.used] == ["7"]
