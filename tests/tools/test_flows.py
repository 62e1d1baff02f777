"""How code reaches other code: the answer of `trace_relations` with `from`, `to` or a question, over real indexes."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from graphrag_mcp.app.local import App
from graphrag_mcp.errors import RequestError
from graphrag_mcp.tools.trace_relations import TRACE
from tests.golden.golden import FOLDER
from tests.indexed import indexed

FILES = {
    "lamp/app.py": """\
from lamp.wicks import Wick, make_wick
from lamp.timers import Timer


class Lamp:
    def __init__(self):
        self.handlers = {}
        self.timer = Timer()

    def on(self, name, handler):
        self.handlers[name] = handler

    def light(self, wick: Wick):
        self.timer.later(put_out)
        wick.burn()

    def emit(self, name):
        answer(self.handlers[name])


def answer(handler):
    handler()


def put_out():
    stop_gas()


def stop_gas():
    pass
""",
    "lamp/wicks.py": """\
class Wick:
    def burn(self):
        raise NotImplementedError


class Cotton(Wick):
    def burn(self):
        glow()


class Steel(Wick):
    def burn(self):
        pass


def glow():
    pass


def make_wick():
    return Cotton()
""",
    "lamp/timers.py": "class Timer:\n    def later(self, function):\n        function()\n",
    "tests/test_lamp.py": "from lamp.app import put_out\n\n\ndef test_it_goes_out():\n    put_out()\n",
}


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """A small project with each kind of link."""
    with indexed(tmp_path_factory.mktemp("flows"), FILES) as app:
        yield app


def ask(app: App, arguments: Mapping[str, Any]) -> str:
    """Return the answer to a call."""
    call = TRACE.read(arguments, app.settings, app.root)
    return TRACE.write(app.ask(TRACE.ask, call), call)


def test_the_golden_file_has_each_kind_of_answer(app: App) -> None:
    """A reader can review them: certain and possible calls, a value, stored data, no chain, trees and a question."""
    asked: list[dict[str, Any]] = [
        {"from": "Lamp.light", "to": "glow"},
        {"from": ["Lamp.light", "make_wick"], "to": "stop_gas"},
        {"from": "Lamp.on", "to": "answer"},
        {"from": "answer", "to": "glow"},
        {"from": "Lamp.light"},
        {"to": "stop_gas"},
        {"question": "How does `Lamp.light` end up in stop_gas?"},
        {"question": "How does lighting a lamp come to a glowing wick?"},
    ]
    text = "\n".join(f"$ {json.dumps(one)}\n{ask(app, one)}\n" for one in asked)
    assert text == (FOLDER / "flow.txt").read_text(encoding="utf-8")


def test_a_chain_is_certain_where_its_calls_are(app: App) -> None:
    """A function that is handed over is a link of its own; what a base type calls only may reach a type below."""
    payload = json.loads(ask(app, {"from": "Lamp.light", "to": "stop_gas", "response_format": "json"}))
    first = payload["rows"][0]["links"]
    assert [link["target"]["symbol"] for link in first] == ["put_out", "stop_gas"]
    edges = [link["edge"] for link in first]
    assert [(edge["relation"], edge["certainty"]) for edge in edges] == [("hands_on", "certain"), ("calls", "certain")]
    assert first[0]["text"] == "self.timer.later(put_out)"
    payload = json.loads(ask(app, {"from": "Lamp.light", "to": "glow", "response_format": "json"}))
    assert [link["edge"]["certainty"] for link in payload["rows"][0]["links"]] == ["may call", "certain"]
    assert payload["rows"][0]["links"][0]["choices"] == 2


def test_a_type_is_reached_where_one_of_its_functions_is(app: App) -> None:
    """The chain ends at the function; a type that none leads to is not."""
    assert ask(app, {"from": "Lamp.light", "to": "Cotton"}).startswith("Lamp.light reaches Cotton.burn: 1 may call.")
    assert ask(app, {"from": "put_out", "to": "Cotton"}).startswith("No chain is known from put_out to ")


def test_what_is_stored_leads_to_who_reads_it(app: App) -> None:
    """The link names the field and the place that reads it."""
    text = ask(app, {"from": "Lamp.on", "to": "answer"})
    assert "11 (handlers is read at lamp/app.py:18):     self.handlers[name] = handler" in text


def test_tests_are_on_the_way_only_if_one_of_them_is_an_end(app: App) -> None:
    """What leads to a function in a test is not part of a flow of the program."""
    assert "test_it_goes_out" not in ask(app, {"to": "stop_gas"})
    assert "test_it_goes_out reaches stop_gas" in ask(app, {"from": "test_it_goes_out", "to": "stop_gas"})


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({}, "symbol is required, or from, to or question"),
        ({"symbol": "glow", "from": "glow"}, "symbol and from both say where to start; give one of them"),
        ({"from": "Lamp.shine"}, "nothing that is indexed defines 'Lamp.shine'"),
        ({"from": [], "to": [" "]}, "to[0] = "),
    ],
)
def test_what_cannot_be_asked_is_named(app: App, arguments: dict[str, Any], problem: str) -> None:
    """A call needs a symbol or a flow, not both, and names that exist."""
    with pytest.raises(RequestError) as caught:
        ask(app, arguments)
    assert problem in str(caught.value)


def test_of_several_names_one_may_be_unknown(app: App) -> None:
    """An agent may guess; what exists is asked for."""
    assert "Lamp.light reaches stop_gas" in ask(app, {"from": ["Lamp.shine", "Lamp.light"], "to": ["stop_gas"]})


def test_other_definitions_that_a_name_means_are_named(app: App) -> None:
    """A chain has the nearest one; with its type, a name means one."""
    answer = ask(app, {"from": "Cotton.burn", "to": "glow"})
    assert "Other definitions" not in answer
    answer = ask(app, {"from": "burn", "to": "glow"})
    assert answer.splitlines()[-1] == (
        "Other definitions named burn (from): lamp/wicks.py:2-3  Wick.burn, lamp/wicks.py:12-13  Steel.burn"
    )


def test_a_symbol_is_a_start(app: App) -> None:
    """With an end, or a question."""
    assert "Lamp.light reaches stop_gas" in ask(app, {"symbol": "Lamp.light", "to": "stop_gas"})
    assert "Lamp.light reaches stop_gas" in ask(app, {"symbol": "Lamp.light", "question": "does it reach stop_gas?"})


WICK = """\
function Wick() {}
Wick.prototype.burn = function () { glow.call(this); return table[this.length] }
function glow() { hold(Wick.make, snuff) }
function hold(first, second) {}
function snuff() {}
class Lamp {
  get height() { return 1 }
  set height(value) { glow() }
  light() { return table[this.height] }
}
"""


def test_what_is_called_or_asked_for_a_member_is_not_handed_over(tmp_path: Path) -> None:
    """Nor is a property that is read, whatever its setter does."""
    with indexed(tmp_path, {"wick.js": WICK}) as app:
        assert "burn reaches glow: 1 certain." in ask(app, {"from": "Wick.burn", "to": "glow"})
        assert "hands over" not in ask(app, {"from": "Wick.burn", "to": "glow"})
        assert ask(app, {"from": "glow", "to": "snuff"}).count("hands over") == 1
        assert ask(app, {"from": "glow", "to": "Wick"}).startswith("No chain is known")
        assert "hands over" not in ask(app, {"from": "Lamp.light", "to": "glow"})


STORED = {
    "store.ts": "class Bus {\n  private all: Set<() => void> = new Set()\n  on(f: () => void) {\n"
    "    this.all.add(f)\n  }\n"
    "  emit() {\n    this.all.forEach(run)\n  }\n}\nfunction run(f: () => void) { f() }\n",
    "store.go": "package store\n\ntype Bus struct{ all map[string]func() }\n\n"
    "func (b *Bus) on(name string, f func()) {\n\tb.all[name] = f\n}\n\n"
    "func (b *Bus) emit(name string) {\n\trun(b.all[name])\n}\n\nfunc run(f func()) { f() }\n",
    "Bus.java": "class Bus {\n  private final java.util.List<Runnable> all = new java.util.ArrayList<>();\n"
    "  void on(Runnable f) {\n    all.add(f);\n  }\n  void emit() {\n    run(all.get(0));\n  }\n"
    "  static void run(Runnable f) { f.run(); }\n}\n",
}


@pytest.mark.parametrize("name", STORED)
def test_an_element_that_is_stored_leads_to_who_reads_the_collection(tmp_path: Path, name: str) -> None:
    """By an index, or by a method of the collection."""
    with indexed(tmp_path, {name: STORED[name]}) as app:
        text = ask(app, {"from": "Bus.on", "to": "run"})
    assert f" (all is read at {name}:" in text
    assert "Bus.emit\n" in text


def test_who_only_asks_about_a_collection_takes_nothing_out_of_it(tmp_path: Path) -> None:
    """Whether something is in it, how much, or to remove it: what was stored does not lead there."""
    hub = (
        "class Hub {\n  private all = new Map<string, number>()\n"
        "  put(name: string) {\n    this.all.set(name, 1)\n  }\n"
        "  drop(name: string) {\n    if (this.all.has(name) && this.all.size > 1) this.all.delete(name)\n"
        "    tell()\n  }\n"
        "  take(name: string) {\n    show(this.all.get(name))\n  }\n}\n"
        "function tell() {}\nfunction show(n?: number) {}\n"
    )
    with indexed(tmp_path, {"hub.ts": hub}) as app:
        assert ask(app, {"from": "Hub.put", "to": "tell"}).startswith("No chain is known from ")
        assert " (all is read at hub.ts:11)" in ask(app, {"from": "Hub.put", "to": "show"})


def test_a_channel_leads_from_who_sends_to_who_receives(tmp_path: Path) -> None:
    """And neither over a field that both use, nor over a function that others have run."""
    queue = (
        "package queue\n\ntype Job struct{ size int }\ntype Queue struct{ jobs chan Job }\n\n"
        "func (q *Queue) add(size int) {\n\tspawn(func() {})\n\tq.jobs <- Job{size: size}\n}\n\n"
        "func (q *Queue) start() { spawn(q.work) }\nfunc (q *Queue) stop() { spawn(q.rest) }\n"
        "func spawn(f func()) { f() }\nfunc (q *Queue) rest() { finish(Job{}) }\n\n"
        "func (q *Queue) work() {\n\tfor job := range q.jobs {\n\t\tfinish(job)\n\t}\n}\n\n"
        "func weigh(job Job) {\n\tif job.size > 1 {\n\t\tfinish(job)\n\t}\n}\n\nfunc finish(job Job) {}\n"
    )
    with indexed(tmp_path, {"queue.go": queue}) as app:
        text = ask(app, {"from": "Queue.add", "to": "finish"})
    first = text.split(" also leads to ")[0]
    assert " (jobs is read at queue.go:" in first
    assert "Queue.work\n" in first


def test_a_constant_hands_on_the_function_whose_type_it_states(tmp_path: Path) -> None:
    """Also in an object."""
    lamp = (
        "import type { Wick } from 'wicks'\nconst burn = () => glow()\nfunction glow() {}\n"
        "export const wick = burn as unknown as Wick\nexport const wicks: Wick = { burn }\n"
    )
    with indexed(tmp_path, {"lamp.ts": lamp}) as app:
        assert "wick reaches glow: 2 certain." in ask(app, {"from": "wick", "to": "glow"})
        assert "wicks reaches glow: 2 certain." in ask(app, {"from": "wicks", "to": "glow"})


def test_a_language_whose_types_are_not_known_is_followed_by_name(tmp_path: Path) -> None:
    """What nothing leads on from is said so."""
    lamp = (
        "class Lamp\n  def light\n    wick.burn\n  end\nend\n\n"
        "class Wick\n  def burn\n    glow()\n  end\n\n  def glow\n  end\nend\n"
    )
    with indexed(tmp_path, {"lamp.rb": lamp}) as app:
        text = ask(app, {"from": "Lamp.light", "to": "Wick.glow"})
        assert ask(app, {"from": "Wick.glow"}) == "Nothing is known that Wick.glow leads to."
    assert text.startswith("Lamp.light reaches Wick.glow: ")
    assert "3 (by name only):   wick.burn" in text


def test_where_a_flow_stops_its_open_calls_are_named(tmp_path: Path) -> None:
    """They are what to look at next."""
    kinds = "".join(f"class Kind{number}\n  def handle\n    sink\n  end\nend\n" for number in range(7))
    app_rb = "class Log\n  def error\n    @handler.handle\n    puts 1\n  end\nend\ndef sink\nend\n"
    with indexed(tmp_path, {"log.rb": app_rb, "kinds.rb": kinds}) as app:
        text = ask(app, {"from": "Log.error", "to": "sink"})
    assert text.startswith("No chain is known from ")
    assert text.endswith("Not followed, since it is not known which definition is meant: handle (log.rb:3)")


def test_a_flow_goes_on_in_what_overrides_a_method_by_name(tmp_path: Path) -> None:
    """From either side, in a language whose types are not known."""
    php = (
        "<?php\nabstract class Base {\n  function handle() {\n    $this->write();\n  }\n"
        "  abstract function write();\n}\nclass File extends Base {\n  function write() { put(); }\n}\n"
        "class Net extends Base {\n  function write() {}\n}\nfunction put() {}\n"
    )
    with indexed(tmp_path, {"base.php": php}) as app:
        text = ask(app, {"from": "Base.handle", "to": "put"})
        assert text.startswith("Base.handle reaches put: 1 certain, 1 may call.")
        assert "(may call, one of 2): abstract function write();" in text
        assert "File.write" in ask(app, {"from": "Base.handle"})
        assert "Base.handle" in ask(app, {"to": "put"})


def test_a_constant_that_is_called_does_not_lead_to_its_other_readers(tmp_path: Path) -> None:
    """What writes it does, and the constant itself as a start."""
    code = (
        "import { make } from './make'\n\nconst debug = make('shop')\n\n"
        "export function load() {\n  debug('load')\n}\n\nexport function run() {\n  debug('run')\n}\n"
    )
    made = "export function make(name: string) {\n  return (text: string) => console.log(name, text)\n}\n"
    with indexed(tmp_path, {"src/shop.ts": code, "src/make.ts": made}) as app:
        assert "load reaches run" not in ask(app, {"from": "load", "to": "run"})
        assert "load reaches debug" in ask(app, {"from": "load", "to": "debug"})


def test_a_name_that_a_chain_has_twice_is_known_twice(tmp_path: Path) -> None:
    """Neither of the two is another definition that the name may mean."""
    code = "class Server:\n    def run(self):\n        halt()\ndef run():\n    Server().run()\ndef halt():\n    pass\n"
    with indexed(tmp_path, {"main.py": code}) as opened:
        answer = ask(opened, {"from": "main.py::run", "to": "halt"})
    assert "run reaches halt" in answer
    assert "Other definitions" not in answer


def test_chains_that_are_not_shown_are_named(tmp_path: Path) -> None:
    """By a definition that none of those shown has."""
    ways = "".join(f"def way_{number}():\n    end()\n\n\n" for number in range(5))
    calls = "".join(f"    way_{number}()\n" for number in range(5))
    code = f"def end():\n    pass\n\n\n{ways}def start():\n{calls}"
    with indexed(tmp_path, {"a.py": code}) as app:
        text = ask(app, {"from": ["start"], "to": ["end"]})
    shown, _, told = text.partition("Further chains go through ")
    names = [set(re.findall(r"\bway_\d\b(?!\()", part)) for part in (shown, told)]
    assert list(map(len, names)) == [3, 2] and not names[0] & names[1]


def test_a_type_that_is_created_does_not_run_all_of_its_methods(tmp_path: Path) -> None:
    """Without facts, too: the chain through the method that is called comes before one through another."""
    text = """class Setter
  def run_all
    finish
  end
  def run_one
    check
  end
  def check
    finish
  end
end
def start
  Setter.new.run_one
end
def finish
end
"""
    with indexed(tmp_path, {"a.rb": text}) as app:
        answer = ask(app, {"from": "start", "to": "finish"})
    assert "Setter.run_one" in answer
    assert "Setter.run_all" not in answer


def test_a_function_that_is_handed_over_is_followed_by_name(tmp_path: Path) -> None:
    """A delegate of C#: what takes it calls it."""
    text = """class Mediator {
  void Publish(object note) { handler.Handle(note, Core); }
  void Core(object note) { publisher.Emit(note); }
}
class Publisher { public void Emit(object note) {} }
"""
    with indexed(tmp_path, {"a.cs": text}) as app:
        answer = ask(app, {"from": "Mediator.Publish", "to": "Publisher.Emit"})
    assert "2 (hands over): " in answer


def test_a_method_on_the_line_of_a_field_of_its_name_is_told_apart(tmp_path: Path) -> None:
    """A record has both, and the method calls what it calls."""
    code = "record Point(int x) { int x() { return helper(); } static int helper() { return 1; } }\n"
    with indexed(tmp_path, {"Point.java": code}) as app:
        assert "1 certain" in ask(app, {"from": "Point", "to": "helper"})
