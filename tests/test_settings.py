"""What the file and the environment may say, and how what they may not say is reported."""

import os
from pathlib import Path

import pytest
from msgspec import Meta, Struct

from graphrag_mcp.errors import SettingsError
from graphrag_mcp.model.fields import outer_fields, schema_of
from graphrag_mcp.settings import (
    RECENCY_FACTORS,
    RERANK_WEIGHTS,
    SECTIONS,
    SETTINGS_FILE,
    Settings,
    load_settings,
)


def _load(folder: Path, toml: str = "", **environ: str) -> Settings:
    (folder / SETTINGS_FILE).write_text(toml)
    return load_settings(folder, {f"GRAPHRAG_{name}": value for name, value in environ.items()})


def _problems(folder: Path, toml: str = "", **environ: str) -> tuple[str, ...]:
    with pytest.raises(SettingsError) as caught:
        _load(folder, toml, **environ)
    return caught.value.problems


@pytest.mark.requirement("000-23", "000-36", "000-37", "000-38", "001-13", "001-14", "001-16", "K-02")
def test_no_file_and_no_environment_give_the_defaults(tmp_path: Path) -> None:
    """The defaults of the requirements."""
    settings = load_settings(tmp_path, {})
    assert settings == Settings()
    assert (settings.indexing.ignore_file, settings.indexing.default_exclusions) == (".graphragignore", True)
    retrieval = settings.retrieval
    assert retrieval.exclude_archived
    assert (retrieval.fusion_algorithm, retrieval.rrf_k) == ("relative", 60)
    assert retrieval.recency_profile == "tiered"
    days = (retrieval.recency_fresh_days, retrieval.recency_recent_days, retrieval.recency_old_days)
    assert days == (14, 60, 180)


@pytest.mark.requirement("000-36", "000-37", "000-38", "000-39", "001-13", "001-14")
@pytest.mark.parametrize(
    ("variable", "text", "name", "value"),
    [
        ("EXCLUDE_ARCHIVED", "false", "retrieval.exclude_archived", False),
        ("IGNORE_FILE", ".searchignore", "indexing.ignore_file", ".searchignore"),
        ("DEFAULT_EXCLUSIONS", "0", "indexing.default_exclusions", False),
        (
            "ARCHIVE_PATTERNS",
            ".archive/, .deprecated/,_backup/",
            "indexing.archive_patterns",
            (".archive/", ".deprecated/", "_backup/"),
        ),
        ("FUSION_ALGORITHM", "weighted", "retrieval.fusion_algorithm", "weighted"),
        ("RRF_K", "10", "retrieval.rrf_k", 10),
        ("CATEGORY_WEIGHTS", '{"config": 0.2}', "retrieval.category_weights", {"config": 0.2}),
        ("EXPANSIONS", '{"cart": ["basket"]}', "retrieval.expansions", {"cart": ("basket",)}),
        ("SWITCHED_OFF", "votes, history", "retrieval.switched_off", ("votes", "history")),
        ("RECENCY_FACTORS", '{"old": 0.9}', "retrieval.recency_factors", {**RECENCY_FACTORS, "old": 0.9}),
    ],
)
def test_a_variable_sets_what_it_names(tmp_path: Path, variable: str, text: str, name: str, value: object) -> None:
    """The environment's texts become typed values."""
    section, key = name.split(".")
    assert getattr(getattr(_load(tmp_path, **{variable: text}), section), key) == value


@pytest.mark.parametrize("text", ["config=0.2", "[1]", "{", "[" * 100_000])
def test_what_is_no_table_is_refused_with_the_form_of_one(tmp_path: Path, text: str) -> None:
    """A table in the environment is JSON; nothing else is guessed at."""
    (problem,) = _problems(tmp_path, CATEGORY_WEIGHTS=text)
    assert problem.endswith('expected a table, in the environment one like {"config": 0.2}')


