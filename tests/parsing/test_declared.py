"""The options and settings that code declares: their names, and the lines with their defaults."""

import pytest

from graphrag_mcp.model.files import ParseMode, Symbol, SymbolKind
from graphrag_mcp.parsing.code.declared import MAX_KEYS
from graphrag_mcp.parsing.parser import parse_file


def keys(path: str, text: str) -> list[Symbol]:
    """Return the keys that a file declares."""
    return [symbol for symbol in parse_file(path, text.encode()).symbols if symbol.kind is SymbolKind.KEY]


@pytest.mark.parametrize(
    ("path", "code", "names"),
    [
        ("a.py", 'parser.add_argument("-p", "--max-size", default=8)', ["--max-size"]),
        ("a.py", '@click.option("--color/--no-color", default=True)\ndef run(color): ...', ["--color", "--no-color"]),
        ("a.py", 'def run(port=typer.Option(80, "--port", help="--verbose")): ...', ["--port"]),
        ("a.py", 'level = os.environ.get("LOG_LEVEL", "info")', ["LOG_LEVEL"]),
        ("a.go", 'package a\nvar size = flag.Int("max-size", 8, "bytes")', ["max-size"]),
        ("a.go", 'package a\nfunc f() { fs.StringVarP(&v, "http.port", "p", "80", "") }', ["http.port"]),
        ("a.go", 'package a\nfunc f() { fs.IntVar(&v, prefix+".port", 80, "") }', ["port"]),
        ("a.go", 'package a\nvar f = cli.StringFlag{Name: "port", Value: "80"}', ["port"]),
        ("a.go", 'package a\nfunc f() { viper.SetDefault("http.port", 80) }', ["http.port"]),
        ("a.ts", 'program.option("-p, --port <number>", "the port", 80)', ["--port"]),
        ("a.js", 'yargs.option("port", { default: 80 })', ["port"]),
        ("a.js", 'program.addOption(new Option("--port <n>").default(80))', ["--port"]),
        (
            "a.rs",
            '#[derive(Parser)]\nstruct A { #[arg(long = "max-size", env = "SIZE")] size: u8 }',
            ["max-size", "SIZE"],
        ),
        ("a.rs", 'fn f() { Arg::new("size").long("max-size").env("MAX_SIZE"); }', ["max-size", "MAX_SIZE"]),
        ("A.java", 'class A { @Option(names = {"-p", "--port"}, defaultValue = "80") int port; }', ["--port"]),
        ("A.java", 'class A { @Value("${http.port:80}") int port; }', ["http.port"]),
        (
            "A.kt",
            'class A(@Option(names = ["--port"]) val port: Int, @Value("\\${a.b}") val b: Int)',
            ["--port", "a.b"],
        ),
        ("a.rb", 'opts.on("-p", "--port PORT", Integer)\nENV.fetch("LEVEL", "info")', ["--port", "LEVEL"]),
        ("a.php", '<?php $this->addOption("port", null, 80); $level = env("LEVEL", "info");', ["port", "LEVEL"]),
        ("A.cs", 'class A { Option o = new Option<int>("--port"); }', ["--port"]),
        ("a.cpp", 'void f() { app.add_option("-p,--port", port, "the port"); }', ["--port"]),
    ],
)
def test_an_option_and_a_setting_are_keys_by_the_name_that_the_code_gives_them(
    path: str, code: str, names: list[str]
) -> None:
    """In the usual libraries of each language; short flags have no name."""
    assert sorted(key.qualified_name for key in keys(path, code)) == sorted(names)


def test_a_key_has_the_line_of_its_name_and_a_signature_with_its_default() -> None:
    """Even where the default stands on another line; the last part of a path is its name."""
    (port,) = keys("a.go", 'package a\n\nfunc f() {\n\tfs.IntVar(&v,\n\t\t"http.port",\n\t\t8080, "")\n}\n')
    assert (port.name, port.qualified_name, port.start_line, port.end_line) == ("port", "http.port", 5, 5)
    assert port.signature == 'fs.IntVar(&v, "http.port", 8080, "")'
    (size,) = keys("a.py", 'parser.add_argument(\n    "--max-size",\n    default=8,\n)\n')
    assert (size.name, size.start_line) == ("max-size", 2)
    assert size.signature == 'parser.add_argument( "--max-size", default=8, )'


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("a.py", 'home = os.environ["HOME_DIR"] or os.environ.get("USER_DIR")'),
        ("a.py", 'parser.add_argument("port")\nlabels.get("UPPER_CASE", 1)\nbutton.on("click")'),
        ("a.go", 'package a\nfunc f() { log.Info("x", zap.String("key", v)); os.Getenv("HOME_DIR"); x.String() }'),
        ("A.java", 'class A { Object held = new Holder<Option>("--port"); }'),
        ("a.js", 'server.on("listening", start); element.option("disabled")'),
    ],
)
def test_what_only_resembles_a_declaration_declares_nothing(path: str, code: str) -> None:
    """A variable that is read without a default is used; events, log fields and look-ups have names too."""
    assert keys(path, code) == []


def test_tests_and_the_code_of_others_declare_nothing() -> None:
    """Nobody sets the options that a test invents."""
    code = 'parser.add_argument("--port")\n'
    assert keys("src/a.py", code)
    assert not keys("tests/test_a.py", code)
    assert not keys("vendor/a.py", code)


def test_a_file_declares_each_name_once_and_a_limited_number() -> None:
    """The first declaration counts, in the order of the file."""
    lines = [f'add_argument("--option{number // 2}")' for number in range(4 * MAX_KEYS)]
    found = keys("a.py", "\n".join(lines))
    assert [(key.name, key.start_line) for key in found] == [(f"option{n}", 2 * n + 1) for n in range(MAX_KEYS)]


def test_a_declaration_of_any_depth_is_parsed() -> None:
    """A sum of thousands of strings is nested as deep."""
    long_sum = " +\n".join(['"a"'] * 1_500)
    assert parse_file("a.js", f"cli.option({long_sum}, 1)".encode()).mode is ParseMode.SYNTAX
