"""Reads the settings of the service from environment variables, once, at start-up."""

import os
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class DatabaseSettings:
    """How the connection pool reaches Postgres."""

    url: str
    pool_min: int = 2
    pool_max: int = 10
    statement_timeout_ms: int = 5_000


@dataclass(frozen=True)
class AuthSettings:
    signing_keys: tuple[str, ...]
    token_minutes: int = 30
    password_rounds: int = 120_000


@dataclass(frozen=True)
class Settings:
    database: DatabaseSettings
    auth: AuthSettings
    reservation_minutes: int = 20
    rate_limit_per_minute: int = 120
    outbox_batch: int = 100
    log_level: str = "INFO"


class MissingSetting(RuntimeError):
    """A variable without a default is not set."""


def load_settings(environ: Mapping[str, str] = os.environ) -> Settings:
    """Return the settings; raises MissingSetting naming the first variable that has to be set and is not."""
    database = DatabaseSettings(
        url=_required(environ, "STOCKROOM_DATABASE_URL"),
        pool_min=_integer(environ, "STOCKROOM_POOL_MIN", 2),
        pool_max=_integer(environ, "STOCKROOM_POOL_MAX", 10),
        statement_timeout_ms=_integer(environ, "STOCKROOM_STATEMENT_TIMEOUT_MS", 5_000),
    )
    auth = AuthSettings(
        signing_keys=tuple(key for key in _required(environ, "STOCKROOM_SIGNING_KEYS").split(",") if key),
        token_minutes=_integer(environ, "STOCKROOM_TOKEN_MINUTES", 30),
    )
    return Settings(
        database=database,
        auth=auth,
        reservation_minutes=_integer(environ, "STOCKROOM_RESERVATION_MINUTES", 20),
        rate_limit_per_minute=_integer(environ, "STOCKROOM_RATE_LIMIT", 120),
        outbox_batch=_integer(environ, "STOCKROOM_OUTBOX_BATCH", 100),
        log_level=environ.get("STOCKROOM_LOG_LEVEL", "INFO"),
    )


def _required(environ: Mapping[str, str], name: str) -> str:
    value = environ.get(name, "")
    if not value:
        raise MissingSetting(f"{name} must be set")
    return value


def _integer(environ: Mapping[str, str], name: str, default: int) -> int:
    text = environ.get(name)
    if text is None or not text.strip():
        return default
    try:
        return int(text)
    except ValueError:
        raise MissingSetting(f"{name}={text!r} is not a whole number") from None
