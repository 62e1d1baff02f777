"""The requests of the page: one model for each, validated as a tool's arguments are."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from graphrag_mcp.stores.sqlite.inventory import FileOrder

LONGEST_TEXT = 1_000


class Question(BaseModel):
    """The base of all requests."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class ToolQuestion(Question):
    """A call of a tool, by its name and its arguments."""

    tool: str = Field("graphrag_hybrid_search", max_length=100)
    arguments: dict[str, Any]


class FileQuestion(Question):
    """An indexed file."""

    path: str = Field(min_length=1, max_length=LONGEST_TEXT)


class DiffQuestion(Question):
    """What differs from a branch, a commit or in a range; "" for what is checked out."""

    base: str = Field("", max_length=LONGEST_TEXT)


class GraphQuestion(Question):
    """The neighbourhood of a symbol: by its name, or by the path and line of a result."""

    symbol: str = Field("", max_length=LONGEST_TEXT)
    path: str = Field("", max_length=LONGEST_TEXT)
    line: int = Field(0, ge=0, le=100_000_000)
    hops: int = Field(1, ge=1, le=3)
    limit: int = Field(40, ge=2, le=150)
    exclude_archived: bool = False


class _PageQuestion(Question):
    text: str = Field("", max_length=LONGEST_TEXT)
    page: int = Field(1, ge=1, le=1_000_000)
    size: int = Field(50, ge=1, le=500)

    @property
    def first(self) -> int:
        return (self.page - 1) * self.size


class FilesQuestion(_PageQuestion):
    """A page of the indexed files."""

    language: str = Field("", max_length=100)
    category: str = Field("", max_length=100)
    archived: Literal["all", "active", "archived"] = "all"
    order: FileOrder = "path"
    descending: bool = False


class SkippedQuestion(_PageQuestion):
    """A page of the files that were left out."""

    reason: str = Field("", max_length=LONGEST_TEXT)


class NoQuestion(Question):
    """A request that takes no arguments."""
