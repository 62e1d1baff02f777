"""Derives the category of a file from its path or, where the path does not decide, from its text."""

import re
from collections.abc import Sequence
from itertools import pairwise

from graphrag_mcp.languages.registry import CODE_EXTENSIONS, describe, detect_language
from graphrag_mcp.model.files import Category


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# ---------------------------------------------------------------- the table: folders

_VENDORED, _TESTS, _EXAMPLES = Category.VENDORED, Category.TESTS, Category.EXAMPLES

# The outermost folder that is listed decides, except that vendored code is vendored wherever it lies.
_FOLDERS: dict[str, Category] = {
    **dict.fromkeys(
        ("vendor", "vendored", "_vendor", "third_party", "third-party", "thirdparty", "3rdparty", "node_modules",
         "bower_components", "jspm_packages", "site-packages", ".yarn", "godeps", "carthage", "pods"), _VENDORED),
    **dict.fromkeys(
        ("test", "tests", "__tests__", "__mocks__", "spec", "specs", "e2e", "testsuite", "test-suite", "test_suite",
         "unittests", "unit-tests", "unit_tests", "integration-tests", "integration_tests", "integrationtest",
         "androidtest", "functionaltest", "cypress", "playwright", "fixtures", "__fixtures__", "test-fixtures",
         "test_fixtures", "__testfixtures__", "__snapshots__", "testdata", "test-data", "test_data",
         "testutil", "testutils", "test_utils", "regress", "regression", "regressions", "itest", "itests"), _TESTS),
    **dict.fromkeys(
        ("example", "examples", "sample", "samples", "demo", "demos", "benchmark", "benchmarks", "bench", "benches",
         "playground", "playgrounds", "docs_src", "cookbook", "quickstart", "tutorials"), _EXAMPLES),
}  # fmt: skip
_TOP = ""  # In place of the folder around those at the root of a project.
_FOLDERS_WITHIN: dict[tuple[str, str], Category] = {
    # Further down such a folder is a part of the product.
    **{(_TOP, name): _VENDORED for name in ("deps", "dependencies", "external", "externals", "extern")},
    (_TOP, "integration"): _TESTS,
    ("src", "it"): _TESTS,  # Elsewhere, "it" is Italian.
    **{(outer, inner): _EXAMPLES for outer in ("doc", "docs") for inner in ("code", "snippets")},
}
_TEST_FOLDER_STARTS = ("test-", "test_")
_TEST_FOLDER_ENDS = ("Tests", "-tests", "_tests", ".tests", "-test", "_test", ".Test", "-spec", "_spec")
_EXAMPLE_FOLDER_ENDS = ("-example", "_example", "-examples", "_examples", "-demo", "_demo", " example", " Example")
_PACKAGE_PREFIXES = frozenset({"com", "org", "net", "io"})  # com/example/shop is a Java package, not an example.
_DOCUMENT_FOLDERS = frozenset({"doc", "docs", "documentation", "man"})
_CONFIG_FOLDERS = frozenset({".github", ".circleci", ".gitlab", ".buildkite", ".vscode", ".idea", ".husky", ".ci"})

# ---------------------------------------------------------------- the table: suffixes

# Extensions of languages without a folder in `languages/`.
_OTHER_CODE = _words(
    "pxd ipy m mm fs fsx vb erb fish eex heex erl hrl lhs nim cr d dart groovy clj cljs cljc edn lisp el scm rkt "
    "ml mli re res elm purs f90 f95 for jl r pl pm t raku tcl awk sql ps1 psm1 bat cmd asm s cl glsl hlsl vert "
    "frag metal wgsl sol vy move proto thrift graphql gql capnp vue svelte astro html htm xhtml ejs hbs mustache "
    "jinja jinja2 j2 tmpl tpl twig liquid haml slim pug njk cshtml razor aspx jsp css scss sass less styl coffee "
    "v sv vhd vhdl pas ada adb ads cob feature xaml qml vim bzl star nix"
)
_DOCUMENTS = _words("md mdx mdc markdown rst txt adoc asciidoc asc org ronn textile rdoc pod rmd qmd tex ipynb wiki")
_CONFIG = _words(
    "json json5 jsonc yaml yml toml ini cfg conf config properties env xml plist gradle cmake mk mak make csproj "
    "fsproj vbproj sln slnx props targets cabal gemspec podspec tf tfvars hcl bazel xcconfig pbxproj xcscheme "
    "xctestplan storyboard xib entitlements service socket timer dockerfile editorconfig npmrc in am "
    "ac m4 def rc code-workspace prettierrc eslintrc babelrc dhall cue jsonnet mod work nuspec ruleset prisma"
)
_DATA = _words(
    "lock lockfile sum csv tsv jsonl ndjson geojson svg snap map pem cer crt csr pub po pot xlf xliff resx "
    "strings log diff patch dump dat sqlite out expected golden ics vcf gpx kml srt vtt xsd dtd wsdl har tok ttok "
    "stderr stdout approved received"
)
_CODE = _OTHER_CODE | (CODE_EXTENSIONS - _CONFIG - _DATA)
# In a documents folder they are the site, not the product.
_WEB = _words("html htm xhtml js mjs cjs css scss sass less")
_TYPED_NAMES = _words("groovy m mm vb fs")

