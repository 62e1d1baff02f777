"""Which rules are in force where, and what the manager answers."""

import pwd
import subprocess
from pathlib import Path

import pytest
from project_files import touch_files, write_files

from graphrag_mcp.exclusion.manager import ArchiveClassifier, ExclusionManager
from graphrag_mcp.exclusion.patterns import Exclusion, ExclusionKind
from graphrag_mcp.exclusion.rulebook import SHOWN_WARNINGS
from graphrag_mcp.settings import IndexingSettings, load_settings

# ---------------------------------------------------------------- the seed's own tests and examples

SEED_RESULTS = [
    {"file_path": "src/main.py", "content": "..."},
    {"file_path": ".archive/old.py", "content": "..."},
    {"file_path": "neural-tools/active.py", "content": "..."},
]


@pytest.mark.requirement("000-03", "000-05", "000-42", "K-04")
def test_archives_are_tagged_and_not_ignored_by_default(tmp_path: Path) -> None:
    """Without rules archives are indexed as such; dependencies are not."""
    manager, classifier = ExclusionManager(tmp_path), ArchiveClassifier()
    for archived in (".archive/old_code.py", "src_backup/file.js"):
        assert not manager.should_exclude(Path(archived))
        assert classifier.classify(archived) is not None
    assert manager.should_exclude(Path("node_modules/package/index.js"))
    for active in ("src/main.py", "neural-tools/server.py"):
        assert not manager.should_exclude(Path(active))
        assert classifier.classify(active) is None


@pytest.mark.requirement("000-02", "000-42", "K-04", "B-03")
def test_archives_that_the_ignore_file_lists_are_excluded(tmp_path: Path) -> None:
    """An explicit rule wins over the archive class."""
    manager = ExclusionManager(write_files(tmp_path, graphragignore=".archive/\n*_backup/\nnode_modules/\n"))
    excluded = [".archive/old_code.py", "src_backup/file.js", "node_modules/package/index.js"]
    assert [manager.should_exclude(Path(path)) for path in excluded] == [True] * 3
    assert [manager.should_exclude(Path(path)) for path in ("src/main.py", "neural-tools/server.py")] == [False] * 2


@pytest.mark.requirement("000-18", "000-43", "B-04")
def test_the_filter_drops_exactly_the_excluded_result(tmp_path: Path) -> None:
    """One of three goes under an explicit rule, none by default."""
    assert ExclusionManager(tmp_path).filter_search_results(SEED_RESULTS) == SEED_RESULTS
    kept = ExclusionManager(write_files(tmp_path, graphragignore=".archive/\n")).filter_search_results(SEED_RESULTS)
    assert kept == [SEED_RESULTS[0], SEED_RESULTS[2]]


@pytest.mark.requirement("000-19")
def test_results_without_a_path_are_kept(tmp_path: Path) -> None:
    """Nothing is known against them."""
    results: list[dict[str, object]] = [{"content": "x"}, {"file_path": None}, {"file_path": ""}]
    assert ExclusionManager(tmp_path).filter_search_results(results) == results


REACT_RULES = """
:include:.gitignore
build/
dist/
.next/
out/
node_modules/
.pnp/
.pnp.js
coverage/
.nyc_output/
.archive/
.deprecated/
*_backup/
*.backup
*.old
storybook-static/
.storybook-out/
.idea/
.vscode/
*.swp
.DS_Store
Thumbs.db

# Don't exclude (re-include with !)
!src/
!components/
!pages/
!public/
"""


@pytest.mark.requirement("000-17")
def test_the_react_example_behaves(tmp_path: Path) -> None:
    """The seed's example for a React project, with its `.gitignore` included."""
    manager = ExclusionManager(write_files(tmp_path, gitignore="*.local\n", graphragignore=REACT_RULES))
    excluded = ["build/a.js", ".next/b.js", "packages/app/out/c.js", ".pnp.js", "storybook-static/d.html"]
    excluded += ["coverage/lcov.info", "app/.DS_Store", "Thumbs.db", "secret.local", "src/a.js.swp"]
    assert [path for path in excluded if not manager.should_exclude(path)] == []
    kept = ["src/App.tsx", "components/Button.tsx", "pages/index.tsx", "public/index.html", "app.ts"]
    assert [path for path in kept if manager.should_exclude(path)] == []
    assert manager.warnings == ()


