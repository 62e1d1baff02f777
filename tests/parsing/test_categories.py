"""What a file is for, by its path."""

import pytest

from graphrag_mcp.model.files import Category
from graphrag_mcp.parsing.categories import categorise, is_lock_file

EXPECTED = {
    Category.IMPLEMENTATION: [
        "src/main.py",
        "doc/md_docs.go",  # Go code under `doc/` is code.
        "lib/test_functions.bash",  # A library that tests use is no test.
        "src/flask/testing.py",
        "starlette/testclient.py",
        "werkzeug/test.py",
        "src/main/java/com/example/shop/Cart.java",  # com/example is a package, not an example.
        "src/latest.ts",
        "src/Contest.java",
        "src/main/java/com/example/shop/TypeSpec.java",  # Build tools keep tests elsewhere.
        "LATEST.swift",
        "api/service.proto",
        "web/App.vue",
        "src/contests/score.py",
        "lib/crc.c",
        "src/command/build.rs",
        "src/command/test.rs",
        "core/conf.py",
    ],
    Category.TESTS: [
        "conftest.py",
        "tests/test_app.py",
        "pkg/tests/helpers.py",
        "router_test.go",
        "src/login.spec.ts",
        "src/login.test.tsx",
        "src/__tests__/login.js",
        "ios/FooTests.swift",
        "src/test/java/org/acme/FooIT.java",
        "src/HTTPTest.kt",
        "src/main/router_test.go",
        "AppUITests/Launch.swift",
        "Dapper.Tests/ParameterTests.cs",
        "spec/models/user_spec.rb",
        "test/fixtures/suite.bats",
        "pkg/testdata/input.go",
        "transforms/__testfixtures__/rename.input.tsx",
        "polls/tests.py",
        "test_single.py",
        "src/tests.rs",
    ],
    Category.DOCUMENTATION: [
        "README.md",
        "README",
        "LICENSE-MIT",
        "CHANGES",
        "LICENSE",
        "docs/guide.rst",
        "docs/index.html",
        "doc/manual.adoc",
        "notes.txt",
        "examples/blog/README.md",
        "tests/README.md",
        "man/bats.7",
    ],
    Category.CONFIG: [
        "package.json",
        "pyproject.toml",
        "setup.cfg",
        ".github/workflows/ci.yml",
        "Dockerfile",
        "docker/Dockerfile.dev",
        "Makefile",
        "requirements-dev.txt",
        "CMakeLists.txt",
        ".eslintrc.js",
        "vite.config.ts",
        "docs/conf.py",
        "build.rs",
        "crates/part/build.rs",
        "setup.py",
        ".gitignore",
        "etc/sshd_config",
    ],
    Category.EXAMPLES: [
        "examples/blog/app.py",
        "sample/Main.java",
        "benchmarks/run.py",
        "benches/parse.rs",
        "demo/index.html",
        "docs/examples/auth.py",
        "examples/blog/package.json",
        "_examples/rest/main.go",
    ],
    Category.VENDORED: [
        "vendor/github.com/pkg/errors/errors.go",
        "third_party/zlib/zlib.c",
        "web/node_modules/react/index.js",
        "static/jquery.min.js",
        "tests/vendor/lib.py",
    ],
    Category.DATA: [
        "package-lock.json",
        "Cargo.lock",
        "go.sum",
        "data/cities.csv",
        "logo.svg",
        "src/__snapshots__/app.test.js.snap",
        "tests/fixtures/user.json",
        "tests/page.html.expected",
        "pkg/testdata/input.txt",
    ],
    Category.OTHER: ["bin/tool", "assets/noise"],
}


# A file of code in each folder at the root of twelve public repositories.
TOP_FOLDERS: dict[str, dict[str, tuple[str, ...]]] = {
    "axum": {
        "implementation": ("axum", "axum-core", "axum-extra", "axum-macros", "contrib"),
        "examples": ("examples",),
    },
    "click": {"implementation": ("src",), "tests": ("tests",), "examples": ("examples",)},
    "fastify": {
        "implementation": ("build", "lib", "scripts", "types"),
        "tests": ("integration", "test"),
        "examples": ("examples",),
    },
    "guzzle": {"implementation": ("src",), "tests": ("tests",)},
    "libuv": {"implementation": ("include", "src", "tools"), "tests": ("test",), "examples": ("docs/code",)},
    "query": {"implementation": ("integrations", "packages", "scripts"), "examples": ("examples",)},
    "loki": {
        "implementation": (
            "clients",
            "cmd",
            "debug",
            "loki-build-image",
            "nix",
            "operator",
            "pkg",
            "production",
            "tools",
        ),
        "tests": ("integration",),
        "examples": ("examples",),
        "vendored": ("vendor",),
    },
    "alamofire": {"implementation": ("Source",), "tests": ("Tests",), "examples": ("Example", "watchOS Example")},
    "redis": {
        "implementation": ("modules", "src", "utils"),
        "tests": ("tests",),
        "vendored": ("deps/lua", "deps/jemalloc", "deps/hiredis"),
    },
    "guice": {
        "implementation": ("bom", "core", "extensions", "tools", "util"),
        "examples": ("examples",),
        "vendored": ("third_party",),
    },
    "dapper": {
        "implementation": (
            "Dapper",
            "Dapper.EntityFramework",
            "Dapper.ProviderTools",
            "Dapper.Rainbow",
            "Dapper.SqlBuilder",
        ),
        "tests": ("tests",),
        "examples": ("benchmarks",),
    },
    "bats": {"implementation": ("bin", "contrib", "docker", "lib", "libexec"), "tests": ("test",)},
}


