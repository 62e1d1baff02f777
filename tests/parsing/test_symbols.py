"""Definitions: every language yields exactly its symbols, with their spans, signatures and docstrings."""

import pytest

from graphrag_mcp.model.files import ParseMode, SymbolKind
from tests.parsing.code_samples import SAMPLES, outline_of, parse_lines, parse_sample

EXPECTED = {
    "Account.java": """
        type Account 8-38
        field Account.LIMIT 10-10
        field Account.balance 11-11
        field Account.reserve 11-11
        method Account.Account 13-16
        method Account.deposit 21-25
        method Account.check 27-27
        type Account.Listener 29-31
        method Account.Listener.changed 30-30
        type Account.State 33-33
        field Account.State.OPEN 33-33
        field Account.State.CLOSED 33-33
        method Account.State.isOpen 33-33
        type Account.Entry 35-35
        field Account.Entry.id 35-35
        field Account.Entry.amount 35-35
        type Account.Audited 37-37
    """,
    "Garden.kt": """
        constant MAX_PLANTS 7-7
        type Plants 9-9
        type Garden 12-30
        field Garden.name 13-13
        field Garden.size 13-13
        field Garden.plants 14-14
        field Garden.isEmpty 15-16
        method Garden.constructor 18-18
        method Garden.plant 21-24
        field Garden.DEFAULT 27-27
        method Garden.create 28-28
        type Place 32-34
        method Place.area 33-33
        type Registry 36-38
        method Registry.register 37-37
        type Season 40-40
        field Season.SPRING 40-40
        field Season.SUMMER 40-40
        type Event 42-42
        function Garden.water 44-46
        function grow 48-48
    """,
    "Mailer.php": """
        constant LIMIT 11-11
        constant MODE 12-12
        type Mailer 17-34
        field Mailer.RETRIES 22-22
        field Mailer.from 23-23
        method Mailer.__construct 25-25
        field Mailer.job 25-25
        method Mailer.send 28-33
        type Sender 36-36
        method Sender.name 36-36
        type Logs 38-41
        method Logs.log 40-40
        type Status 43-47
        field Status.Sent 45-45
        field Status.Failed 46-46
        function deliver 49-52
    """,
    "Orders.cs": """
        module Shop.Orders 5-48
        type Shop.Orders.OrderStore 8-32
        field Shop.Orders.OrderStore.Limit 11-11
        field Shop.Orders.OrderStore._database 12-12
        field Shop.Orders.OrderStore.Changed 13-13
        method Shop.Orders.OrderStore.OrderStore 15-18
        field Shop.Orders.OrderStore.Count 20-20
        method Shop.Orders.OrderStore.FindAsync 22-27
        method Shop.Orders.OrderStore.Dispose 29-29
        method Shop.Orders.OrderStore.== 31-31
        type Shop.Orders.IOrder 34-34
        field Shop.Orders.IOrder.Name 34-34
        method Shop.Orders.IOrder.Ship 34-34
        type Shop.Orders.State 36-36
        field Shop.Orders.State.New 36-36
        field Shop.Orders.State.Paid 36-36
        type Shop.Orders.Line 38-38
        field Shop.Orders.Line.Sku 38-38
        field Shop.Orders.Line.Amount 38-38
        type Shop.Orders.Price 40-40
        field Shop.Orders.Price.Value 40-40
        type Shop.Orders.Handler 42-42
        type Shop.Orders.Extensions 44-47
        method Shop.Orders.Extensions.Show 46-46
    """,
    "Parser.hs": """
        type Token 13-16
        field Token.Word 14-14
        field Token.Number 15-15
        field Token.Number.value 15-15
        field Token.Number.base 15-15
        type Parser 18-18
        field Parser.Parser 18-18
        field Parser.Parser.runParser 18-18
        type Tokens 20-20
        type Pretty 22-24
        method Pretty.pretty 23-24
        method Token.pretty 27-28
        function parse 31-35
        function <+> 38-39
        function limit 41-42
    """,
    "Player.swift": """
        constant maxVolume 4-4
        type Player 7-29
        field Player.shared 9-9
        field Player.volume 10-12
        field Player.songs 13-13
        method Player.init 15-17
        method Player.deinit 19-19
        method Player.play 22-26
        method Player.subscript 28-28
        type Song 31-34
        field Song.title 32-32
        type Song.Genre 33-33
        field Song.Genre.rock 33-33
        field Song.Genre.jazz 33-33
        type Device 36-39
        field Device.name 37-37
        method Device.stop 38-38
        field Player.description 42-42
        method Player.pause 43-43
        type Playlist 46-46
        type Queue 48-48
        function makePlayer 50-52
    """,
    "Zoo.scala": """
        type Keeper 8-12
        type Keeper.Food 9-9
        field Keeper.name 10-10
        method Keeper.feed 11-11
        type Zoo 14-26
        field Zoo.size 15-15
        field Zoo.open 16-16
        field Zoo.cages 17-17
        method Zoo.add 20-23
        method Zoo.feed 25-25
        type Zoo 28-31
        field Zoo.Default 29-29
        method Zoo.apply 30-30
        type Cage 33-33
        field Cage.animal 33-33
        type Empty 35-35
        type Color 37-38
        field Color.Red 38-38
        field Color.Green 38-38
        type ordering 40-41
        method ordering.compare 41-41
        type Animals 43-43
        function open 45-45
    """,
    "bank.ex": """
        module Acme.Bank 1-39
        constant Acme.Bank.timeout 13-13
        type Acme.Bank.t 17-17
        function Acme.Bank.open 20-26
        function Acme.Bank.check 28-28
        function Acme.Bank.audit 30-32
        function Acme.Bank.is_rich 34-34
        module Acme.Bank.Error 36-38
        type Acme.Size 41-43
        method Acme.Size.size 42-42
        method Acme.Size.size 46-46
    """,
    "cart.js": """
        constant RATE 8-8
        constant counter 9-9
        function total 14-16
        function sum 18-18
        function withTax 20-22
        type Cart 24-43
        field Cart.#items 25-25
        field Cart.limit 26-26
        method Cart.constructor 28-30
        method Cart.add 32-34
        method Cart.empty 36-38
        method Cart.remove 40-42
        constant handlers 45-51
        method handlers.onClick 46-48
        method handlers.onClose 49-49
        method handlers.onOpen 50-50
        method Cart.clear 53-55
        function checkout 56-56
        function cancel 57-57
        type default 59-59
    """,
    "deploy.sh": """
        constant TARGET 8-8
        constant REGION 9-9
        constant attempts 10-10
        constant hosts 11-11
        function build_image 14-18
        function push_image 20-22
        function main 24-29
    """,
    "engine.cpp": """
        module car.parts 6-32
        type car.parts.Engine 8-20
        method car.parts.Engine.Engine 11-11
        method car.parts.Engine.start 13-13
        method car.parts.Engine.create 14-14
        method car.parts.Engine.operator== 15-15
        field car.parts.Engine.power_ 18-18
        field car.parts.Engine.valves_ 19-19
        type car.parts.Valve 22-24
        field car.parts.Valve.width 23-23
        type car.parts.Fuel 26-26
        field car.parts.Fuel.Diesel 26-26
        field car.parts.Fuel.Petrol 26-26
        type car.parts.Engines 28-28
        constant car.parts.kMaxPower 30-30
        method Engine.start 35-38
        method car.Factory.build 40-42
        method Engine.~Engine 44-44
        function twice 46-49
    """,
    "inventory.py": """
        constant LIMIT 8-8
        constant _cache 9-9
        type Counter 12-33
        field Counter.unit 15-15
        field Counter.total 16-16
        method Counter.__init__ 18-19
        method Counter.size 21-24
        method Counter._read 26-30
        type Counter.Item 32-33
        field Counter.Item.weight 33-33
        function find_shelves 38-45
        function find_shelves.visit 40-41
    """,
    "library.rb": """
        module Library 7-45
        constant Library.VERSION 8-8
        type Library.Shelf 10-42
        field Library.Shelf.books 14-14
        field Library.Shelf.owner 14-14
        field Library.Shelf.MAX 15-15
        method Library.Shelf.initialize 17-19
        method Library.Shelf.add 22-25
        method Library.Shelf.open 27-29
        method Library.Shelf.default 32-34
        method Library.Shelf.empty? 37-37
        method Library.Shelf.validate! 41-41
        constant Library.Error 44-44
        function lend 47-49
    """,
    "list.c": """
        constant LIST_MAX 5-5
        function LIST_EACH 6-6
        type node_t 8-8
        type compare_fn 9-9
        type node 11-14
        field node.value 12-12
        field node.next 13-13
        type list_t 16-19
        field list_t.head 17-17
        field list_t.size 18-18
        type order 21-21
        field order.ASCENDING 21-21
        field order.DESCENDING 21-21
        type word 23-23
        field word.i 23-23
        field word.f 23-23
        constant names 25-25
        constant list_count 26-26
        function new_node 31-36
        function list_add 38-41
        function list_dump 44-46
    """,
    "panel.tsx": """
        type PanelProps 4-6
        field PanelProps.title 5-5
        function Panel 9-12
        function Page 14-20
    """,
    "queue.zig": """
        constant mem 4-4
        constant max_size 6-6
        constant counter 7-7
        type Queue 10-25
        field Queue.head 11-11
        field Queue.size 12-12
        field Queue.Self 14-14
        method Queue.init 16-18
        method Queue.push 21-24
        type Color 27-27
        field Color.red 27-27
        field Color.green 27-27
        type Value 29-29
        field Value.int 29-29
        field Value.none 29-29
        type QueueError 31-31
        function allocate 33-35
        function push adds one 37-40
    """,
    "server.go": """
        constant Version 12-12
        constant Low 15-15
        constant High 16-16
        constant ErrClosed 19-19
        constant errOther 19-19
        type Server 22-27
        field Server.addr 25-25
        field Server.name 25-25
        field Server.routes 26-26
        type Handler 29-32
        method Handler.Serve 30-30
        type ID 35-35
        type Alias 36-36
        function New 40-42
        method Server.Start 44-48
        method List.Len 50-50
        function Map 52-54
    """,
    "service.ts": """
        type Repository 5-8
        field Repository.name 6-6
        method Repository.find 7-7
        type Handler 10-10
        type Color 12-15
        field Color.Red 13-13
        field Color.Green 14-14
        function old 18-18
        module Tools 21-23
        type UserService 25-45
        field UserService.logger 27-27
        field UserService.count 28-28
        method UserService.constructor 30-32
        field UserService.db 30-30
        method UserService.find 35-38
        method UserService.load 40-40
        method UserService.handler 42-44
        function overload 47-47
        function overload 48-48
        function overload 49-51
        function useUser 53-53
        constant config 54-54
    """,
    "shape.rs": """
        constant MAX 7-7
        constant NAME 8-8
        type Shape 11-18
        field Shape.SIDES 12-12
        type Shape.Unit 13-13
        method Shape.area 14-14
        method Shape.double 15-17
        type Circle 21-25
        field Circle.radius 23-23
        field Circle.center 24-24
        type Kind 27-30
        field Kind.Round 28-28
        field Kind.Square 29-29
        method Circle.new 33-36
        method Circle.area 40-42
        function square 45-47
        type Shapes 49-49
        function draw_all 51-54
        module tests 56-62
        function tests.area_is_positive 58-61
    """,
    "widget.lua": """
        constant M 5-5
        constant SIZE 6-6
        constant M.version 7-7
        function M.new 11-15
        method M.show 17-20
        function M.hide 22-24
        function clamp 26-28
        function reset 30-32
        constant handlers 34-37
        function handlers.on_click 35-35
    """,
}


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_yields_exactly_its_symbols(name: str) -> None:
    """A grammar that renames a node would silently lose symbols; here it does not."""
    found = [
        f"{symbol.kind} {symbol.qualified_name} {symbol.start_line}-{symbol.end_line}"
        for symbol in parse_sample(name).symbols
    ]
    assert found == EXPECTED[name].strip().replace("        ", "").split("\n")


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_is_parsed_by_its_syntax(name: str) -> None:
    """All twenty languages have a grammar and a query that fits it."""
    parsed = parse_sample(name)
    assert (parsed.mode, parsed.note) == (ParseMode.SYNTAX, "")