@pytest.mark.requirement("B-08")
def test_re_including_a_folder_does_not_bring_back_what_other_rules_take(tmp_path: Path) -> None:
    """`!src/` re-includes the folder itself, not `src/x.old`, `src/x_backup/` or `build/src/`."""
    manager = ExclusionManager(write_files(tmp_path, graphragignore=REACT_RULES))
    assert manager.should_exclude("src/x.old")
    assert manager.should_exclude("src/x_backup/y.ts")
    assert manager.should_exclude("build/src/y.ts")


@pytest.mark.requirement("000-16", "000-41", "K-04")
def test_the_example_file_is_a_valid_ignore_file(tmp_path: Path) -> None:
    """The template excludes what it says, and leaves archives to the archive class."""
    example = Path(__file__).parents[2] / ".graphragignore.example"
    manager = ExclusionManager(write_files(tmp_path, gitignore="", graphragignore=example.read_text()))
    excluded = ["target/x.rs", "test/fixtures/a.py", "lib/__mocks__/b.ts", ".cache/c", "a.swp", "b~", "d.dat"]
    excluded += ["e.generated.ts", "f_gen.go", "g.pb.go", ".idea/h"]
    assert [path for path in excluded if not manager.should_exclude(path)] == []
    archived = [".archive/a.py", ".deprecated/a.py", "x_backup/a.py", "docs/archive/a.md", "docs/deprecated/a.md"]
    archived += ["a.backup", "a.old", "a.deprecated"]
    assert [path for path in archived if manager.should_exclude(path)] == []
    assert manager.warnings == ()


# ---------------------------------------------------------------- sources and their strength


@pytest.mark.requirement("000-15", "000-45", "B-05")
def test_defaults_hold_only_without_an_ignore_file(tmp_path: Path) -> None:
    """Built-in rules apply as long as the root has no ignore file; an empty one ends them."""
    excluded = ["node_modules/a.js", "x/__pycache__/b.py", "dist/c.js", "build/d.o", "target/e.rs", ".venv/f.py"]
    excluded += ["g.tmp", "h.temp", ".i.swp"]
    assert [path for path in excluded if not ExclusionManager(tmp_path).should_exclude(path)] == []
    manager = ExclusionManager(write_files(tmp_path, graphragignore="# nothing\n"))
    assert not manager.should_exclude("dist/c.js")


@pytest.mark.requirement("000-38", "000-40", "B-05")
def test_defaults_can_be_turned_off(tmp_path: Path) -> None:
    """GRAPHRAG_DEFAULT_EXCLUSIONS=false."""
    settings = load_settings(tmp_path, {"GRAPHRAG_DEFAULT_EXCLUSIONS": "false"})
    assert not ExclusionManager(tmp_path, settings.indexing).should_exclude("dist/c.js")


@pytest.mark.requirement("000-37", "B-05")
def test_the_ignore_file_can_be_named(tmp_path: Path) -> None:
    """GRAPHRAG_IGNORE_FILE names the file to read."""
    write_files(tmp_path, graphragignore="a.py\n", searchignore="b.py\n")
    settings = load_settings(tmp_path, {"GRAPHRAG_IGNORE_FILE": ".searchignore"})
    manager = ExclusionManager(tmp_path, settings.indexing)
    assert (manager.should_exclude("a.py"), manager.should_exclude("b.py")) == (False, True)


@pytest.mark.requirement("000-08", "B-02")
def test_an_ignore_file_in_a_folder_holds_below_it(tmp_path: Path) -> None:
    """Nested files are anchored in their folder, and the deeper one wins."""
    touch_files(tmp_path, "lib/x/a.py")
    (tmp_path / "lib/.gitignore").write_text("/a.py\n*.txt\n")
    (tmp_path / "lib/x/.gitignore").write_text("!b.txt\n")
    manager = ExclusionManager(tmp_path)
    answers = {
        path: manager.should_exclude(path) for path in ("lib/a.py", "lib/x/a.py", "a.py", "lib/b.txt", "lib/x/b.txt")
    }
    assert answers == {"lib/a.py": True, "lib/x/a.py": False, "a.py": False, "lib/b.txt": True, "lib/x/b.txt": False}


