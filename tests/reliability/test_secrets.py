"""Secrets are planted in files that are indexed otherwise: none is in the bytes of the index, none in an answer."""

import json
import random
import string
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from graphrag_mcp.app.local import App
from graphrag_mcp.model.search import SearchRequest
from graphrag_mcp.settings import load_settings
from graphrag_mcp.text.source import MASKED, Text, read_text
from graphrag_mcp.tools.index_status import render_status
from graphrag_mcp.tools.search_answer import render, search_payload
from tests.reliability.conftest import Report, Size
from tests.waiting import HANG_SECONDS

PIECE = 12  # Characters of a secret that must not be seen: fewer could be a word.
_KEY = 8  # Bytes that numpy compares at once.
_UPPER, _LOWER, _DIGITS = string.ascii_uppercase, string.ascii_lowercase, string.digits
_WORD = _UPPER + _LOWER + _DIGITS
_BASE64 = _WORD + "+/"
_HEX = "0123456789abcdef"
_DJANGO = _LOWER + _DIGITS + "!@#$%^&*(-_=+)"


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret as it stands in a file, and the part of it that nobody can guess."""

    form: str
    text: str
    random: str


def test_no_planted_secret_is_in_the_index_or_in_an_answer(tmp_path: Path, size: Size, report: Report) -> None:
    """Every form, in every kind of file, in strings, comments and texts of many lines."""
    leaks, planted = [], 0
    for seed in range(size(1, 20)):
        files = dict(_plant(random.Random(seed)))
        secrets = [secret for _, found in files.values() for secret in found]
        assert len({secret.form for secret in secrets}) > 40
        planted += len(secrets)
        leaks += _index_and_look(tmp_path / str(seed), files)
    report("planted secrets", planted=planted, forms=len(_FORMS), leaked=len(leaks))
    assert planted >= 100
    assert leaks == []


def test_no_secret_in_a_hard_place_is_in_the_index_or_in_an_answer(tmp_path: Path, report: Report) -> None:
    """Escaped, encrypted, without quotes, or wrapped by what stands around them."""
    files = dict(_plant_in_hard_places(random.Random(7)))
    leaks = _index_and_look(tmp_path, files)
    report("secrets in hard places", planted=len(files), leaked=len(leaks))
    assert leaks == []


def test_the_search_for_leaks_finds_them(tmp_path: Path) -> None:
    """Without the masking, what the tests above look for would be there; so they can fail."""
    rng = random.Random(3)
    secrets = [Secret(str(number), value, value) for number in range(20) for value in (_pick(rng, _WORD, 20),)]
    text = "\n".join(f"def f{number}():\n    return {one.text}\n" for number, one in enumerate(secrets))
    assert len(_index_and_look(tmp_path, {"open.py": (text, tuple(secrets))})) >= len(secrets)


def _named_values() -> Mapping[str, Callable[[random.Random], tuple[str, str]]]:
    """Return lines that set a secret, whose name alone tells it, and the value."""

    def line(text: str, characters: str, count: int) -> Callable[[random.Random], tuple[str, str]]:
        def make(rng: random.Random) -> tuple[str, str]:
            value = _pick(rng, characters, count)
            return text.format(value), value

        return make

    def dotted(rng: random.Random) -> tuple[str, str]:
        value = ".".join(_pick(rng, _WORD + "-_", count) for count in (26, 6, 38))
        return f"DISCORD_TOKEN={value}", value

    return {
        "Django": line("SECRET_KEY = '{}'", _DJANGO, 50),
        "Django's beginning": line("SECRET_KEY = 'django-insecure-{}'", _DJANGO, 50),
        "AWS session": line("aws_session_token = {}", _BASE64, 356),
        "Rails": line('secret_key_base: "{}"', _HEX, 256),
        "hexadecimal": line('API_KEY = "{}"', _HEX, 32),
        "hexadecimal bare": line("API_KEY={}", _HEX, 32),
        "dotted": dotted,
        "marks": line("DB_PASSWORD={}", _WORD + "!@#%^*", 24),
        "marks in a tag": line("<password>{}</password>", _WORD + "!@#%^*", 24),
        "marks in a URL": line("postgres://app:{}@db.internal/app", _WORD + "!$*()", 20),
    }


@pytest.mark.parametrize("form", _named_values())
def test_random_values_of_telling_names_are_masked(form: str) -> None:
    """But for those few of a thousand that have no digit, or look like words by chance."""
    rng = random.Random(form)
    lines = [_named_values()[form](rng) for _ in range(1000)]
    kept = [value for text, value in lines if value[-PIECE:] in _read(f"{text}\n")]
    assert len(kept) <= 50


@pytest.mark.parametrize("value", ["gurQ0Eio9Pdn7MgWreqQxwpO", "owEqkoTeqcGbspRtkUuEK6UU", "hihtQL0UizO3Zuhsc9MT0JSS"])
def test_what_looks_like_humps_by_chance_is_random(value: str) -> None:
    """One of a hundred random values does."""
    assert value not in _read(f'api_key = "{value}"\n')
    assert "getUserAccessToken2" in _read('token_key = "getUserAccessToken2"\n')


def test_what_is_masked_names_nothing() -> None:
    """What stands behind it stays: no reader could tell why it went, and masking again changes nothing."""
    for secret in ("SG." + "a1B2c3D4e5F6g7H8." * 2, "ghp_" + "a1B2c3D4e5F6" * 3, "key = 'a1B2c3D4e5F6g7H8i9'"):
        for end in (' = "gurQ0Eio9Pdn7MgWreqQxwpO"\n', '"gurQ0Eio9Pdn7MgWreqQxwpO"\n'):
            masked = _read(f"aws_secret_key = {secret}{end}")
            assert masked.endswith(end)
            assert _read(masked) == masked
    once = _read(f'aws_secret_key = "{"a1B2c3D4e5Fvg7H8i9J0" * 2}_key = "{"gurQ0Eio9Pdn7MgWreqQ" * 2}"\n')
    assert _read(once) == once == f'aws_secret_key = "[secret: AWS secret key]_key = "{"gurQ0Eio9Pdn7MgWreqQ" * 2}"\n'


@pytest.mark.parametrize("value", ["[a-", "<a", "{a", "a1.", "a.b(", "ab/", "aB1", "token=", "&a", "0a", "$A", "%(a"])
def test_long_values_of_telling_names_are_read_in_little_time(value: str) -> None:
    """A quarter of a megabyte of them, on one line and on lines as long as a secret may be."""
    for length in (250_000, 4000):
        text = ("token=" + value * (length // len(value)) + "\n") * (250_000 // length)
        started = time.process_time()
        _read(text)
        _read(text.replace("=", "='", 1).replace("\n", "'\n"))
        assert time.process_time() - started < HANG_SECONDS  # Quadratic time would be hours.


def test_files_that_are_secret_by_their_name_are_not_read(tmp_path: Path) -> None:
    """Whatever stands in them."""
    rng = random.Random(11)
    names = (
        *(".env", ".env.local", "prod.env", "id_rsa", "keys/id_ed25519", "server.pem", "tls/server.key", ".npmrc"),
        *(".pypirc", ".netrc", ".pgpass", ".git-credentials", ".htpasswd", "credentials.json", "secrets.yaml", "a.ppk"),
        *("app-service-account.json", "client_secret_1.json", ".aws/config", ".docker/config.json", ".kube/config"),
        *("terraform.tfstate", ".ssh/config", ".gnupg/gpg.conf", "vpn.ovpn", "ID_RSA", "Server.PEM", "secrets.toml"),
    )
    files = {}
    for name in names:
        value = _pick(rng, _WORD, 24)
        files[name] = (f"some_value {value}\n", (Secret(name, value, value),))
    assert _index_and_look(tmp_path, files) == []


def test_lines_stay_where_they_are(size: Size) -> None:
    """What is masked has as many lines as before, and the other lines are the same."""
    masked = 0
    for seed in range(size(2, 50)):
        rng = random.Random(seed)
        for name, (text, secrets) in (*_plant(rng), *_plant_in_hard_places(rng)):
            before, after = text.split("\n"), _read(text).split("\n")
            assert len(after) == len(before), name
            pieces = [
                secret.random[at : at + PIECE] for secret in secrets for at in range(0, len(secret.random), PIECE)
            ]
            for old, new in zip(before, after, strict=True):
                touched = any(piece in old for piece in pieces)
                masked += touched and old != new
                kept = (
                    old.endswith(new) or "[secret: private key]" in new
                )  # Of a key's frame, the margin may go with it.
                assert touched or old == new or ("PRIVATE KEY" in text and kept), (name, old, new)
    assert masked > 100


def test_what_only_looks_like_a_secret_stays(tmp_path: Path, report: Report) -> None:
    """Placeholders, names, hashes, classes, images and texts are what a reader looks for."""
    masked = [line for line in _HARMLESS if _read(f"{line}\n") != f"{line}\n"]
    files = {
        f"harmless/f{number}.{ending}": (f"{line}\n", ()) for number, (ending, line) in enumerate(_harmless_files())
    }
    _write(tmp_path / "project", files)
    with closing(_open(tmp_path)) as app:
        app.index()
        notes = [note for note in app.status().fallbacks if MASKED in note]
    report("harmless look-alikes", count=len(_HARMLESS), masked=len(masked))
    assert len(_HARMLESS) >= 60
    assert masked == []
    assert notes == []


# ---------------------------------------------------------------- forms


def _pick(rng: random.Random, characters: str, count: int) -> str:
    """Return random characters, among them a digit and letters, as every issuer's are sooner or later."""
    while True:
        picked = "".join(rng.choice(characters) for _ in range(count))
        if any(one.isdigit() for one in picked) or not any(one.isdigit() for one in characters):
            return picked