SIGNATURES = {
    ("inventory.py", "Counter"): ("class Counter(Shelf, metaclass=Meta)", "Adds up items."),
    ("inventory.py", "Counter.size"): ("def size(self) -> int", "How many there are."),
    ("inventory.py", "Counter._read"): ('async def _read( limit: int = LIMIT, ) -> list["Item"]', ""),
    ("inventory.py", "find_shelves"): (
        "def find_shelves(root: str) -> Iterator[Shelf]",
        "Finds every shelf\nbelow a folder.",
    ),
    ("cart.js", "total"): ("export function total(items)", "Adds up the prices."),
    ("cart.js", "sum"): ("const sum = (a, b)", ""),
    ("service.ts", "UserService.find"): ("async find(id: string): Promise<User | undefined>", "Finds one user."),
    ("panel.tsx", "Panel"): ("export const Panel: FC<PanelProps> = ({ title })", "Shows a title."),
    ("server.go", "Server"): ("type Server struct", "Server listens."),
    ("server.go", "Server.Start"): ("func (s *Server) Start() error", ""),
    ("shape.rs", "Circle"): ("pub struct Circle<T>", "A circle."),
    ("Account.java", "Account.deposit"): ("public void deposit(Money amount) throws BankException", "Puts money in."),
    ("list.c", "new_node"): ("static node_t *new_node(int value)", "Adds a value."),
    ("engine.cpp", "Engine.start"): ("void Engine::start()", "Starts it."),
    ("Orders.cs", "Shop.Orders.OrderStore.FindAsync"): ("public async Task<Order> FindAsync(int id)", ""),
    ("library.rb", "Library.Shelf.open"): ("def self.open(path)", ""),
    ("Mailer.php", "Mailer.send"): ("public static function send(Message $message): bool", "Sends one."),
    ("Garden.kt", "Garden.plant"): ("override fun plant(plant: Plant): Boolean", "Puts one in."),
    ("Player.swift", "Player.play"): (
        "func play(_ song: Song, loudly: Bool = false) throws -> Bool",
        "Starts playing.",
    ),
    ("Zoo.scala", "Zoo.add"): ("def add(animal: Animal): Unit", "Lets one in."),
    ("deploy.sh", "build_image"): ("build_image()", "Builds the image."),
    ("widget.lua", "M.new"): ("function M.new(name)", "Makes one.\n@param name string"),
    ("bank.ex", "Acme.Bank"): ("defmodule Acme.Bank", "Holds accounts."),
    ("bank.ex", "Acme.Bank.open"): ("def open(owner) when is_binary(owner)", "Opens an account."),
    ("Parser.hs", "parse"): ("parse :: String -> Tokens", "Parses a text."),
    ("queue.zig", "Queue.push"): ("pub fn push(self: *Self, node: *Node) !void", "Adds one."),
}