@pytest.mark.requirement("000-02")
def test_our_ignore_file_is_stronger_than_gits(tmp_path: Path) -> None:
    """A root `.graphragignore` overrides every `.gitignore`, and a nested one the root's."""
    touch_files(tmp_path, "gen/a.py")
    write_files(tmp_path, gitignore="*.gen\n", graphragignore="!*.gen\n*.py\n")
    (tmp_path / "gen/.gitignore").write_text("*.gen\n")
    (tmp_path / "gen/.graphragignore").write_text("!*.py\n")
    manager = ExclusionManager(tmp_path)
    assert not manager.should_exclude("gen/x.gen")
    assert manager.should_exclude("a.py")
    assert not manager.should_exclude("gen/a.py")


@pytest.mark.requirement("B-03")
def test_nothing_below_an_excluded_folder_comes_back(tmp_path: Path) -> None:
    """Git's parent rule holds across sources."""
    touch_files(tmp_path, "out/keep/a.py")
    write_files(tmp_path, gitignore="out/\n", graphragignore="!out/keep/\n!a.py\n")
    (tmp_path / "out/.graphragignore").write_text("!*\n")
    assert ExclusionManager(tmp_path).should_exclude("out/keep/a.py")


@pytest.mark.requirement("000-08")
def test_info_exclude_counts(tmp_path: Path) -> None:
    """`.git/info/exclude` is weaker than `.gitignore`."""
    touch_files(tmp_path, ".git/info/exclude")
    (tmp_path / ".git/info/exclude").write_text("*.txt\n")
    manager = ExclusionManager(write_files(tmp_path, gitignore="!b.txt\n"))
    assert (manager.should_exclude("a.txt"), manager.should_exclude("b.txt")) == (True, False)


@pytest.mark.requirement("000-08")
def test_the_global_excludes_file_counts(tmp_path: Path, home: Path) -> None:
    """Git's default place, else core.excludesFile (also of included files); weaker than the project's own."""
    touch_files(home, ".config/git/ignore", "mine/ignore")
    (home / ".config/git/ignore").write_text("*.txt\n")
    (home / "mine/ignore").write_text("*.rst\n!b.txt\n")
    manager = ExclusionManager(write_files(tmp_path, gitignore="!c.txt\n"))
    assert [manager.should_exclude(path) for path in ("a.txt", "c.txt", "a.rst")] == [True, False, False]
    (home / ".gitconfig").write_text("[include]\n\tpath = more\n")
    (home / "more").write_text("[core]\n\texcludesFile = ~/mine/ignore\n")
    manager = ExclusionManager(tmp_path)
    assert [manager.should_exclude(path) for path in ("a.txt", "c.txt", "a.rst")] == [False, False, True]
    assert manager.is_rule_file(home / "mine/ignore")


