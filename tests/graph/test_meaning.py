"""What a name means where several could be meant, and what follows from it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from textwrap import dedent

import pytest

from graphrag_mcp.app.local import App
from graphrag_mcp.graph.navigator import Navigator
from graphrag_mcp.model.files import RelationKind
from graphrag_mcp.model.graph import Certainty, Direction
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.settings import load_settings

Open = Callable[[dict[str, str]], Navigator]


@pytest.fixture
def navigate(tmp_path: Path) -> Iterator[Open]:
    """Index a project of these files; returns what answers questions about it."""
    with ExitStack() as opened:

        def open_project(files: dict[str, str]) -> Navigator:
            root = tmp_path / f"project{len(list(tmp_path.iterdir()))}"
            for path, text in files.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(dedent(text), encoding="utf-8")
            settings = load_settings(root, {"GRAPHRAG_DATA_DIR": str(tmp_path / f"data-{root.name}")})
            app = opened.enter_context(closing(App(root, settings)))
            app.index()
            return app.navigator()

        yield open_project


def reached(navigator: Navigator, symbol: str, hops: int = 3) -> dict[str, Certainty]:
    """Return what a change reaches, and how certain the last step to it is."""
    found = navigator.impact(symbol, hops, Scope())
    return {one.node.qualified_name: one.edge.certainty for one in (*found.reached, *found.tests)}


@pytest.mark.parametrize("copies", [0, 1, 5, 9])
def test_archived_copies_are_no_rivals_of_what_is_in_use(navigate: Open, copies: int) -> None:
    """From either side of the call, however many there are."""
    files = {
        "app/work.rb": "def lonely\n  1\nend\n",
        "app/uses.rb": "def uses\n  lonely()\nend\n",
        "app/top.rb": "def top\n  uses()\nend\n",
    }
    files |= {f".archive/old{number}.rb": "def lonely\n  0\nend\n" for number in range(copies)}
    navigator = navigate(files)
    assert reached(navigator, "app/work.rb::lonely") == {"uses": Certainty.BY_NAME, "top": Certainty.BY_NAME}


def test_a_module_that_two_files_may_be_is_no_certain_import(navigate: Open) -> None:
    """Also where the name has so many definitions that only imports can tell them apart."""
    files = {f"more/other{number}.py": "def run():\n    return 1\n" for number in range(5)}
    files |= {"a/utils.py": "def run():\n    return 1\n", "b/utils.py": "def run():\n    return 2\n"}
    navigator = navigate(files | {"app.py": "from utils import run\n\n\ndef caller():\n    return run()\n"})
    for path in ("a/utils.py", "b/utils.py"):
        assert "caller" not in reached(navigator, f"{path}::run", 1)
        assert ("app.py", 5) in navigator.impact(f"{path}::run", 1).doubt.undecided


def test_a_sure_way_replaces_a_guess_that_was_shorter(navigate: Open) -> None:
    """And what lies behind it is reached as well."""
    navigator = navigate(
        {
            "pk/a.py": "def save():\n    return 1\n",
            "pk/z.py": "def save():\n    return 2\n",
            "pk/b.py": "from pk.a import save\n\n\ndef middle():\n    return save()\n",
            "pk/c.py": "from pk.b import middle\n\n\ndef user(obj):\n    middle()\n    obj.save()\n",
            "pk/d.py": "from pk.c import user\n\n\ndef main():\n    user(None)\n",
        }
    )
    found = navigator.impact("pk/a.py::save", 3)
    ways = {one.node.qualified_name: (one.via.qualified_name, one.hops, one.is_guess) for one in found.reached}
    assert ways["user"] == ("middle", 2, False)
    assert ways["main"] == ("user", 3, False)


@pytest.mark.parametrize("hops", [1, 2])
def test_only_hops_that_were_not_taken_are_more(navigate: Open, hops: int) -> None:
    """All callers of a function that hundreds call are there, and nobody is asked for fewer hops than one."""
    callers = "".join(f"def caller_{number}():\n    return base()\n\n\n" for number in range(450))
    navigator = navigate(
        {"base.py": "def base():\n    return 1\n", "callers.py": f"from base import base\n\n\n{callers}"}
    )
    found = navigator.impact("base", hops)
    assert len(found.reached) >= 450
    assert found.doubt.is_cut == (hops > 1)


@pytest.mark.parametrize("name", ["Version 1.2.3", "C# bindings", "Input/Output", "docs/notes.md#Input/Output"])
def test_a_heading_is_found_by_what_it_says(navigate: Open, name: str) -> None:
    """Whatever separates the names of code may stand in it."""
    text = "# Notes\n\n## Version 1.2.3\n\nA fix.\n\n## C# bindings\n\nNew.\n\n## Input/Output\n\nFiles.\n"
    (found,) = navigate({"docs/notes.md": text}).symbols(name)
    assert found.node.name == name.rpartition("md#")[2]


OVERLOADS = """\
    export default function blend(): string
    export default function blend<A>(a: A): string
    export default function blend<A, B>(a: A, b: B): string
    export default function blend<A, B, C>(a: A, b: B, c: C): string
    export default function blend<A, B, C, D>(a: A, b: B, c: C, d: D): string
    export default function blend(...parts: string[]): string {
      return glue(parts)
    }

    function glue(parts: string[]) {
      return parts.join('')
    }
    """


def test_overloads_are_one_thing_with_one_list_of_uses(navigate: Open) -> None:
    """Each caller is named once, whoever asks, and what it calls is the one with a body."""
    navigator = navigate(
        {
            "src/blend.ts": OVERLOADS,
            "src/app.ts": "import blend from './blend'\n\nexport function title() {\n  return blend('a', 'b')\n}\n",
            "src/page.ts": "import { title } from './app'\n\nexport function page() {\n  return title()\n}\n",
        }
    )
    (found,) = navigator.symbols("blend")
    assert [found.node.start_line, *(node.start_line for node in found.also)] == [1, 2, 3, 4, 5, 6]
    assert {use.node.symbol for use in found.used if use.node.symbol} == {"title"}
    callers = navigator.trace("blend", Direction.CALLERS, 2)
    assert [(step.source.qualified_name, step.is_guess) for step in callers.steps] == [
        ("title", False),
        ("page", False),
    ]
    (called,) = navigator.trace("title", Direction.CALLEES, 1).steps
    assert (called.target.start_line, called.edge.certainty) == (6, Certainty.CERTAIN)
    assert [step.target.name for step in navigator.trace("title", Direction.CALLEES, 2).steps] == ["blend", "glue"]
    assert reached(navigator, "blend").keys() >= {"title", "page", "src/app.ts"}


def test_a_member_of_an_imported_value_is_that_of_its_type(navigate: Open) -> None:
    """What the other file assigns to it."""
    files = {
        "shop/app.py": "class App:\n    def launch(self):\n        pass\n",
        "shop/state.py": "from .app import App\n\ncurrent = App()\n",
        "shop/run.py": "from .state import current\n\n\ndef launch():\n    return current.launch()\n",
    }
    callers = navigate(files).trace("App.launch", Direction.CALLERS, 1)
    assert [(step.source.name, step.edge.certainty) for step in callers.steps] == [("launch", Certainty.CERTAIN)]
    assert callers.doubt.is_complete


def test_a_name_of_many_things_is_said_to_tell_nothing(navigate: Open) -> None:
    """An answer without callers must not pass for proof that there are none."""
    files = {
        f"shop/kind_{number}.py": f"class Kind{number}:\n    def load(self):\n        pass\n" for number in range(9)
    }
    navigator = navigate(files | {"shop/user.py": "def use(kind):\n    kind.load()\n"})
    (found,) = navigator.symbols("Kind3.load")
    place = {("shop/user.py", 2)}
    assert (found.used, found.doubt.undecided) == ((), place)
    assert navigator.trace("Kind3.load", Direction.CALLERS, 1).doubt.undecided == place
    assert navigator.trace("Kind3.load", Direction.TESTS, 1).doubt.undecided == place  # A test may call `use`.
    assert navigator.impact("shop/kind_3.py::load", 1).doubt.undecided == place
    assert not navigator.trace("Kind3", Direction.CALLERS, 1).doubt.undecided
    assert not navigator.trace("Kind3.load", Direction.CALLEES, 1).doubt.undecided
    (row,) = navigator.trace("Kind3.load", Direction.CALLERS, 1, unresolved=True).steps
    assert (row.source.name, row.edge.certainty) == ("use", Certainty.BY_NAME)


def test_letters_count_where_they_tell_things_apart(navigate: Open) -> None:
    """Nobody who asks for a class means the variables that hold one, and they are no rivals of it."""
    files = {f"tests/test_{one}.py": "def app():\n    return 1\n" for one in range(9)}
    files |= {
        "src/app.py": "class App:\n    pass\n",
        "src/main.py": "from .app import App\n\ndef main():\n    return App()\n",
    }
    navigator = navigate(files)
    assert [one.node.path for one in navigator.symbols("App")] == ["src/app.py"]
    assert [one.node.path for one in navigator.symbols("APP")] == ["src/app.py", *sorted(files)[2:]]
    heading = navigate({"src/app.py": "class App:\n    pass\n", "docs/app.md": "# app\n\nWhat it is.\n"})
    assert [one.node.path for one in heading.symbols("app")] == ["src/app.py", "docs/app.md"]
    assert reached(navigator, "App").get("main") is Certainty.CERTAIN


def test_strangers_of_one_name_stay_apart(navigate: Open) -> None:
    """Two files may define what nobody uses."""
    navigator = navigate({"a.py": "def main():\n    pass\n", "b.py": "def main():\n    pass\n"})
    assert [(one.node.path, one.also) for one in navigator.symbols("main")] == [("a.py", ()), ("b.py", ())]


@pytest.mark.parametrize("rivals", [1, 9])
@pytest.mark.parametrize(
    "files",
    [
        {
            "src/shop/__init__.py": "from .cart import Cart\nfrom .till import pay as pay\n",
            "src/shop/cart.py": "class Cart:\n    pass\n",
            "tests/test_cart.py": "from shop import Cart\n\n\ndef fill():\n    return Cart()\n",
        },
        {
            "src/shop/index.ts": "export { Cart } from './cart'\n",
            "src/shop/cart.ts": "export class Cart {}\n",
            "src/app.ts": "import { Cart } from './shop'\n\nexport function fill() {\n  return new Cart()\n}\n",
        },
        {
            "web-shop/src/lib.rs": "mod cart;\n\npub use self::cart::Cart;\n",
            "web-shop/src/cart.rs": "pub struct Cart(pub u8);\n",
            "app/src/main.rs": "use web_shop::Cart;\n\nfn fill() -> Cart {\n    Cart(1)\n}\n",
        },
        {
            "web-shop/src/cart/mod.rs": "pub struct Cart(pub u8);\n",
            "app/src/main.rs": "use web_shop::cart::Cart;\n\nfn fill() -> Cart {\n    Cart(1)\n}\n",
        },
    ],
)
def test_a_package_hands_on_what_it_imports(navigate: Open, files: dict[str, str], rivals: int) -> None:
    """Who imports a name from it means what the package itself imports, whatever else has that name."""
    others = {f"other/cart_{one}.py": "class Cart:\n    pass\n" for one in range(rivals)}
    navigator = navigate(files | others)
    (path,) = (path for path in files if "/cart" in path)
    assert reached(navigator, f"{path}::Cart")["fill"] is Certainty.CERTAIN
    assert "fill" not in reached(navigator, "other/cart_0.py::Cart")
    (step,) = navigator.trace("fill", Direction.CALLEES, 1).steps
    assert (step.target.path, step.edge.certainty) == (path, Certainty.CERTAIN)


def test_a_member_of_a_module_is_not_what_the_file_defines_itself(navigate: Open) -> None:
    """A test may have a class of the name of what it tests."""
    test = "import cart\n\n\nclass Cart(cart.Cart):\n    pass\n\n\ndef fill():\n    return cart.Cart()\n"
    navigator = navigate({"cart.py": "class Cart:\n    pass\n", "tests/test_cart.py": test})
    (step,) = navigator.trace("fill", Direction.CALLEES, 1).steps
    assert step.target.path == "cart.py"
    assert {step.source.path for step in navigator.trace("cart.py::Cart", Direction.SUBCLASSES, 1).steps} == {
        "tests/test_cart.py"
    }


def test_instances_by_the_dozen_are_no_overloads(navigate: Open) -> None:
    """What a type class has for every type tells nothing about which of them is meant."""
    instances = "".join(f"instance Show T{number} where\n  render x = x\n\n" for number in range(40))
    user = "module User where\n\nshown x = render x\n"
    navigator = navigate({"src/Types.hs": f"module Types where\n\n{instances}", "src/User.hs": user})
    assert "shown" not in reached(navigator, "render", 1)
    assert len(navigator.trace("render", Direction.CALLERS, 1).doubt.undecided) == 1


def test_what_leads_to_a_file_leads_to_what_it_defines_too(navigate: Open) -> None:
    """A module of Lua is a table that goes by the module's name; what the file does itself does not lead to it."""
    utils = "local utils = {}\n\nutils.trim = function(text)\n  return text\nend\n\n"
    utils += "utils.clean = function(text)\n  return utils.trim(text)\nend\n\nreturn utils\n"
    user = "local utils = require 'app.utils'\n\nlocal show = function(text)\n  return utils.trim(text)\nend\n"
    navigator = navigate({"lua/app/utils.lua": utils, "lua/app/page.lua": user})
    found = {
        direction: {step.source.qualified_name for step in navigator.trace("lua/app/utils.lua", direction, 2).steps}
        for direction in (Direction.IMPORTERS, Direction.CALLERS, Direction.SUBCLASSES)
    }
    assert found == {
        Direction.IMPORTERS: {"lua/app/page.lua"},
        Direction.CALLERS: {"show"},
        Direction.SUBCLASSES: set(),
    }
    (file,) = navigator.symbols("lua/app/utils.lua")
    assert {use.path for use in file.used} == {"lua/app/page.lua"}