@pytest.mark.parametrize(("name", "symbol"), SIGNATURES)
def test_a_definition_knows_its_signature_and_what_its_comment_says(name: str, symbol: str) -> None:
    """The signature ends at the body, and the comment directly above or the docstring says what it is for."""
    found = {(one.qualified_name, one.signature, one.docstring) for one in outline_of(name).definitions}
    assert (symbol, *SIGNATURES[name, symbol]) in found


def test_a_doc_comment_may_stand_above_a_blank_line() -> None:
    """A comment that opens with `/**` describes what follows."""
    text = "/**\n * Sends it.\n */\n\nres.send = function (body) {\n};"
    definitions = outline_of("a.js", text).definitions
    assert [(one.qualified_name, one.docstring) for one in definitions] == [("res.send", "Sends it.")]


def test_an_operator_keeps_its_name() -> None:
    """A name of dots and colons has no qualifier."""
    parsed = parse_lines("src/Op.hs", "module Op where", "", "(.:) :: Int -> Int", "(.:) x = x")
    assert [(found.name, found.qualified_name) for found in parsed.symbols] == [(".:", ".:")]


def test_a_prototype_counts_in_headers_only() -> None:
    """What a header declares is its content; what a source file declares is defined further down."""
    line = "int list_add(list_t *list, int value);"
    assert [found.name for found in parse_lines("include/list.h", line).symbols] == ["list_add"]
    assert parse_lines("src/list.c", line).symbols == ()