@pytest.mark.requirement("000-45")
def test_the_default_place_counts_without_git(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing has to be installed."""
    monkeypatch.setenv("PATH", "")
    touch_files(home, "config/git/ignore").joinpath("config/git/ignore").write_text("*.txt\n")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    assert ExclusionManager(tmp_path).should_exclude("a.txt")


@pytest.mark.parametrize(
    ("settings", "excluded"),
    [
        ("[CORE]\n\tEXCLUDESFILE = {0}\n", True),
        ("[core] excludesfile = {0}", True),
        ("[Include]\n\tpath = {1}\n", True),
        ('[includeIf "gitdir:/"]\n\tpath = {1}\n', False),
        ("[user]\n\tname = A\n", None),
        (None, None),
    ],
)
def test_git_is_started_only_where_the_users_settings_may_name_a_file(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch, settings: str | None, excluded: bool | None
) -> None:
    """Whether a file is named, and whether one included applies, git decides; None where it is not asked."""
    touch_files(tmp_path, "a.py")
    (home / "mine").write_text("*.txt\n")
    (home / "more").write_text(f"[core]\n\texcludesFile = {home / 'mine'}\n")
    if settings is not None:
        (home / ".gitconfig").write_text(settings.format(home / "mine", home / "more"))
    started = []
    run = subprocess.run
    monkeypatch.setattr(subprocess, "run", lambda command, **how: started.append(command) or run(command, **how))
    assert ExclusionManager(tmp_path).should_exclude("a.txt") is bool(excluded)
    assert bool(started) is (excluded is not None)


@pytest.mark.requirement("K-04")
def test_the_projects_own_git_configuration_is_not_read(tmp_path: Path) -> None:
    """A hostile repository cannot name the global excludes file."""
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    subprocess.run(["git", "-C", tmp_path, "config", "core.excludesFile", "hostile"], check=True)
    touch_files(tmp_path, "hostile").joinpath("hostile").write_text("*.py\n")
    assert not ExclusionManager(tmp_path).should_exclude("a.py")


@pytest.mark.requirement("000-08")
def test_a_root_inside_a_work_tree_follows_the_rules_above_it(tmp_path: Path) -> None:
    """The ignore files of the folders above count up to the top of the work tree, anchored where they stand."""
    subprocess.run(["git", "init", "-q", tmp_path / "top"], check=True)
    root = touch_files(tmp_path / "top/pkg/app", "a.py")
    (tmp_path / ".gitignore").write_text("a.py\n")
    (tmp_path / "top/.gitignore").write_text("/pkg/app/gen/\n/gen2/\n*.log.txt\n")
    (tmp_path / "top/pkg/.graphragignore").write_text("/app/own/\n")
    (tmp_path / "top/.git/info/exclude").write_text("/pkg/app/info.txt\n")
    manager = ExclusionManager(root)
    excluded = ["gen/a.py", "x.log.txt", "own/a.py", "info.txt"]
    assert [manager.should_exclude(path) for path in excluded] == [True] * 4
    assert [manager.should_exclude(path) for path in ("a.py", "gen2/a.py", "app/own/a.py")] == [False] * 3


@pytest.mark.requirement("000-47")
def test_a_root_that_the_work_tree_ignores_is_searched_all_the_same(tmp_path: Path) -> None:
    """The user has chosen the root, so a rule about the folders above it excludes nothing."""
    touch_files(tmp_path, ".git/HEAD", "sandbox/app/a.py").joinpath(".gitignore").write_text("/sandbox/\n")
    assert not ExclusionManager(tmp_path / "sandbox/app").should_exclude("a.py")


@pytest.mark.requirement("000-08")
def test_a_linked_worktree_shares_the_exclude_file(tmp_path: Path) -> None:
    """In a worktree `.git` is a file, and `info/exclude` lies in the common folder."""
    main, linked = tmp_path / "main", tmp_path / "linked"
    _create_repository(main)
    subprocess.run(["git", "-C", main, "worktree", "add", "-q", linked], check=True)
    (main / ".git/info/exclude").write_text("*.txt\n")
    assert ExclusionManager(linked).should_exclude("a.txt")


@pytest.mark.requirement("000-47")
def test_a_worktree_inside_the_project_is_another_tree(tmp_path: Path) -> None:
    """Its files are copies of the project's own."""
    _create_repository(tmp_path)
    subprocess.run(["git", "-C", tmp_path, "worktree", "add", "-q", tmp_path / "trees/fix"], check=True)
    found = ExclusionManager(tmp_path).explain("trees/fix/a.py")
    assert found is not None
    assert found.kind is ExclusionKind.WORKTREE
    assert ExclusionManager(tmp_path).get_excluded_paths("trees") == {Path("trees/fix")}


def _create_repository(top: Path) -> None:
    author = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    subprocess.run(["git", "init", "-q", top], check=True)
    subprocess.run(["git", "-C", top, *author, "commit", "-q", "--allow-empty", "-m", "Begin"], check=True)


# ---------------------------------------------------------------- includes and warnings


@pytest.mark.requirement("000-09", "B-06")
def test_an_include_stands_for_the_lines_of_a_file(tmp_path: Path) -> None:
    """In order, and anchored as if they stood in the including file."""
    touch_files(tmp_path, "shared/rules", "lib/a.py")
    (tmp_path / "shared/rules").write_text("/a.py\n!b.py\n")
    (tmp_path / "lib/.graphragignore").write_text("b.py\n :include:x\n:include: shared/rules \n*.txt\n")
    manager = ExclusionManager(tmp_path)
    answers = [manager.should_exclude(path) for path in ("lib/a.py", "a.py", "shared/a.py", "lib/b.py", "lib/c.txt")]
    assert answers == [True, False, False, False, True]
    assert manager.warnings == ()


@pytest.mark.requirement("000-09", "B-06")
@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("missing", "no such file"),
        (".graphragignore", "it is included already"),
        ("loop", "it is included already"),
        ("../outside", "outside the project root"),
        ("/etc/hosts", "outside the project root"),
        ("link", "outside the project root"),
        ("", "outside the project root"),
        ("folder", "not a regular file"),
    ],
)
def test_an_include_that_cannot_be_is_a_warning(target: str, reason: str, tmp_path: Path) -> None:
    """Missing, looping, outside: a warning with file and line, and the other rules stand."""
    root = tmp_path / "project"
    touch_files(tmp_path, "outside", "project/loop", "project/folder/x")
    (root / "link").symlink_to(tmp_path / "outside")
    (root / "loop").write_text(":include:loop\n")
    manager = ExclusionManager(write_files(root, graphragignore=f"*.a\n:include:{target}\n*.b.py\n"))
    (warning,) = manager.warnings
    assert warning.startswith("loop:1: " if target == "loop" else ".graphragignore:2: ")
    assert reason in warning
    assert manager.should_exclude("x.b.py")


