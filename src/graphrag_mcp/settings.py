"""Reads the settings: defaults, then `.graphrag.toml`, then the environment; reports all problems at once."""

import difflib
import json
import os
import re
import tomllib
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from msgspec import Meta, Struct, field

from graphrag_mcp.errors import SettingsError, quoted
from graphrag_mcp.model.fields import After, Before, FieldsError, Problem, outer_fields, read_record
from graphrag_mcp.model.files import Category, RelationKind
from graphrag_mcp.setting_names import OTHER_NAMES, TRUST_VARIABLE, by_own_names, read_compatible_names
from graphrag_mcp.system.safe_files import read_regular_file

SETTINGS_FILE = ".graphrag.toml"
ENVIRONMENT_PREFIX = "GRAPHRAG_"
MAX_FILE_BYTES = 1_000_000
_PLAIN_NAME = re.compile(r"[\w-]{1,80}")


def _check_line(value: str) -> str:
    if any(character in value for character in "\0\n\r"):
        raise ValueError("text on one line")
    return value


def _split_commas(value: object) -> object:
    """Accept "a,b", the form of a list in the environment."""
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return value


def _read_table(value: object) -> object:
    """Accept JSON, the form of a table in the environment."""
    if not isinstance(value, str):
        return value
    try:
        table = json.loads(value)
    except (ValueError, RecursionError):
        table = None
    if not isinstance(table, dict):
        raise ValueError('a table, in the environment one like {"config": 0.2}')
    return table


def _check_file_name(value: str) -> str:
    """Refuse a path: the file is looked for in every folder of the project."""
    if "/" in value or "\0" in value or value in ("", ".", ".."):
        raise ValueError("a file name without a folder")
    return value


def _check_url(schemes: str) -> Callable[[str], str]:
    accepted = tuple(f"{scheme}://" for scheme in schemes.split())

    def check(value: str) -> str:
        try:
            parts = urlsplit(value)
        except ValueError:  # Brackets without an address in them.
            parts = urlsplit("")
        if value and not (value.startswith(accepted) and parts.hostname):
            raise ValueError(f"an address that begins with {' or '.join(accepted)} and names a host")
        if "@" in parts.netloc:
            raise ValueError("an address without user and password, which have their own settings")
        return value

    return check


class Secret:
    """A text that is not shown by mistake."""

    def __init__(self, text: str) -> None:
        if not isinstance(text, str):
            raise ValueError("text")
        self.text = text

    def __str__(self) -> str:
        return "…" if self.text else ""

    def __repr__(self) -> str:
        return f"Secret({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other.text == self.text


FileName = Annotated[str, After(_check_file_name)]
Line = Annotated[str, After(_check_line)]
Names = Annotated[tuple[str, ...], Before(_split_commas)]
Share = Annotated[float, Meta(ge=0, le=1)]
Shares = Annotated[Mapping[Category, Share], Before(_read_table)]
Relations = Annotated[tuple[RelationKind, ...], Before(_split_commas)]
Synonyms = Annotated[Mapping[str, Names], Before(_read_table)]
Weight = Annotated[float, Meta(ge=0, le=10)]
QdrantUrl = Annotated[str, After(_check_url("http https"))]
Neo4jUri = Annotated[str, After(_check_url("bolt bolt+s bolt+ssc neo4j neo4j+s neo4j+ssc"))]
Days = Annotated[float, Meta(ge=0)]
SecretText = Annotated[Secret, Before(Secret), Meta(extra_json_schema={"type": "string"})]


class RankingPart(StrEnum):
    """A part of the ranking that `switched_off` can leave out."""

    DEFINITIONS = "definitions"
    LITERALS = "literals"
    RELATIONS = "relations"
    FILE_NAMES = "file_names"
    COHERENCE = "coherence"
    VOTES = "votes"
    HISTORY = "history"
    WORDING = "wording"
    KINDS_OF_FILE = "kinds_of_file"
    SATURATION = "saturation"
    SAME_TEXT = "same_text"
    NEAR_COPIES = "near_copies"
    EQUAL_VECTORS = "equal_vectors"