def test_the_picture_of_a_call_from_a_file_has_not_all_that_leads_to_the_file(navigate: Open) -> None:
    """Only what a person asked about, and what stands around it."""
    navigator = navigate(
        {
            "base.py": "def base():\n    return 1\n",
            "script.py": "from base import base\n\nbase()\n\n\ndef other():\n    return 2\n",
            "far.py": "from script import other\n\n\ndef far():\n    return other()\n",
        }
    )
    around = navigator.around("base", 2, 50)
    assert {node.qualified_name for node in around.nodes} == {"base", "script.py"}


def test_what_is_imported_from_elsewhere_is_no_member_of_anything_here(navigate: Open) -> None:
    """A header of the system is not the field of that name."""
    navigator = navigate(
        {
            "pipe.h": "struct pipe {\n  int stdio;\n};\n\nint open_pipe(struct pipe *pipe);\n",
            "main.c": '#include <stdio.h>\n#include "pipe.h"\n\nint main(void) {\n  return open_pipe(0);\n}\n',
        }
    )
    steps = navigator.trace("pipe.h", Direction.IMPORTERS, 1).steps
    assert [(step.source.path, step.target.path, step.edge.line) for step in steps] == [("main.c", "pipe.h", 2)]


def test_a_change_of_a_type_reaches_those_that_name_it(navigate: Open) -> None:
    """In a signature or a field, in its own package too, where nobody imports it; and those that call them."""
    navigator = navigate(
        {
            "shop/order.go": "package shop\n\ntype Order struct {\n\tTotal int\n}\n",
            "shop/pay.go": "package shop\n\nfunc Pay(order *Order) int {\n\treturn 1\n}\n",
            "shop/list.go": "package shop\n\ntype List struct {\n\tfirst *Order\n}\n",
            "shop/main.go": "package shop\n\nfunc Run() int {\n\treturn Pay(nil)\n}\n",
            "shop/pay_test.go": "package shop\n\nfunc check(order Order) {}\n",
        }
    )
    assert reached(navigator, "Order").keys() == {"Pay", "List", "Run", "check"}
    users = navigator.trace("Order", Direction.CALLERS, 1).steps
    assert {(step.source.qualified_name, step.edge.relation) for step in users} == {
        ("Pay", RelationKind.USES),
        ("List", RelationKind.USES),
        ("check", RelationKind.USES),
    }
    (tested,) = navigator.trace("Order", Direction.TESTS, 1).steps
    assert tested.source.name == "check"
    assert navigator.trace("Pay", Direction.CALLEES, 1).steps == ()


