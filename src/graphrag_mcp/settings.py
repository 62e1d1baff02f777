"""Reads the settings: defaults, then `.graphrag.toml`, then the environment; reports all problems at once."""

import difflib
import json
import os
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, ValidationError
from pydantic_core import PydanticCustomError

from graphrag_mcp.errors import SettingsError
from graphrag_mcp.model.files import Category, RelationKind
from graphrag_mcp.system.safe_files import read_regular_file

SETTINGS_FILE = ".graphrag.toml"
ENVIRONMENT_PREFIX = "GRAPHRAG_"
TRUST_VARIABLE = "GRAPHRAG_TRUST_PROJECT"
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


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class IndexingSettings(_Section):
    """`[indexing]`: what is indexed, and with which model."""

    ignore_file: FileName = Field(".graphragignore", description="name of the ignore file")
    default_exclusions: bool = Field(True, description="use the built-in exclusions if the root has no ignore file")
    archive_patterns: Names = Field((), description="patterns of archived files; a leading + adds to the built-in ones")
    embedding_model: Line = Field(
        "", description="fastembed model name or model folder; empty: the model in the package"
    )
    data_dir: Line = Field("", description="folder of the index files; empty: the user's data folder")
    workers: int = Field(0, ge=0, le=64, description="number of parsing processes; 0: one per core")
    max_file_bytes: int = Field(10_000_000, ge=1, description="larger files are skipped")
    watch: Literal["auto", "off"] = Field(
        "auto", description="`auto`: the server that writes the index also follows edits; `off`: it indexes once"
    )
    debounce_seconds: float = Field(0.3, ge=0, le=2, description="quiet time before the watcher indexes a change")


# The settings of `[retrieval]` come in groups; in the file and the environment they are one flat table.


class SearchSettings(_Section):
    """What is searched and shown."""

    exclude_archived: bool = Field(True, description="hide archived files unless a call includes them")
    query_expansion: bool = Field(True, description="also search for synonyms and abbreviations (auth, authentication)")
    expansions: Synonyms = Field({}, description="additional synonyms: a table from words to lists of words")
    expansion_weight: Share = Field(0.5, description="weight of a synonym, and of a long query after its first line")
    candidate_minimum: int = Field(120, ge=10, le=200, description="minimum number of candidates per list")
    graph_expansion_edge_types: Relations = Field(
        (), description="relations shown beside the results; empty: all except uses"
    )
    graph_expansion_max_nodes: int = Field(12, ge=0, le=20, description="maximum number of related chunks")
    rejected_injection_max_docs: int = Field(
        3, ge=0, le=10, description="maximum number of rejected documents shown apart; 0: none"
    )
    rejected_min_similarity: Share = Field(0.4, description="minimum cosine of a rejected document to the query")
    judge_confidence: bool = Field(True, description="report when nothing matches well, and show fewer results then")
    min_score: float | None = Field(None, ge=0, le=1, description="drop results with a lower fused score")
    response_tokens: int = Field(6000, ge=200, le=20_000, description="maximum length of an answer in tokens")


class FusionSettings(_Section):
    """How the lists of the stores are merged."""

    hybrid_search_enabled: bool = Field(True, description="use the keyword index too; off: vectors alone")
    fusion_algorithm: Literal["relative", "rrf", "weighted"] = Field(
        "relative", description="`relative`: shares of the best score; `rrf`: reciprocal ranks; `weighted`: raw scores"
    )
    rrf_k: int = Field(60, ge=1, le=1000, description="the constant of reciprocal rank fusion")
    vector_weight: Weight = Field(0.8, description="weight of the vector list")
    keyword_weight: Weight = Field(1.0, description="weight of the keyword list")
    graph_weight: Weight = Field(0.5, description="weight of the graph list")
    category_weights: Shares = Field(
        {}, description="share of the vectors by kind of file, e.g. config = 0.2; the others have 0.5"
    )
    confidence_vector: Weight = Field(1.0, description="factor for the first result of the vector list")
    confidence_graph: Weight = Field(1.2, description="factor for results of the graph list")


