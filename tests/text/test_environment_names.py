"""Environment variables and the keys that they set."""

import pytest

from graphrag_mcp.text.names import key_names, sets_key


@pytest.mark.parametrize(
    ("variable", "key"),
    [
        ("SERVER_HTTP_PORT", "server.http.port"),
        ("SERVER_MAX_BODY_SIZE", "server.max-body-size"),
        ("SERVER_MAX_BODY_SIZE", "server.maxBodySize"),
        ("DB_URL", "DB_URL"),
        ("MYAPP_SERVER_PORT", "server.port"),
    ],
)
def test_a_variable_sets_the_key_of_the_same_words(variable: str, key: str) -> None:
    """With any separators, or the name of the program before it; the key can be looked up by its last name."""
    assert sets_key(variable, key)
    assert key.rpartition(".")[2].lower() in key_names(variable)


@pytest.mark.parametrize(
    ("variable", "key"),
    [("SERVER_HTTP_PORT", "port"), ("SERVER_PORT", "server.ports"), ("server_port", "server.port"), ("PORT", "a.b")],
)
def test_it_sets_no_other_key(variable: str, key: str) -> None:
    """One word behind a program's name is in too many variables; an identifier in lower case is no variable."""
    assert not sets_key(variable, key)
