"""Reads the settings: defaults, then `.graphrag.toml`, then the environment; reports all problems at once."""

import difflib
import json
import os
import tomllib
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, ValidationError
from pydantic_core import PydanticCustomError

from graphrag_mcp.errors import SettingsError
from graphrag_mcp.model.files import Category, RelationKind
from graphrag_mcp.setting_names import OTHER_NAMES, TRUST_VARIABLE, by_own_names, read_compatible_names
from graphrag_mcp.system.safe_files import read_regular_file

SETTINGS_FILE = ".graphrag.toml"
ENVIRONMENT_PREFIX = "GRAPHRAG_"
MAX_FILE_BYTES = 1_000_000


def _check_line(value: str) -> str:
    if any(character in value for character in "\0\n\r"):
        raise ValueError("expected text on one line")
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
        raise PydanticCustomError("table", 'input should be a table, in the environment one like {"config": 0.2}')
    return table


def _check_file_name(value: str) -> str:
    """Refuse a path: the file is looked for in every folder of the project."""
    if "/" in value or "\0" in value or value in ("", ".", ".."):
        raise PydanticCustomError("file_name", "input should be a file name without a folder")
    return value


def _check_url(schemes: str) -> Callable[[str], str]:
    accepted = tuple(f"{scheme}://" for scheme in schemes.split())

    def check(value: str) -> str:
        if value and not (value.startswith(accepted) and urlsplit(value).hostname):
            raise PydanticCustomError("url", f"input should begin with {' or '.join(accepted)} and name a host")
        if value and "@" in urlsplit(value).netloc:
            raise PydanticCustomError(
                "url", "input should not contain a user or password, which have their own settings"
            )
        return value

    return check


FileName = Annotated[str, AfterValidator(_check_file_name)]
Line = Annotated[str, AfterValidator(_check_line)]
Names = Annotated[tuple[str, ...], BeforeValidator(_split_commas)]
Share = Annotated[float, Field(ge=0, le=1)]
Shares = Annotated[Mapping[Category, Share], BeforeValidator(_read_table)]
Relations = Annotated[tuple[RelationKind, ...], BeforeValidator(_split_commas)]
Synonyms = Annotated[Mapping[str, Names], BeforeValidator(_read_table)]
Weight = Annotated[float, Field(ge=0, le=10)]
QdrantUrl = Annotated[str, AfterValidator(_check_url("http https"))]
Neo4jUri = Annotated[str, AfterValidator(_check_url("bolt bolt+s bolt+ssc neo4j neo4j+s neo4j+ssc"))]
Days = Annotated[float, Field(ge=0)]


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


Parts = Annotated[tuple[RankingPart, ...], BeforeValidator(_split_commas)]

# The defaults of the tables; a table that gives some of the names keeps the others.
DOCUMENT_WEIGHTS: Mapping[str, float] = {
    "priority": 0.001, "superseded": 0.4, "deprecated": 0.4, "rejected": 0.4, "archived": 0.6, "auto_tier": 0.02
}  # fmt: skip
RECENCY_FACTORS: Mapping[str, float] = {"fresh": 1.2, "recent": 1.1, "standard": 1.0, "old": 0.95}
RERANK_WEIGHTS: Mapping[str, float] = {
    "vector": 0.55, "keyword": 0.25, "heading": 0.05, "tag_overlap": 0.05, "preamble": 0.05, "recency": 0.02,
    "status": 0.02, "mention_boost": 0.5,
}  # fmt: skip
Weights = Annotated[Mapping[str, Weight], BeforeValidator(_read_table)]


def _over(defaults: Mapping[str, float]) -> AfterValidator:
    """Return what completes a table with the defaults, and refuses other names."""

    def complete(given: Mapping[str, float]) -> Mapping[str, float]:
        if given.keys() <= defaults.keys():
            return {**defaults, **given}
        raise PydanticCustomError("names", f"names should be among {', '.join(defaults)}")

    return AfterValidator(complete)


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class IndexingSettings(_Section):
    """`[indexing]`: what is indexed, and with which model."""

    ignore_file: FileName = Field(".graphragignore", description="name of the ignore file")
    default_exclusions: bool = Field(True, description="use the built-in exclusions if the root has no ignore file")
    archive_patterns: Names = Field((), description="patterns of archived files; a leading + adds to the built-in ones")
    embedding_model: Line = Field(
        "", description="model of a second look, for other languages: fastembed name or folder; empty: none"
    )
    data_dir: Line = Field("", description="folder of the index files, for another disk; empty: the user's data folder")
    workers: int = Field(0, ge=0, le=64, description="parsing processes, fewer on a shared machine; 0: one per core")
    max_file_bytes: int = Field(
        10_000_000, ge=1, description="larger files are skipped; what is large depends on the project"
    )
    watch: Literal["auto", "off"] = Field(
        "auto", description="`auto`: follow edits; `off`: index once, where another process or a job does it"
    )


