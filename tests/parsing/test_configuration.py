"""The keys of configuration files: their paths and the lines of their values."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphrag_mcp.model.files import SymbolKind
from graphrag_mcp.parsing.configuration import MAX_DEPTH, MAX_KEYS
from graphrag_mcp.parsing.parser import parse_file


def keys(path: str, text: str) -> list[tuple[str, int]]:
    """Return the paths of a file's keys with their lines."""
    return [(symbol.qualified_name, symbol.start_line) for symbol in parse_file(path, text.encode()).symbols]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("settings.yaml", "# the server\nserver:\n  http:\n    port: 8080\n"),
        ("settings.yml", "\nserver:\n  http: {\n   port: 8080}\n"),
        ("settings.toml", "# the server\n[server]\n[server.http]\nport = 8080\n"),
        ("settings.json", '{\n "server": {\n  "http": {\n   "port": 8080}}}\n'),
        ("settings.jsonc", '{ // the server\n "server": {\n  "http": {\n   "port": 8080}}}\n'),
        ("settings.properties", "# the server\n! it listens\nserver=on\nserver.http.port=8080\n"),
    ],
)
def test_a_key_is_named_by_its_path_and_has_the_line_of_its_value(path: str, text: str) -> None:
    """In whatever format: `server.http.port` is on line 4."""
    assert ("server.http.port", 4) in keys(path, text)


def test_a_key_is_a_symbol_of_its_own_kind_with_its_line_as_signature() -> None:
    """The answer shows the default without a second look."""
    port = parse_file("app.ini", b"[http]\nport = 8080\n").symbols[1]
    assert (port.name, port.kind, port.signature) == ("port", SymbolKind.KEY, "port = 8080")


def test_an_environment_template_lists_its_variables() -> None:
    """`export` is not a part of the name."""
    assert keys(".env.example", "# database\nexport DB_URL=\nDB_POOL=5\n") == [("DB_URL", 2), ("DB_POOL", 3)]


def test_what_continues_a_value_is_no_key() -> None:
    """After a backslash, and on an indented line."""
    assert keys("a.properties", "path=one\\\n two=2\nlast=1\n") == [("path", 1), ("last", 3)]
    assert keys("tox.ini", "[env]\ncommands =\n  run a=b\n") == [("env", 1), ("env.commands", 2)]


def test_a_file_of_names_and_values_lists_its_names() -> None:
    """Each by its first line, with comments and in blocks; Apache's and nginx's files have this shape too."""
    redis = (
        "# Memory.\nmaxmemory 100mb\nmaxmemory-policy noeviction\n\n# Persistence.\nsave 900 1\nsave 300 10\ndir ./\n"
    )
    assert keys("redis.conf", redis) == [("maxmemory", 2), ("maxmemory-policy", 3), ("save", 6), ("dir", 8)]
    assert keys("nginx.conf", "http {\n  server {\n    listen 80;\n  }\n}\n") == [
        ("http", 1),
        ("server", 2),
        ("listen", 3),
    ]
    assert keys("etc/sshd_config", "#Port 2222\nPort 22\nPermitRootLogin no\n") == [("Port", 2), ("PermitRootLogin", 3)]


def test_a_conf_file_that_assigns_has_assigned_keys() -> None:
    """And one of another shape has none."""
    assert keys("app.conf", "[http]\nport = 80\nname = my shop\n") == [("http", 1), ("http.port", 2), ("http.name", 3)]
    assert keys("modules.conf", "loop\nfuse\nsnd hda\n") == []


def test_the_elements_of_lists_have_no_keys() -> None:
    """A list of a thousand entries has a thousand times the same names."""
    assert keys("a.yaml", "steps:\n- name: one\n- name: two\n") == [("steps", 1)]
    assert keys("a.json", '{"steps": [{"name": 1}]}') == [("steps", 1)]


@pytest.mark.parametrize("path", ["package-lock.json", "locales/de.json", "tests/data.json", "a.csv", "src/a.py"])
def test_lock_files_translations_and_data_have_no_keys(path: str) -> None:
    """Nobody asks for their names."""
    assert SymbolKind.KEY not in {symbol.kind for symbol in parse_file(path, b'{"a": {"b": 1}}').symbols}


def test_a_large_file_gives_its_first_keys_only() -> None:
    """The bound is a number of keys, and a depth."""
    wide = json.dumps({f"key{number}": number for number in range(10 * MAX_KEYS)}, indent=1)
    assert len(keys("wide.json", wide)) == MAX_KEYS
    deep = "".join(f"{' ' * level}level{level}:\n" for level in range(3 * MAX_DEPTH))
    assert max(path.count(".") + 1 for path, _ in keys("deep.yaml", deep)) == MAX_DEPTH


@given(
    st.text(alphabet=st.sampled_from("ab: -[]{}\"'=.\n#&*<>|\\,é\t"), max_size=60),
    st.sampled_from(["yaml", "toml", "json", "ini"]),
)
@settings(derandomize=True, max_examples=300, deadline=None)
def test_any_text_has_keys_on_its_own_lines(text: str, suffix: str) -> None:
    """A broken file raises nothing."""
    lines = text.split("\n")
    assert all(1 <= line <= len(lines) for _, line in keys(f"config.{suffix}", text))
