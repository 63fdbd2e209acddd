"""Passwords and tokens in addresses: `scheme://user:password@host`, `https://token@host`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.redaction.secret_values import entropy, stands_for
from leafward.redaction.spans import SecretKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.redaction.spans import Span

_SCHEME = late(r"[A-Za-z0-9+.-]{1,24}\Z")
_SLASHES = late(r"://|:\\{1,7}/\\{1,7}/")
_LOGIN = late(
    r"(?P<user>[^\s:/@'\"<>\\]{0,100}):(?P<password>[^\s/'\"<>\\]{1,300})@(?=[A-Za-z0-9\[$_{<%]|/[\w-]{1,60}(?:[?\s\"']|$))"
)
_SLASHED = late(
    r"(?P<user>[^\s:/@'\"<>\\]{0,100}):(?P<password>(?![0-9]{1,5}(?:[/?#]|\\))[^\s'\"<>\\@]{1,200})@(?=[A-Za-z0-9.-]{1,80}(?:[:/?\s'\"\\,;)]|$))"
)
_TOKEN = late(r"(?P<token>[A-Za-z0-9_.~%+=-]{16,300})@(?=[A-Za-z0-9-]{1,60}(?:\.[A-Za-z]|:[0-9])|localhost)")
_GO_SOURCE = late(r"(?P<user>[^\s:/@'\"<>\\=`]{1,60}):(?P<password>[^\s'\"<>\\`@]{3,100})@(?:tcp|unix)\(")
"""The address of a database in Go's driver for MySQL."""
_LOCAL_SOURCE = late(
    r"[\"'`](?P<user>[\w.-]{1,60}):(?P<password>[^\s'\"<>\\`/]{3,100})@/[A-Za-z0-9_-]{1,64}(?=[?\"'`\\])"
)
"""The same where the database is on this machine."""
_ORACLE = late(r"[A-Za-z0-9_$#\"]{1,40}/(?P<password>[^\s@/'\"]{3,100})@")
_PUBLIC_HOST = late(r"o[0-9]{1,20}\.ingest\.(?:[a-z]{2}\.)?sentry\.io\b")
"""A host to which every visitor's browser sends the user part of the address."""
_DEFAULTS = ("user", "postgres", "guest", "test", "rabbitmq")
"""Names that are their own password on a new installation."""
_PORT = late(r"[0-9]{1,5}\Z")


def urls_in(text: str) -> Iterator[Span]:
    """The secrets in the part of an address that names the user."""
    if "@" not in text:
        return
    for sign, sources in (("@tcp(", _GO_SOURCE), ("@unix(", _GO_SOURCE), ("@/", _LOCAL_SOURCE)):
        for source in sources.finditer(text) if sign in text else ():
            if not _placeholder(source["password"], source["user"]):
                yield source.start("password"), source.end("password"), SecretKind.PASSWORD
    for found in _SLASHES.finditer(text):
        if _SCHEME.search(text, max(0, found.start() - 24), found.start()) is None:
            continue
        at = found.end()
        login = _LOGIN.match(text, at) or _SLASHED.match(text, at)
        if login is not None:
            password = login["password"]
            if len(password) >= 3 and not _placeholder(password, login["user"]) and not _PORT.match(password):
                yield login.start("password"), login.end("password"), SecretKind.PASSWORD
            if len(login["user"]) >= 16 and _random(login["user"]):
                yield login.start("user"), login.end("user"), SecretKind.TOKEN
            continue
        token = _TOKEN.match(text, at)
        if token is not None and not _PUBLIC_HOST.match(text, token.end()) and _random(token["token"]):
            yield token.start("token"), token.end("token"), SecretKind.TOKEN
    for begin in ("sqlplus ", "oracle:thin:", "sqlldr ", "expdp ", "impdp "):
        at = text.find(begin)
        while at >= 0:
            at += len(begin)
            oracle = _ORACLE.match(text, at)
            if oracle is not None and not stands_for(oracle["password"]):
                yield oracle.start("password"), oracle.end("password"), SecretKind.PASSWORD
            at = text.find(begin, at)


def _placeholder(password: str, user: str) -> bool:
    low = password.lower()
    if low in ("password", "pass", "passwd", "pw", "pwd", "secret", "token", "port", "..."):
        return True
    return (
        stands_for(password)
        or password.startswith(("[", "{", "<", "$", "%s", "@", ":", "`"))
        or (low == user.lower() and low in _DEFAULTS)
    )


def _random(token: str) -> bool:
    return (
        any(map(str.isdigit, token))
        and any(map(str.isalpha, token))
        and entropy(token) >= 3.0
        and not stands_for(token)
    )