# The settings of `[retrieval]` come in groups; in the file and the environment they are one flat table.


class SearchSettings(_Section):
    """What is searched and shown."""

    exclude_archived: bool = Field(True, description="hide archived files unless a call includes them")
    query_expansion: bool = Field(True, description="also search for synonyms: auth, authentication")
    expansions: Synonyms = Field({}, description="synonyms of your own: a table from words to lists of words")
    graph_expansion_edge_types: Relations = Field(
        (), description="relations shown beside the results; empty: all except uses"
    )
    graph_expansion_max_nodes: int = Field(12, ge=0, le=20, description="maximum number of related chunks; 0: none")
    rejected_injection_max_docs: int = Field(
        3, ge=0, le=10, description="maximum number of rejected documents shown apart; 0: none"
    )
    rejected_min_similarity: Share = Field(0.4, description="minimum cosine of a rejected document to the query")
    judge_confidence: bool = Field(
        True, description="report when nothing matches well, and show less then; off where it judges wrongly"
    )
    min_score: float | None = Field(None, ge=0, le=1, description="drop results with a lower fused score")
    response_tokens: int = Field(
        6000, ge=200, le=20_000, description="maximum length of an answer in tokens; clients have room for more or less"
    )


class RankingSettings(_Section):
    """How the lists of the stores are merged, and what counts."""

    fusion_algorithm: Literal["relative", "rrf", "weighted", "semantic_only"] = Field(
        "relative",
        description="`relative`: shares of the best score; `rrf`: reciprocal ranks; `weighted`: raw scores; "
        "`semantic_only`: vectors alone",
    )
    rrf_k: int = Field(60, ge=1, le=1000, description="the constant of reciprocal ranks")
    vector_weight: Weight = Field(0.8, description="weight of the vector list")
    keyword_weight: Weight = Field(1.0, description="weight of the keyword list")
    category_weights: Shares = Field(
        {}, description="share of the vectors by kind of file, e.g. config = 0.2; else 0.5"
    )
    confidence_vector: Weight = Field(1.0, description="factor for the first two of the vector list")
    switched_off: Parts = Field((), description="parts of the ranking that are left out, such as votes")
    prior_tests: Share = Field(0.5, description="factor for tests, unless the query asks for them")
    prior_documentation: Share = Field(0.4, description="factor for documents, unless the query asks for them")
    prior_config: Share = Field(0.6, description="factor for configuration, unless the query asks for it")
    prior_examples: Share = Field(0.5, description="factor for examples, unless the query asks for them")
    document_weights: Annotated[Weights, _over(DOCUMENT_WEIGHTS)] = Field(
        DOCUMENT_WEIGHTS,
        description="added per point of a document's priority; taken away for its status or type",
    )


class RecencySettings(_Section):
    """The factors for the age of a file's last commit."""

    recency_profile: Literal["tiered", "decay", "off"] = Field(
        "tiered", description="`tiered`: a factor for each age group; `decay`: falls with the age; `off`"
    )
    recency_fresh_days: Days = Field(14, description="maximum age of a fresh file in days")
    recency_recent_days: Days = Field(60, description="maximum age of a recent file in days")
    recency_old_days: Days = Field(180, description="age in days from which a file is old")
    recency_factors: Annotated[Weights, _over(RECENCY_FACTORS)] = Field(
        RECENCY_FACTORS, description="factor of each age group"
    )


class AlternativeSettings(_Section):
    """A second ranking of the top candidates, and backlinks, which are off by default."""

    rerank: Literal["none", "weighted_sum", "cross_encoder"] = Field(
        "none", description="what ranks the top candidates again"
    )
    cross_encoder_model: str = Field(
        "Xenova/ms-marco-MiniLM-L-6-v2", description="fastembed cross-encoder name or model folder"
    )
    rerank_weights: Annotated[Weights, _over(RERANK_WEIGHTS)] = Field(
        RERANK_WEIGHTS, description="weights of `weighted_sum`"
    )
    rerank_normalize_scores: bool = Field(False, description="`weighted_sum`: scale the cosines to 0 to 1 first")
    backlink_boost_weight: Weight = Field(
        0.0, description="added to the factor for each file that refers to the result's file; 0: off"
    )
    backlink_boost_cap: int = Field(10, ge=0, le=1000, description="maximum number of files that count as backlinks")