def _token(prefix: str, characters: str, count: int) -> Callable[[random.Random], tuple[str, str]]:
    def make(rng: random.Random) -> tuple[str, str]:
        value = _pick(rng, characters, count)
        return prefix + value, value

    return make


def _json_web_token(rng: random.Random) -> tuple[str, str]:
    head, body, signature = (_pick(rng, _WORD + "-_", count) for count in (30, 80, 43))
    return f"eyJ{head}.eyJ{body}.{signature}", signature


def _url(scheme: str, user: str = "app") -> Callable[[random.Random], tuple[str, str]]:
    def make(rng: random.Random) -> tuple[str, str]:
        value = _pick(rng, _WORD, 20)
        return f"{scheme}://{user}:{value}@db.internal:5432/app", value

    return make


# The literals are cut in two, so that no scanner takes this file for what it tests.
_FORMS: dict[str, Callable[[random.Random], tuple[str, str]]] = {
    **{f"AWS access key {p}": _token(p + "IA", _UPPER + "234567", 16) for p in ("AK", "AS")},
    **{f"GitHub gh{kind}": _token(f"gh{kind}" + "_", _WORD, 36) for kind in "pousr"},
    "GitHub long": _token("gh" + "p_", _WORD, 200),
    "GitHub fine-grained": _token("github" + "_pat_", _WORD, 82),
    **{f"GitLab {kind}": _token(f"gl{kind}" + "-", _WORD + "-_", 20) for kind in ("pat", "rt", "dt")},
    **{f"Slack {kind}": _token(f"xox{kind}" + "-1234567890-", _WORD, 24) for kind in "abeoprs"},
    "Slack webhook": _token("https://hooks.slack" + ".com/services/", _WORD, 44),
    **{f"Stripe {kind}": _token(kind + "_", _WORD, 24) for kind in ("sk_" + "live", "sk_" + "test", "rk_" + "live")},
    "OpenAI": _token("sk" + "-", _WORD, 48),
    "OpenAI project": _token("sk" + "-proj-", _WORD + "-_", 80),
    "Anthropic": _token("sk" + "-ant-api03-", _WORD + "-_", 93),
    "OpenRouter": _token("sk" + "-or-v1-", _HEX, 64),
    "Google API": _token("AI" + "za", _WORD + "-_", 35),
    "Google client": _token("GOC" + "SPX-", _WORD + "-_", 28),
    "Google access": _token("ya29" + ".", _WORD + "-_", 60),
    "npm": _token("npm" + "_", _WORD, 36),
    "PyPI": _token("pypi" + "-AgEIcHlwaS5vcmc", _WORD + "-_", 120),
    "SendGrid": lambda rng: (f"SG.{(a := _pick(rng, _WORD, 22))}.{(b := _pick(rng, _WORD, 43))}", f"{a}.{b}"),
    "Hugging Face": _token("hf" + "_", _WORD, 34),
    **{f"DigitalOcean {kind}": _token(f"do{kind}" + "_v1_", _HEX, 64) for kind in "opr"},
    **{f"Shopify {kind}": _token(f"shp{kind}" + "_", _HEX, 32) for kind in ("at", "ca", "pa", "ss")},
    "Telegram": _token("1234567890:" + "AA", _WORD + "-_", 33),
    "Azure storage": _token("DefaultEndpointsProtocol=https;AccountName=app;Account" + "Key=", _BASE64, 86),
    "Azure bus": _token("Endpoint=sb://app.servicebus.windows.net/;SharedAccess" + "Key=", _BASE64, 43),
    "JSON web token": _json_web_token,
    **{f"URL {scheme}": _url(scheme) for scheme in ("postgres", "mysql", "mongodb+srv", "amqp", "https")},
    "URL without user": _url("redis", ""),
}
_NAMES = (
    *("password", "DB_PASSWORD", "db_passwd", "clientSecret", "client_secret", "api_key", "apiKey", "API-KEY"),
    *("access_key", "accessKey", "auth_token", "refreshToken", "token", "credentials", "private_key", "secret_value"),
)


