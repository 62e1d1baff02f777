"""JavaScript and TypeScript."""

from msgspec.structs import replace

from graphrag_mcp.languages.language import ImportStyle, Language

_JAVASCRIPT = Language(
    name="javascript",
    title="JavaScript",
    grammar="tree_sitter_javascript",
    files=".js .mjs .cjs .jsx",
    imports=ImportStyle.PATH,
    interpreters="node",
    queries="javascript ecmascript",
    repairs="JAVASCRIPT",
    builtins="""
        require describe it test expect beforeEach afterEach beforeAll afterAll setTimeout clearTimeout parseInt
        String Number Boolean Array Object Error TypeError Promise Symbol Map Set Date RegExp push map filter
        forEach slice join
    """,
    library="""
        assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns
        domain events fs http http2 https inspector module net os path perf_hooks process punycode querystring
        readline repl stream string_decoder sys timers tls trace_events tty url util v8 vm wasi worker_threads
        zlib
    """,
    platform="typescript tsx vue svelte astro",
    has_facts=True,
    manifests="package.json tsconfig*.json jsconfig*.json",
    family="typescript",
    beside="astro svelte vue",
)
_TYPESCRIPT = replace(
    _JAVASCRIPT,
    name="typescript",
    title="TypeScript",
    grammar="tree_sitter_typescript",
    files=".ts .mts .cts",
    interpreters="deno ts-node tsx bun",
    factory="language_typescript",
    queries="typescript ecmascript",
    repairs="TYPESCRIPT",
    platform="javascript tsx vue svelte astro",
    types_calls=True,
)
_TSX = replace(
    _TYPESCRIPT,
    name="tsx",
    title="TSX",
    files=".tsx",
    interpreters="",
    factory="language_tsx",
    queries="typescript tsx ecmascript",
    platform="javascript typescript vue svelte astro",
)
LANGUAGES = (_JAVASCRIPT, _TYPESCRIPT, _TSX)
