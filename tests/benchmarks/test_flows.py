"""The benchmark of flows: its questions are well formed, and what an answer prints of a chain is counted."""

import json
from typing import Any

import pytest

from benchmarks.flows import FLOWS, chains, score

ASKED = json.loads(FLOWS.read_text(encoding="utf-8"))
FLOW: dict[str, Any] = {
    "chains": [
        {
            "hops": [["a.py", "Lamp.light", 3, 9], ["b.py", "Wick.burn", 5, 7], ["b.py", "_glow", 20, 22]],
            "links": [["a.py", 8, "call"], ["b.py", 6, "value", "c.py:30"]],
        }
    ]
}
WHOLE = """How `light` reaches `_glow`: 3 steps
1 a.py:3  Lamp.light
    8: self.wick.burn()                      calls
2 b.py:5  Wick.burn                          6: later(_glow)   hands over _glow
3 b.py:20 _glow
"""


@pytest.mark.parametrize("flow", ASKED["flows"], ids=lambda flow: str(flow["id"]))
def test_each_chain_joins_three_to_seven_definitions(flow: dict[str, Any]) -> None:
    """Between each two definitions of a chain is one link, and its repository has a commit."""
    assert flow["repository"] in ASKED["repositories"]
    assert flow["kind"] in ("a", "b", "c")
    for chain in chains(flow):
        assert 3 <= len(chain.hops) <= 7
        assert len(chain.links) == len(chain.hops) - 1
        assert all(hop.start <= hop.end for hop in chain.hops)


@pytest.mark.parametrize(
    ("answer", "hops", "links"),
    [
        (WHOLE, 3, 2),
        (WHOLE.replace("6: later(_glow)", "c.py:30"), 3, 2),  # Another site of the link.
        (WHOLE.replace("8: self", "9: self"), 3, 1),  # Another line of the definition.
        (WHOLE.replace("Wick.burn  ", "Wick.burner"), 2, 1),  # Another name: what stands under it is not counted.
        (WHOLE.replace("b.py:20", "a.py:20"), 2, 2),
    ],
)
def test_what_an_answer_prints_of_a_chain_is_counted(answer: str, hops: int, links: int) -> None:
    """A hop needs its file, a line of its definition and its name; a link one of its sites beside one of its ends."""
    found = score(FLOW, answer)
    assert (found.hops, found.links) == (hops, links)
