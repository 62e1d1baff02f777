"""Adds synonyms that developers use to a query: "auth" also looks for authentication, login and token.

Only the keyword index needs it: the vectors of synonyms are near each other, and an added word would move the query's.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import chain, islice

from graphrag_mcp.text.words import query_words

MAX_ADDED = 12
MAX_CHARACTERS = 512
_NUMBERED = re.compile(
    r"\b([A-Za-z]{2,})[-/](\d{1,4})\b"
)  # "HTTP/2", "UTF-8", "SHA-256": names write them as one word.

# A word and its synonyms: abbreviations, and the words that other teams use for the same thing.
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
    "licence": ("license",),
    "license": ("licence",),
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
    """Return at most MAX_ADDED stemmed terms to add to those of a query; none for more than MAX_CHARACTERS.

    more: synonyms by word, which replace those of SYNONYMS.
    """
    if len(text) > MAX_CHARACTERS:
        return ()
    known = dict(SYNONYMS) | {word.lower(): tuple(synonyms) for word, synonyms in more.items()}
    words = dict.fromkeys(word.strip(".,:;!?()'\"`").lower() for word in text.split())
    numbered = ["".join(parts).lower() for parts in _NUMBERED.findall(text)]
    synonyms = chain(numbered, chain.from_iterable(known.get(word, ()) for word in words))
    added = dict.fromkeys(term for synonym in synonyms for term in query_words(synonym))
    return tuple(islice((term for term in added if term not in terms), MAX_ADDED))