def test_a_property_that_is_called_as_its_type_is_not_the_type(navigate: Open) -> None:
    """It stands in the same file, and the type in another."""
    navigator = navigate(
        {
            "Address.cs": "public class Address { }\n",
            "User.cs": "public class User {\n    public Address Address { get; set; }\n}\n",
        }
    )
    assert reached(navigator, "Address.cs::Address") == {"User.Address": Certainty.BY_NAME}
    assert reached(navigator, "User.cs::Address") == {}


@pytest.mark.parametrize(
    ("path", "own", "user"),
    [
        (
            "a.go",
            "package a\n\ntype Request struct{}\n",
            'package b\n\nimport "net/http"\n\nfunc F(r http.Request) {}\n',
        ),
        ("a.py", "class Request: ...\n", "from urllib.request import Request\n\n\ndef f(r: Request):\n    Request()\n"),
        ("A.java", "class Request {}\n", "import java.net.http.Request;\n\nclass B {\n  Request r;\n}\n"),
        ("a.ts", "export class Request {}\n", "import { Request } from 'node:http'\n\nnew Request()\n"),
    ],
)
def test_what_the_language_brings_is_nothing_of_the_project(navigate: Open, path: str, own: str, user: str) -> None:
    """Though nothing else in the project has its name."""
    navigator = navigate({f"app/{path}": own, f"lib/b.{path.rpartition('.')[2]}": user})
    assert reached(navigator, "Request") == {}


