"""Reads values from outside into records, and says what a field accepts: as a JSON schema, and in words.

A field has a type with its limits (`msgspec.Meta`), with what happens to a value before and after it is taken for that
type, and with its description: `name: Annotated[str, Meta(max_length=100), Before(strip), "What it is called."] = ""`.
Before and after a type of a union nothing happens.
"""

from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from functools import cache
from math import isfinite
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, Union, get_args, get_origin

from msgspec import NODEFAULT, Meta, Struct, ValidationError, convert, to_builtins
from msgspec.structs import FieldInfo, fields

_Record = TypeVar("_Record", bound=Struct)
_Note = TypeVar("_Note")
_LISTS, _TABLES = (list, tuple), (dict, Mapping)
_PLAIN = {bool: "boolean", float: "number", int: "integer", str: "string", NoneType: "null"}
_SWITCHED = {"yes": True, "y": True, "on": True, "t": True, "no": False, "n": False, "off": False, "f": False}


def _number(kind: type[int] | type[float]) -> Callable[[str], object]:
    def read(text: str) -> object:
        try:
            return kind(text)
        except ValueError:
            return text

    return read


# How a text of the environment is read; msgspec knows `true`, `1`, `false` and `0`.
_FROM_TEXT: Mapping[Any, Callable[[str], object]] = {
    bool: lambda text: _SWITCHED.get(text.lower(), text),
    int: _number(int),
    float: _number(float),
}


class Before(NamedTuple):
    """Annotates a type with what makes its values of another form. Raises ValueError with what is expected."""

    make: Callable[[Any], object]


class After(NamedTuple):
    """Annotates a type with what checks or completes its values. Raises ValueError with what is expected."""

    check: Callable[[Any], object]


class Inside:
    """Annotates a field whose value does not come from outside."""


class Problem(NamedTuple):
    """What is wrong with a value. within: where it is in the field: indexes and keys.

    value: `NODEFAULT` for one that is required and was not given. expected: in words; "" where no field has the name.
    is_shown: whether the value is short enough to be shown.
    """

    name: str
    within: tuple[object, ...]
    value: object
    expected: str
    is_shown: bool = True


class TooLargeError(ValueError):
    """A value is too large to be shown; says what is expected, and what was given."""


