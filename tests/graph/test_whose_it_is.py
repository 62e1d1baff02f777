"""Whose member a name is in languages without facts: by arguments, constants, creations, modules and visibility."""

from pathlib import Path

import pytest

from graphrag_mcp.errors import RequestError
from graphrag_mcp.model.graph import Direction
from tests.graph.test_relations import ask, rows

COUNTED = {
    "jobs.rb": "class Entry\n  def drop\n  end\nend\nclass Store\n  def drop(job, opts = {})\n  end\nend\n"
    "def one(job)\n  job.drop\nend\ndef two(store)\n  store.drop(1, quiet: true)\nend\n",
    "jobs.php": "<?php\nclass Entry { function drip() {} }\nclass Store { function drip($job) {} }\n"
    "function one($x) {\n  $x->drip();\n}\n",
    "jobs.cs": "class Entry { void Drop() {} }\nclass Store { void Drop(int job, int n = 1) {} }\n"
    "class Use {\n  void One(dynamic x) { x.Drop(); }\n  void Two(dynamic x) { x.Drop(1); }\n}\n",
    "jobs.rs": "struct E; impl E { fn drain(&self) {} }\nstruct S; impl S { fn drain(&self, n: u8) {} }\n"
    "fn two(x: &X) {\n    x.drain(1);\n}\n",
    "old.c": "int fold(int a) { return a; }\nint go(void) {\n  return fold(1, 2);\n}\n",
}


@pytest.mark.parametrize(
    ("symbol", "found"),
    [
        ("jobs.rb::Entry.drop", ["jobs.rb:10 by name"]),
        ("jobs.rb::Store.drop", ["jobs.rb:13 by name"]),
        ("Store.drip", []),
        ("jobs.cs::Entry.Drop", ["jobs.cs:4 by name"]),
        ("jobs.cs::Store.Drop", ["jobs.cs:5 by name"]),
        ("E.drain", []),
        ("S.drain", ["jobs.rs:4 by name"]),
        ("fold", ["old.c:3 certain"]),
    ],
)
def test_a_call_means_what_takes_its_arguments(tmp_path: Path, symbol: str, found: list[str]) -> None:
    """Of several definitions of a name; one that nothing fits was changed, and its calls are still found."""
    assert rows(tmp_path, COUNTED, symbol, Direction.CALLERS) == found


RUBY = """module Loud
  def push(item)
    super
  end
end
class Client
  def push(item)
  end
  def self.open
  end
  def shut
  end
end
class Quiet
  prepend Loud
  def push(item)
  end
end
Client.prepend Loud
class Base
end
class Record < Active::Base
end
class Entry < Base
end
module Late
  private def shut
  end
end
Client.prepend Late
LOG = Logger.new
def go
  Dir.open
  LOG.open
  Client.open
end
"""


@pytest.mark.parametrize(
    ("symbol", "direction", "found"),
    [
        ("Client.push", Direction.OVERRIDES, ["a.rb:2 certain"]),
        ("Quiet.push", Direction.OVERRIDES, ["a.rb:2 certain"]),
        ("Client", Direction.SUBCLASSES, ["a.rb:19 certain", "a.rb:30 certain"]),
        ("Client.open", Direction.CALLERS, ["a.rb:35 certain", "a.rb:34 by name"]),
        ("Client.shut", Direction.OVERRIDES, ["a.rb:27 certain"]),
        ("Base", Direction.SUBCLASSES, ["a.rb:24 certain"]),
    ],
)
def test_ruby_prepends_modules_and_has_constants_before_names(
    tmp_path: Path, symbol: str, direction: Direction, found: list[str]
) -> None:
    """A constant of the project may hold anything; another one is foreign."""
    assert rows(tmp_path, {"a.rb": RUBY}, symbol, direction) == found


MADE = {
    "a.rb": "class Kettle\n  def pour\n  end\nend\nclass Jug\n  def pour\n  end\nend\nKettle.new(1).pour\n",
    "a.php": "<?php\nclass Cup { function lift() {} }\nclass Bin { function lift() {} }\n(new Cup(1))->lift();\n",
    "a.cs": "class Bowl { void Tip() {} }\nclass Pan { void Tip() {} }\n"
    "class Cook {\n  void Go() { new Bowl(1).Tip(); }\n}\n",
}


