"""Explains errors to users; no name of an exception is ever shown."""

import errno
import sqlite3

from filelock import Timeout

from graphrag_mcp.errors import GraphragError
from graphrag_mcp.stores.sqlite.database import is_busy, is_damage

REBUILD = "run `graphrag-mcp index`, which moves it aside and rebuilds it"
NO_MEMORY = "not enough memory; close other programs, or request less"
LOCKED = "the index file is locked by a database browser, a backup or a stopped process; end it, or retry in a moment"


def explain(error: BaseException) -> str:
    """Return what is wrong and what to do about it, in one sentence; "" for an unexpected error."""
    if isinstance(error, GraphragError):
        return str(error)
    if isinstance(error, sqlite3.Error):
        if is_busy(error):
            return LOCKED
        return f"{harm(error)}; {REBUILD if is_damage(error) else 'check the disk and its permissions, and try again'}"
    if isinstance(error, MemoryError):
        return NO_MEMORY
    if isinstance(error, Timeout):
        return f"{error.lock_file} is held by another graphrag-mcp, which does not answer (stopped?); end it"
    if isinstance(error, OSError) and error.strerror:
        name = f"{error.filename}: " if error.filename else ""
        advice = "make room" if error.errno == errno.ENOSPC else "check the disk and its permissions"
        return f"{name}{error.strerror}; {advice}, and try again"
    return ""


def harm(error: sqlite3.Error) -> str:
    """Return the state of the index file that an error shows."""
    return f"the index file {'is damaged' if is_damage(error) else 'cannot be read'} ({error})"