class BonusSettings(_Section):
    """What is added to the fused score of a result that agrees with the query."""

    definition_bonus: Weight = Field(1.5, description="bonus for the definition that a symbol query names")
    mention_bonus: Weight = Field(0.4, description="bonus for the definition of an identifier in a prose query")
    literal_bonus: Weight = Field(2.5, description="bonus for the place that defines a text which the query quotes")
    relation_bonus: Weight = Field(1.0, description="bonus for having the relation that the query asks for")
    stem_bonus: Weight = Field(
        0.3, description="bonus for query terms in the file name, scaled by the fraction of the name they cover"
    )
    stem_query_bonus: Weight = Field(
        0.1, description="bonus for query terms in the file name, scaled by the fraction of the query they cover"
    )
    directory_bonus: Weight = Field(
        0.3, description="bonus for query terms in the folder names, scaled by the fraction of the query they cover"
    )
    path_bonus: Weight = Field(0.5, description="bonus for a file whose path is in the query")
    coherence_bonus: Weight = Field(0.2, description="bonus for a file with many matching chunks")
    vote_bonus: Weight = Field(0.2, description="bonus for the file whose definitions the best candidates use most")
    history_bonus: Weight = Field(
        0.45, description="bonus for a file that past commits changed whose messages match the question"
    )
    file_bonus_decay: Share = Field(0.3, description="factor on the file's bonuses for each further chunk of the file")


class PriorSettings(_Section):
    """The factors for kinds of files."""

    prior_tests: Share = Field(0.5, description="factor for tests, unless the query asks for them")
    prior_documentation: Share = Field(0.4, description="factor for documentation, unless the query asks for it")
    prior_config: Share = Field(0.6, description="factor for configuration, unless the query asks for it")
    prior_examples: Share = Field(0.5, description="factor for examples and benchmarks, unless the query asks for them")
    prior_vendored: Share = Field(0.5, description="factor for vendored code")
    prior_data: Share = Field(0.3, description="factor for data, lock files and generated files")
    prior_unasked: Share = Field(0.6, description="factor for all other kinds when the query asks for one kind")
    prior_other: Share = Field(0.6, description="factor for files of an unknown kind")


class RecencySettings(_Section):
    """The factors for the age of a file's last commit."""

    recency_boost_enabled: bool = Field(True, description="use the age of files in the ranking")
    recency_profile: Literal["tiered", "decay", "off"] = Field(
        "tiered", description="`tiered`: one factor for each age group; `decay`: falls with the age; `off`: not used"
    )
    recency_fresh_days: Days = Field(14, description="maximum age of a fresh file in days")
    recency_recent_days: Days = Field(60, description="maximum age of a recent file in days")
    recency_old_days: Days = Field(180, description="age in days from which a file is old")
    recency_fresh_factor: Weight = Field(1.2, description="factor for fresh files")
    recency_recent_factor: Weight = Field(1.1, description="factor for recent files")
    recency_standard_factor: Weight = Field(1.0, description="factor for files that are neither recent nor old")
    recency_old_factor: Weight = Field(0.95, description="factor for old files")


class StatusSettings(_Section):
    """The factors for what a document declares about itself, and the bounds of all factors."""

    priority_weight: float = Field(0.001, ge=0, le=0.01, description="added per point of a document's priority (0-100)")
    superseded_penalty: Share = Field(0.4, description="reduction for a document with the status superseded")
    deprecated_penalty: Share = Field(0.4, description="reduction for the status deprecated")
    rejected_penalty: Share = Field(0.4, description="reduction for the status rejected")
    archived_penalty: Share = Field(0.6, description="reduction for the status archived")
    auto_tier_penalty: Share = Field(0.02, description="reduction for a generated document (type: auto)")
    boost_max: float = Field(1.5, ge=1, le=10, description="upper bound of the combined multiplier")
    penalty_floor: float = Field(0.25, gt=0, le=1, description="lower bound of the combined multiplier")


class DuplicateSettings(_Section):
    """How duplicates and further results of one file are treated."""

    content_dedup: bool = Field(True, description="drop results with the same text as a better one")
    ngram_dedup_threshold: Share = Field(
        0.9, description="drop results that share this fraction of their 5-grams with a better one; 1: off"
    )
    semantic_dedup_threshold: Share = Field(
        0.995, description="drop results whose vector has this cosine to a better one; 1: off"
    )
    saturation: float = Field(0.9, gt=0, le=1, description="factor for each further result of the same file")