@pytest.mark.parametrize(
    ("symbol", "found"),
    [
        ("Kettle.pour", ["a.rb:9 certain"]),
        ("Jug.pour", []),
        ("Cup.lift", ["a.php:4 certain"]),
        ("Bin.lift", []),
        ("Bowl.Tip", ["a.cs:4 certain"]),
        ("Pan.Tip", []),
    ],
)
def test_a_method_of_what_is_created_there_is_known(tmp_path: Path, symbol: str, found: list[str]) -> None:
    """`Kettle.new(1).pour` is a call of no other `pour`."""
    assert rows(tmp_path, MADE, symbol, Direction.CALLERS) == found


def test_a_definition_is_no_user_of_itself(tmp_path: Path) -> None:
    """`class A::Cookie` names the module only."""
    text = "module Shop\nend\nclass Shop::Cookie\nend\nShop::Cookie.new\n"
    assert rows(tmp_path, {"a.rb": text}, "Cookie", Direction.USERS) == ["a.rb:5 certain"]


def test_a_static_call_through_a_variable_is_one_of_a_name(tmp_path: Path) -> None:
    """`$maker::make()` of PHP is no call of a module called `maker`."""
    text = "<?php\nclass A { static function make() {} }\nfunction go($maker) {\n  $maker::make();\n}\n"
    assert rows(tmp_path, {"a.php": text}, "A.make", Direction.CALLERS) == ["a.php:4 by name"]


def test_what_may_be_defined_in_lines_that_do_not_parse_is_not_denied(tmp_path: Path) -> None:
    """The definition is there, and is not read."""
    files = {"a.rs": "@@@ }}} fn missing(&self) { (((\n", "b.rs": "fn go(a: A) {\n    a.missing();\n}\n"}
    with pytest.raises(RequestError, match=r"may be in lines that do not parse: a\.rs; 2 lines name it"):
        rows(tmp_path, files, "missing", Direction.CALLERS)


def test_a_trait_from_elsewhere_is_implemented_where_that_is_said(tmp_path: Path) -> None:
    """In another file than the type, which does not have the name."""
    files = {
        "a.rs": "pub struct X;\npub struct Y;\nimpl std::fmt::Display for Y {\n    fn fmt(&self) {}\n}\n",
        "b.rs": "use crate::a::X;\nimpl std::fmt::Display for X {\n    fn fmt(&self) {}\n}\n",
        "c.rs": "@@@ }}} impl Display for Z { (((\n",
    }
    assert rows(tmp_path, files, "Display", Direction.IMPLEMENTERS) == ["a.rs:3 certain", "b.rs:2 certain"]
    assert ask(tmp_path, files, "Display", Direction.IMPLEMENTERS).doubt.unparsed == {"c.rs"}


def test_what_is_private_is_not_called_elsewhere(tmp_path: Path) -> None:
    """In C#; another part of the type may call it."""
    files = {
        "A.cs": "namespace N {\npartial class Maker {\n  private static int Find(int one) => one;\n"
        "  int Own() => Find(1);\n  private protected void Hook() {}\n}\n}\n",
        "B.cs": "namespace N;\npartial class Maker {\n  int Part() => Find(2);\n}\n"
        "class Below : Maker {\n  void Go() { Hook(); }\n}\n",
        "C.cs": "class Other {\n  int Go(dynamic kind) => kind.Find(3);\n}\n",
    }
    assert rows(tmp_path, files, "Maker.Find", Direction.CALLERS) == ["A.cs:4 certain", "B.cs:3 by name"]
    assert rows(tmp_path, files, "Maker.Hook", Direction.CALLERS) == ["B.cs:6 by name"]


