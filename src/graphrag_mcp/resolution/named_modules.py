"""Which files a module stands for, in languages without facts: by manifests, else by the ends of paths."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice

from graphrag_mcp.languages.language import ImportStyle, Language
from graphrag_mcp.model.files import MACRO, Relation, RelationKind
from graphrag_mcp.model.grouping import grouped
from graphrag_mcp.model.sources import Keyed
from graphrag_mcp.resolution.reads import PASSED_ON, Reads

MOST_HEADERS = 300  # More headers of one file are not followed.
MOST_PASSING = 20  # Files that pass one name on.
MOST_PLACES = 20  # Of one module, by manifests.
MOST_SEGMENTS = 20  # Of the name that a manifest gives a place.
NAMESPACES = 2  # Of more the first has no folder, where no manifest says otherwise.


class NamedModules:
    """The modules that one file names."""

    def __init__(self, source: Reads, path: str, language: Language) -> None:
        self._source, self._path, self._language = source, path, language
        self._passed: dict[str, Mapping[str, Sequence[str]]] = {}

    @cached_property
    def included(self) -> Collection[str]:
        """The headers that the file includes, and those that these do."""
        files: dict[str, None] = {}
        level = [self._path] if self._language.headers else []
        while level and len(files) < MOST_HEADERS:
            headers = [path for near in level for path in self._headers(near) if path not in files]
            files |= dict.fromkeys(headers)
            level = headers
        return files

    def _headers(self, path: str) -> Iterator[str]:
        """Yield the headers that a file includes itself, by their whole names."""
        self._source.note(path, PASSED_ON)
        for relation in self._source.outline(path):
            for file in self._source.keyed(relation.target_module) if relation.kind is RelationKind.IMPORTS else ():
                if f"/{file.path}".endswith(f"/{relation.target}"):
                    yield file.path

    def of(self, relation: Relation) -> Collection[str]:
        """Return the files that the module of a relation stands for, and those from which these import it."""
        if relation.target_module in ("", MACRO):
            return ()
        modules = {file.path: None for file in self.named(relation.target_module)}
        name = relation.owner.rstrip(":?").rpartition(".")[2] or relation.target
        level = [*modules]
        while level and len(modules) < MOST_PASSING:
            for path in level:
                self._source.note(path, PASSED_ON, name)
            passed = (module for path in level for module in self._passed_on(path).get(name, ()))
            found = {file.path: None for module in islice(passed, MOST_PASSING) for file in self.named(module)}
            level = [path for path in found if path not in modules]
            modules |= found
        return modules

    def _passed_on(self, path: str) -> Mapping[str, Sequence[str]]:
        """Return the modules from which a file imports names, by these."""
        if path not in self._passed:
            self._passed[path] = grouped(
                (relation.target, relation.target_module)
                for relation in self._source.outline(path)
                if relation.kind is RelationKind.IMPORTS and relation.target_module
            )
        return self._passed[path]

    def is_own(self, module: str) -> bool:
        """Return whether a module is of the project: by its path, or by a manifest that has its first part."""
        first = module.partition("/")[0]
        return not first or first in self._source.homes(self._language.manifests)

    def named(self, module: str) -> Sequence[Keyed]:
        """Return the files of a module: where a manifest says, else those whose paths end so."""
        parts = module.split("/")
        homes = self._source.homes(self._language.manifests)
        for count in range(min(len(parts), MOST_SEGMENTS), -1, -1) if homes else ():
            if places := homes.get("/".join(parts[:count])):
                keys = ["/" + "/".join(filter(None, (place, *parts[count:]))) for place in places[:MOST_PLACES]]
                return [file for key in dict.fromkeys(keys) for file in self._source.keyed(key)]
        is_namespace = self._language.imports is ImportStyle.NAMESPACE and len(parts) > NAMESPACES
        return self._source.keyed("/".join(parts[1:]) if is_namespace else module)