Parts = Annotated[tuple[RankingPart, ...], Before(_split_commas)]

# The defaults of the tables; a table that gives some of the names keeps the others.
DOCUMENT_WEIGHTS: Mapping[str, float] = {
    "priority": 0.001, "superseded": 0.4, "deprecated": 0.4, "rejected": 0.4, "archived": 0.6, "auto_tier": 0.02
}  # fmt: skip
RECENCY_FACTORS: Mapping[str, float] = {"fresh": 1.2, "recent": 1.1, "standard": 1.0, "old": 0.95}
RERANK_WEIGHTS: Mapping[str, float] = {
    "vector": 0.55, "keyword": 0.25, "heading": 0.05, "tag_overlap": 0.05, "preamble": 0.05, "recency": 0.02,
    "status": 0.02, "mention_boost": 0.5,
}  # fmt: skip
Weights = Annotated[Mapping[str, Weight], Before(_read_table)]


def _over(defaults: Mapping[str, float]) -> After:
    """Return what completes a table with the defaults, and refuses other names."""

    def complete(given: Mapping[str, float]) -> Mapping[str, float]:
        if given.keys() <= defaults.keys():
            return {**defaults, **given}
        raise ValueError(f"a table whose names are among {', '.join(defaults)}")

    return After(complete)


class _Section(Struct, frozen=True, kw_only=True):
    """A table of the file."""


class IndexingSettings(_Section, frozen=True, kw_only=True):
    """`[indexing]`: what is indexed, and with which model."""

    ignore_file: Annotated[FileName, "name of the ignore file"] = ".graphragignore"
    default_exclusions: Annotated[bool, "use the built-in exclusions if the root has no ignore file"] = True
    archive_patterns: Annotated[Names, "patterns of archived files; a leading + adds to the built-in ones"] = ()
    embedding_model: Annotated[
        Line, "model of a second look, for other languages: fastembed name or folder; empty: none"
    ] = ""
    data_dir: Annotated[Line, "folder of the index files, for another disk; empty: the user's data folder"] = ""
    workers: Annotated[int, Meta(ge=0, le=64), "parsing processes, fewer on a shared machine; 0: one per core"] = 0
    max_file_bytes: Annotated[int, Meta(ge=1), "larger files are skipped; what is large depends on the project"] = (
        10_000_000
    )
    watch: Annotated[
        Literal["auto", "off"],
        "`auto`: follow edits; `off`: index once, where another process or a job does it",
    ] = "auto"


# The settings of `[retrieval]` come in groups, each of which extends the one before: in the file they are one table.


class _SearchSettings(_Section, frozen=True, kw_only=True):
    """What is searched and shown."""

    exclude_archived: Annotated[bool, "hide archived files unless a call includes them"] = True
    query_expansion: Annotated[bool, "also search for synonyms: auth, authentication"] = True
    expansions: Annotated[Synonyms, "synonyms of your own: a table from words to lists of words"] = {}
    graph_expansion_edge_types: Annotated[Relations, "relations shown beside the results; empty: all except uses"] = ()
    graph_expansion_max_nodes: Annotated[int, Meta(ge=0, le=20), "maximum number of related chunks; 0: none"] = 12
    rejected_injection_max_docs: Annotated[
        int, Meta(ge=0, le=10), "maximum number of rejected documents shown apart; 0: none"
    ] = 3
    rejected_min_similarity: Annotated[Share, "minimum cosine of a rejected document to the query"] = 0.4
    judge_confidence: Annotated[
        bool, "report when nothing matches well, and show less then; off where it judges wrongly"
    ] = True
    min_score: Annotated[Share | None, "drop results with a lower fused score"] = None
    response_tokens: Annotated[
        int,
        Meta(ge=200, le=20_000),
        "maximum length of an answer in tokens; clients have room for more or less",
    ] = 6000