def test_several_names_in_one_declaration_are_siblings() -> None:
    """None of them contains another."""
    parsed = parse_lines("src/A.java", "class A {", "  int first, second;", "}")
    assert [found.qualified_name for found in parsed.symbols] == ["A", "A.first", "A.second"]


CONSTANTS = {
    "a.py": (
        """A = B = 1
C, D = 1, 2
if x:
    E = 1
    def g(): local = 2
    if y:
        F = 1
    else:
        G = 1
elif z:
    H: int = 1
else:
    I = 1
try:
    J = 1
except E:
    K = 1
with a:
    L = 1
""",
        "A B C D E g F G H I J K L",
    ),
    "b.py": ("class P:\n    A, B = 1, 2\n    if x:\n        C = 1\n    else:\n        D = 2\n", "P P.A P.B P.C P.D"),
    "a.h": (
        """#ifndef A_H
extern int a;
int f(void) {
#ifdef X
  int local = 1;
#endif
  return 0;
}
#ifdef D
int b = 1;
#else
int c = 0;
#endif
#endif
""",
        "a f b c",
    ),
    "a.hpp": (
        """namespace y {
const char* const A = "x";
const char* const B[] = {"x"};
const T& C = x;
}
extern "C" { int d; }
""",
        "y y.A y.B y.C d",
    ),
    "a.ts": (
        """export const { a, b: c, d = 1 } = obj;
export const [e, f] = g();
function k() { const { local } = 1 }
""",
        "a c d e f k",
    ),
}


@pytest.mark.parametrize("path", CONSTANTS)
def test_what_a_file_declares_in_blocks_and_patterns_is_a_constant(path: str) -> None:
    """In branches, guards, chains and tuples; what a function declares is none."""
    text, names = CONSTANTS[path]
    assert [one.qualified_name for one in parse_lines(path, *text.split("\n")).symbols] == names.split()


@pytest.mark.parametrize("language", ["py", "js", "java", "rb"])
def test_names_need_not_be_ascii(language: str) -> None:
    """Byte offsets of the tree and characters of the text are kept apart."""
    code = {
        "py": "# äöü\nclass Größe:\n    def länge(self):\n        pass\n",
        "js": "// äöü\nclass Größe {\n  länge() {}\n}\n",
        "java": "// äöü\nclass Größe {\n  void länge() {}\n}\n",
        "rb": "# äöü\nclass Größe\n  def länge\n  end\nend\n",
    }[language]
    names = [(found.qualified_name, found.kind) for found in parse_lines(f"src/a.{language}", code).symbols]
    assert names == [("Größe", SymbolKind.TYPE), ("Größe.länge", SymbolKind.METHOD)]
