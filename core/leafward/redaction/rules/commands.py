"""Passwords without a name, on command lines and in code: `curl -u user:password`, `sshpass -p`, `mysql -p…`, `echo … | sudo -S`."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.redaction.names import RESOURCE, Meaning
from leafward.redaction.rules.command_forms import COMMAND_FORMS
from leafward.redaction.secret_values import ValueNotation, is_secret
from leafward.redaction.spans import SecretKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from leafward.redaction.spans import Span

_PGPASS = late(
    r"(?<![^\s\"'`→│|>+#:\d])(?:[\w.*-]{1,100}):(?:[0-9]{2,5}|\*):(?:[\w*-]{1,63}):(?:[\w.*@-]{1,63}):(?P<bare>[^\s:\"'`\\]{3,200})(?=[ \t]*(?:$|[\n\r\"'`\\|│]))"
)
_PORT = late(r":(?:[0-9]{2,5}|\*):")
"""A text with a line of `.pgpass` holds a match."""
_START, _NAME = r"(?<![^\n→│|>+])[ \t]{0,8}", r"\"?[\w.@\\-]{1,64}\"?"
_ALL_PAIRS = late(
    r"(?:[ \t]*(?:[;#][^\n]*)?\n|\"[^\"\s]{1,63}\"[ \t]{1,8}\"[^\"\n]{1,400}\"[ \t]*(?:\r?\n|\Z))+\Z"
)
"""A whole file of users and passwords of pgbouncer."""
_PAIR = late(r"(?m)^\"[^\"\s]{1,63}\"[ \t]{1,8}\"([^\"\n]{1,400})\"[ \t]*\r?$")
_LINES = tuple(
    (signs, late(form))
    for signs, form in (
        (
            ('" "', '"\t', '"  ', '" \t'),
            rf"{_START}\"[^\"\s]{{1,63}}\"[ \t]{{1,8}}\"(?P<strange>[^\"\s\\]{{6,200}})\"[ \t]*(?=\r?\n|\Z)",
        ),
        # Secrets of PPP: client, server, secret, addresses.
        (
            ("* ", "*\t"),
            rf"{_START}{_NAME}[ \t]{{1,20}}\*[ \t]{{1,20}}\"(?P<quoted>[^\"\n]{{3,200}})\"[ \t]*(?=\r?\n|\Z)",
        ),
        (
            ("* ", "*\t", "pptp", "l2tp", "ppp", "sstp"),
            rf"{_START}{_NAME}[ \t]{{1,20}}(?:\*|\"?(?:pptp|x?l2tp|ppp|sstp)[\w-]{{0,30}}\"?)[ \t]{{1,20}}\"?(?P<bare>[^\s\"*]{{3,200}})\"?[ \t]{{1,20}}(?:\*|\"\*?\"|[0-9][0-9.:/]{{5,60}})[ \t]*(?=\r?\n|\Z)",
        ),
        # Logins of Postfix at other servers.
        (
            ("] ", "]\t", "]:"),
            rf"{_START}\[[\w.-]{{3,100}}\](?::[\w-]{{2,12}})?[ \t]{{1,20}}[^\s:]{{1,100}}:(?P<bare>[^\s\"\\]{{3,200}})",
        ),
        (
            ("smtp", "relay", "mail"),
            rf"{_START}(?:smtp|relay|mail)[\w.-]{{3,100}}(?::[0-9]{{2,5}})?[ \t]{{1,20}}[^\s:]{{1,100}}:(?P<strange>[^\s\"\\]{{6,200}})(?=\s|\Z)",
        ),
    )
)
"""Lines of files whose passwords have no name; each with signs, of which a text with such a line holds one."""


_IN_LINES = late(r"\"(?: \"|\t|  | \t)|\*[ \t]|\][ \t:]")
"""Each sign of such lines is a match, or one of `OF_PASSWORD_FILES`."""

_LOGIN = late(r"[A-Za-z_][\w.@-]{0,60}:(?P<bare>[^\s\"'\\|]{3,100})")
"""A line of a here-document that `chpasswd` reads."""
_ADDRESS = late(r"[0-9a-fA-F:]+")
"""An address of IPv6, or a time."""
SIGNS = tuple((signs, literals) for signs, literals, _ in COMMAND_FORMS)
"""A text that gives a password to a program holds one sign and one literal of the same pair."""
PASSWORD_FILE = late(
    # Each begins with one character, so that the search passes over all others quickly.
    r":(?:\*:|5432:|[1-9][0-9]{3,4}:[\w*-]{1,63}:)|\"(?<=\s\")[^\"\s]{1,63}\"(?=\s)|\*(?<=\s\*)(?=\s)"
    r"|\[(?<=\s\[)[\w.-]{3,100}\](?::[\w-]{2,12})?(?=\s)"
)
OF_PASSWORD_FILES = ("smtp", "relay", "mail", "pptp", "l2tp", "ppp", "sstp")
"""A text with a line of a file of passwords holds a match between blanks, or one of these words."""


@cache
def _compiled(form: str) -> re.Pattern[str]:
    return re.compile(form)


def commands_in(text: str, pairs: Iterable[int]) -> Iterator[Span]:
    """The passwords given to programs. `pairs` are the places in `SIGNS` that the text may match."""
    for place in pairs:
        for literal in literals_in(text, place):
            yield from _of_literal(text, literal, COMMAND_FORMS[place][2])


def literals_in(text: str, pair: int) -> list[str]:
    """The literals in a text at which a program of a pair may be given a password."""
    signs, literals, _ = COMMAND_FORMS[pair]
    there = signs == literals or any(map(text.__contains__, signs))
    return [literal for literal in literals if literal in text] if there else []


def password_files_in(text: str, *, named: bool) -> Iterator[Span]:
    """The passwords in lines of `.pgpass`, `userlist.txt`, `chap-secrets` and `sasl_passwd`, in a text with `PASSWORD_FILE`.

    `named`: it may hold one of `OF_PASSWORD_FILES`.
    """
    if text.lstrip().startswith(('"', ";", "#")) and _ALL_PAIRS.match(text):
        for found in _PAIR.finditer(text):
            if is_secret(found[1], Meaning.PASSWORD, ValueNotation.SETTING, quoted=True):
                yield (*found.span(1), SecretKind.PASSWORD)
    for signs, form in _LINES if named or _IN_LINES.search(text) is not None else ():
        for found in form.finditer(text) if any(map(text.__contains__, signs)) else ():
            if (place := _secret(found)) is not None and not text[slice(*place)].isdecimal():
                yield (*place, SecretKind.PASSWORD)
    for found in _PGPASS.finditer(text) if _PORT.search(text) else ():
        span = _secret(found) if not _ADDRESS.fullmatch(found[0]) else None
        if (
            span is not None
            and not found["bare"].isdecimal()
            and not RESOURCE.search(text, max(0, found.start() - 100), found.start())
        ):
            yield (*span, SecretKind.PASSWORD)


def _of_literal(text: str, literal: str, form: str) -> Iterator[Span]:
    at = text.find(literal)
    while at >= 0:
        end = at + len(literal)
        found = _compiled(form).match(text, end)
        if found is not None and "logins" in found.groupdict():
            yield from _logins(text, *found.span("logins"))
            found = None
        span = _secret(found) if found is not None else None
        if span is not None:
            yield (*span, SecretKind.PASSWORD)
        at = text.find(literal, end)


def _logins(text: str, start: int, end: int) -> Iterator[Span]:
    """The passwords in lines `user:password`."""
    for found in _LOGIN.finditer(text, start, end):
        if (span := _secret(found)) is not None:
            yield (*span, SecretKind.PASSWORD)


_GROUPS = (
    ("quoted", Meaning.PASSWORD, ValueNotation.SETTING),
    ("bare", Meaning.PASSWORD, ValueNotation.SETTING),
    ("strange", Meaning.PASSWORD, ValueNotation.INLINE),
    ("key", Meaning.KEY, ValueNotation.QUOTED),
    ("token", Meaning.SECRET, ValueNotation.QUOTED),
)
"""The groups of forms, each with the certainty of its value."""


def _secret(found: re.Match[str]) -> tuple[int, int] | None:
    groups = found.groupdict()
    for name, meaning, place in _GROUPS:
        value = groups.get(name)
        if (
            value is not None
            and is_secret(value, meaning, place, quoted=name == "quoted")
            and not (name == "strange" and value.isdecimal())
        ):
            return found.start(name), found.end(name)
    return None
