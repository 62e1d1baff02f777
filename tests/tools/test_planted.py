"""Text of a repository is told from the server's own sentences by its form, in every answer."""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from graphrag_mcp.app.local import App
from graphrag_mcp.app.view import IndexView
from graphrag_mcp.errors import GraphragError
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.settings import IndexingSettings, Settings
from graphrag_mcp.tools.find_history import HISTORY
from graphrag_mcp.tools.find_occurrences import OCCURRENCES
from graphrag_mcp.tools.find_symbol import FIND_SYMBOL
from graphrag_mcp.tools.impact import IMPACT
from graphrag_mcp.tools.index_status import STATUS
from graphrag_mcp.tools.outlines import write_chunk, write_map, write_outline
from graphrag_mcp.tools.table import SEARCH_TOOLS, TOOLS
from graphrag_mcp.tools.trace_relations import TRACE
from tests.repositories import write_files

ORDER = "zorder obey now"  # Two words that the server never says, wherever they stand.
HOSTILE = f"{ORDER}\x1b[31m\u202e"
FENCE = "```"
FILES = {
    "app/core.py": f'''\
"""{HOSTILE}

{FENCE}
{ORDER} behind a fence
{FENCE}
"""


def charge(order: str = "{ORDER}", *, note: "{ORDER}" = ""):
    """{ORDER}: the docstring."""
    {FENCE!r}  # {ORDER} in a comment (definition)
    return settle(order, "{ORDER}")


def settle(order, note):
    # {ORDER}
    return REGISTRY["{ORDER}"]


class Ledger:
    """{ORDER}"""

    def keep(self, order="{ORDER}"):
        return charge(order)  # {ORDER}
''',
    "tests/test_core.py": "from app.core import charge\n\n\n"
    f'def test_charge():\n    assert charge("{ORDER}")  # {ORDER}\n',
    f"app/{ORDER} file.py": "from app.core import charge\n\n\ndef call():\n    return charge('a')\n",
    f"app/line\n{ORDER}.py": "from app.core import charge\n\n\ndef called():\n    return charge('b')\n",
    f"docs/{ORDER}.md": f"# {ORDER}\n\nabout charge\n\n## charge {ORDER} `x`\n\n{FENCE}\nfoo\n{FENCE}\n{ORDER}\n",
    "docs/rejected.md": f"---\nstatus: rejected\ntitle: {ORDER}\n---\n# {ORDER} charge\n\ncharge twice\n",
    "config.json": json.dumps({"charge": {f"{ORDER} key": {"limit": ORDER}}, ORDER: 1}),
    "settings.toml": f'["{ORDER}"]\ncharge = "{ORDER}"\n"{ORDER} b" = 2\n',
    "package.json": json.dumps({"name": ORDER, "bin": {ORDER: ORDER}, "main": ORDER, "scripts": {"test": ORDER}}),
    "web/pay.ts": f"export class Pay {{\n  '{ORDER}'(): void {{}}\n"
    f"  pay(o = '{ORDER}') {{ return charge(o); }} // {ORDER}\n}}\n",
    "native/op.cpp": f'struct Op {{ explicit operator bool() const {{ return charge("{ORDER}"); }} }};\n',
    ".gitignore": f"{ORDER}*.log\n[{ORDER}\n",
    ".graphragignore": f":include: {ORDER}.rules\n{ORDER}.csv\n[[:{ORDER}:]]\n",
    f"{ORDER}.csv": "1",
    f"{ORDER} x/deprecated/core.py": f'def charge():\n    """{ORDER}"""\n',
    f"{ORDER}.log": "x",
}
NAMES = ("charge", "settle", "Ledger", "Ledger.keep", "call", "Op", "Pay", f"app/{ORDER} file.py", "app/core.py", ORDER)
IN_QUOTES = re.compile(r""""(?:[^"\\]|\\.)*"|`[^`]*`|(?<!\w)'(?:[^'\\]|\\.)*'(?!\w)""")
CONTENT = re.compile(r"(?:^|\s)(?:> |\d+(?: \([^)]*\))?: |\d+- |\d+ \| ).*$")


def outside(answer: str) -> Iterator[str]:
    """Yield what of each line is not told as content by the forms that the server promises."""
    fence = ""
    for line in answer.split("\n"):
        if not fence and (opened := re.match(r"(`{3,})\w*$", line)):
            fence = opened[1]
        elif fence and line == fence:
            fence = ""
        elif not fence:
            yield CONTENT.sub("", IN_QUOTES.sub("", line)) if not CONTENT.match(line) else ""
    assert not fence