@pytest.mark.requirement("B-06")
def test_includes_end_at_a_depth(tmp_path: Path) -> None:
    """Eight files deep is enough."""
    for depth in range(1, 11):
        (tmp_path / f"rules{depth}").write_text(f"file{depth}\n:include:rules{depth + 1}\n")
    manager = ExclusionManager(write_files(tmp_path, graphragignore=":include:rules1\n"))
    assert [manager.should_exclude(f"file{depth}") for depth in (1, 8, 9)] == [True, True, False]
    (warning,) = manager.warnings
    assert warning.startswith("rules8:2: ")


@pytest.mark.requirement("K-16")
def test_a_user_may_have_no_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a container, a process may run as a number that nobody has."""
    for name in ("HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", lambda number: {}[number])
    manager = ExclusionManager(write_files(tmp_path, gitignore="*.txt\n"))
    assert [manager.should_exclude(path) for path in ("a.txt", "a.py")] == [True, False]


def test_of_many_warnings_the_first_are_told(tmp_path: Path) -> None:
    """Bad input: a file of another kind in place of the rules."""
    manager = ExclusionManager(write_files(tmp_path, gitignore="x[\n" * 1_000))
    assert len(manager.warnings) == SHOWN_WARNINGS + 1
    assert manager.warnings[-1].startswith("980 more lines")


@pytest.mark.requirement("B-02")
def test_a_malformed_pattern_is_a_warning(tmp_path: Path) -> None:
    """With file and line; the other rules stand."""
    manager = ExclusionManager(write_files(tmp_path, gitignore="*.txt\nx[\n*.rst\n"))
    assert manager.warnings == (".gitignore:2: the pattern 'x[' can never match: a [ has no matching ]",)
    assert [manager.should_exclude(path) for path in ("a.txt", "a.rst", "x[")] == [True, True, False]


@pytest.mark.requirement("B-06")
def test_an_ignore_file_that_cannot_be_read_is_a_warning(tmp_path: Path) -> None:
    """A folder, a pipe's end or a symlink in its place is named and not waited for."""
    (tmp_path / ".gitignore").mkdir()
    (tmp_path / "rules").write_text("*\n")
    (tmp_path / ".graphragignore").symlink_to("rules")
    manager = ExclusionManager(tmp_path)
    assert manager.warnings == (
        ".gitignore: not read, it is not a regular file",
        ".graphragignore: not read, it is a symlink",
    )
    assert not manager.should_exclude("a.py")


@pytest.mark.requirement("B-07")
def test_an_ignore_file_need_not_be_utf8(tmp_path: Path) -> None:
    """Bytes are compared with bytes, and a byte order mark is skipped."""
    (tmp_path / ".gitignore").write_bytes(b"\xef\xbb\xbffirst\ncaf\xe9\n")
    manager = ExclusionManager(tmp_path)
    assert [manager.should_exclude(path) for path in ("first", "caf\udce9", "café")] == [True, True, False]


# ---------------------------------------------------------------- the answers


@pytest.mark.requirement("B-04")
def test_a_path_may_be_relative_or_absolute(tmp_path: Path) -> None:
    """With the root's symlinks or without, with dots, as str or as Path."""
    root = tmp_path / "real"
    root.mkdir()
    (tmp_path / "link").symlink_to(root)
    manager = ExclusionManager(tmp_path / "link")
    paths = ["dist/a.js", "./dist/a.js", "src/../dist//a.js", f"{root}/dist/a.js", f"{tmp_path}/link/src/../dist/a.js"]
    assert [manager.should_exclude(path) for path in paths] == [True] * 5
    assert [manager.should_exclude(Path(path)) for path in paths] == [True] * 5
    assert not manager.should_exclude(root / "src" / "a.js")


