"""Runs the stages of one file: what one of them raises costs that stage, and nothing else."""

import traceback
from collections.abc import Callable
from pathlib import PurePath
from typing import TypeVar

from graphrag_mcp.languages.syntax import SyntaxTimeoutError
from graphrag_mcp.model.files import Failure

Result = TypeVar("Result")


class Stages:
    """The failures of one file so far."""

    def __init__(self) -> None:
        self.failures: list[Failure] = []

    def run(self, stage: str, work: Callable[[], Result], otherwise: Callable[[], Result]) -> Result:
        """Return what the work gives; where it raises, keep the failure and do otherwise."""
        try:
            return work()
        except Exception as error:  # A file may hold anything, and must not end the run.
            self.failures.append(failure(stage, error))
        return otherwise()


def failure(stage: str, error: Exception) -> Failure:
    """Return the failure of a stage; its reason has no text of the file, which the error may quote."""
    if isinstance(error, SyntaxTimeoutError):
        return Failure(stage, str(error))
    *_, frame = traceback.extract_tb(error.__traceback__)
    return Failure(stage, f"{type(error).__name__} at {PurePath(frame.filename).name}:{frame.lineno}")