class _RankingSettings(_SearchSettings, frozen=True, kw_only=True):
    """How the lists of the stores are merged, and what counts."""

    fusion_algorithm: Annotated[
        Literal["relative", "rrf", "weighted", "semantic_only"],
        "`relative`: shares of the best score; `rrf`: reciprocal ranks; `weighted`: raw scores; "
        "`semantic_only`: vectors alone",
    ] = "relative"
    rrf_k: Annotated[int, Meta(ge=1, le=1000), "the constant of reciprocal ranks"] = 60
    vector_weight: Annotated[Weight, "weight of the vector list"] = 0.8
    keyword_weight: Annotated[Weight, "weight of the keyword list"] = 1.0
    category_weights: Annotated[Shares, "share of the vectors by kind of file, e.g. config = 0.2; else 0.5"] = {}
    confidence_vector: Annotated[Weight, "factor for the first two of the vector list"] = 1.0
    switched_off: Annotated[Parts, "parts of the ranking that are left out, such as votes"] = ()
    prior_tests: Annotated[Share, "factor for tests, unless the query asks for them"] = 0.5
    prior_documentation: Annotated[Share, "factor for documents, unless the query asks for them"] = 0.4
    prior_config: Annotated[Share, "factor for configuration, unless the query asks for it"] = 0.6
    prior_examples: Annotated[Share, "factor for examples, unless the query asks for them"] = 0.5
    document_weights: Annotated[
        Weights,
        _over(DOCUMENT_WEIGHTS),
        "added per point of a document's priority; taken away for its status or type",
    ] = field(default_factory=lambda: DOCUMENT_WEIGHTS)


class _RecencySettings(_RankingSettings, frozen=True, kw_only=True):
    """The factors for the age of a file's last commit."""

    recency_profile: Annotated[
        Literal["tiered", "decay", "off"],
        "`tiered`: a factor for each age group; `decay`: falls with the age; `off`",
    ] = "tiered"
    recency_fresh_days: Annotated[Days, "maximum age of a fresh file in days"] = 14
    recency_recent_days: Annotated[Days, "maximum age of a recent file in days"] = 60
    recency_old_days: Annotated[Days, "age in days from which a file is old"] = 180
    recency_factors: Annotated[Weights, _over(RECENCY_FACTORS), "factor of each age group"] = field(
        default_factory=lambda: RECENCY_FACTORS
    )


class _AlternativeSettings(_RecencySettings, frozen=True, kw_only=True):
    """A second ranking of the top candidates, and backlinks, which are off by default."""

    rerank: Annotated[Literal["none", "weighted_sum", "cross_encoder"], "what ranks the top candidates again"] = "none"
    cross_encoder_model: Annotated[str, "fastembed cross-encoder name or model folder"] = (
        "Xenova/ms-marco-MiniLM-L-6-v2"
    )
    rerank_weights: Annotated[Weights, _over(RERANK_WEIGHTS), "weights of `weighted_sum`"] = field(
        default_factory=lambda: RERANK_WEIGHTS
    )
    rerank_normalize_scores: Annotated[bool, "`weighted_sum`: scale the cosines to 0 to 1 first"] = False
    backlink_boost_weight: Annotated[
        Weight, "added to the factor for each file that refers to the result's file; 0: off"
    ] = 0.0
    backlink_boost_cap: Annotated[int, Meta(ge=0, le=1000), "maximum number of files that count as backlinks"] = 10


class RetrievalSettings(_AlternativeSettings, frozen=True, kw_only=True):
    """`[retrieval]`: how results are found and ranked."""