class FieldsError(Exception):
    """Some values are not what the fields of a record accept."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__(problems)
        self.problems = problems


@cache
def outer_fields(kind: type[Struct]) -> Mapping[str, FieldInfo]:
    """Return the fields whose values come from outside, by the names that they have there."""
    return {field.encode_name: field for field in fields(kind) if not any(_notes(field.type, Inside))}


def read_record(kind: type[_Record], values: Mapping[str, object], *, is_text: bool = False, **record: Any) -> _Record:
    """Return the record with these values. Raises FieldsError with everything that is wrong with them.

    is_text: whether texts stand for numbers and booleans. record: the fields whose values do not come from outside.
    """
    known, reader = outer_fields(kind), _Reader(is_text)
    for name, value in values.items():
        if name in known:
            record[known[name].name] = reader.read(known[name].type, value, name)
        else:
            reader.problems.append(Problem(name, (), value, ""))
    missing = [name for name, field in known.items() if field.required and name not in values]
    reader.problems += [Problem(name, (), NODEFAULT, in_words(schema_of(known[name].type))) for name in missing]
    if reader.problems:
        raise FieldsError(reader.problems)
    return kind(**record)


class _Reader:
    """Reads values, and collects what is wrong with them."""

    def __init__(self, is_text: bool) -> None:
        self._is_text = is_text
        self.problems: list[Problem] = []

    def read(self, kind: Any, value: object, name: str, *within: object) -> Any:
        """Return the value of a type; None after a problem."""
        given, found = value, len(self.problems)
        try:
            for before in _notes(kind, Before):
                value = before.make(value)
            value = self._read_parts(kind, value, name, *within)
            if len(self.problems) > found:
                return None
            value = self._convert(kind, value)
            for after in _notes(kind, After):
                value = after.check(value)
        except (ValidationError, UnicodeError):
            self.problems.append(Problem(name, within, given, in_words(schema_of(kind))))
        except ValueError as error:
            self.problems.append(Problem(name, within, given, str(error), not isinstance(error, TooLargeError)))
        else:
            return value
        return None

    def _read_parts(self, kind: Any, value: object, name: str, *within: object) -> object:
        """Return a value with the entries of a list or a table read."""
        plain, parts = get_origin(_plain(kind)), get_args(_plain(kind))
        if plain in _LISTS and isinstance(value, list | tuple):
            most = schema_of(kind).get("maxItems", len(value))
            if len(value) > most:
                raise TooLargeError(f"at most {most:,} entries, {len(value):,} were given; send fewer")
            return [self.read(parts[0], entry, name, *within, place) for place, entry in enumerate(value)]
        if plain in _TABLES and isinstance(value, Mapping):
            return {
                self.read(parts[0], key, name, *within, key): self.read(parts[1], entry, name, *within, key)
                for key, entry in value.items()
            }
        return value

    def _convert(self, kind: Any, value: object) -> object:
        plain = _plain(kind)
        if self._is_text and isinstance(value, str) and plain in _FROM_TEXT:
            value = _FROM_TEXT[plain](value.strip())
        elif plain is Any:  # What asks for it checks it.
            return value
        if isinstance(value, str) and not self._is_text:  # A path in the environment may have any bytes.
            value.encode()  # It raises UnicodeError for half a character.
        value = convert(value, kind, strict=not self._is_text)
        if isinstance(value, float) and not isfinite(value):
            raise ValidationError
        return value


def record_schema(kind: type[Struct]) -> dict[str, Any]:
    """Return the JSON schema of a record."""
    known = outer_fields(kind)
    defaults = {name: field.default for name, field in known.items()} | {
        name: field.default_factory() for name, field in known.items() if field.default_factory is not NODEFAULT
    }
    properties = {
        name: schema_of(field.type) | ({} if field.required else {"default": to_builtins(defaults[name], enc_hook=str)})
        for name, field in known.items()
    }
    required = [name for name, field in known.items() if field.required]
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**schema, "required": required} if required else schema


def schema_of(kind: Any) -> dict[str, Any]:
    """Return the JSON schema of a type with its limits."""
    schema = _schema_of_plain(_plain(kind))
    for note in _notes(kind, Meta):
        least, most = ("minItems", "maxItems") if schema.get("type") == "array" else ("minLength", "maxLength")
        limits = {
            "minimum": note.ge, "exclusiveMinimum": note.gt, "maximum": note.le,
            least: note.min_length, most: note.max_length,
        }  # fmt: skip
        schema |= {key: limit for key, limit in limits.items() if limit is not None}
        schema |= note.extra_json_schema or {}
    for text in _notes(kind, str):
        schema["description"] = text
    return schema


def _schema_of_plain(plain: Any) -> dict[str, Any]:
    origin, parts = get_origin(plain), get_args(plain)
    if origin is Literal:
        return {"type": "string", "enum": list(parts)}
    if origin in (Union, UnionType):
        return {"anyOf": [schema_of(part) for part in parts]}
    if origin in _LISTS:
        return {"type": "array", "items": schema_of(parts[0])}
    if origin in _TABLES:
        return {"type": "object", "additionalProperties": schema_of(parts[1])}
    if isinstance(plain, type) and issubclass(plain, Enum):
        return {"type": "string", "enum": [member.value for member in plain]}
    return {"type": _PLAIN[plain]} if plain in _PLAIN else {}


def in_words(schema: Mapping[str, Any]) -> str:
    """Return what a JSON schema accepts."""
    match schema:
        case {"anyOf": options}:
            return " or ".join(map(in_words, options))
        case {"enum": values}:
            return "one of " + ", ".join(values)
        case {"type": "integer"}:
            return f"a whole number{_range(schema)}"
        case {"type": "number"}:
            return f"{'a' if 'maximum' in schema else 'a finite'} number{_range(schema)}"
        case {"type": "boolean"}:
            return "true or false"
        case {"type": "array", "items": entry}:
            return f"a list, each entry {in_words(entry)}"
        case {"type": "object", "additionalProperties": entry}:
            return f"a table, each value {in_words(entry)}" if entry else "a table"
        case {"type": "string", "maxLength": most}:
            return f"text of {schema.get('minLength', 0)} to {most:,} characters"
        case {"type": "string", "minLength": _}:
            return "text that is not blank"
        case {"type": "string"}:
            return "text"
    return str(schema.get("type", "a value"))


def _range(schema: Mapping[str, Any]) -> str:
    match schema:
        case {"minimum": least, "maximum": most}:
            return f" from {least} to {most}"
        case {"minimum": least}:
            return f", at least {least}"
        case {"exclusiveMinimum": least, "maximum": most}:
            return f" above {least}, at most {most}"
    return ""


def _plain(kind: Any) -> Any:
    """Return a type without its annotations."""
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind


def _notes(kind: Any, note: type[_Note]) -> Iterator[_Note]:
    """Yield the annotations of a type that are of one sort."""
    yield from (each for each in getattr(kind, "__metadata__", ()) if isinstance(each, note))
