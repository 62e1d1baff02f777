"""The laws of the rules in `secret_rules.toml`."""

import random
import re
from typing import Any

import pytest

from graphrag_mcp.text.expressions import expand, read_table
from graphrag_mcp.text.secrets import MASK, load_rules, mask_secrets
from tests.text.secret_values import fill

_DATA = read_table("graphrag_mcp.text", "secret_rules.toml")
_RULES: list[dict[str, Any]] = [*_DATA["format"], *_DATA["place"]]


def _cases(kind: str) -> list[str]:
    return [template for rule in _RULES for template in rule[kind]]


@pytest.mark.parametrize("example", _cases("examples"))
def test_every_example_of_a_rule_is_masked(example: str) -> None:
    """Whatever its random values, but for those few that look like words by chance."""
    rng = random.Random(example)
    filled = [fill(example, rng) for _ in range(40)]
    shown = [one.text for one in filled if one.is_shown(mask_secrets(one.text))]
    assert len(shown) <= 2, shown


@pytest.mark.parametrize("example", _cases("counter_examples"))
def test_every_counter_example_of_a_rule_stays(example: str) -> None:
    """It has the rule's hint or name, and no secret."""
    rng = random.Random(example)
    for _ in range(40):
        text = fill(example, rng).text
        assert mask_secrets(text) == text


@pytest.mark.parametrize("rule", _RULES, ids=lambda rule: rule.get("kind", "place"))
def test_a_rule_is_needed_for_one_of_its_examples(rule: dict[str, Any]) -> None:
    """Its own expression finds the value, where one of its hints or a telling name is."""
    rng = random.Random(rule["examples"][0])
    texts = [fill(example, rng).text for example in rule["examples"] for _ in range(5)]
    expression = re.compile(expand(rule["expression"], _DATA["part"]))
    finder = load_rules().find_names if rule in _DATA["place"] else None
    for text in texts:
        starts = [found.end() for found in finder.finditer(text.encode())] if finder else range(len(text))
        if any(expression.match(text, start) for start in starts):
            return
    pytest.fail(f"no example has the form of {rule['expression']}")


def test_every_rule_has_an_example_a_counter_example_and_a_source() -> None:
    """So that a reader can judge it."""
    assert len(_RULES) > 100
    assert all(rule["examples"] and rule["counter_examples"] and rule["source"] for rule in _RULES)


def test_masking_keeps_the_lines_and_changes_nothing_the_second_time() -> None:
    """Of all examples in one text, in many orders."""
    examples = _cases("examples")
    for seed in range(20):
        rng = random.Random(seed)
        text = "\n".join(fill(example, rng).text for example in rng.sample(examples, len(examples)))
        masked = mask_secrets(text)
        assert masked.count(MASK) > len(examples) // 2
        assert masked.count("\n") == text.count("\n")
        assert mask_secrets(masked) == masked


def test_a_secret_is_masked_behind_characters_of_every_width() -> None:
    """The automata see one byte a character; a secret stands where it stands."""
    rng = random.Random(5)
    for width in "é", "語", "😀", "\ufffd", "ſ", "K":
        filled = fill(f"{width * 40}\n{width} password = '<w24>' {width} ghp_<w36> {width}\n", rng)
        masked = mask_secrets(filled.text)
        assert not filled.is_shown(masked)
        named, token = "[secret: value of a secret's name]", "[secret: GitHub token]"
        assert masked == f"{width * 40}\n{width} password = '{named}' {width} {token} {width}\n"


def test_manifests_that_hold_no_secret_keep_their_data() -> None:
    """A ConfigMap beside a Secret is shown; an entry that is a template or an address stays."""
    config = "kind: ConfigMap\ndata:\n  etag: {}\n"
    rng = random.Random(8)
    filled = fill("kind: Secret\ndata:\n  some: <b40>\n  other: {{ .Values.other }}\n---\n", rng)
    value = fill("<b40>", rng).text
    masked = mask_secrets(filled.text + config.format(value))
    assert not filled.is_shown(masked)
    assert "{{ .Values.other }}" in masked
    assert masked.endswith(config.format(value))