class ServerSettings(_Section, frozen=True, kw_only=True):
    """`[servers]`: Qdrant and Neo4j, which hold a replica of the index."""

    qdrant_url: Annotated[QdrantUrl, "Qdrant for vectors and keywords, as http(s)://host:port"] = ""
    qdrant_api_key: Annotated[SecretText, "API key of Qdrant"] = Secret("")
    qdrant_collection: Annotated[str, Meta(min_length=1), "Qdrant collection, shared by all projects"] = "code"
    qdrant_grpc_port: Annotated[int, Meta(ge=0, le=65_535), "gRPC port of Qdrant; 0: REST"] = 0
    qdrant_shards: Annotated[int, Meta(ge=1, le=1000), "shards of a new collection: one for each node that has it"] = 1
    qdrant_replicas: Annotated[int, Meta(ge=1, le=100), "copies of each shard of a new collection"] = 1
    qdrant_write_copies: Annotated[int, Meta(ge=1, le=100), "copies of a new collection that must confirm a write"] = 1
    qdrant_on_disk: Annotated[bool, "a new collection reads vectors and texts from disk, not from memory"] = False
    qdrant_quantized: Annotated[bool, "a new collection keeps a byte per dimension in memory as well"] = False
    neo4j_uri: Annotated[Neo4jUri, "Neo4j for the graph, as bolt:// or neo4j://, +s for TLS"] = ""
    neo4j_user: Annotated[str, "Neo4j user"] = "neo4j"
    neo4j_password: Annotated[SecretText, "password of the Neo4j user"] = Secret("")
    neo4j_database: Annotated[str, "Neo4j database; empty: the user's default"] = ""
    project_id: Annotated[str, "name of the project on the servers; empty: derived from git's origin"] = ""
    server_timeout_seconds: Annotated[float, Meta(gt=0, le=60), "how long a search waits for a server"] = 1.2
    sync_servers: Annotated[
        bool, "`serve` and `watch` replicate each commit; off: only `sync` writes to the servers"
    ] = False


class Settings(Struct, frozen=True, kw_only=True):
    """All settings."""

    indexing: IndexingSettings = IndexingSettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    servers: ServerSettings = ServerSettings()


SECTIONS: Mapping[str, type[_Section]] = {
    "indexing": IndexingSettings,
    "retrieval": RetrievalSettings,
    "servers": ServerSettings,
}


def load_settings(root: Path, environ: Mapping[str, str]) -> Settings:
    """Return the settings of the project at `root`; the environment wins over the file.

    Raises SettingsError with every problem found: unknown keys, wrong types, values out of range, an unreadable file.
    """
    problems: list[str] = []
    values = _read_file(root / SETTINGS_FILE, problems)
    problems += _secrets_in(values)
    problems += _untrusted_in(values, environ)
    if isinstance(values.get("retrieval"), dict):
        values["retrieval"] = by_own_names(values["retrieval"], _read_table)
    for name, value in by_own_names(_read_environment(environ, problems), _read_table).items():
        section = values.setdefault(_SECTION_OF[name], {})
        if isinstance(section, dict):  # Anything else than a table is reported below.
            before = section.get(name)
            section[name] = {**before, **value} if isinstance(before, dict) and isinstance(value, dict) else value
    sections = {name: _read_section(name, table, problems) for name, table in values.items()}
    if problems:
        raise SettingsError(problems)
    return Settings(**sections)  # type: ignore[arg-type]


def _read_section(name: str, table: Any, problems: list[str]) -> _Section | None:
    if name not in SECTIONS:
        problems.append(_describe_unknown(_dotted(name), name, _FULL_NAMES))
    elif not isinstance(table, dict):
        problems.append(f"{name} = {_shown(name, table)}: expected a table of settings")
    else:
        try:
            return read_record(SECTIONS[name], table, is_text=True)
        except FieldsError as error:
            problems += [_describe(name, problem) for problem in error.problems]
    return None


_SECTION_OF = {name: section for section, kind in SECTIONS.items() for name in outer_fields(kind)}
_VARIABLES = {name: f"{ENVIRONMENT_PREFIX}{name.upper()}" for name in _SECTION_OF}
_FULL_NAMES = {name: name for name in SECTIONS} | {name: f"{part}.{name}" for name, part in _SECTION_OF.items()}
_REACHING = {"data_dir", "embedding_model", "cross_encoder_model", "qdrant_url", "neo4j_uri"}
_SECRETS = {name for name, field in outer_fields(ServerSettings).items() if isinstance(field.default, Secret)}