@pytest.mark.requirement("B-04")
def test_the_root_is_not_excluded_and_what_is_outside_is(tmp_path: Path) -> None:
    """No error, whatever the path."""
    manager = ExclusionManager(tmp_path)
    assert [manager.should_exclude(path, is_dir=True) for path in ("", ".", tmp_path, f"{tmp_path}/")] == [False] * 4
    outside = ["..", "../a.py", "a/../../b.py", "/", "/etc/hosts", f"{tmp_path}x/a.py", "a\0b"]
    assert [manager.should_exclude(path) for path in outside] == [True] * 7


@pytest.mark.requirement("B-04")
def test_a_deleted_file_gets_the_answer_it_had(tmp_path: Path) -> None:
    """Whether the path is a folder is told, not looked up."""
    manager = ExclusionManager(write_files(tmp_path, graphragignore="gone/\n"))
    assert manager.should_exclude("gone", is_dir=True)
    assert not manager.should_exclude("gone")
    assert manager.should_exclude("gone/a.py")


@pytest.mark.requirement("000-13", "000-20")
def test_an_exclusion_says_why(tmp_path: Path) -> None:
    """Kind, pattern, file and line."""
    touch_files(tmp_path, "lib/a.py")
    (tmp_path / "lib/.gitignore").write_text("# mine\n/a*\n")
    manager = ExclusionManager(tmp_path)
    assert manager.explain("lib/a.py") == Exclusion(ExclusionKind.IGNORED, "/a*", "lib/.gitignore", 2)
    assert str(manager.explain("lib/a.py")) == "ignored: /a* (lib/.gitignore:2)"
    assert str(manager.explain("x/node_modules/a.js")) == "default: node_modules/ (built-in defaults)"
    assert str(manager.explain(".env")) == "secret: .env* (built-in)"
    assert manager.explain("lib/b.py") is None


@pytest.mark.requirement("000-18")
def test_an_excluded_folder_is_reported_once(tmp_path: Path) -> None:
    """The folder stands for its content."""
    touch_files(tmp_path, "node_modules/a/b.js", "src/a.py", "src/a.tmp", "lib/build/c.o", "src/.env")
    manager = ExclusionManager(tmp_path)
    assert manager.get_excluded_paths(tmp_path) == {
        tmp_path / path for path in ("node_modules", "src/a.tmp", "lib/build", "src/.env")
    }
    assert manager.get_excluded_paths("src") == {Path("src/a.tmp"), Path("src/.env")}
    assert manager.get_excluded_paths("node_modules/a") == {Path("node_modules/a")}


@pytest.mark.requirement("K-16")
def test_a_change_of_a_rule_file_is_recognised(tmp_path: Path) -> None:
    """Ignore files at any depth, included files (missing ones too) and git's own; none in an excluded folder."""
    touch_files(tmp_path, ".git/HEAD", "pkg/src/a.py", "pkg/node_modules/x/.gitignore")
    (tmp_path / "pkg/.graphragignore").write_text(":include:rules/shared\nnode_modules/\n")
    manager = ExclusionManager(tmp_path / "pkg")
    rule_files = [".gitignore", "src/.gitignore", ".graphragignore", "new/.graphragignore", "rules/shared"]
    outer_files = ["../.gitignore", "../.git/info/exclude"]
    assert [manager.is_rule_file(tmp_path / "pkg" / path) for path in rule_files] == [True] * 5
    assert [manager.is_rule_file(path) for path in rule_files] == [True] * 5
    assert [manager.is_rule_file((tmp_path / "pkg" / path).resolve()) for path in outer_files] == [True] * 2
    others = ["a.py", "node_modules/x/.gitignore", "src/gitignore", "../other/.gitignore"]
    assert [manager.is_rule_file(path) for path in others] == [False] * 4


@pytest.mark.requirement("K-16")
def test_rules_are_read_again_on_demand(tmp_path: Path) -> None:
    """After `reload` a changed file counts, also one that was not there."""
    manager = ExclusionManager(tmp_path, IndexingSettings())
    assert manager.should_exclude("dist/a.js")
    write_files(tmp_path, graphragignore="*.py\n[\n")
    manager.reload()
    assert [manager.should_exclude(path) for path in ("dist/a.js", "a.py")] == [False, True]
    write_files(tmp_path, graphragignore="")
    manager.reload()
    assert not manager.should_exclude("a.py")
    assert manager.warnings == ()


@pytest.mark.requirement("B-04")
def test_a_very_deep_path_gets_an_answer(tmp_path: Path) -> None:
    """The depth of a path is not limited by the interpreter's stack."""
    assert not ExclusionManager(tmp_path).should_exclude("a/" * 1900 + "b.py")