class RerankerSettings(_Section):
    """The second ranking of the top candidates, which is off by default."""

    rerank: Literal["none", "weighted_sum", "cross_encoder"] = Field(
        "none", description="reranker for the top candidates"
    )
    cross_encoder_model: str = Field(
        "Xenova/ms-marco-MiniLM-L-6-v2", description="fastembed cross-encoder name or model folder"
    )


class CompatibilitySettings(_Section):
    """Weighted fusion, the `weighted_sum` reranker and backlinks: no default uses them."""

    legacy_vector_weight: Weight = Field(1.0, description='weight of the vector list for "weighted" fusion')
    legacy_keyword_weight: Weight = Field(0.5, description='weight of the keyword list for "weighted" fusion')
    backlink_boost_weight: Weight = Field(
        0.0, description="added to the factor for each file that refers to the result's file; 0: off"
    )
    backlink_boost_cap: int = Field(10, ge=0, le=1000, description="maximum number of files that count as backlinks")
    rerank_vector_weight: Weight = Field(0.55, description="`weighted_sum`: weight of the cosine")
    rerank_keyword_weight: Weight = Field(0.25, description="`weighted_sum`: weight of BM25")
    rerank_heading_weight: Weight = Field(
        0.05, description="`weighted_sum`: weight of the fraction of query terms in the headings"
    )
    rerank_tag_overlap_weight: Weight = Field(
        0.05, description="`weighted_sum`: weight of the fraction of query terms in the tags"
    )
    rerank_preamble_weight: Weight = Field(0.05, description="`weighted_sum`: weight of being a document's beginning")
    rerank_recency_weight: Weight = Field(0.02, description="`weighted_sum`: weight of being recent")
    rerank_status_weight: Weight = Field(0.02, description="`weighted_sum`: weight of an active status")
    rerank_mention_boost_weight: Weight = Field(0.5, description="`weighted_sum`: weight of being named in the query")
    rerank_normalize_scores: bool = Field(False, description="`weighted_sum`: scale the cosines to 0 to 1 first")


class RetrievalSettings(
    SearchSettings,
    FusionSettings,
    BonusSettings,
    PriorSettings,
    RecencySettings,
    StatusSettings,
    DuplicateSettings,
    RerankerSettings,
    CompatibilitySettings,
):
    """`[retrieval]`: how results are found and ranked."""


class ServerSettings(_Section):
    """`[servers]`: Qdrant and Neo4j, which hold a replica of the index."""

    qdrant_url: QdrantUrl = Field("", description="Qdrant for vectors and keywords, as http(s)://host:port")
    qdrant_api_key: SecretStr = Field(SecretStr(""), description="API key of Qdrant")
    qdrant_collection: str = Field("code", min_length=1, description="Qdrant collection, shared by all projects")
    qdrant_grpc_port: int = Field(0, ge=0, le=65_535, description="gRPC port of Qdrant; 0: REST")
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
    for name, text in _read_environment(environ, problems).items():
        section = values.setdefault(_SECTION_OF[name], {})
        if isinstance(section, dict):  # Anything else than a table is reported below.
            section[name] = text
    try:
        settings = Settings.model_validate(values)
    except ValidationError as error:
        problems += [_describe(detail) for detail in error.errors()]
    if problems:
        raise SettingsError(problems)
    return settings


def change_retrieval(settings: Settings, changes: Mapping[str, object]) -> Settings:
    """Return the settings with changed values of `[retrieval]`; raises SettingsError with every problem found."""
    unchanged = settings.retrieval.model_dump()
    try:
        retrieval = RetrievalSettings.model_validate(unchanged | dict(changes))
    except ValidationError as error:
        raise SettingsError([_describe(detail) for detail in error.errors()]) from None
    return settings.model_copy(update={"retrieval": retrieval})