@pytest.mark.requirement("001-20")
@pytest.mark.parametrize(
    ("variable", "text", "name", "known"),
    [
        ("CATEGORY_WEIGHTS", '{"tset": 0.2}', "retrieval.category_weights.tset = 'tset'", "tests"),
        (
            "GRAPH_EXPANSION_EDGE_TYPES",
            "calls,inherit",
            "retrieval.graph_expansion_edge_types.1 = 'inherit'",
            "inherits",
        ),
        ("RERANK_WEIGHTS", '{"vektor": 0.2}', "retrieval.rerank_weights = '{\"vektor\": 0.2}'", "vector"),
        ("SWITCHED_OFF", "vote", "retrieval.switched_off.0 = 'vote'", "votes"),
    ],
)
def test_a_name_that_means_nothing_is_a_problem(
    tmp_path: Path, variable: str, text: str, name: str, known: str
) -> None:
    """A misspelt kind of file or relation would otherwise change nothing, and nobody would know."""
    (problem,) = _problems(tmp_path, **{variable: text})
    assert problem.startswith(f"{name}: ")
    assert known in problem


@pytest.mark.requirement("K-13")
def test_the_environment_wins_over_the_file(tmp_path: Path) -> None:
    """Environment, then file, then default."""
    settings = _load(tmp_path, "[retrieval]\nrrf_k = 20\nexclude_archived = false\n", RRF_K="30")
    assert (settings.retrieval.rrf_k, settings.retrieval.exclude_archived) == (30, False)


@pytest.mark.requirement("K-02", "B-16")
@pytest.mark.parametrize("key", ["fresh", "recent", "standard", "old"])
def test_every_factor_of_recency_has_a_key(tmp_path: Path, key: str) -> None:
    """What the seed left without a key, and days that need not be whole."""
    settings = _load(tmp_path, f"[retrieval]\nrecency_factors.{key} = 1.25\nrecency_fresh_days = 0.5\n")
    assert settings.retrieval.recency_factors == {**RECENCY_FACTORS, key: 1.25}
    assert settings.retrieval.recency_fresh_days == 0.5


@pytest.mark.requirement("001-20")
def test_all_problems_are_named_at_once(tmp_path: Path) -> None:
    """Unknown keys, wrong types, values out of range, of the file and of the environment together."""
    toml = """
colour = "red"
[retrieval]
rrf_k = 0
recency_fresh_days = -1
fusion_algorithm = "best"
rff_k = 60
[indexing]
archive_patterns = 3
"""
    problems = _problems(tmp_path, toml, WORKERS="many", NO_SUCH_THING="1", VECTOR_WEIGHT="11", RECENCY_OLD_FACTOR="-1")
    assert len(problems) == 10
    for words in (
        "colour is not a setting",
        "retrieval.rrf_k = 0: expected a whole number from 1 to 1000",
        "retrieval.recency_fresh_days = -1: expected a finite number, at least 0",
        "retrieval.fusion_algorithm = 'best': expected one of relative, rrf, weighted, semantic_only",
        "retrieval.rff_k is not a setting; did you mean retrieval.rrf_k?",
        "indexing.archive_patterns = 3: expected a list, each entry text",
        "indexing.workers = 'many': expected a whole number from 0 to 64",
        "GRAPHRAG_NO_SUCH_THING is not a setting",
        "retrieval.vector_weight = '11': expected a number from 0 to 10",
        "retrieval.recency_factors.old = '-1': expected a number from 0 to 10",
    ):
        assert any(words in problem for problem in problems), words


def _limits() -> list[tuple[str, str, float]]:
    """Return every number among the settings that has a bound, with a value beyond it."""
    beyond = []
    for section, kind in SECTIONS.items():
        for name, field in outer_fields(kind).items():
            for limits in (note for note in getattr(field.type, "__metadata__", ()) if isinstance(note, Meta)):
                for limit, step in ((limits.ge, -1), (limits.gt, 0), (limits.le, 1)):
                    if limit is not None:
                        beyond.append((section, name, limit + step))
    return beyond


@pytest.mark.requirement("001-20")
@pytest.mark.parametrize(("section", "name", "value"), _limits())
def test_every_bound_holds(tmp_path: Path, section: str, name: str, value: float) -> None:
    """A number beyond its range is a problem that names it, and is never clamped."""
    (problem,) = _problems(tmp_path, f"[{section}]\n{name} = {value}\n")
    assert problem.startswith(f"{section}.{name} = {'…' if section == 'servers' else value}: expected")


@pytest.mark.requirement("001-20")
@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
def test_a_number_is_finite(tmp_path: Path, value: str) -> None:
    """A score that is not a number would order nothing."""
    (problem,) = _problems(tmp_path, f"[retrieval]\nrecency_fresh_days = {value}\n")
    assert "finite number" in problem