# ---------------------------------------------------------------- the table: names

_DOCUMENT_NAMES = _words(
    "readme building compiling porting usage changes changelog history news authors contributors contributing "
    "license licence licenses copying notice install todo security code_of_conduct maintainers governance support "
    "upgrading upgrade migration migrating copyright roadmap thanks credits faq hacking releases release-notes "
    "release_notes releasenotes bugs codeowners"
)
_CONFIG_NAMES = _words(
    "dockerfile containerfile makefile gnumakefile jenkinsfile vagrantfile procfile rakefile gemfile podfile "
    "fastfile brewfile justfile build workspace build.rs build.zig build.sbt build.gradle.kts settings.gradle.kts "
    "package.swift mix.exs setup.py noxfile.py conf.py cmakelists.txt manifest.in robots.txt requirements.txt "
    "constraints.txt gulpfile.js gruntfile.js karma.conf.js codeowners version go.mod go.work "
    "sonar-project.properties build.cake meson.build meson_options.txt configure configure.ac tsconfig.json "
    "package.json pyproject.toml ssh_config sshd_config"
)
_LOCK_NAMES = _words(
    "package-lock.json npm-shrinkwrap.json pnpm-lock.yaml packages.lock.json go.sum bun.lockb gradle.lockfile "
    "package.resolved project.assets.json pubspec.lock"
)
_VENDORED_NAMES = _words("gradlew gradlew.bat mvnw mvnw.cmd")
_VENDORED_NAME_PARTS = (".min.", "-min.", ".bundle.", ".umd.")
_TEST_STEM_STARTS = ("test_", "test-")
_TEST_STEM_ENDS = ("_test", "_tests", "-test", "-tests", ".test", ".tests", "_spec", "-spec", ".spec", ".cy", ".e2e",
                   ".test-d", "_unittest")  # fmt: skip
_TYPED_TEST_ENDS = ("Test", "Tests", "Spec", "Specs", "TestCase")

# Code that tests compare with what a program writes; nothing runs it.
_SNAPSHOT_STEM_ENDS = (".verified", ".received", ".approved")
_SNAPSHOT_FOLDERS = frozenset({"__snapshots__", "_snapshots"})

_MAN_SECTION = re.compile("[1-9][a-z]{0,2}")
_MAN_TITLE = re.compile(r"^\.(?:TH|Dt)[ \t]", re.MULTILINE)  # With the macros of man and of mdoc.

_GENERATED_WITHIN = 1_000  # characters; marks further down are those of a generator, not of generated code.
# What a bundler or compiler writes as the last line: where the map to the sources lies.
_SOURCE_MAP = re.compile(r"(?://|/\*)[#@] sourceMappingURL=\S+(?: ?\*/)?")


def categorise(path: str, text: str = "") -> Category:
    """Return the category of the file at `path` (POSIX, relative to the root); text: decides if the path does not."""
    *folders, file_name = path.split("/")
    name = file_name.lower()
    stem, _, suffix = name.rpartition(".")
    if not stem:  # "Makefile", ".gitignore"
        stem, suffix = name, ""
    role = _role_of_folders(folders)
    if role is _VENDORED or name in _VENDORED_NAMES or _is_distributed(name, suffix):
        return _VENDORED
    nature = _nature(name, stem, suffix, folders, text)
    if nature is Category.IMPLEMENTATION:
        if is_snapshot(path):
            return Category.DATA
        if role is None and _is_test_name(file_name.removesuffix("." + suffix), stem, suffix, folders, text):
            return _TESTS
        return role or _refine(suffix, folders, text)
    if role is _TESTS and stem not in _DOCUMENT_NAMES and name not in _CONFIG_NAMES:
        return Category.DATA  # Other files among tests are test data.
    if role is _EXAMPLES and nature not in (Category.DOCUMENTATION, Category.DATA):
        return _EXAMPLES
    return nature


def is_lock_file(path: str) -> bool:
    """Return whether a package manager wrote the file."""
    name = path.rpartition("/")[2].lower()
    return name in _LOCK_NAMES or name.endswith((".lock", "-lock.json", "-lock.yaml", ".lockfile"))


def is_man_page(suffix: str, text: str) -> bool:
    """Return whether a file with the number of a section of the manual as its suffix is a page of it."""
    return bool(_MAN_SECTION.fullmatch(suffix)) and bool(_MAN_TITLE.search(text))


def is_snapshot(path: str) -> bool:
    """Return whether code among tests, or in a folder of snapshots, is only what a test compares a result with."""
    *folders, name = path.split("/")
    stem, _, suffix = name.rpartition(".")
    is_inside = any(folder.lower() in _SNAPSHOT_FOLDERS for folder in folders)
    if suffix.lower() not in _CODE or not (is_inside or _role_of_folders(folders) is _TESTS):
        return False
    is_called_so = stem.lower().endswith(_SNAPSHOT_STEM_ENDS)
    return is_called_so or (is_inside and not _is_test_name(stem, stem.lower(), suffix.lower(), folders))


