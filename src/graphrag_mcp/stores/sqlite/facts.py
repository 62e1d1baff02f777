"""The facts of one tree, as the resolver reads them: the `FactSource` of the index file."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from typing import Any, TypeVar, cast

from graphrag_mcp.languages.registry import FACT_LANGUAGES, describe
from graphrag_mcp.model.facts import Declared, FileFacts, SymbolId, identities_of, unpack, unpack_outline
from graphrag_mcp.model.files import UNPARSED, Manifest, Relation, SymbolKind, load_manifest
from graphrag_mcp.model.links import Place, place_id
from graphrag_mcp.model.sources import Keyed, Named
from graphrag_mcp.stores.sqlite.database import Database, id_list, read_packed
from graphrag_mcp.stores.sqlite.schema import NAMED, of_file

_WORD = re.compile(r"\w+")
FILES_KEPT = 200  # Unpacked facts take about 50 times the bytes of packed ones.


_Method = TypeVar("_Method", bound=Callable[..., object])


def _kept(size: int) -> Callable[[_Method], _Method]:
    """Let each object keep the last `size` answers of a method."""

    def keep(method: _Method) -> _Method:
        return cast(_Method, cached_property(lambda facts: lru_cache(size)(partial(method, facts))))

    return keep


def _plain(name: str) -> str:
    """Return a name as definitions have it: without the mark of JavaScript's private members."""
    return name.removeprefix("#")


def _family(language: str) -> str:
    return describe(language).family or language


_KEYED = "f.path, f.language, f.archive_reason IS NOT NULL"
_NAMED = f"{_KEYED}, {NAMED}"


def _named(row: tuple[Any, ...]) -> Named:
    path, language, archived, name, qualified, kind, *rest = row
    file = Keyed(path, language, bool(archived))
    return Named(file, name, qualified, SymbolKind(kind), *rest)