@pytest.mark.requirement("000-37")
@pytest.mark.parametrize("name", ["rules/.ignore", "/etc/ignore", "", ".", ".."])
def test_the_ignore_file_is_a_name(tmp_path: Path, name: str) -> None:
    """It is looked for in every folder, so it cannot lie in one."""
    (problem,) = _problems(tmp_path, IGNORE_FILE=name)
    assert problem == f"indexing.ignore_file = {name!r}: expected a file name without a folder"


@pytest.mark.requirement("001-20")
def test_a_value_where_a_table_belongs_is_a_problem(tmp_path: Path) -> None:
    """Also when the environment sets something of that section."""
    (problem,) = _problems(tmp_path, "retrieval = 3\n", RRF_K="20")
    assert problem == "retrieval = 3: expected a table of settings"


@pytest.mark.requirement("001-20")
@pytest.mark.parametrize("content", [b"= 3", b"\xff\xfe", b"[retrieval"])
def test_a_file_that_is_not_toml_is_a_problem(tmp_path: Path, content: bytes) -> None:
    """It names the file and what to do, beside the other problems."""
    (tmp_path / SETTINGS_FILE).write_bytes(content)
    with pytest.raises(SettingsError) as caught:
        load_settings(tmp_path, {"GRAPHRAG_RRF_K": "0"})
    assert len(caught.value.problems) == 2
    assert SETTINGS_FILE in str(caught.value)
    assert "fix or remove it" in str(caught.value)


@pytest.mark.requirement("P-1")
def test_a_root_that_is_no_folder_is_no_problem_of_the_settings(tmp_path: Path) -> None:
    """What is wrong with the root is said once, by what opens it."""
    (tmp_path / "file").write_text("")
    assert load_settings(tmp_path / "file", {}) == load_settings(tmp_path / "nowhere", {}) == Settings()


@pytest.mark.requirement("002-05", "002-07", "002-09", "002-11", "002-14", "K-18")
@pytest.mark.parametrize(
    "name",
    [
        "rerank_normalize_scores",
        "rrf_k",
        "graph_expansion_max_nodes",
        "rejected_injection_max_docs",
        "rejected_min_similarity",
    ],
)
def test_the_seeds_names_are_accepted(tmp_path: Path, name: str) -> None:
    """KB_ names mean ours, and ours win."""
    variable = f"KB_{name.upper()}"
    assert getattr(load_settings(tmp_path, {variable: "1"}).retrieval, name) == 1
    ours = {variable: "1", f"GRAPHRAG_{name.upper()}": "0" if name != "rrf_k" else "2"}
    assert getattr(load_settings(tmp_path, ours).retrieval, name) in (0, 2)


@pytest.mark.requirement("002-05")
@pytest.mark.parametrize("signal", RERANK_WEIGHTS)
def test_the_seeds_weights_are_entries_of_a_table(tmp_path: Path, signal: str) -> None:
    """By variables of both prefixes and in the file; ours win over KB_ names, and the environment over the file."""
    name = f"rerank_{signal}_weight"

    def read(toml: str = "", **environ: str) -> object:
        (tmp_path / SETTINGS_FILE).write_text(toml)
        return load_settings(tmp_path, environ).retrieval.rerank_weights

    compatible, own = {f"KB_{name.upper()}": "2"}, {f"GRAPHRAG_{name.upper()}": "3"}
    assert read(f"[retrieval]\n{name} = 1") == {**RERANK_WEIGHTS, signal: 1}
    assert read(f"[retrieval]\n{name} = 1", **compatible) == {**RERANK_WEIGHTS, signal: 2}
    assert read(f"[retrieval.rerank_weights]\n{signal} = 1", **compatible, **own) == {**RERANK_WEIGHTS, signal: 3}


@pytest.mark.requirement("001-16", "002-09")
@pytest.mark.parametrize(
    ("name", "setting", "off", "on"),
    [
        ("KB_HYBRID_SEARCH_ENABLED", "fusion_algorithm", "semantic_only", "relative"),
        ("GRAPHRAG_RECENCY_BOOST_ENABLED", "recency_profile", "off", "tiered"),
    ],
)
def test_the_seeds_switches_give_a_setting_its_value(
    tmp_path: Path, name: str, setting: str, off: str, on: str
) -> None:
    """Each is one value of a setting; another text is refused."""
    given = {text: getattr(load_settings(tmp_path, {name: text}).retrieval, setting) for text in ("0", "false", "true")}
    assert given == {"0": off, "false": off, "true": on}
    with pytest.raises(SettingsError, match=f"retrieval.{setting} = 'perhaps'"):
        load_settings(tmp_path, {name: "perhaps"})


