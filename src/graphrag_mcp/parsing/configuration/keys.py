"""Finds the keys of a configuration file: YAML, TOML, JSON, INI, properties, environment templates, `name value`.

A key is named by its path: `server.http.port`. The elements of lists have no keys. The bounds keep a file of data, or a
schema, from filling the index with names that nobody asks for.
"""

from collections.abc import Callable, Iterable
from itertools import islice

from graphrag_mcp.model.files import Category, Symbol, SymbolKind
from graphrag_mcp.parsing.configuration.assignments import assigned_keys, conf_keys
from graphrag_mcp.parsing.configuration.key import Key
from graphrag_mcp.parsing.configuration.nested import json_keys, toml_keys, yaml_keys

MAX_KEYS = 100  # Of one file, in its order.
MAX_DEPTH = 5  # Parts of a path.
_LARGEST = 60_000  # Characters; hand-written settings are smaller.
_LARGEST_CONF = 200_000  # Some explain each line at length.
_SIGNATURE_CHARS = 120
_TRANSLATED = frozenset({"i18n", "l10n", "lang", "langs", "locale", "locales", "translations"})

_READERS: dict[str, Callable[[str], Iterable[Key]]] = {
    "yaml": yaml_keys,
    "yml": yaml_keys,
    "toml": toml_keys,
    "json": json_keys,
    "jsonc": json_keys,
    "ini": assigned_keys,
    "cfg": assigned_keys,
    "conf": conf_keys,
    "sshd_config": conf_keys,
    "ssh_config": conf_keys,
    "properties": assigned_keys,
}


def configuration_keys(path: str, text: str, category: Category) -> tuple[Symbol, ...]:
    """Return the keys of a file as symbols, in its order; none of a file that is no configuration or cannot be read."""
    *folders, name = path.lower().split("/")
    suffix = name.rpartition(".")[2]
    read = assigned_keys if name.startswith(".env") else _READERS.get(suffix)
    largest = _LARGEST_CONF if read is conf_keys else _LARGEST
    if read is None or category is not Category.CONFIG or len(text) > largest or not _TRANSLATED.isdisjoint(folders):
        return ()
    lines = text.split("\n")
    shallow = (key for key in read(text) if len(key.path) <= MAX_DEPTH)
    return tuple(_symbol(key, lines) for key in islice(shallow, MAX_KEYS))


def _symbol(key: Key, lines: list[str]) -> Symbol:
    line = lines[key.row].strip()[:_SIGNATURE_CHARS] if key.row < len(lines) else ""
    return Symbol(key.path[-1], ".".join(key.path), SymbolKind.KEY, key.row + 1, key.row + 1, line)