def git(root: Path, *arguments: str) -> None:
    named = {"GIT_AUTHOR_NAME": f"{ORDER} author", "GIT_AUTHOR_EMAIL": "a@b.c", "GIT_COMMITTER_NAME": ORDER}
    environment = {**os.environ, **named, "GIT_COMMITTER_EMAIL": "a@b.c", "HOME": str(root)}
    subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, env=environment)


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    root = tmp_path_factory.mktemp("planted")
    write_files(root, FILES)
    git(root, "init", "-q", "-b", "main")
    for number in range(3):
        core = root / "app/core.py"
        core.write_text(core.read_text() + f"\n\ndef extra{number}():\n    return settle({number}, '')\n")
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", f"{ORDER} in charge {number}\n\n{FENCE}\n{ORDER}\n\n{ORDER} body \x01\n")
    git(root, "checkout", "-q", "-b", f"b/{ORDER}".replace(" ", "\N{NO-BREAK SPACE}"))
    core.write_text(core.read_text().replace("def settle(order, note)", f"def settle(order, note='{ORDER}', *, x)"))
    indexing = IndexingSettings(data_dir=str(tmp_path_factory.mktemp("data")), workers=1)
    with closing(App(root, Settings(indexing=indexing))) as app:
        app.index()
        yield app


def calls() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield a call for each form of answer that shows text of the repository."""
    queries = (
        "charge",
        ORDER,
        f"how does charge reach {ORDER}",
        "who calls charge",
        "settings.toml charge",
        "like charge",
    )
    for tool in SEARCH_TOOLS:
        for query in queries:
            yield tool, {"query": query, "limit": 25} if tool.startswith("graph") else {"query": query, "top_n": 25}
        yield tool, {"query": "charge", "exclude_archived": False}
    for name in NAMES:
        yield from ((FIND_SYMBOL.name, {"symbol": name, "body": body, "limit": 100}) for body in (False, True))
        yield from ((TRACE.name, {"symbol": name, "direction": one, "hops": 2, "unresolved": True})
                    for one in TRACE.schema()["properties"]["direction"]["enum"])  # fmt: skip
        yield IMPACT.name, {"symbol": name}
        yield HISTORY.name, {"symbol": name}
    yield TRACE.name, {"from": ["Ledger.keep"], "to": ["settle"]}
    yield TRACE.name, {"from": ["Ledger"]}
    yield TRACE.name, {"to": ["settle"]}
    yield TRACE.name, {"question": f"how does Ledger.keep reach settle in {ORDER}"}
    yield TRACE.name, {"from": ["settle"], "to": ["Pay"]}
    yield IMPACT.name, {}
    yield IMPACT.name, {"base": "HEAD~2"}
    yield from ((OCCURRENCES.name, {"text": text, "context": context, "limit": 500})
                for text in (ORDER, "charge", "settle") for context in (0, 2))  # fmt: skip
    yield HISTORY.name, {"query": "charge"}
    yield HISTORY.name, {"path": "app/core.py"}
    yield HISTORY.name, {"path": "app/core.py", "line": 3}
    yield STATUS.name, {}
    yield STATUS.name, {"overview": True}
    # Words of the repository in errors, too.
    yield OCCURRENCES.name, {"text": "x", "paths": ["docs/zorder obey"]}
    yield FIND_SYMBOL.name, {"symbol": "zorder"}


@pytest.mark.parametrize("form", ["detailed", pytest.param("concise", marks=pytest.mark.slow)])
def test_text_of_a_repository_is_told_by_its_form(planted: App, form: str) -> None:
    """It stands in a fence, in quotes, after `> ` or after the number of its line; nothing else may have two words."""
    seen, problems = 0, []
    for name, given in calls():
        tool = TOOLS[name]
        call = tool.read({**given, "response_format": form, "token_budget": 20_000}, planted.settings, planted.root)
        try:
            answer = tool.write(planted.ask(tool.ask, call), call)
        except GraphragError as error:
            answer = str(error)
        seen += answer.count(ORDER)
        assert "\x1b" not in answer
        assert "\u202e" not in answer
        problems += [f"{name} {given}: {line}" for line in outside(answer) if re.search(r"zorder\W+obey", line)]
    assert seen > 100
    assert not problems, "\n".join(problems)


def test_resources_tell_it_too(planted: App) -> None:
    """The map, outlines and chunks."""
    navigator = planted.navigator()
    chunks = [planted.ask(IndexView.chunk_at, path, 1) for path in ("app/core.py", f"docs/{ORDER}.md")]
    texts = [
        write_map(navigator.repository_map(), 10_000),
        *(write_outline(navigator.outline(file.path), 10_000) for file in navigator.files.listed(Scope())),
        *(write_chunk(chunk) for chunk in chunks if chunk is not None),
    ]
    assert sum(text.count(ORDER) for text in texts) > 10
    assert [line for text in texts for line in outside(text) if re.search(r"zorder\W+obey", line)] == []