class SqliteFacts:
    """The facts as of one commit, see `FactSource`: make a new one when the index has changed."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @cached_property
    def _units(self) -> Mapping[str, str]:
        """The unit of each file that has facts, by its path."""
        return dict(self._database.rows("SELECT f.path, x.unit FROM facts x CROSS JOIN files f ON f.id = x.file_id"))

    def facts(self, path: str) -> FileFacts | None:
        return self._unpacked(path)[0]

    def has(self, path: str) -> bool:
        return path in self._units

    def unit(self, path: str) -> str:
        return self._units.get(path, "")

    def has_unit(self, unit: str) -> bool:
        return bool(self._database.rows("SELECT 1 FROM facts WHERE unit = ? LIMIT 1", (unit,)))

    @_kept(1 << 12)
    def unit_of_folder(self, folder: str) -> str:
        """Return the unit that most files of a folder are in, other than tests: the one that others import."""
        rows = self._database.rows(
            """SELECT x.unit FROM facts x CROSS JOIN files f ON f.id = x.file_id
               WHERE x.unit > ? AND x.unit < ?
               GROUP BY x.unit ORDER BY substr(x.unit, -5) = '_test', count(*) DESC, x.unit LIMIT 1""",
            (f"{folder}:", f"{folder};"),
        )
        return str(rows[0][0]) if rows else ""

    @_kept(1 << 14)
    def find(self, unit: str, qualified_name: str) -> Sequence[SymbolId]:
        paths = self._defining(_plain(qualified_name.rpartition(".")[2])).get((unit, qualified_name), ())
        return tuple(
            SymbolId(path, number) for path in paths for number in self._unpacked(path)[1].get(qualified_name, ())
        )

    @_kept(1 << 10)
    def _defining(self, name: str) -> Mapping[tuple[str, str], Sequence[str]]:
        """Return the files that define a name, by unit and qualified name: each of many types may have it."""
        paths: dict[tuple[str, str], list[str]] = {}
        for unit, qualified_name, path in self._database.rows(
            """SELECT DISTINCT x.unit, s.qualified_name, f.path FROM symbols s
               CROSS JOIN main.facts x ON x.file_id = s.file_id CROSS JOIN files f ON f.id = s.file_id
               WHERE s.name_key = lower(?) ORDER BY f.path""",
            (name,),
        ):
            paths.setdefault((unit, qualified_name), []).append(path)
        return paths

    def methods(self, unit: str, owner: str) -> Sequence[SymbolId]:
        return [symbol for name in self._methods(unit).get(owner, ()) for symbol in self.find(unit, name)]

    @_kept(1 << 6)
    def _methods(self, unit: str) -> Mapping[str, Sequence[str]]:
        """Return the qualified names of the methods of a unit by their types: each of many types is asked for."""
        rows = self._database.rows(
            """SELECT DISTINCT s.qualified_name, s.name FROM facts x CROSS JOIN main.symbols s ON s.file_id = x.file_id
               WHERE x.unit = ? AND s.kind = 'method'""",
            (unit,),
        )
        methods: dict[str, list[str]] = {}
        for qualified_name, name in rows:
            methods.setdefault(qualified_name.removesuffix(f".{name}"), []).append(qualified_name)
        return methods

    @_kept(1 << 12)
    def named(self, name: str) -> Sequence[SymbolId]:
        rows = self._database.rows(
            """SELECT DISTINCT f.path FROM symbols s CROSS JOIN main.facts x ON x.file_id = s.file_id
               CROSS JOIN files f ON f.id = s.file_id WHERE s.name_key = lower(?1) AND s.name = ?1 ORDER BY f.path""",
            (_plain(name),),
        )
        declared = ((path, number, item) for (path,) in rows for number, item in enumerate(self._declared(path)))
        return tuple(SymbolId(path, number) for path, number, item in declared if item.name == name)

    @_kept(FILES_KEPT)
    def outline(self, path: str) -> Sequence[Relation]:
        rows = self._database.rows(
            "SELECT o.data FROM files f CROSS JOIN main.outlines o ON o.file_id = f.id WHERE f.path = ?", (path,)
        )
        return read_packed(unpack_outline, rows[0][0]) if rows else ()

    @_kept(1 << 14)
    def file(self, path: str) -> Keyed | None:
        rows = self._database.rows(f"SELECT {_KEYED} FROM files f WHERE f.path = ?", (path,))
        return Keyed(rows[0][0], rows[0][1], bool(rows[0][2])) if rows else None

    def content_hash(self, path: str) -> bytes:
        """Return the hash of what is indexed of a file (`hash_content`)."""
        return b"".join(self._database.column("SELECT content_hash FROM files WHERE path = ?", (path,)))

    def tests_among(self, paths: Iterable[str]) -> set[str]:
        """Return those of some files that are tests."""
        rows = self._database.rows(
            "SELECT path FROM files WHERE category = 'tests' AND path IN (SELECT value FROM json_each(?))",
            (id_list(paths),),
        )
        return {path for (path,) in rows}

    def inside(self, path: str) -> Sequence[Named]:
        rows = self._database.rows(
            f"""SELECT {_NAMED} FROM files f CROSS JOIN symbols s ON s.file_id = f.id
                WHERE f.path = ? AND s.kind != 'key' ORDER BY s.id""",
            (path,),
        )
        return list(map(_named, rows))

    @_kept(1 << 12)
    def called(self, name: str) -> Sequence[Named]:
        """Return the definitions of a name in all files, without keys of configuration.

        Their order does not depend on their position in their files, since moving one changes no links of others.
        """
        rows = self._database.rows(
            f"""SELECT {_NAMED} FROM main.symbols s CROSS JOIN files f ON f.id = s.file_id
                WHERE s.name_key = ? AND s.name = ? AND s.kind != 'key'
                ORDER BY f.path, s.qualified_name, s.id""",
            (name.lower(), name),
        )
        return list(map(_named, rows))

    @_kept(1 << 12)
    def keyed(self, key: str) -> Sequence[Keyed]:
        rows = self._database.rows(
            f"SELECT {_KEYED} FROM main.module_keys m CROSS JOIN files f ON f.id = m.file_id WHERE m.key = ? "
            "ORDER BY f.path",
            (key,),
        )
        return [Keyed(path, language, bool(archived)) for path, language, archived in rows]

    def placed(self, places: Iterable[int]) -> Mapping[int, SymbolId]:
        wanted = set(places)
        rows = self._database.rows(
            """SELECT DISTINCT f.path FROM json_each(?) wanted CROSS JOIN main.symbols s ON s.place = wanted.value
               CROSS JOIN files f ON f.id = s.file_id ORDER BY f.path""",
            (id_list(wanted),),
        )
        return {place: symbol for (path,) in rows for place, symbol in self._at(path).items() if place in wanted}

    @_kept(FILES_KEPT)
    def _at(self, path: str) -> Mapping[int, SymbolId]:
        facts = self.facts(path)
        names = identities_of(facts) if facts else ()
        return {place_id(Place(path, identity)): SymbolId(path, number) for number, identity in enumerate(names)}

    def places_of(self, name: str) -> Sequence[int]:
        return self._database.column(
            "SELECT DISTINCT place FROM symbols WHERE name_key = lower(?1) AND name = ?1 AND kind != 'key'",
            (_plain(name),),
        )

    def unparsed(self, name: str, language: str) -> tuple[str, ...]:
        family = _family(language)
        if _WORD.fullmatch(name):
            return tuple(self._words.get(family, {}).get(name, ()))
        word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
        return tuple(path for path, text in self._texts.get(family, ()) if name in text and word.search(text))

    @cached_property
    def _words(self) -> Mapping[str, Mapping[str, Sequence[str]]]:
        """The files of `_texts` by their words: a walk asks for thousands of names."""
        words: dict[str, dict[str, list[str]]] = {}
        for family, texts in self._texts.items():
            paths = words.setdefault(family, {})
            for path, text in texts:
                for word in set(_WORD.findall(text)):
                    paths.setdefault(word, []).append(path)
        return words

    @cached_property
    def _texts(self) -> Mapping[str, list[tuple[str, str]]]:
        """The files by language that have no facts though they should, or lines that do not parse, with their text."""
        rows = self._database.rows(
            f"""SELECT f.language, f.path, group_concat(c.text, char(10)) FROM files f
                CROSS JOIN chunks c ON {of_file("c.id", "f.id")}
                WHERE f.id NOT IN (SELECT file_id FROM main.facts WHERE NOT has_errors)
                  AND (f.language IN (SELECT value FROM json_each(?)) OR instr(f.note, ?))
                GROUP BY f.id ORDER BY f.path""",
            (json.dumps(sorted(FACT_LANGUAGES)), UNPARSED),
        )
        texts: dict[str, list[tuple[str, str]]] = {}
        for language, path, text in rows:
            texts.setdefault(_family(language), []).append((path, text))
        return texts

    @_kept(1)
    def manifests(self) -> Sequence[Manifest]:
        """Return all manifests of the tree, in an order that does not depend on which file was read first."""
        rows = self._database.rows(
            "SELECT m.data FROM manifests m CROSS JOIN files f ON f.id = m.file_id ORDER BY f.path"
        )
        return [load_manifest(data) for (data,) in rows]

    @_kept(FILES_KEPT)
    def _unpacked(self, path: str) -> tuple[FileFacts | None, Mapping[str, Sequence[int]]]:
        rows = self._database.rows(
            "SELECT x.data FROM files f CROSS JOIN main.facts x ON x.file_id = f.id WHERE f.path = ?", (path,)
        )
        if not rows:
            return None, {}
        facts = read_packed(unpack, rows[0][0])
        numbers: dict[str, list[int]] = {}
        for number, declaration in enumerate(facts.declared):
            if declaration.name:
                numbers.setdefault(declaration.qualified, []).append(number)
        return facts, numbers

    def _declared(self, path: str) -> Sequence[Declared]:
        facts = self.facts(path)
        return facts.declared if facts else ()
