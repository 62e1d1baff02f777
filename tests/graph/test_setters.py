"""Fields that are set by a method of their own, keywords without a value, and mixins, which are statements."""

from pathlib import Path

import pytest

from graphrag_mcp.model.graph import Direction
from tests.graph.test_relations import rows

FILES = {
    "lib/box.rb": "class Box\n  attr_accessor :size\n  attr_writer :mark\n  attr_reader :color\n"
    "  def color=(name)\n    @color = name\n  end\n"
    "  def paint\n    self.color = 1\n    self.color ||= 2\n    self.size, x = 3, 4\n  end\n"
    "  def told(name)\n    tell(color:, name:)\n  end\nend\n",
    "lib/use.rb": "def use(box)\n  box.color = 5\n  box.mark = 6\n  box.color\n  box&.size += 7\nend\n",
    "spec/box_spec.rb": 'describe Loud do\n  it "has it" do\n    expect(list).to include(Loud)\n'
    "    Class.new { include Loud }\n  end\nend\n",
    "lib/loud.rb": "module Loud\nend\nclass Horn\n  include Loud if LOUD\nend\n"
    "Horn.class_eval do\n  include Loud\nend\nclass Bell\n  begin\n    include Loud\n  end\nend\n",
}


@pytest.mark.parametrize(
    ("symbol", "found"),
    [
        ("Box.color=", ["lib/box.rb:9 certain", "lib/box.rb:10 certain", "lib/use.rb:2 by name"]),
        ("Box.color", ["lib/box.rb:10 certain", "lib/box.rb:14 by name", "lib/use.rb:4 by name"]),
        ("Box.size=", ["lib/box.rb:11 certain", "lib/use.rb:5 by name"]),
        ("Box.size", ["lib/use.rb:5 by name"]),
        ("Box.mark=", ["lib/use.rb:3 by name"]),
    ],
)
def test_what_is_assigned_calls_the_setter(tmp_path: Path, symbol: str, found: list[str]) -> None:
    """Not the reader, unless it is read as well; a keyword without a value reads what is no variable."""
    assert rows(tmp_path, FILES, symbol, Direction.CALLERS) == found


def test_an_argument_is_no_mixin_and_no_test_is_below_a_type(tmp_path: Path) -> None:
    """A matcher of the name stands in a call; what stands in a modifier or a block is a statement."""
    assert rows(tmp_path, FILES, "Loud", Direction.SUBCLASSES) == [
        "lib/loud.rb:4 certain",
        "lib/loud.rb:11 certain",
    ]
