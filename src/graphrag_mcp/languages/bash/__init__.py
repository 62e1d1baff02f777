"""Bash, and the other shells of its kind."""

from graphrag_mcp.languages.language import ImportStyle, Language

LANGUAGES = (
    Language(
        name="bash",
        title="Bash",
        grammar="tree_sitter_bash",
        files=".sh .bash .zsh .ksh .bats .bashrc .zshrc .bash_profile .profile PKGBUILD",
        imports=ImportStyle.PATH,
        interpreters="sh bash zsh ksh dash ash bats",
        ascii_only=True,  # tree-sitter-bash, issue 337
        builtins="""
        echo printf cd test set unset export local declare readonly return exit shift eval exec trap read source
        cat grep sed awk rm mkdir cp mv ls true false let type command builtin wait kill
    """,
        test_prefix=False,
    ),
)