def test_a_module_of_the_project_may_be_called_as_one_of_the_language(navigate: Open) -> None:
    """Which of the two is imported depends on how the program is started."""
    navigator = navigate(
        {
            "platform/__init__.py": "def start():\n    return 1\n",
            "app.py": "from platform import start\n\n\ndef run():\n    return start()\n",
        }
    )
    assert reached(navigator, "start", 1).keys() <= {"app.py", "run"}
    assert ("app.py", 5) in navigator.impact("start", 1).doubt.undecided


def callers(navigator: Navigator, symbol: str) -> dict[str, Certainty]:
    """Return who calls or names a definition, and how certain that is."""
    steps = navigator.trace(symbol, Direction.CALLERS, 1).steps
    return {step.source.qualified_name: step.edge.certainty for step in steps}


def test_a_member_of_an_expression_is_none_of_the_type_around_it(navigate: Open) -> None:
    """A dictionary and a text are the language's own."""
    navigator = navigate(
        {
            "q.py": """\
                class Q:
                    def get(self, key):
                        return key

                    def look(self):
                        return {"a": 1}.get("a")


                def join(parts):
                    return parts


                def show(parts):
                    return ", ".join(parts)
                """
        }
    )
    for symbol, line in (("Q.get", 6), ("join", 14)):
        found = navigator.trace(symbol, Direction.CALLERS, 3)
        assert (found.steps, found.doubt.undecided, found.doubt.others) == ((), frozenset(), {("q.py", line)})


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (
            "a.py",
            "class A:\n    def move(self): ...\n\n\nclass B(A):\n    def move(self):\n        super().move()\n",
        ),
        ("A.java", "class A {\n  void move() {}\n}\nclass B extends A {\n  void move() { super.move(); }\n}\n"),
        ("a.ts", "class A {\n  move() {}\n}\nclass B extends A {\n  move() { super.move() }\n}\n"),
        (
            "a.php",
            "<?php\nclass A { function move() {} }\nclass B extends A {\n  function move() { parent::move(); }\n}\n",
        ),
        ("A.cs", "class A {\n  void move() {}\n}\nclass B : A {\n  void move() { base.move(); }\n}\n"),
        (
            "a.kt",
            "open class A {\n  open fun move() {}\n}\nclass B : A() {\n  override fun move() { super.move() }\n}\n",
        ),
    ],
)
def test_an_override_calls_what_it_overrides(navigate: Open, path: str, text: str) -> None:
    """Which is no recursion; and whether another type has the name as well is no matter."""
    navigator = navigate({path: text})
    assert callers(navigator, "A.move") == {"B.move": Certainty.CERTAIN}
    assert callers(navigator, "B.move") == {}