RSPEC = {
    "lib/parse.rb": "module Acme\n  class Parser\n    def self.open(path)\n    end\n    def read(all)\n    end\n  end\n"
    "  class Other\n    def read(all)\n    end\n  end\nend\n",
    "lib/far.rb": "module Far\n  class Other\n    def self.open(path)\n    end\n    def read(all)\n    end\n"
    "  end\nend\n"
    "Acme::Other.open(1)\nFar::Other.open(2)\n",
    "spec/parse_spec.rb": """RSpec.describe Acme::Parser do
  let(:parser) { described_class.new }
  let!(:other) { Acme::Other.new }
  subject { described_class.new }
  it 'reads' do
    described_class.open('a')
    parser.read(1)
    other.read(2)
    subject.read(3)
    described_class.new.read(4)
  end
  context Acme::Other do
    it 'is another' do
      described_class.new.read(5)
    end
  end
end
""",
}


@pytest.mark.parametrize(
    ("symbol", "lines"),
    [
        ("Parser.open", [6]),
        ("Parser.read", [7, 9, 10]),
        ("Acme.Other.read", [8, 14]),
        ("Far.Other.read", []),
        ("Far.Other.open", [10]),
    ],
)
def test_a_test_knows_what_its_block_describes_and_what_it_lets_names_hold(
    tmp_path: Path, symbol: str, lines: list[int]
) -> None:
    found = rows(tmp_path, RSPEC, symbol, Direction.CALLERS)
    assert sorted(int(row.partition(":")[2].split()[0]) for row in found) == lines


SCOPES = {
    "lib/error.rb": "module Acme\n  class Base\n    def save(item)\n    end\n  end\nend\n",
    "lib/lazy/base.rb": "module Acme\nmodule Lazy\n  class Base\n    def save(item)\n    end\n  end\nend\nend\n",
    "lib/lazy/value.rb": "module Acme\nmodule Lazy\n  class Value < Base\n    def save(item)\n    end\n  end\n"
    "  class List < Value\n    def save(item)\n    end\n  end\nend\nend\n",
    "lib/far.rb": "module Acme\n  class Far < Lazy::Base\n    def save(item)\n    end\n  end\n"
    "  class Near < Base\n  end\n  module Lazy\n    def self.make\n      Base.new\n    end\n  end\nend\n",
    "lib/alone.rb": "module Acme\n  module Foreign\n    class Base\n    end\n  end\nend\n"
    "class Kid < Other::Base\nend\n",
    "a.cpp": "namespace one { struct Base { }; }\nnamespace two { struct Base { };\nstruct Kid : Base { }; }\n",
}


@pytest.mark.parametrize(
    ("symbol", "direction", "found"),
    [
        ("Acme.Lazy.Base", Direction.SUBCLASSES, ["far.rb:2", "value.rb:3"]),
        ("Acme.Lazy.Value", Direction.SUBCLASSES, ["value.rb:7"]),
        ("Acme.Lazy.Value.save", Direction.OVERRIDES, ["value.rb:8"]),
        ("lib/error.rb::Acme.Base", Direction.SUBCLASSES, ["far.rb:6"]),
        ("Acme.Lazy.Base.save", Direction.OVERRIDES, ["far.rb:3", "value.rb:4"]),
        ("Acme.Lazy.Base", Direction.CALLERS, ["far.rb:10"]),
        ("lib/error.rb::Acme.Base", Direction.CALLERS, []),
        ("Acme.Foreign.Base", Direction.SUBCLASSES, []),
        ("two.Base", Direction.SUBCLASSES, ["a.cpp:3"]),
        ("one.Base", Direction.SUBCLASSES, []),
    ],
)
def test_a_name_means_what_the_nearest_module_around_it_has(
    tmp_path: Path, symbol: str, direction: Direction, found: list[str]
) -> None:
    rows_found = rows(tmp_path, SCOPES, symbol, direction)
    assert sorted(row.split()[0].rpartition("/")[2] for row in rows_found) == found


FOREIGN = {
    "Sink.cs": "class Sink { public void Add(int n) {} public void Fill(Sink o) { o.Add(1); } }\n"
    "static class More { public static void Twice(this Sink s, int n) {} }\n",
    "Use.cs": """class Use {
  void One(List<int> all, dynamic any, T other) {
    all.Add(1);
    any.Add(1);
    other.Add(1);
    var more = new HashSet<int>();
    more.Add(2);
    unknown().Add(3);
    unknown().Add(3, 4);
    all.Twice(5);
  }
  void Two(Sink sink) { sink.Twice(1); }
}
""",
    "use.kt": """fun CharSequence.shout() { }
fun one(text: StringBuilder) { text.shout() }
class Loud { fun shout() { } }
fun two(some: Any) { some.shout() }
""",
}