_SECTION_OF = {
    name: section
    for section, model in (
        ("indexing", IndexingSettings),
        ("retrieval", RetrievalSettings),
        ("servers", ServerSettings),
    )
    for name in model.model_fields
}
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
    section = values.get("servers")
    found = sorted(_SECRETS.intersection(section)) if isinstance(section, dict) else []
    return [
        f"servers.{name} is set in {SETTINGS_FILE}; move it to the environment, as {ENVIRONMENT_PREFIX}{name.upper()}"
        for name in found
    ]


def _untrusted_in(values: Mapping[str, Any], environ: Mapping[str, str]) -> list[str]:
    """Return a problem for each setting that names a folder, a model or a server.

    The file may come with a clone, and the user's credentials would be sent to a server that it names.
    """
    if environ.get(TRUST_VARIABLE, "") not in ("", "0", "false"):
        return []
    sections = [values.get(name) for name in ("indexing", "retrieval", "servers")]
    found = sorted(
        name
        for section in sections
        if isinstance(section, dict)
        for name in section
        if _reaches_out(name, section[name])
    )
    return [
        f"{name} is set in {SETTINGS_FILE}; a repository may not choose folders, models and servers; set "
        f"{ENVIRONMENT_PREFIX}{name.upper()}, or {TRUST_VARIABLE}=1 if you trust the file"
        for name in found
    ]


def _reaches_out(name: str, value: object) -> bool:
    return name in _REACHING or (name == "rerank" and value == "cross_encoder")  # It may be downloaded.


def _read_environment(environ: Mapping[str, str], problems: list[str]) -> dict[str, str]:
    """Return the settings that variables set, by name."""
    found = _read_compatible_names(environ)
    for variable, text in sorted(environ.items()):
        if not variable.startswith(ENVIRONMENT_PREFIX) or variable in _OTHER_VARIABLES:
            continue
        name = variable.removeprefix(ENVIRONMENT_PREFIX).lower()
        if name in _SECTION_OF:
            found[name] = text
        else:
            problems.append(f"{variable} is not a setting{_suggest(name)}")
    return found


def _suggest(name: str) -> str:
    near = difflib.get_close_matches(name, _SECTION_OF, n=1)
    return f"; did you mean {ENVIRONMENT_PREFIX}{near[0].upper()}?" if near else "; see docs/settings.md"


def _describe(detail: Any) -> str:
    name = ".".join(str(part) for part in detail["loc"] if part != "[key]")
    if detail["type"] == "extra_forbidden":
        near = difflib.get_close_matches(str(detail["loc"][-1]), _FULL_NAMES, n=1)
        return f"{name} is not a setting" + (
            f"; did you mean {_FULL_NAMES[near[0]]}?" if near else "; see docs/settings.md"
        )
    shown = "…" if {str(part) for part in detail["loc"]} & (_SECRETS | _MAY_HOLD_SECRETS) else repr(detail["input"])
    return f"{name} = {shown}: {_ACCEPTED.get(detail['type']) or detail['msg'].lower()}"


_FULL_NAMES = {name: name for name in Settings.model_fields} | {
    name: f"{section}.{name}" for name, section in _SECTION_OF.items()
}

# In place of pydantic's messages that name Python types.
_ACCEPTED = {
    "model_type": "input should be a table of settings",
    "tuple_type": "input should be a list of strings",
    "dict_type": "input should be a table",
}

# ---------------------------------------------------------------- compatibility
# Variables such as KB_RRF_K, from the design that the weighted sum comes from. GRAPHRAG_RRF_K wins over KB_RRF_K.

_COMPATIBLE_PREFIX = "KB_"
_COMPATIBLE_NAMES = {
    name for name in RetrievalSettings.model_fields if name.startswith(("rerank_", "graph_expansion_"))
} | {"hybrid_search_enabled", "rrf_k", "rejected_injection_max_docs", "rejected_min_similarity"}


def _read_compatible_names(environ: Mapping[str, str]) -> dict[str, str]:
    return {
        name: text
        for variable, text in sorted(environ.items())
        if variable.startswith(_COMPATIBLE_PREFIX)
        and (name := variable.removeprefix(_COMPATIBLE_PREFIX).lower()) in _COMPATIBLE_NAMES
    }