def test_a_member_of_a_base_class_elsewhere_is_found_there(navigate: Open) -> None:
    """It is none of the own class."""
    navigator = navigate(
        {
            "base.py": "class A:\n    def move(self): ...\n",
            "b.py": "from base import A\n\n\nclass B(A):\n    def move(self):\n        super().move()\n",
        }
    )
    assert callers(navigator, "A.move") == {"B.move": Certainty.CERTAIN}
    assert callers(navigator, "B.move") == {}


def test_fields_do_not_hide_the_users_of_a_type(navigate: Open) -> None:
    """As where every struct of a C project has a field that is called like its type."""
    holders = "".join(f"struct holder_{number} {{\n  struct loop *loop;\n}};\n" for number in range(9))
    navigator = navigate(
        {
            "loop.h": "struct loop {\n  int size;\n};\n",
            "holders.h": f'#include "loop.h"\n\n{holders}',
            "run.c": '#include "loop.h"\n\nint run(struct loop *one) {\n  return one->size;\n}\n',
        }
    )
    assert callers(navigator, "loop.h::loop").keys() >= {"run", *(f"holder_{number}.loop" for number in range(9))}


@pytest.mark.parametrize(
    ("files", "symbol", "caller", "certainty"),
    [
        (
            {"p.rs": "struct P;\nimpl P {\n  fn println(&self) {}\n  fn run(&self) { self.println() }\n}\n"},
            "P.println",
            "P.run",
            Certainty.CERTAIN,
        ),
        (
            {
                "r.go": "package a\n\ntype R struct{}\n\nfunc (r *R) recover() {}\n",
                "s.go": "package a\n\nfunc (r *R) run() { r.recover() }\n",
            },
            "R.recover",
            "R.run",
            Certainty.CERTAIN,
        ),
        (
            {
                "jar.py": "class Jar:\n    def set(self, key): ...\n",
                "use.py": "from jar import Jar\n\ndef fill(jar: Jar):\n    jar.set(1)\n    return set()\n",
            },
            "Jar.set",
            "fill",
            Certainty.CERTAIN,
        ),
        (
            {
                "min.go": "package a\n\nfunc min(a, b int) int { return a }\n",
                "use.go": "package a\n\nfunc least() int { return min(1, 2) }\n",
            },
            "min",
            "least",
            Certainty.CERTAIN,
        ),
    ],
)
def test_what_the_project_defines_is_found_though_the_language_has_the_name(
    navigate: Open, files: dict[str, str], symbol: str, caller: str, certainty: Certainty
) -> None:
    """What the project declares hides what the language has."""
    assert callers(navigate(files), symbol) == {caller: certainty}


