"""Adds to a query what developers call the same thing: "auth" also looks for authentication, login and token.

Only the keyword index needs it: the vectors know what is alike, and an added word would move the query's own meaning.
"""

from collections.abc import Mapping, Sequence
from itertools import islice

from graphrag_mcp.text.words import query_words

MAX_ADDED = 12
MAX_CHARACTERS = 512

# A word and what stands for it elsewhere: abbreviations, and the words that one team's code has for another's.
SYNONYMS: Mapping[str, tuple[str, ...]] = {
    "admin": ("administrator",),
    "api": ("endpoint", "route", "handler"),
    "arg": ("argument", "parameter"),
    "async": ("asynchronous", "await", "concurrent"),
    "auth": ("authentication", "authorization", "login", "token"),
    "authentication": ("auth", "login"),
    "authorization": ("auth", "permission"),
    "bug": ("error", "fix", "issue"),
    "cache": ("memoize", "ttl", "invalidate"),
    "ci": ("workflow", "pipeline", "continuous"),
    "cli": ("command", "argv", "argparse"),
    "config": ("configuration", "settings", "options"),
    "configuration": ("config", "settings"),
    "conn": ("connection",),
    "ctx": ("context",),
    "db": ("database", "sql", "connection"),
    "database": ("db", "sql"),
    "delete": ("remove", "destroy"),
    "dep": ("dependency",),
    "deps": ("dependencies",),
    "dir": ("directory", "folder"),
    "directory": ("dir", "folder"),
    "docs": ("documentation",),
    "email": ("mail", "smtp"),
    "env": ("environment", "variable"),
    "err": ("error", "exception"),
    "error": ("exception", "failure", "err"),
    "exception": ("error", "raise"),
    "fetch": ("request", "load", "get"),
    "func": ("function",),
    "http": ("request", "response", "client"),
    "i18n": ("internationalization", "locale", "translation"),
    "impl": ("implementation",),
    "init": ("initialize", "setup", "constructor"),
    "jwt": ("token", "claims"),
    "k8s": ("kubernetes",),
    "log": ("logger", "logging"),
    "login": ("auth", "signin", "session"),
    "middleware": ("interceptor", "filter"),
    "msg": ("message",),
    "orm": ("model", "entity", "query"),
    "param": ("parameter", "argument"),
    "perf": ("performance",),
    "permission": ("authorization", "role", "access"),
    "queue": ("job", "worker", "task"),
    "regex": ("pattern", "regexp"),
    "repo": ("repository",),
    "req": ("request",),
    "res": ("response",),
    "retry": ("backoff", "attempt"),
    "schema": ("model", "validation"),
    "serialize": ("encode", "dump", "marshal"),
    "deserialize": ("decode", "parse", "unmarshal"),
    "ssl": ("tls", "certificate"),
    "tls": ("ssl", "certificate"),
    "ui": ("interface", "view", "component"),
    "url": ("uri", "link"),
    "validate": ("check", "verify"),
    "ws": ("websocket",),
}


def expand(text: str, terms: Sequence[str], more: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return the stemmed terms to add to those of a query, at most MAX_ADDED; none for a text that is a page long.

    `more` adds to SYNONYMS, or replaces an entry of it.
    """
    if len(text) > MAX_CHARACTERS:
        return ()
    known = dict(SYNONYMS) | {word.lower(): tuple(synonyms) for word, synonyms in more.items()}
    said = dict.fromkeys(word.strip(".,:;!?()'\"`").lower() for word in text.split())
    added = dict.fromkeys(term for word in said for synonym in known.get(word, ()) for term in query_words(synonym))
    return tuple(islice((term for term in added if term not in terms), MAX_ADDED))
