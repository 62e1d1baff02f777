"""How an answer says what to ask next: by the tools and arguments of MCP, or by the commands of the shell."""

from dataclasses import dataclass

_COMMANDS = {
    "find_history": "history",
    "find_occurrences": "grep",
    "find_symbol": "find",
    "graphrag_hybrid_search": "search",
    "index_status": "status",
    "trace_relations": "trace",
}
_OPTIONS = {"exclude_archived=false": "--include-archived"}


@dataclass(frozen=True, slots=True)
class Asking:
    """The words of one way to call a tool."""

    in_shell: bool = False

    def tool(self, name: str, argument: str = "") -> str:
        """Return how a tool is called, with at most one argument, such as "unresolved=true"."""
        command = f"graphrag-mcp {_COMMANDS[name]}" if self.in_shell else name
        return f"{command} {self.argument(argument)}" if argument else command

    def argument(self, argument: str) -> str:
        """Return how an argument such as "hops=3" is given; of a name alone, what it is called."""
        if not self.in_shell:
            return argument
        name, _, value = argument.partition("=")
        option = _OPTIONS.get(argument, f"--{name.replace('_', '-')}")
        return option if value in ("", "true", "false") else f"{option} {value}"


MCP = Asking()
SHELL = Asking(in_shell=True)