def test_a_bare_name_of_the_language_is_no_method(navigate: Open) -> None:
    """Nor are its lines counted as if they might be."""
    navigator = navigate({"a.py": "class Jar:\n    def set(self): ...\n", "b.py": "def f():\n    return set()\n"})
    trace = navigator.trace("Jar.set", Direction.CALLERS, 1)
    assert (trace.steps, trace.doubt.undecided) == ((), frozenset())


def test_users_through_a_package_of_go_are_found(navigate: Open) -> None:
    """A type that a whole project uses must not look as if it could be deleted."""
    files = {
        "go.mod": "module example.com/shop\n",
        "pkg/util/flagext/size.go": "package flagext\n\ntype ByteSize int\n",
        "pkg/util/other/size.go": "package other\n\ntype ByteSize int\n",
    }
    files |= {
        f"pkg/use{number}/use.go": f"""\
            package use{number}

            import "example.com/shop/pkg/util/flagext"

            type Config struct {{
                Limit flagext.ByteSize
            }}
            """
        for number in range(3)
    }
    navigator = navigate(files)
    impact = navigator.impact("pkg/util/flagext/size.go", 1)
    assert len(impact.reached) == 3


def test_callees_that_are_defined_and_not_resolved_are_told_from_unknown_names(navigate: Open) -> None:
    """A function that calls itself calls nothing unknown."""
    files = {f"kind_{number}.py": f"class Kind{number}:\n    def load(self): ...\n" for number in range(9)}
    files["a.py"] = "def walk(tree):\n    tree.load()\n    tree.vanish()\n    return walk(tree)\n"
    stops = navigate(files).trace("walk", Direction.CALLEES, 1).stops
    assert {(stop.name, stop.is_defined) for stop in stops} == {("load", True), ("vanish", False)}


TWINS = """\
    class A:
        def send(self):
            return self.inner()

        def inner(self): ...


    class B:
        def send(self):
            return self.inner()

        def inner(self): ...
    """
BY_TYPE = {
    "own method by its name in the file": (TWINS, "A.inner", {"A.send"}),
    "a parameter that shadows a function": ("def run(): ...\n\n\ndef f(run):\n    return run()\n", "run", set()),
    "a receiver with a declared type": (
        "class A:\n    def go(self): ...\n\n\nclass B:\n    def go(self): ...\n\n\ndef f(a: A):\n    a.go()\n",
        "B.go",
        set(),
    ),
    "a receiver that was just made": (
        "class A:\n    def go(self): ...\n\n\nclass B:\n    def go(self): ...\n\n\ndef f():\n    a = A()\n    a.go()\n",
        "B.go",
        set(),
    ),
}


