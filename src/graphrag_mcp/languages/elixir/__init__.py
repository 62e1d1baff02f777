"""Elixir."""

from graphrag_mcp.languages.language import ImportStyle, Language

LANGUAGES = (
    Language(
        name="elixir",
        title="Elixir",
        grammar="tree_sitter_elixir",
        files=".ex .exs",
        imports=ImportStyle.SNAKE,
        interpreters="elixir",
        builtins="""
        moduledoc doc typedoc spec type behaviour impl callback defexception def defp defmodule defmacro
        defmacrop defstruct defprotocol defimpl defdelegate defguard alias import require use if unless case
        cond for with raise quote unquote is_nil is_list is_map is_binary is_atom to_string send
    """,
        clauses=True,
    ),
)