@pytest.mark.parametrize("section", SECTIONS.values())
def test_every_setting_has_a_reason(section: type[Struct]) -> None:
    """There are few, and each names its requirement or says who needs another value than the default."""
    assert sum(map(len, map(outer_fields, SECTIONS.values()))) <= 60
    assert all("description" in schema_of(field.type) for field in outer_fields(section).values())


@pytest.mark.requirement("K-18")
def test_a_kb_name_that_is_not_ours_is_somebody_elses(tmp_path: Path) -> None:
    """Other programs have variables of that prefix too."""
    assert load_settings(tmp_path, {"KB_LAYOUT": "de"}) == Settings()


@pytest.mark.requirement("004-05", "004-18", "K-01")
def test_tables_come_from_the_file(tmp_path: Path) -> None:
    """The seed's weights by kind of file, and a team's own synonyms."""
    (tmp_path / SETTINGS_FILE).write_text(
        '[retrieval.category_weights]\nimplementation = 0.7\nconfig = 0.2\n[retrieval.expansions]\nsku = ["article"]\n'
    )
    retrieval = load_settings(tmp_path, {}).retrieval
    assert retrieval.category_weights == {"implementation": 0.7, "config": 0.2}
    assert retrieval.expansions == {"sku": ("article",)}


@pytest.mark.parametrize(
    "line",
    [
        '[indexing]\ndata_dir = "."',
        '[indexing]\nembedding_model = "someone/model"',
        '[retrieval]\ncross_encoder_model = "someone/model"',
        '[retrieval]\nrerank = "cross_encoder"',
        '[servers]\nqdrant_url = "https://elsewhere.example"',
        '[servers]\nneo4j_uri = "bolt://elsewhere.example"',
    ],
)
def test_a_repository_does_not_reach_out_of_itself(tmp_path: Path, line: str) -> None:
    """What comes with a clone names no folder, model or server, unless the user trusts it."""
    (problem,) = _problems(tmp_path, line)
    assert line.split("\n")[1].partition(" ")[0] in problem
    assert "GRAPHRAG_TRUST_PROJECT=1" in problem
    assert _load(tmp_path, line, TRUST_PROJECT="1")


def test_a_settings_file_that_is_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    """It is a problem like any other."""
    os.mkfifo(tmp_path / SETTINGS_FILE)
    with pytest.raises(SettingsError, match="not a regular file"):
        load_settings(tmp_path, {})


@pytest.mark.parametrize(
    ("variable", "text", "value"),
    [
        ("VECTOR_WEIGHT", ".5", 0.5),
        ("VECTOR_WEIGHT", " +5 ", 5.0),
        ("RRF_K", "1_000", 1000),
        ("QUERY_EXPANSION", "n", False),
    ],
)
def test_a_number_of_the_environment_may_be_written_in_any_way(
    tmp_path: Path, variable: str, text: str, value: object
) -> None:
    """As Python reads it."""
    assert getattr(_load(tmp_path, **{variable: text}).retrieval, variable.lower()) == value


@pytest.mark.parametrize(
    "toml",
    [
        '[indexing]\n"a\\u001b[31m\\nComplete." = 1\n',
        '["a\\u001b[31m\\nComplete."]\nb = 1\n',
        '[retrieval.category_weights]\n"a\\u001b[31m\\nComplete." = 1\n',
        '[retrieval]\nfusion_algorithm = "a\\u001b[31m\\nComplete."\n',
        f"[indexing]\narchive_patterns = [{'1, ' * 5_000}1]\n",
        f"[indexing]\nignore_file = [{'1, ' * 5_000}1]\n",
        f"[indexing]\n{'x' * 100_000} = 1\n",
    ],
)
def test_a_problem_is_short_and_says_nothing_of_its_own(tmp_path: Path, toml: str) -> None:
    """The file may come with a clone: neither its names nor its values are lines of ours, or keys of the terminal."""
    with pytest.raises(SettingsError) as caught:
        _load(tmp_path, toml)
    lines = str(caught.value).split("\n")
    assert all(line.startswith("  - ") for line in lines[1:])
    assert "\x1b" not in str(caught.value)
    assert len(str(caught.value)) < 5_000