@pytest.mark.parametrize("repository", TOP_FOLDERS)
def test_the_folders_at_the_root_of_public_repositories_have_the_category_that_a_reader_gives_them(
    repository: str,
) -> None:
    """A folder that is misread hides its code behind a prior, or raises code that nobody looks for."""
    expected = {folder: category for category, folders in TOP_FOLDERS[repository].items() for folder in folders}
    assert {folder: categorise(f"{folder}/part.c").value for folder in expected} == expected


@pytest.mark.parametrize(
    ("path", "category"),
    [
        ("src/deps/graph.ts", Category.IMPLEMENTATION),
        ("lib/external/api.py", Category.IMPLEMENTATION),
        ("docs/it/guida.md", Category.DOCUMENTATION),
        ("src/it/java/org/acme/SmokeIT.java", Category.TESTS),
        ("test-app/main.ts", Category.TESTS),
        ("src/regress/sql/join.c", Category.TESTS),
        ("man/tool.1.ronn", Category.DOCUMENTATION),
        ("gradlew", Category.VENDORED),
    ],
)
def test_a_name_that_means_a_role_only_in_one_place_means_it_only_there(path: str, category: Category) -> None:
    """`deps` holds the work of others at the root; below it, code about dependencies."""
    assert categorise(path) is category


@pytest.mark.parametrize(
    ("path", "text", "category"),
    [
        ("tool.1", "." + "TH tool 1\n", Category.DOCUMENTATION),
        ("man1/tool.1", '.\\" A comment.\n.Dd 2026\n.Dt TOOL 1\n', Category.DOCUMENTATION),
        ("lib/tool.1", "some data", Category.OTHER),
        ("house/setup.py", "def setup(house): ...", Category.IMPLEMENTATION),
        ("part/setup.py", "from setuptools import setup", Category.CONFIG),
        ("setup.py", "from skbuild import setup\nsetup()", Category.CONFIG),
        ("src/rust/build.rs", 'println!("cargo:rerun-if-changed=a");', Category.CONFIG),
        ("manual/conf.py", 'extensions = ["sphinx.ext.autodoc"]', Category.CONFIG),
        ("src/iter/test.rs", "#[tokio::test]\nasync fn it_adds() {}", Category.TESTS),
        ("src/cmd/test.rs", "pub fn execute() {}", Category.IMPLEMENTATION),
    ],
)
def test_the_text_decides_where_a_name_does_not(path: str, text: str, category: Category) -> None:
    """A page of a manual has the number of its section for a suffix, as the first of two versions may have."""
    assert categorise(path, text) is category


@pytest.mark.requirement("004-05", "B-28")
@pytest.mark.parametrize(
    ("path", "category"), [(path, category) for category, paths in EXPECTED.items() for path in paths]
)
def test_a_path_says_what_the_file_is_for(path: str, category: Category) -> None:
    """The category weighs the lists and decides the prior."""
    assert categorise(path) is category


def test_a_script_without_a_suffix_is_code_by_its_first_line() -> None:
    """Shebang scripts are implementation."""
    assert categorise("bin/tool", "#!/usr/bin/env bash\necho hello\n") is Category.IMPLEMENTATION


def test_code_that_a_program_wrote_is_data() -> None:
    """Nobody looks for the answer in generated code, unless no other file has it."""
    head = "// Code generated by protoc-gen-go. DO NOT EDIT.\npackage api\n"
    assert categorise("api/service.pb.go", head) is Category.DATA
    assert categorise("api/service.go", "package api\n") is Category.IMPLEMENTATION


@pytest.mark.parametrize(
    ("last", "category"),
    [
        ("//# sourceMappingURL=app.js.map\n", Category.DATA),
        ("/*# sourceMappingURL=app.css.map */", Category.DATA),
        ("out += '//# sourceMappingURL=' + name;\n", Category.IMPLEMENTATION),
    ],
)
def test_what_ends_with_a_source_map_was_built(last: str, category: Category) -> None:
    """Its sources are what somebody looks for; code that writes such lines is not built."""
    assert categorise("web/app.js", f"function run() {{}}\n{last}") is category


@pytest.mark.parametrize("path", ["", "/", "a/", "...", ".", "tests/", "a/.b"])
def test_any_path_has_a_category(path: str) -> None:
    """The function is total."""
    assert categorise(path) in Category


def test_lock_files_are_told_by_name_in_any_folder() -> None:
    """A lock file's text is thousands of lines that answer nothing."""
    assert is_lock_file("web/pnpm-lock.yaml")
    assert is_lock_file("poetry.lock")
    assert not is_lock_file("src/lock.py")


@pytest.mark.parametrize(
    ("path", "category"),
    [
        ("src/Shop.Tests/_snapshots/Cart.Renders#Cart.g.verified.cs", Category.DATA),
        ("tests/CartTests.Renders.received.cs", Category.DATA),
        ("tests/Cart.approved.java", Category.DATA),
        ("src/__snapshots__/cart.js", Category.DATA),
        ("src/__snapshots__/cart.test.js", Category.TESTS),
        ("tests/snapshots/provision.go", Category.TESTS),
        ("src/events/order.approved.ts", Category.IMPLEMENTATION),
    ],
)
def test_code_that_a_test_compares_a_result_with_is_data(path: str, category: Category) -> None:
    """By its suffixes where tests are, or by a folder that holds nothing else."""
    assert categorise(path) is category