def is_generated(text: str) -> bool:
    """Return whether the head of the file, or a source map at its end, marks it as generated."""
    head = text[:_GENERATED_WITHIN].lower()
    if "@generated" in head or ("generated" in head and ("do not edit" in head or "do not modify" in head)):
        return True
    return bool(_SOURCE_MAP.fullmatch(text.rstrip().rpartition("\n")[2].strip()))


def _role_of_folders(folders: Sequence[str]) -> Category | None:
    last: Category | None = None
    for outer, folder in pairwise([_TOP, *folders]):
        role = _role_of_folder(folder, outer)
        if role is _VENDORED:
            return role
        if last is None and not (role is _EXAMPLES and outer in _PACKAGE_PREFIXES):
            last = role
    return last


def _role_of_folder(folder: str, outer: str) -> Category | None:
    """Return what the name of a folder says. outer: the folder around it."""
    name = folder.lower()
    if role := _FOLDERS.get(name) or _FOLDERS_WITHIN.get((outer.lower(), name)):
        return role
    if folder.startswith(_TEST_FOLDER_STARTS) or folder.endswith(_TEST_FOLDER_ENDS):
        return _TESTS
    return _EXAMPLES if folder.endswith(_EXAMPLE_FOLDER_ENDS) else None


def _nature(name: str, stem: str, suffix: str, folders: Sequence[str], text: str) -> Category:
    """Return the category of the file without its folders."""
    if suffix in _DATA or name in _LOCK_NAMES:
        return Category.DATA
    if _is_config_name(name, folders, text) or (suffix in _CODE and _is_settings_name(stem)):
        return Category.CONFIG
    if suffix in _DOCUMENTS:
        return Category.CONFIG if suffix == "txt" and stem.startswith("requirements") else Category.DOCUMENTATION
    if suffix in _CODE:
        return Category.IMPLEMENTATION
    if suffix in _CONFIG or name.startswith("dockerfile."):
        return Category.CONFIG
    if (
        stem in _DOCUMENT_NAMES
        or stem.startswith("license-")
        or (suffix.isdigit() and folders and folders[-1].lower() in _DOCUMENT_FOLDERS)
        or is_man_page(suffix, text)
    ):
        return Category.DOCUMENTATION
    if text.startswith("#!"):
        return Category.IMPLEMENTATION
    if name.startswith(".") or not _CONFIG_FOLDERS.isdisjoint(folders):
        return Category.CONFIG
    return Category.OTHER


def _is_distributed(name: str, suffix: str) -> bool:
    """Return whether a file is the build of a script or style sheet: `jquery.min.js`."""
    return suffix in _WEB and any(part in name for part in _VENDORED_NAME_PARTS)


def _is_config_name(name: str, folders: Sequence[str], text: str) -> bool:
    """Return whether a file of this name configures tools; a module of the product may be called so, too."""
    if name == "build.rs":
        return "src" not in folders or "cargo:" in text
    if name == "conf.py":
        return not folders or not _DOCUMENT_FOLDERS.isdisjoint(map(str.lower, folders)) or "sphinx" in text.lower()
    if name == "setup.py":
        return not (folders and text) or any(word in text for word in ("setuptools", "distutils", "\nsetup("))
    return name in _CONFIG_NAMES


def _is_settings_name(stem: str) -> bool:
    """Return whether a program's settings are written as code: `vite.config.ts`, `.eslintrc.js`."""
    return stem.endswith(".config") or (stem.startswith(".") and stem.endswith("rc"))


def _is_test_name(cased_stem: str, stem: str, suffix: str, folders: Sequence[str], text: str = "") -> bool:
    language = describe(detect_language(f"x.{suffix}"))
    if suffix == "bats" or stem == "conftest" or stem.endswith(_TEST_STEM_ENDS):
        return True
    if suffix == "fish" or not language.test_prefix:
        return False
    if stem.startswith(_TEST_STEM_STARTS) or stem == "tests":
        return True
    if stem == "test" and (language.test_stem or (language.test_mark and language.test_mark in text)):
        return True
    if ("src", "main") in pairwise(folders):  # Maven, Gradle and sbt have no tests there.
        return False
    # "FooTests", but neither "LATEST" nor "Test" alone.
    is_named_so = cased_stem.endswith(_TYPED_TEST_ENDS) and cased_stem not in _TYPED_TEST_ENDS
    return is_named_so and (language.test_types or suffix in _TYPED_NAMES)


def _refine(suffix: str, folders: Sequence[str], text: str) -> Category:
    """Return the category of code without a special folder or name."""
    if suffix in _WEB and any(folder.lower() in _DOCUMENT_FOLDERS for folder in folders):
        return Category.DOCUMENTATION
    return Category.DATA if is_generated(text) else Category.IMPLEMENTATION
