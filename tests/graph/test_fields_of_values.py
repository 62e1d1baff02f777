"""Whose method is called on the field of a value, in languages without facts: by the types that are written."""

from pathlib import Path

import pytest

from graphrag_mcp.model.graph import Direction
from tests.graph.test_relations import rows

RUST = {
    "src/text.rs": "pub struct Text;\nimpl Text { pub fn get(&self) {} }\npub struct Other;\n"
    "impl Other { pub fn get(&self) {} }\n",
    "src/more.rs": "pub struct Info;\n",
    "src/info.rs": "use crate::text::Text;\nuse far::Text as Far;\nuse crate::more::Info as More;\n"
    "pub struct Info { pub path: Text, pub far: Far, pub list: Vec<Text> }\npub struct Work { pub info: Arc<Info> }\n",
    "src/use.rs": """use crate::info::{Info, Work};
fn direct(data: &Info) { data.path.get(); }
fn deeper(work: &Work) { work.info.path.get(); }
fn held(work: &Work) { let info = &work.info; let path = &info.path; path.get(); }
fn unknown(work: &Work) { work.info.list.get(); work.info.far.get(); work.none.get(); }
fn hidden(work: &Work) { let work = other(); let path = work.path; path.get(); }
impl Work { fn own(&self) { self.info.path.get(); let path = &self.info.path; path.get(); } }
""",
}


def test_fields_lead_to_the_type_whose_method_is_called(tmp_path: Path) -> None:
    """Of parameters, of variables that hold a field, and of the own instance; what is not known is in doubt."""
    found = rows(tmp_path, RUST, "Text.get", Direction.CALLERS)
    certain = [row.split()[0] for row in found if row.endswith("certain")]
    assert certain == [f"src/use.rs:{line}" for line in (2, 3, 4, 7)]
    assert [row.split()[0] for row in found if row.split()[0] not in certain] == ["src/use.rs:5", "src/use.rs:6"]
    assert not [row for row in rows(tmp_path, RUST, "Other.get", Direction.CALLERS) if row.endswith("certain")]


@pytest.mark.parametrize(
    ("files", "symbol", "lines"),
    [
        (
            {
                "Text.cs": "class Text { public void Get() {} }\nclass Other { public void Get() {} }\n",
                "Info.cs": "class Info { public Text Path { get; set; } public Text other; }\n",
                "Use.cs": "class Use {\n void A(Info data) { data.Path.Get(); }\n"
                " void B(Info data) { data.other.Get(); }\n void C(Info data) { var d = data.Path; d.Get(); }\n}\n",
            },
            "Text.Get",
            [2, 3, 4],
        ),
        (
            {
                "Text.kt": "class Text { fun get() {} }\nclass Other { fun get() {} }\n",
                "Info.kt": "class Info(val path: Text) { val more: Text? = null }\n",
                "Use.kt": "fun a(data: Info) { data.path.get() }\nfun b(data: Info) { data.more?.get() }\n"
                "fun c(data: Info) { val d = data.path; d.get() }\n",
            },
            "Text.get",
            [1, 2, 3],
        ),
        (
            {
                "Text.swift": "class Text { func get() {} }\nclass Other { func get() {} }\n",
                "Info.swift": "struct Info { var path: Text }\n",
                "Use.swift": "func a(data: Info) { data.path.get() }\n"
                "func b(data: Info) { let d = data.path\n d.get() }\n",
            },
            "Text.get",
            [1, 3],
        ),
        (
            {
                "Text.scala": "class Text { def get() = 1 }\nclass Other { def get() = 1 }\n",
                "Info.scala": "class Info(val path: Text)\n",
                "Use.scala": "object Use {\n def a(data: Info) = data.path.get()\n"
                " def b(data: Info) = { val d = data.path\n d.get() }\n}\n",
            },
            "Text.get",
            [2, 4],
        ),
        (
            {
                "text.h": "class Text { public: void get(); };\nclass Other { public: void get(); };\n"
                "struct Info { Text path; Text* more; };\n",
                "text.cpp": '#include "text.h"\nvoid Text::get() {}\nvoid Other::get() {}\n',
                "use.cpp": '#include "text.h"\nvoid a(Info& data) { data.path.get(); }\n'
                "void b(Info* data) { data->more->get(); }\nvoid c(Info& data) { auto& d = data.path; d.get(); }\n",
            },
            "Text.get",
            [2, 3, 4],
        ),
        (
            {
                "Text.php": "<?php\nclass Text { function get() {} }\nclass Other { function get() {} }\n",
                "Info.php": "<?php\nclass Info { public Text $path; }\n",
                "Use.php": "<?php\nfunction a(Info $data) { $data->path->get(); }\n",
            },
            "Text.get",
            [2],
        ),
    ],
)
def test_so_do_fields_in_other_languages(tmp_path: Path, files: dict[str, str], symbol: str, lines: list[int]) -> None:
    """As far as their types are written."""
    found = [row for row in rows(tmp_path, files, symbol, Direction.CALLERS) if row.endswith("certain")]
    assert sorted(row.partition(":")[2] for row in found) == [f"{line} certain" for line in lines]
    other = symbol.replace("Text", "Other")
    assert not [row for row in rows(tmp_path, files, other, Direction.CALLERS) if row.endswith("certain")]