def _make(form: str, rng: random.Random) -> Secret:
    text, value = _FORMS[form](rng)
    return Secret(form, text, value)


def _key_block(rng: random.Random, kind: str, lines: int, header: str = "") -> tuple[str, str]:
    """Return a private key in its frame, and its body."""
    body = [_pick(rng, _BASE64, 64) for _ in range(lines)] + [_pick(rng, _BASE64, 38) + "=="]
    block = " BLOCK" if kind == "PGP" else ""
    label = f"{kind} PRIVATE KEY{block}".strip()
    text = "\n".join([f"-----BEGIN {label}-----", *([header] if header else []), *body, f"-----END {label}-----"])
    return text, "\n".join(body)


# ---------------------------------------------------------------- files


Planted = tuple[str, tuple[Secret, ...]]

# Where a value stands in files of each kind; `{}` is the value.
_PLACES = {
    "py": (
        "VALUE = '{}'",
        'client = Client("{}", retries=3)',
        "# until May it was {}",
        'TEXT = """\n  use {} here\n"""',
    ),
    "js": ("const value = `{}`;", "// {}", "fetch(url, {{headers: {{'x-auth': '{}'}}}});"),
    "ts": ('export const value: string = "{}";', "/** for example {} */"),
    "go": ('var value = "{}"', "// see {}", "const raw = `{}`"),
    "rs": ('const VALUE: &str = "{}";', "/// {}"),
    "yaml": ("value: {}", 'value: "{}"', "# {}", "values:\n  - {}"),
    "toml": ('value = "{}"', "# {}"),
    "json": ('{{"value": "{}"}}', '{{"list": ["a", "{}"]}}'),
    "md": ("Use `{}` to log in.", "    curl -H 'Authorization: Bearer {}'", "| key | {} |"),
    "ini": ("[main]\nvalue={}", "; {}"),
    "sh": ("export VALUE={}", 'curl -u "{}" https://example.org', "# {}"),
    "Dockerfile": ("FROM python\nENV VALUE={}", "FROM python\nARG VALUE={}\n"),
    "ipynb": (
        '{{"cells": [{{"cell_type": "code", "source": ["value = \'{}\'\\n"], "outputs": []}}]}}',
        '{{"cells": [{{"cell_type": "code", "source": [], "outputs": [{{"text": ["{}\\n"]}}]}}]}}',
    ),
    "txt": ("The value is {}.", "<{}>", "({}),"),
}