# Read by the command line before the settings.
_OTHER_VARIABLES = {"GRAPHRAG_ROOT", "GRAPHRAG_LOG_LEVEL", TRUST_VARIABLE}


def _read_file(path: Path, problems: list[str]) -> dict[str, Any]:
    try:
        return tomllib.loads(read_regular_file(path, MAX_FILE_BYTES).decode("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError, RecursionError) as error:
        # A root that cannot be entered is reported when it is opened.
        if os.access(path.parent, os.X_OK):
            problems.append(f"{path.name} cannot be read ({error}); fix or remove it")
        return {}


def _secrets_in(values: Mapping[str, Any]) -> list[str]:
    """Return a problem for each secret in the file, which is part of the repository."""
    return [
        f"servers.{name} is set in {SETTINGS_FILE}; move it to the environment, as {_VARIABLES[name]}"
        for name in sorted(_SECRETS.intersection(_table(values, "servers")))
    ]


def _untrusted_in(values: Mapping[str, Any], environ: Mapping[str, str]) -> list[str]:
    """Return a problem for each setting that names a folder, a model or a server.

    The file may come with a clone, and the user's credentials would be sent to a server that it names.
    """
    if environ.get(TRUST_VARIABLE, "") not in ("", "0", "false"):
        return []
    given = [item for section in SECTIONS for item in _table(values, section).items()]
    return [
        f"{name} is set in {SETTINGS_FILE}; a repository may not choose folders, models and servers; set "
        f"{_VARIABLES[name]}, or {TRUST_VARIABLE}=1 if you trust the file"
        for name in sorted(name for name, value in given if _reaches_out(name, value))
    ]


def _table(values: Mapping[str, Any], section: str) -> dict[str, Any]:
    """Return a section of the file; anything else than a table is reported elsewhere."""
    table = values.get(section)
    return table if isinstance(table, dict) else {}


def _reaches_out(name: str, value: object) -> bool:
    return name in _REACHING or (name == "rerank" and value == "cross_encoder")  # It may be downloaded.


def _read_environment(environ: Mapping[str, str], problems: list[str]) -> dict[str, str]:
    """Return the settings that variables set, by name."""
    found = read_compatible_names(environ)
    for variable, text in sorted(environ.items()):
        if not variable.startswith(ENVIRONMENT_PREFIX) or variable in _OTHER_VARIABLES:
            continue
        name = variable.removeprefix(ENVIRONMENT_PREFIX).lower()
        if name in _SECTION_OF or name in OTHER_NAMES:
            found[name] = text
        else:
            problems.append(_describe_unknown(variable, name, _VARIABLES))
    return found


def _describe(section: str, problem: Problem) -> str:
    name = _dotted(section, problem.name, *problem.within)
    if not problem.expected:
        return _describe_unknown(name, problem.name, _FULL_NAMES)
    return f"{name} = {_shown(section, problem.value)}: expected {problem.expected}"


def _shown(section: str, value: object) -> str:
    """Return a value, unless it is of a section that holds secrets."""
    return "…" if section == "servers" else quoted(value)


def _dotted(*parts: object) -> str:
    """Return the name of a setting; what is not made of letters is quoted, since a repository may have written it."""
    return ".".join(str(part) if _PLAIN_NAME.fullmatch(str(part)) else quoted(str(part)) for part in parts)


def _describe_unknown(shown: str, name: str, known: Mapping[str, str]) -> str:
    """Return the problem of a name that no setting has. known: names that may be meant, and how each is shown."""
    near = difflib.get_close_matches(name, known, n=1)
    return f"{shown} is not a setting; " + (f"did you mean {known[near[0]]}?" if near else "see docs/settings.md")
