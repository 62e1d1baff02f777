"""What a name alone can mean where it stands, in languages without facts: modules and functions hide what they have."""

from collections.abc import Mapping, Sequence

from graphrag_mcp.languages.language import Language
from graphrag_mcp.model.files import CALLABLE, SymbolKind
from graphrag_mcp.model.sources import Named
from graphrag_mcp.resolution.candidates import Candidate

_HIDING = (SymbolKind.MODULE, *CALLABLE)


class InSight:
    """The blocks of one file. named: its definitions by their qualified names."""

    def __init__(self, path: str, language: Language, named: Mapping[str, Sequence[Named]]) -> None:
        self._path, self._named = path, named
        self._has_blocks, self._roots = language.inner_modules, language.packages.split()
        self._outer = {name.rpartition(".")[0] for name in named}

    def block(self, name: str) -> str:
        """Return the module around a definition, or the function that has definitions, "" for the file.

        In all of it names mean the same.
        """
        name = name if self._has_blocks else ""
        while name and not any(
            each.kind is SymbolKind.MODULE or (each.kind in CALLABLE and name in self._outer)
            for each in self._named.get(name, ())
        ):
            name = name.rpartition(".")[0]
        return name

    def of(self, line: int, local: Sequence[Candidate]) -> Sequence[Candidate]:
        """Return the definitions of the file that a name on a line can mean: those of the innermost block."""
        if not self._has_blocks:
            return local
        in_sight: dict[int, list[Candidate]] = {}  # By the line in which the block begins, 0 for the file.
        for each in local:
            blocks = self._around(each.name)
            lines = [block.start_line for block in blocks if block.start_line <= line <= block.end_line]
            if (lines or not blocks) and not self.is_hidden(line, each):
                in_sight.setdefault(max(lines, default=0), []).append(each)
        return in_sight[max(in_sight)] if in_sight else ()

    def is_hidden(self, line: int, each: Candidate) -> bool:
        """Return whether a name on a line cannot mean a definition of the file: one in a function, or `Self::Error`."""
        if not self._has_blocks or each.path != self._path:
            return False
        outer, blocks = self._named.get(each.name.rpartition(".")[0], ()), self._around(each.name)
        if each.kind is SymbolKind.TYPE and any(around.kind is SymbolKind.TYPE for around in outer):
            return True
        is_inside = any(block.start_line <= line <= block.end_line for block in blocks)
        return bool(blocks) and not is_inside and all(block.kind in CALLABLE for block in blocks)

    def beside(self, module: str, possible: Sequence[Candidate]) -> Sequence[Candidate]:
        """Return what a name means in the package of the file, or by its import from a module."""
        packages = (module, module.rpartition("/")[0]) if module else (self._package(self._path),)
        top = (each for each in possible if self._roots and "." not in each.name)
        return [each for each in top if self._package(each.path) in packages]

    def _package(self, path: str) -> str:
        folders = path.split("/")[:-1]
        first = next((place + 1 for place, folder in enumerate(folders) if folder in self._roots), 0)
        return "/".join(folders[first:]) if self._roots != ["*"] else ""

    def _around(self, name: str) -> Sequence[Named]:
        """Return the innermost module or function around a definition."""
        while name := name.rpartition(".")[0]:
            if blocks := [each for each in self._named.get(name, ()) if each.kind in _HIDING]:
                return blocks
        return ()