class RetrievalSettings(SearchSettings, RankingSettings, RecencySettings, AlternativeSettings):
    """`[retrieval]`: how results are found and ranked."""


class ServerSettings(_Section):
    """`[servers]`: Qdrant and Neo4j, which hold a replica of the index."""

    qdrant_url: QdrantUrl = Field("", description="Qdrant for vectors and keywords, as http(s)://host:port")
    qdrant_api_key: SecretStr = Field(SecretStr(""), description="API key of Qdrant")
    qdrant_collection: str = Field("code", min_length=1, description="Qdrant collection, shared by all projects")
    qdrant_grpc_port: int = Field(0, ge=0, le=65_535, description="gRPC port of Qdrant; 0: REST")
    qdrant_shards: int = Field(
        1, ge=1, le=1000, description="shards of a new collection: one for each node that has it"
    )
    qdrant_replicas: int = Field(1, ge=1, le=100, description="copies of each shard of a new collection")
    qdrant_write_copies: int = Field(
        1, ge=1, le=100, description="copies of a new collection that must confirm a write"
    )
    qdrant_on_disk: bool = Field(
        False, description="a new collection reads vectors and texts from disk, not from memory"
    )
    qdrant_quantized: bool = Field(False, description="a new collection keeps a byte per dimension in memory as well")
    neo4j_uri: Neo4jUri = Field("", description="Neo4j for the graph, as bolt:// or neo4j://, +s for TLS")
    neo4j_user: str = Field("neo4j", description="Neo4j user")
    neo4j_password: SecretStr = Field(SecretStr(""), description="password of the Neo4j user")
    neo4j_database: str = Field("", description="Neo4j database; empty: the user's default")
    project_id: str = Field("", description="name of the project on the servers; empty: derived from git's origin")
    server_timeout_seconds: float = Field(1.2, gt=0, le=60, description="how long a search waits for a server")
    sync_servers: bool = Field(
        False, description="`serve` and `watch` replicate each commit; off: only `sync` writes to the servers"
    )


class Settings(_Section):
    """All settings."""

    indexing: IndexingSettings = IndexingSettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    servers: ServerSettings = ServerSettings()


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
    try:
        settings = Settings.model_validate(values)
    except ValidationError as error:
        problems += [_describe(detail) for detail in error.errors()]
    if problems:
        raise SettingsError(problems)
    return settings


_SECTION_OF = {name: section for section, defaults in Settings() for name in type(defaults).model_fields}
_VARIABLES = {name: f"{ENVIRONMENT_PREFIX}{name.upper()}" for name in _SECTION_OF}
_MAY_HOLD_SECRETS = {"qdrant_url", "neo4j_uri", "servers"}
_REACHING = {"data_dir", "embedding_model", "cross_encoder_model", "qdrant_url", "neo4j_uri"}
_SECRETS = {name for name, field in ServerSettings.model_fields.items() if field.annotation is SecretStr}

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
    given = [item for section in Settings.model_fields for item in _table(values, section).items()]
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


def _describe(detail: Any) -> str:
    name = ".".join(str(part) for part in detail["loc"] if part != "[key]")
    if detail["type"] == "extra_forbidden":
        return _describe_unknown(name, str(detail["loc"][-1]), _FULL_NAMES)
    shown = "…" if {str(part) for part in detail["loc"]} & (_SECRETS | _MAY_HOLD_SECRETS) else repr(detail["input"])
    return f"{name} = {shown}: {_ACCEPTED.get(detail['type']) or detail['msg'].lower()}"


def _describe_unknown(shown: str, name: str, known: Mapping[str, str]) -> str:
    """Return the problem of a name that no setting has. known: names that may be meant, and how each is shown."""
    near = difflib.get_close_matches(name, known, n=1)
    return f"{shown} is not a setting; " + (f"did you mean {known[near[0]]}?" if near else "see docs/settings.md")


_FULL_NAMES = {name: name for name in Settings.model_fields} | {
    name: f"{section}.{name}" for name, section in _SECTION_OF.items()
}

# In place of pydantic's messages that name Python types.
_ACCEPTED = {
    "model_type": "input should be a table of settings",
    "tuple_type": "input should be a list of strings",
    "dict_type": "input should be a table",
}
