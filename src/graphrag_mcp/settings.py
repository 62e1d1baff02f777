"""One frozen `Settings`: defaults, then `.graphrag.toml`, then the environment; all problems are reported at once."""

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
    """Accept "a,b" (the environment's only form) wherever a list is wanted."""
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return value


def _read_table(value: object) -> object:
    """Accept a table as JSON, the environment's form of it."""
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
        raise PydanticCustomError("file_name", "input should be the name of a file, without a folder")
    return value


def _check_url(schemes: str) -> Callable[[str], str]:
    accepted = tuple(f"{scheme}://" for scheme in schemes.split())

    def check(value: str) -> str:
        if value and not (value.startswith(accepted) and urlsplit(value).hostname):
            raise PydanticCustomError("url", f"input should begin with {' or '.join(accepted)} and name a host")
        if value and "@" in urlsplit(value).netloc:
            raise PydanticCustomError(
                "url", "input should hold no user and no password; they have settings of their own"
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
    default_exclusions: bool = Field(True, description="built-in exclusions where the root has no ignore file")
    archive_patterns: Names = Field((), description="what counts as archived; a leading + adds to the built-in list")
    embedding_model: Line = Field("", description="fastembed model name or model folder; empty: the one in the package")
    data_dir: Line = Field("", description="folder of the index files; empty: the user's data folder")
    workers: int = Field(0, ge=0, le=64, description="parsing processes; 0: one per core")
    max_file_bytes: int = Field(10_000_000, ge=1, description="larger files are skipped")
    watch: Literal["auto", "off"] = Field(
        "auto", description="`auto`: a server follows edits while it is the one that writes; `off`: it indexes once"
    )
    debounce_seconds: float = Field(0.3, ge=0, le=2, description="quiet time before the watcher indexes a change")


class RetrievalSettings(_Section):
    """`[retrieval]`: how results are found and ordered."""

    exclude_archived: bool = Field(True, description="hide archived files unless a call asks for them")
    category_weights: Shares = Field(
        {}, description="the vectors' share of the say by kind of file, e.g. config = 0.2; 0.5 for those not named"
    )
    hybrid_search_enabled: bool = Field(True, description="search by words too; off: by vectors alone")
    fusion_algorithm: Literal["relative", "rrf", "weighted"] = Field("relative", description="how the lists are merged")
    rrf_k: int = Field(60, ge=1, le=1000, description="RRF's constant")
    vector_weight: Weight = Field(0.8, description="the vector list's weight")
    keyword_weight: Weight = Field(1.0, description="the keyword list's weight")
    graph_weight: Weight = Field(0.5, description="the graph list's weight")
    legacy_vector_weight: Weight = Field(1.0, description='the vector list\'s weight when "weighted"')
    legacy_keyword_weight: Weight = Field(0.5, description='the keyword list\'s weight when "weighted"')
    query_expansion: bool = Field(True, description="look for what is called the same by others: auth, authentication")
    expansions: Synonyms = Field({}, description="more of these: a table of words and their synonyms")
    expansion_weight: Share = Field(0.5, description="the say of an added word, and of a long text's body")
    candidate_multiplier: int = Field(3, ge=1, le=20, description="candidates per list, times the limit")
    candidate_minimum: int = Field(120, ge=10, le=200, description="candidates per list, at least")

    definition_bonus: Weight = Field(1.5, description="added to the definition that a symbol query names")
    mention_bonus: Weight = Field(0.4, description="added to the definition that an identifier inside prose names")
    relation_bonus: Weight = Field(1.0, description="added to what has the relation that the query asks for")
    stem_bonus: Weight = Field(0.3, description="added when the query says a file's name, by the share of the name")
    stem_query_bonus: Weight = Field(0.1, description="added when the file's name says the query, by the share of it")
    directory_bonus: Weight = Field(0.3, description="added when the folders say the query, by the share of it")
    coherence_bonus: Weight = Field(0.2, description="added when many chunks of the file were found")
    vote_bonus: Weight = Field(0.2, description="added to the file whose definitions the best candidates mention most")
    path_bonus: Weight = Field(0.5, description="added to a file whose path stands in the query")
    file_bonus_decay: Share = Field(0.3, description="factor on the file's bonus for each further chunk of it")
    confidence_vector: Weight = Field(1.0, description="factor for the very first of the vector list")
    confidence_graph: Weight = Field(1.2, description="factor for what the graph found")
    prior_tests: Share = Field(0.5, description="factor for tests, unless the query asks for them")
    prior_documentation: Share = Field(0.4, description="factor for documentation, likewise")
    prior_config: Share = Field(0.6, description="factor for configuration, likewise")
    prior_examples: Share = Field(0.5, description="factor for examples and benchmarks, likewise")
    prior_vendored: Share = Field(0.5, description="factor for vendored code")
    prior_data: Share = Field(0.3, description="factor for data, lock and generated files")
    prior_unasked: Share = Field(0.6, description="factor for all other kinds, where the query asks for one")
    prior_other: Share = Field(0.6, description="factor for files of no known kind")

    recency_boost_enabled: bool = Field(True, description="let the age of a file count at all")
    recency_profile: Literal["tiered", "decay", "off"] = Field("tiered", description="how the age of a file counts")
    recency_fresh_days: Days = Field(14, description="younger is fresh")
    recency_recent_days: Days = Field(60, description="younger is recent")
    recency_old_days: Days = Field(180, description="older is old")
    recency_fresh_factor: Weight = Field(1.2, description="factor for fresh files")
    recency_recent_factor: Weight = Field(1.1, description="factor for recent files")
    recency_standard_factor: Weight = Field(1.0, description="factor between recent and old")
    recency_old_factor: Weight = Field(0.95, description="factor for old files")
    backlink_boost_weight: Weight = Field(0.0, description="added for each file that leads to this one; 0: off")
    backlink_boost_cap: int = Field(10, ge=0, le=1000, description="the most files that count so")
    priority_weight: float = Field(0.001, ge=0, le=0.01, description="for each point of a document's priority (0-100)")
    superseded_penalty: Share = Field(0.4, description="what a document loses that says it is superseded")
    deprecated_penalty: Share = Field(0.4, description="likewise, deprecated")
    rejected_penalty: Share = Field(0.4, description="likewise, rejected")
    archived_penalty: Share = Field(0.6, description="likewise, archived")
    auto_tier_penalty: Share = Field(0.02, description="what a document loses that no person wrote (type: auto)")
    boost_max: float = Field(1.5, ge=1, le=10, description="the most that all boosts together may multiply")
    penalty_floor: float = Field(0.25, gt=0, le=1, description="the least that all penalties together may multiply")

    rerank: Literal["none", "weighted_sum", "cross_encoder"] = Field("none", description="a second look at the best")
    cross_encoder_model: str = Field(
        "Xenova/ms-marco-MiniLM-L-6-v2", description="fastembed's cross-encoder by name, or a model folder"
    )
    rerank_vector_weight: Weight = Field(0.55, description="in the weighted sum: the cosine's weight")
    rerank_keyword_weight: Weight = Field(0.25, description="likewise, BM25's")
    rerank_heading_weight: Weight = Field(0.05, description="likewise, of the share of the query in the headings")
    rerank_tag_overlap_weight: Weight = Field(0.05, description="likewise, of the share of the query in the tags")
    rerank_preamble_weight: Weight = Field(0.05, description="likewise, of being a document's beginning")
    rerank_recency_weight: Weight = Field(0.02, description="likewise, of being recent")
    rerank_status_weight: Weight = Field(0.02, description="likewise, of stating an active status")
    rerank_mention_boost_weight: Weight = Field(0.5, description="likewise, of being named in the query")
    rerank_normalize_scores: bool = Field(False, description="stretch the cosines to 0 to 1 before they are summed")

    graph_expansion_edge_types: Relations = Field((), description="relations shown beside results; none: all but uses")
    graph_expansion_max_nodes: int = Field(12, ge=0, le=20, description="related chunks beside the results, at most")
    rejected_injection_max_docs: int = Field(3, ge=0, le=10, description="rejected documents shown apart; 0: none")
    rejected_min_similarity: Share = Field(0.4, description="their cosine to the query, at least")

    judge_confidence: bool = Field(True, description="say when nothing matches well, and show less of it then")
    min_score: float | None = Field(None, ge=0, le=1, description="drop hits below this score")
    content_dedup: bool = Field(True, description="drop hits with the same text as a better one")
    ngram_dedup_threshold: Share = Field(0.9, description="drop hits that share this much of their 5-grams; 1: off")
    semantic_dedup_threshold: Share = Field(0.995, description="drop hits with vectors this similar; 1: off")
    saturation: float = Field(0.9, gt=0, le=1, description="factor for each further hit of the same file")

    response_tokens: int = Field(6000, ge=200, le=20_000, description="an answer's length, in tokens, at most")


class ServerSettings(_Section):
    """`[servers]`: where the index is copied to and searched, when one machine is not enough."""

    qdrant_url: QdrantUrl = Field("", description="Qdrant for vectors and keywords, as http(s)://host:port")
    qdrant_api_key: SecretStr = Field(SecretStr(""), description="its API key")
    qdrant_collection: str = Field("code", min_length=1, description="its collection, which all projects share")
    qdrant_grpc_port: int = Field(0, ge=0, le=65_535, description="its gRPC port; 0: REST")
    neo4j_uri: Neo4jUri = Field("", description="Neo4j for the graph, as bolt:// or neo4j://, +s for TLS")
    neo4j_user: str = Field("neo4j", description="its user")
    neo4j_password: SecretStr = Field(SecretStr(""), description="the user's password")
    neo4j_database: str = Field("", description="its database; empty: the user's own")
    project_id: str = Field("", description="the project's name on the servers; empty: made from git's origin")
    server_timeout_seconds: float = Field(1.2, gt=0, le=60, description="how long a search waits for a server")
    sync_servers: bool = Field(False, description="`serve` and `watch` copy each commit; else only `sync` writes there")


class Settings(_Section):
    """Everything a user can set."""

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
        if isinstance(section, dict):  # What is no table is reported below.
            section[name] = text
    try:
        settings = Settings.model_validate(values)
    except ValidationError as error:
        problems += [_describe(detail) for detail in error.errors()]
    if problems:
        raise SettingsError(problems)
    return settings


def change_retrieval(settings: Settings, changes: Mapping[str, object]) -> Settings:
    """Return the settings with other values of `[retrieval]`; raises SettingsError with every problem found."""
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
# The ranking's names in the design that the weighted sum comes from: KB_RRF_K for GRAPHRAG_RRF_K.
_OLD_PREFIX = "KB_"
_OLD_NAMES = {name for name in RetrievalSettings.model_fields if name.startswith(("rerank_", "graph_expansion_"))} | {
    "hybrid_search_enabled",
    "rrf_k",
    "rejected_injection_max_docs",
    "rejected_min_similarity",
}
_MAY_HOLD_SECRETS = {"qdrant_url", "neo4j_uri", "servers"}
_REACHING = {"data_dir", "embedding_model", "cross_encoder_model", "qdrant_url", "neo4j_uri"}
_SECRETS = {name for name, field in ServerSettings.model_fields.items() if field.annotation is SecretStr}

# Read by the command line itself, before any settings exist.
_OTHER_VARIABLES = {"GRAPHRAG_ROOT", "GRAPHRAG_LOG_LEVEL", TRUST_VARIABLE}


def _read_file(path: Path, problems: list[str]) -> dict[str, Any]:
    try:
        return tomllib.loads(read_regular_file(path, MAX_FILE_BYTES).decode("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError, RecursionError) as error:
        # A root that cannot be entered is no problem of the settings: whoever opens it says what is wrong.
        if os.access(path.parent, os.X_OK):
            problems.append(f"{path.name} cannot be read ({error}); fix or remove it")
        return {}


def _secrets_in(values: Mapping[str, Any]) -> list[str]:
    """Return a problem for each secret in the file: it lies in the repository, which others read."""
    section = values.get("servers")
    found = sorted(_SECRETS.intersection(section)) if isinstance(section, dict) else []
    return [
        f"servers.{name} stands in {SETTINGS_FILE}; move it to the environment, as {ENVIRONMENT_PREFIX}{name.upper()}"
        for name in found
    ]


def _untrusted_in(values: Mapping[str, Any], environ: Mapping[str, str]) -> list[str]:
    """Return a problem for each setting by which a repository could reach out of itself: to a folder or a server.

    Such a file may come with a clone, and the user's credentials would go where it says.
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
        f"{name} stands in {SETTINGS_FILE}, and a repository may not name folders, models and servers by itself; set "
        f"{ENVIRONMENT_PREFIX}{name.upper()}, or {TRUST_VARIABLE}=1 if you trust the file"
        for name in found
    ]


def _reaches_out(name: str, value: object) -> bool:
    return name in _REACHING or (name == "rerank" and value == "cross_encoder")  # Which is loaded from the network.


def _read_environment(environ: Mapping[str, str], problems: list[str]) -> dict[str, str]:
    """Return the settings that variables set, by name; of a KB_ name and ours, ours wins."""
    found = {
        name: text
        for variable, text in sorted(environ.items())
        if variable.startswith(_OLD_PREFIX) and (name := variable.removeprefix(_OLD_PREFIX).lower()) in _OLD_NAMES
    }
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
    return f"; did you mean {ENVIRONMENT_PREFIX}{near[0].upper()}?" if near else "; docs/settings.md lists them all"


def _describe(detail: Any) -> str:
    name = ".".join(str(part) for part in detail["loc"] if part != "[key]")
    if detail["type"] == "extra_forbidden":
        near = difflib.get_close_matches(str(detail["loc"][-1]), _FULL_NAMES, n=1)
        return f"{name} is not a setting" + (
            f"; did you mean {_FULL_NAMES[near[0]]}?" if near else "; docs/settings.md lists them all"
        )
    shown = "…" if {str(part) for part in detail["loc"]} & (_SECRETS | _MAY_HOLD_SECRETS) else repr(detail["input"])
    return f"{name} = {shown}: {_ACCEPTED.get(detail['type']) or detail['msg'].lower()}"


_FULL_NAMES = {name: name for name in Settings.model_fields} | {
    name: f"{section}.{name}" for name, section in _SECTION_OF.items()
}

# Where pydantic's own words name Python's types.
_ACCEPTED = {
    "model_type": "input should be a table of settings",
    "tuple_type": "input should be a list of texts",
    "dict_type": "input should be a table",
}