def _plant(rng: random.Random) -> Iterator[tuple[str, Planted]]:
    """Yield names of files with their texts and the secrets in them."""
    kinds = list(_PLACES)
    forms = [*_FORMS] * 2
    for number, form in enumerate(forms):
        kind = kinds[(number + number // len(kinds)) % len(kinds)]
        secret = _make(form, rng)
        yield _file(kind, f"form{number}"), _around(kind, rng.choice(_PLACES[kind]).format(secret.text), secret)
    for number, name in enumerate(_NAMES):
        value = _pick(rng, _WORD, 24)
        secret = Secret(f"value of {name}", value, value)
        places = {
            "py": f"settings = {{'{name}': '{value}'}}",
            "ts": f'const options = {{ "{name}": "{value}" }};',
            "yaml": f'{name}: "{value}"',
            "json": f'{{"{name}": "{value}"}}',
            "go": f'{name.replace("-", "_")} := "{value}"',
            "sh": f"export {name.replace('-', '_')}='{value}'",
        }
        kind = list(places)[number % len(places)]
        yield _file(kind, f"named{number}"), _around(kind, places[kind], secret)
    value = _pick(rng, _BASE64, 40)
    aws = Secret("AWS secret", value, value)
    for number, line in enumerate((f"aws_secret_access_key = {value}", f'AWS_SECRET_ACCESS_KEY: "{value}"')):
        yield f"src/aws{number}.ini", _around("ini", line, aws)
    yield from _plant_keys(rng)


def _plant_keys(rng: random.Random) -> Iterator[tuple[str, Planted]]:
    for kind, lines in (("RSA", 25), ("EC", 3), ("OPENSSH", 6), ("DSA", 10), ("", 26), ("PGP", 30), ("ENCRYPTED", 20)):
        text, body = _key_block(rng, kind, lines)
        secret = Secret(f"key {kind}", text, body)
        name = kind.lower() or "plain"
        indented = text.replace("\n", "\n    ")
        escaped = text.replace("\n", "\\n")
        quoted = "\n".join(f'    "{line}\\n"' for line in text.split("\n"))
        yield f"src/{name}.md", _around("md", f"```\n{text}\n```", secret)
        yield f"src/{name}.yaml", _around("yaml", f"key: |\n    {indented}", secret)
        yield f"src/{name}.json", _around("json", f'{{"private_key": "{escaped}\\n"}}', secret)
        yield f"src/{name}.py", _around("py", f"KEY = (\n{quoted}\n)", secret)
        yield f"src/{name}.go", _around("go", f"const key = `{text}`", secret)
        yield f"src/{name}_comment.sh", _around("sh", "# " + text.replace("\n", "\n# "), secret)


def _plant_in_hard_places(rng: random.Random) -> Iterator[tuple[str, Planted]]:
    """Yield one secret a file, each in a place that a simple pattern misses."""

    def value() -> str:
        return _pick(rng, _WORD, 24)

    def planted(file: str, form: str, line: str, secret: str) -> tuple[str, Planted]:
        return f"hard/{file}", _around(file.rpartition(".")[2], line, Secret(form, secret, secret))

    one = value()
    yield planted("quotes.ipynb", "escaped quotes", f'{{"source": ["password = \\"{one}\\"\\n"]}}', one)
    one = value()
    yield planted("shell.py", "escaped quotes in a string", f'run("curl -d \\"token={one}\\" https://x.io")', one)
    one = value()
    yield planted("typed.ts", "a type between name and value", f'const apiKey: string = "{one}";', one)
    one = value()
    yield planted("typed.rs", "a type between name and value", f'const API_KEY: &str = "{one}";', one)
    one = value()
    yield planted("typed.py", "a type between name and value", f'api_key: str = "{one}"', one)
    one = value()
    yield planted("call.py", "the default of a call", f'os.environ.setdefault("DB_PASSWORD", "{one}")', one)
    one = value()
    yield planted("kotlin.kt", "the default of a call", f'System.setProperty("db.password", "{one}")', one)
    one = value()
    yield planted("bare.ini", "no quotes", f"[db]\npassword = {one}", one)
    one = value()
    yield planted("bare.yaml", "no quotes", f"db:\n  password: {one}", one)
    one = value()
    yield planted("bare.sh", "no quotes", f"export DB_PASSWORD={one}", one)
    one = value()
    yield planted("bare.properties", "no quotes", f"spring.datasource.password={one}", one)
    one = value()
    yield planted("bare.Dockerfile", "no quotes", f"ENV API_TOKEN={one}", one)
    one = value()
    yield planted("comment.md", "in a text", f"The header is `Authorization: Bearer {one}`.", one)
    one = value()
    yield planted("xml.xml", "in a tag", f"<password>{one}</password>", one)
    one = value()
    yield planted("attribute.xml", "in an attribute", f'<add key="ApiToken" value="{one}" />', one)
    one = value()
    yield planted("url.py", "encoded in a URL", f'URL = "postgres://app:p%40{one}@db.internal/app"', one)
    one = value()
    yield planted("query.md", "in a query", f"https://api.internal/v1/items?page=2&access_token={one}", one)
    for number, (form, make) in enumerate(_named_values().items()):
        text, one = make(rng)
        yield planted(f"named{number}.ini", form, text, one)
    one = _pick(rng, _BASE64, 40)
    yield planted("camel.js", "AWS in camel case", f'const c = {{ secretAccessKey: "{one}" }};', one)
    for number, kind in enumerate(("RSA", "EC")):
        initial = _pick(rng, _HEX, 32).upper()
        header = f"Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,{initial}\n"
        text, body = _key_block(rng, kind, 20, header)
        yield planted(f"encrypted{number}.md", f"encrypted key {kind}", f"```\n{text}\n```", body)
    text, body = _key_block(rng, "PGP", 20, "Version: GnuPG v2.2 - https://gnupg.org\n")
    yield planted("pgp.md", "PGP with a dash in its header", f"```\n{text}\n```", body)
    text, body = _key_block(rng, "RSA", 20)
    lines = text.split("\n")
    yield planted("dashes.sql", "key in a comment of dashes", "\n".join(f"-- {line}" for line in lines), body)
    yield planted("list.yaml", "key as a list", "key:\n" + "\n".join(f"  - {line}" for line in lines), body)
    yield planted("cut.py", "key without its end", "# " + "\n# ".join(lines[:-1]), body)
    yield planted(
        "windows.json", "key with escaped line ends of Windows", '{"k": "' + "\\r\\n".join(lines) + '"}', body
    )


def _file(kind: str, stem: str) -> str:
    return f"src/{stem}/Dockerfile" if kind == "Dockerfile" else f"src/{stem}.{kind}"


def _around(kind: str, line: str, secret: Secret) -> Planted:
    """Put harmless lines before and after, in comments of the language where it has any."""
    if kind in ("json", "ipynb"):
        return line + "\n", (secret,)
    mark = {"js": "//", "ts": "//", "go": "//", "rs": "//", "kt": "//", "ini": ";", "md": "", "txt": ""}.get(kind, "#")
    before = [f"{mark} Opens the cookie jar of the session."] if kind != "go" else ["package jar", ""]
    return "\n".join([*before, line, "", f"{mark} The last line.", ""]), (secret,)


# ---------------------------------------------------------------- looking for them


def _write(root: Path, files: Mapping[str, Planted]) -> None:
    for name, (text, _) in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")


def _open(folder: Path) -> App:
    root = folder / "project"
    return App(root, load_settings(root, {"GRAPHRAG_DATA_DIR": str(folder / "data"), "GRAPHRAG_WATCH": "off"}))


def _index_and_look(folder: Path, files: Mapping[str, Planted]) -> list[str]:
    """Index the files, ask for what is in them, and return what can be seen of their secrets, and where."""
    _write(folder / "project", files)
    secrets = {name: found for name, (_, found) in files.items()}
    answers: dict[str, bytes] = {}
    with closing(_open(folder)) as app:
        app.index()
        answers["status"] = render_status(app.status()).encode()
        queries = ["value", "password", "key", "token secret", "cookie jar", "private key begin", "client", "header"]
        queries += [*files][:: max(1, len(files) // 12)]
        for query in queries:
            result = app.search(SearchRequest(query, limit=25))
            payload = search_payload(result) | {"query": ""}
            answers[f"search for {query}"] = json.dumps(payload, ensure_ascii=False).encode()
            answers[f"shown for {query}"] = render(result, 100_000).encode()
        stored = [path for path in (folder / "data").rglob("*") if path.is_file() and "models" not in path.parts]
        contents = {path.name: path.read_bytes() for path in stored}
    contents |= {f"closed {path.name}": path.read_bytes() for path in stored if path.exists()}
    assert any(content.startswith(b"SQLite format 3") for content in contents.values())
    finder = _Finder(secrets)
    seen = {one for where, content in contents.items() for one in finder.find(content)}
    told = {one for content in answers.values() for one in finder.find(content)}
    return sorted(f"{'index' if one in seen else ''} {'answer' if one in told else ''} {one}" for one in seen | told)


class _Finder:
    """Finds pieces of secrets in bytes, in any case."""

    def __init__(self, secrets: Mapping[str, Sequence[Secret]]) -> None:
        self._names: dict[bytes, str] = {}
        for file, found in secrets.items():
            for secret in found:
                for run in secret.random.split("\n"):
                    raw = run.lower().encode()
                    for at in range(max(1, len(raw) - PIECE + 1)):
                        self._names[raw[at : at + PIECE]] = f"{secret.form} ({file})"
        assert all(len(piece) == PIECE for piece in self._names)
        keys = b"".join(piece[:_KEY] for piece in self._names)
        self._keys = np.unique(np.frombuffer(keys, dtype="<u8"))

    def find(self, content: bytes) -> set[str]:
        """Return the secrets of which a piece is in the content."""
        found = set()
        content = content.lower()
        for offset in range(_KEY):
            count = (len(content) - offset) // _KEY
            if count <= 0:
                continue
            windows = np.frombuffer(content, dtype="<u8", count=count, offset=offset)
            for place in np.flatnonzero(np.isin(windows, self._keys)):
                start = offset + int(place) * _KEY
                if name := self._names.get(content[start : start + PIECE]):
                    found.add(name)
        return found


def _read(text: str) -> str:
    read = read_text(text.encode())
    assert isinstance(read, Text)
    return read.text


# ---------------------------------------------------------------- what must stay


_SHA1 = "3f786850e387550fdab836ed7e6dc881de23001b"
_UUID = "123e4567-e89b-12d3-a456-426614174000"
_IMAGE = "iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg=="  # noqa: E501

_HARMLESS = (
    'token = "<your-token>"',
    "api_key: ${API_KEY}",
    'api_key: "${API_KEY}"',
    'token = response.headers.get("x")',
    "password = user.password",
    "password = user.password_hash2[0].decode()",
    "key = self._key_of(item)",
    "secret_key = self._key_of(item1).b64encode(salt)",
    "token = base64.b64encode(os.urandom(32)).decode()",
    "token = hashlib.sha256(user.id2.encode()).hexdigest()",
    "secret: str = Field(...)",
    "secret: Annotated[str, Field(min_length=16)]",
    "api_key: Optional[SecretStr] = Field(default=None, max_length=64)",
    "apiKey: process.env.API_KEY",
    "apiKey:process.env.API_KEY_V2||e.apiKey1,",
    "token = tokens[0]",
    "token = tokens[position1+1].value2",
    "token=t.n(e.i2[0].r4,o)",
    "auth_key = httpx.BasicAuth(a, b)",
    "password = settings.secret.key.s3client",
    "token = *(uint32_t*)(buffer+offset1);",
    "token->next1 = parser->tokens[parser->count2++];",
    "secret := vault.Read(ctx1).Data2",
    "private_key: ./certs/k8s.io/x509ab-server.pem",
    "token: https://auth.example.org/v1/0a1B2c3D4e5F6g7H?x=1",
    "token-lib: 10.15.7-rc1.build20230101",
    "password = '$DATABASE_PASSWORD_V2'",
    "password = '%(database_password_2x)s'",
    "password=$(vault-read/secret-v2/x9)",
    "password = '{prefix}-{user2id}-{number}'",
    "secret_pattern = '^[A-Za-z0-9!@#$%^&*()_+]{16,64}$'",
    "postgres://app:$PASSWORD@db/app",
    "postgres://app:{password}@db/app",
    "postgres://app:%s@db/app",
    '<a class="token" href="#/s:9Alamofire34DownloadResponseSerializer">the serializer</a>',
    "password: str",
    "password: str | None = None",
    'password = os.getenv("DB_PASSWORD")',
    'secret = getenv("SECRET")',
    'const secret = process.env["CLIENT_SECRET_VALUE_1"];',
    "const token = process.env.GITHUB_TOKEN;",
    '<div class="sk-button-primary-large-rounded">',
    ".sk-folding-cube-wrapper-large { color: red }",
    "token = tokenizer.next_token()",
    "token := lexer.nextToken(input, position1)",
    f"git checkout {_SHA1}",
    f'commit = "{_SHA1}"',
    f'rev: "{_SHA1}"',
    f"uses: actions/checkout@{_SHA1}  # v4.1.1",
    f'user_id = "{_UUID}"',
    f'"request-id": "{_UUID}"',
    f'src="data:image/png;base64,{_IMAGE}"',
    f"![dot](data:image/png;base64,{_IMAGE})",
    f"background: url(data:image/png;base64,{_IMAGE});",
    '"integrity": "sha512-' + _IMAGE[:86] + '=="',
    'checksum = "' + _SHA1 + _SHA1[:24] + '"',
    'sha256 = "' + _SHA1 + _SHA1[:24] + '"',
    "pandas==2.2.0 --hash=sha256:" + _SHA1 + _SHA1[:24],
    'resolved "https://registry.yarnpkg.com/lodash/-/lodash-4.17.21.tgz#679591c564c3bffaae8454cf0b3df370c3d6911c"',
    "go.uber.org/zap v1.27.0 h1:aJMhYGrd5QSmlpLMr2MftRKl7t8J8PTZPA732ud/XR8=",
    "very_long_identifier_with_many_words_and_numbers_2024_and_more",
    "def test_the_password_reset_token_expires_after_24_hours(self):",
    'PASSWORD_RESET_TEMPLATE = "auth/password_reset_2.html"',
    '"password": "Passwort"',
    '"forgot_password": "Forgot your password?"',
    '"password.too_short": "The password must have at least 12 characters"',
    '"token_expired": "errors.authentication.token_expired"',
    'password = "********************"',
    'password = "xxxxxxxxxxxxxxxxxxxxxxxx1"',
    'password = "changeme-changeme-1234"',
    'api_key = "YOUR_API_KEY_GOES_HERE_123"',
    'api_key = "your-api-key-here-0123"',
    'secret_key = "example-secret-key-12345"',
    'token: "{{ secrets.GITHUB_TOKEN }}"',
    "token: ${{ secrets.NPM_TOKEN }}",
    'password_field = "user_password_field_1"',
    'tokenizer = "bert-base-uncased-finetuned-2"',
    'token_url = "https://auth.example.org/oauth2/token"',
    'secret_name = "projects/demo/secrets/db-password/versions/1"',
    'secretName: "tls-certificate-production-2"',
    "postgres://user:password@localhost:5432/app",
    "postgres://postgres:postgres@db/app",
    "https://user:pass@example.org/path",
    "redis://:${REDIS_PASSWORD}@cache:6379/0",
    "mysql://<user>:<password>@host/db",
    "http://localhost:8080/@user/profile",
    "git@github.com:team/project.git",
    "ssh://git@github.com:22/team/project.git",
    "npm_config_registry_url_for_everything_in_the_tree",
    "npm_package_config_port=8080",
    "hf_hub_download(repo_id, filename)",
    "from transformers import hf_argument_parser_with_many_options",
    "sk-learn-contrib-packages-and-more",
    "AIzaSomething",
    "xoxo-hugs",
    "the AKIA prefix marks an access key id",
    "-----BEGIN CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEEVs\n-----END PUBLIC KEY-----",
    'if line.startswith("-----BEGIN RSA PRIVATE KEY-----"):\n    return "a key"',
    'PEM_HEADERS = ["-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----"]',
    "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQDDUnFWlHrV9gHxEvPZ user@host",
    'private_key_path = "/etc/ssl/private/server-2048.key"',
    'credentials = "include"',
    'fetch(url, { credentials: "same-origin" })',
    'access_key_pattern = r"[A-Z0-9]{20}[a-z]+"',
    'token_type = "urn:ietf:params:oauth:token-type:access_token"',
    'authToken = "Symbol(auth.token.provider.v2)"',
    "eyJ is how every JSON web token begins",
    'const TOKEN_KEY = "app.session.token.key.v2";',
    "secrets: [db_password_v1, api_token_v2]",
    'ACCESS_TOKEN_EXPIRE_MINUTES: "access_token_expire_minutes_30"',
    "for token, count in Counter(tokens).most_common(10):",
    '"passwordHash": "bcrypt"',
    'abc = "abcdefghijklmnopqrstuvwxyz0123456789"',
    'ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"',
)


def _harmless_files() -> Iterator[tuple[str, str]]:
    endings = ("py", "ts", "yaml", "md", "txt")
    for number, line in enumerate(_HARMLESS):
        yield endings[number % len(endings)], line


@pytest.mark.parametrize("name", ["package-lock.json", "poetry.lock", "go.sum", "yarn.lock", "Cargo.lock"])
def test_the_hashes_of_lock_files_stay(name: str) -> None:
    """They are random, and public."""
    rng = random.Random(name)
    lines = [
        f'"node_modules/p{number}": {{"resolved": "https://registry.npmjs.org/p/-/p-{number}.tgz", '
        f'"integrity": "sha512-{_pick(rng, _BASE64, 86)}=="}},\n'
        f'checksum = "{_pick(rng, _HEX, 64)}"\n'
        f"example.org/p{number} v1.2.{number} h1:{_pick(rng, _BASE64, 43)}=\n"
        for number in range(200)
    ]
    assert _read("".join(lines)) == "".join(lines)