@pytest.mark.parametrize(
    ("symbol", "lines"),
    [
        ("CharSequence.shout", ["use.kt:2 by name", "use.kt:4 by name"]),
        ("Loud.shout", ["use.kt:4 by name"]),
        ("Sink.Add", ["Sink.cs:1 certain", "Use.cs:4 by name", "Use.cs:5 by name", "Use.cs:8 by name"]),
        ("More.Twice", ["Use.cs:10 by name", "Use.cs:12 by name"]),
    ],
)
def test_a_value_of_a_foreign_type_has_no_member_of_the_project_but_extensions(
    tmp_path: Path, symbol: str, lines: list[str]
) -> None:
    assert sorted(rows(tmp_path, FOREIGN, symbol, Direction.CALLERS)) == sorted(lines)


@pytest.mark.parametrize(
    ("symbol", "direction", "found"),
    [
        ("Paint", Direction.IMPLEMENTERS, ["src/theme.rs:2 certain"]),
        ("Paint.hue", Direction.OVERRIDES, ["src/theme.rs:3 certain"]),
    ],
)
def test_a_type_above_may_be_imported_under_another_name(
    tmp_path: Path, symbol: str, direction: Direction, found: list[str]
) -> None:
    files = {
        "src/lib.rs": "mod hues;\nmod theme;\n",
        "src/hues.rs": "pub trait Paint { fn hue(&self) -> u8; }\npub trait Draw { fn hue(&self) -> u8; }\n",
        "src/theme.rs": "use crate::hues::Paint as HuePaint;\nimpl HuePaint for Theme {\n"
        "  fn hue(&self) -> u8 { 1 }\n}\nstruct Theme;\n",
    }
    assert rows(tmp_path, files, symbol, direction) == found


SHORT = {
    "Marks.cs": "namespace Acme { class KeyAttribute : Attribute { } }\nclass Plain : Attribute { }\n",
    "Use.cs": "[Key(1)]\nclass A {\n  [Acme.Key] int n;\n  [Plain] int m;\n  [KeyAttribute] int o;\n}\n",
    "scan.h": "int scan(int c);\nint mark(int c);\n#define SCAN(c) at(&scan, c, mark)\n#define OTHER(mark) at(mark)\n",
    "scan.c": '#include "scan.h"\nint scan(int c) { return c; }\nint mark(int c) { return SCAN(c); }\n',
}


@pytest.mark.parametrize(
    ("symbol", "direction", "lines"),
    [
        ("KeyAttribute", Direction.USERS, ["Use.cs:1", "Use.cs:3", "Use.cs:5"]),
        ("Plain", Direction.USERS, ["Use.cs:4"]),
        ("scan.c::scan", Direction.CALLERS, ["scan.h:3"]),
        ("scan.c::mark", Direction.CALLERS, ["scan.h:3"]),
    ],
)
def test_an_attribute_leaves_out_its_ending_and_a_macro_hands_functions_on(
    tmp_path: Path, symbol: str, direction: Direction, lines: list[str]
) -> None:
    assert sorted({row.split()[0] for row in rows(tmp_path, SHORT, symbol, direction)}) == lines


@pytest.mark.parametrize(
    ("symbol", "found"),
    [
        ("A.foo", ["a.lua:4 by name"]),
        ("a.lua::foo", ["a.lua:4 by name"]),
        ("B.far", []),
        ("c.lua::far", ["b.lua:3 by name"]),
    ],
)
def test_a_bare_name_is_certainly_no_function_of_a_table(tmp_path: Path, symbol: str, found: list[str]) -> None:
    """It means the function that is called so alone, or that is in doubt."""
    files = {
        "a.lua": "local A = {}\nlocal function foo() end\nfunction A.foo() end\nfunction A.bar() foo() end\n",
        "b.lua": "local B = {}\nfunction B.far() end\nfunction B.bar() far() end\n",
        "c.lua": "function far() end\n",
    }
    assert rows(tmp_path, files, symbol, Direction.CALLERS) == found