@pytest.mark.parametrize("case", BY_TYPE)
def test_the_type_of_the_receiver_decides(navigate: Open, case: str) -> None:
    """Where two types have a method of one name."""
    text, symbol, right = BY_TYPE[case]
    assert callers(navigate({"a.py": text}), symbol).keys() == right


def test_the_element_of_an_annotation_is_written_and_not_handed_over(navigate: Open) -> None:
    """A reference to a method is what hands it over."""
    text = """\
        class Use {
            @interface A { int size(); }
            @A(size = 1) int marked;
            Runnable run() { return this::run; }
        }
    """
    navigator = navigate({"Use.java": text})
    for symbol, direction, kind in (
        ("A.size", Direction.WRITERS, RelationKind.WRITES),
        ("Use.run", Direction.USERS, RelationKind.HANDS_ON),
    ):
        assert [step.edge.relation for step in navigator.trace(symbol, direction, 1).steps] == [kind]


def test_what_is_not_known_on_the_way_keeps_an_answer_from_being_complete(navigate: Open) -> None:
    """A test may reach a definition through a call that is not decided."""
    files = {
        "src/box.ts": "export function target() {}\nexport class Box {\n  open() {\n    target()\n  }\n}\n",
        "tests/box.test.ts": "test('opens', () => {\n  const made = (globalThis as any).make()\n  made.open()\n})\n",
    }
    navigator = navigate(files)
    for doubt in (navigator.trace("target", Direction.TESTS, 1).doubt, navigator.impact("target", 2).doubt):
        assert not doubt.undecided
        assert doubt.undecided_on_the_way == {("tests/box.test.ts", 3)}
        assert not doubt.is_complete
    assert navigator.trace("target", Direction.CALLERS, 1).doubt.is_complete


def test_code_of_a_callback_is_that_of_the_function_around_it(navigate: Open) -> None:
    """Also where the callback is the field of an argument, which is no definition."""
    text = """\
        export function target() {}
        function wrap(o: { ok: () => void }) {
          o.ok()
        }
        export function fetch() {
          wrap({ ok: () => { target() } })
        }
        export function user() {
          fetch()
        }
        """
    navigator = navigate({"src/a.ts": text})
    steps = navigator.trace("target", Direction.CALLERS, 2).steps
    assert [step.source.qualified_name for step in steps] == ["fetch", "user"]
    assert "wrap" not in {step.target.qualified_name for step in navigator.trace("wrap", Direction.CALLEES, 1).steps}


def test_a_heading_is_no_rival_of_the_code_of_its_name(navigate: Open) -> None:
    """Nothing calls it, and it does not make the answer about the code less sure."""
    code = "export class Widget {}\nexport class Big extends Widget {}\n"
    navigator = navigate({"src/a.ts": code, "GUIDE.md": "# Guide\n\n## Widget\n\nWhat it is.\n"})
    found = navigator.trace("Widget", Direction.SUBCLASSES, 1)
    assert [node.path for node in found.starts] == ["src/a.ts"]
    assert found.doubt.is_complete
    assert navigator.impact("Widget", 1).doubt.is_complete
    assert len(navigator.symbols("Widget")) == 2


def test_a_package_of_a_library_is_no_file_of_that_name(navigate: Open) -> None:
    """Also where the file that imports it imports something else that passes on what the file has."""
    navigator = navigate(
        {
            "package.json": '{"name": "own", "dependencies": {"react": "19"}}\n',
            "src/react.ts": "import React from 'react'\n\nexport const useOwn = () => React.useState(1)\n",
            "src/index.ts": "export * from './react'\n",
            "src/view.ts": "import { useRef } from 'react'\n\nexport const useView = () => useRef(1)\n",
            "src/page.ts": "import { useRef } from 'react'\nimport { useOwn } from '.'\n\nuseOwn(useRef(1))\n",
        }
    )
    steps = navigator.trace("src/react.ts", Direction.IMPORTERS, 1).steps
    assert [(step.source.path, step.edge.line) for step in steps] == [("src/index.ts", 1), ("src/page.ts", 2)]
    assert not navigator.trace("src/view.ts", Direction.IMPORTS, 1).steps
