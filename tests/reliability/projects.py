"""Projects that are edited at random, the same way for the same seed."""

import os
import random
from pathlib import Path

VERBS = ["open", "close", "read", "write", "merge", "split", "rank", "index", "parse", "store", "load", "send"]
NOUNS = ["cookie", "session", "token", "chunk", "vector", "graph", "file", "query", "result", "branch", "lock", "page"]
SETTLED = 1_700_000_000  # Old enough that a file's time is believed.


class Project:
    """A folder of Python files, edited by chance."""

    def __init__(self, root: Path, files: int, seed: int = 0) -> None:
        """Write the files."""
        self.root = root
        self._chance = random.Random(seed)
        self._clock = SETTLED
        self._next = 0
        self.paths: list[Path] = []
        root.mkdir(parents=True, exist_ok=True)
        for _ in range(files):
            self.add()

    def edit(self) -> Path:
        """Change one file: as a rule a line of it, sometimes all, its name, or that it exists."""
        kind = self._chance.random()
        if kind < 0.1 or len(self.paths) < 3:
            return self.add()
        path = self._chance.choice(self.paths)
        if kind < 0.2:
            self.paths.remove(path)
            path.unlink()
        elif kind < 0.3:
            self.paths.remove(path)
            self.paths.append(path.rename(path.with_name(f"moved_{self._next}.py")))
            self._next += 1
        elif kind < 0.4:
            self._write(path, self._module())
        else:
            lines = path.read_text().split("\n")
            place = self._chance.randrange(len(lines))
            lines[place : place + self._chance.randint(0, 1)] = [f"# {self._words()} {self._chance.random()}"]
            self._write(path, "\n".join(lines))
        return path

    def add(self) -> Path:
        """Write a new file, in one of a few folders."""
        path = self.root / self._chance.choice(["", "core", "core/deep", "tests"]) / f"module_{self._next}.py"
        self._next += 1
        path.parent.mkdir(parents=True, exist_ok=True)
        self._write(path, self._module())
        self.paths.append(path)
        return path

    def _write(self, path: Path, text: str) -> None:
        path.write_text(text)
        self._clock += 1
        os.utime(path, (self._clock, self._clock))

    def _module(self) -> str:
        functions = [
            f"def {self._words('_')}(value):\n" + "".join(f"    value = {self._words('_')}(value)\n" for _ in range(6))
            for _ in range(self._chance.randint(2, 8))
        ]
        return f'"""About {self._words()}."""\n\n\n' + "\n\n".join(functions)

    def _words(self, joint: str = " ") -> str:
        return joint.join([self._chance.choice(VERBS), self._chance.choice(NOUNS), str(self._chance.randint(0, 99))])
