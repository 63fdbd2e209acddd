"""Values at a distance from their name: with other options, fields or lines between, or in a manifest of Kubernetes."""

from __future__ import annotations

import base64
import binascii
from itertools import pairwise
from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.redaction.names import Meaning, meaning_of
from leafward.redaction.secret_values import ValueNotation, is_secret, stands_for
from leafward.redaction.spans import SecretKind

if TYPE_CHECKING:
    import re
    from collections.abc import Collection, Iterator

    from leafward.redaction.spans import Span

_QUOTED = r"""\\{0,7}["'](?P<value>[^"'\n\\]{3,400})\\{0,7}["']"""
_BREAK = r"(?:\s|\\{1,7}[nrt])"
_FIELD = r"""\\{0,7}["']\w{1,40}\\{0,7}["'][ \t]{0,4}:[ \t]{0,4}(?:\\{0,7}["'][^"'\n\\]{0,200}\\{0,7}["']|[\w.+-]{1,40})"""
_RULES = (
    # Terraform's variables.
    (
        "variable",
        late(
            rf"""variable[ \t]{{1,4}}\\{{0,7}}"(?P<name>[\w-]{{1,80}})\\{{0,7}}"{_BREAK}{{0,8}}\{{[^{{}}]{{0,400}}?\bdefault[ \t]{{0,20}}=[ \t]{{0,4}}{_QUOTED}"""
        ),
    ),
    # Parameters of AWS: the type stands between name and value.
    (
        "ame",
        late(
            rf"""ame\\{{0,7}}["'][ \t]{{0,4}}:[ \t]{{0,4}}\\{{0,7}}["'](?P<name>[\w./-]{{1,200}})\\{{0,7}}["'],(?:{_BREAK}{{0,20}}{_FIELD},){{0,4}}?{_BREAK}{{0,20}}\\{{0,7}}["'][vV]alue\\{{0,7}}["'][ \t]{{0,4}}:[ \t]{{0,4}}{_QUOTED}"""
        ),
    ),
    # Values that are marked as secret: parameters of AWS, outputs of Terraform.
    *(
        (
            says,
            late(
                rf"""{says}\\{{0,7}}"(?:[ \t]{{0,4}}:[ \t]{{0,4}}true)?,(?:{_BREAK}{{0,20}}{_FIELD},){{0,4}}?{_BREAK}{{0,20}}\\{{0,7}}"[vV]alue\\{{0,7}}"[ \t]{{0,4}}:[ \t]{{0,4}}(?P<name>){_QUOTED}"""
            ),
        )
        for says in ('"SecureString', '"sensitive')
    ),
    # Parameters of CloudFormation.
    (
        "ParameterKey",
        late(
            rf"""ParameterKey\\{{0,7}}["']?[ \t]{{0,4}}[:=][ \t]{{0,4}}\\{{0,7}}["']?(?P<name>\w{{1,80}})\\{{0,7}}["']?,?{_BREAK}{{0,40}}\\{{0,7}}["']?ParameterValue\\{{0,7}}["']?[ \t]{{0,4}}[:=][ \t]{{0,4}}(?:{_QUOTED}|(?P<bare>[^\s"'\\,]{{3,400}}))"""
        ),
    ),
    # A name and a value as two options of a program.
    *(
        (
            option,
            late(
                rf"""{option}[ =]\\{{0,7}}["']?(?:[Ee]nv:\\{{0,2}})?(?P<name>[\w./-]{{1,200}})\\{{0,7}}["']?(?:[ \t]|\\{{1,2}}\n)[^\n|;&]{{0,200}}?(?:--value|--secret-string|-Value)[ =]{{1,4}}(?:{_QUOTED}|(?P<bare>[^\s"'\\|;&]{{3,400}}))"""
            ),
        )
        for option in ("--name", "--secret-id", "-Path", "-Name")
    ),
    # The same of a parameter that is said to be secret, whatever its name.
    (
        "put-parameter ",
        late(
            rf"""put-parameter (?=[^\n|;&]{{0,400}}SecureString)[^\n|;&]{{0,300}}?--value[ =]{{1,4}}(?P<name>)(?:{_QUOTED}|(?P<bare>[^\s"'\\|;&]{{3,400}}))"""
        ),
    ),
    (
        "keyvault secret set ",
        late(
            rf"""keyvault secret set [^\n|;&]{{0,300}}?--value[ =]{{1,4}}(?P<name>)(?:{_QUOTED}|(?P<bare>[^\s"'\\|;&]{{3,400}}))"""
        ),
    ),
    # A field of a form.
    (
        'form-data; name="',
        late(
            r"""form-data; name="(?P<name>[\w.-]{1,80})"(?:\r?\n|(?:\\r)?\\n){2}(?:(?P<value>(?!.))|(?P<bare>[^\s\"'\\]{3,400}))"""
        ),
    ),
    # A value of the Windows registry.
    (
        "reg add ",
        late(
            rf"""reg add [^\n]{{1,300}}?/v[ \t]{{1,4}}["']?(?P<name>\w{{1,80}})["']?[ \t]{{1,4}}(?:/t[ \t]{{1,4}}REG_\w{{1,20}}[ \t]{{1,4}})?/d[ \t]{{1,4}}(?:{_QUOTED}|(?P<bare>[^\s"'\\|;&]{{3,400}}))"""
        ),
    ),
    # A setting of a program of macOS.
    (
        "defaults write ",
        late(
            rf"""defaults write [^\s]{{1,200}}[ \t]{{1,4}}["']?(?P<name>[\w.-]{{1,80}})["']?[ \t]{{1,4}}(?:-string[ \t]{{1,4}})?(?:{_QUOTED}|(?P<bare>[^\s"'\\|;&-][^\s"'\\|;&]{{2,400}}))"""
        ),
    ),
    # A password that Elasticsearch made: the name stands below it.
    (
        "New value:",
        late(
            r"New value:\s{1,4}(?P<name>)(?:(?P<value>(?!.))|(?P<bare>[^\s\"'\\]{6,100}))[ \t]{0,4}(?:\r?\n|\\{1,7}n)Password for"
        ),
    ),
)
"""A literal, and an expression for its place: a name, and a value far behind it."""
_CREATED = "create secret generic "
_COMMAND = late(r"(?:[^\n|;&\\]|\\(?:\r?\n|\\n|(?!n))){1,2000}")
"""The rest of a command, which goes on behind a backslash at a line's end."""
_GIVEN = late(r"""--from-literal[= ]\\{0,7}["']?[\w.-]{1,253}=\\{0,7}["']?(?P<value>[^\s"'`\\]{3,400})""")
LITERALS = (_CREATED, *(literal for literal, _ in _RULES))
_BRACES = late(r"(?i)(?<=;)(?:pwd|password)=\{(?P<value>(?:[^{}\n]|\}\}){3,200})\}(?=[;\\\"']|$)")
"""The braces around a password of ODBC."""
_LOGIN = late(
    r"<auth-user-pass>(?:\s|\\n){1,8}[^\s<>\\]{1,100}(?:\s|\\n){1,8}(?P<value>[^\s<>\\]{3,100})(?:\s|\\n){1,8}</auth-user-pass>"
)
"""Name and password in a profile of OpenVPN."""
_KIND = late(r"""\\{0,7}["']?kind\\{0,7}["']?:[ \t]{0,4}\\{0,7}["']?Secret\b(?!\w)""")
_NEXT_MANIFEST = late(r"(?:\n|\\n)(?:---|- ?apiVersion|[ \t]{2,8}\{(?:\n|\\n))")
_DATA = late(
    r"""(?:^|[\s,{]|\\n)\\{0,7}["']?(?P<name>data|stringData)\\{0,7}["']?:[ \t]{0,4}(?:\{(?:\s|\\n){0,20}|(?:\r?\n|\\{1,7}n)(?=[ \t]))"""
)
_ENTRY = late(
    r"""[ \t]{0,20}\\{0,7}["']?[\w.-]{1,253}\\{0,7}["']?:[ \t]{0,4}\\{0,7}["']?(?P<value>[^\s"'\\,{}|>]{0,4000})\\{0,7}["']?,?[ \t]{0,4}(?:\r?\n|\\{1,7}n|(?<=,)(?=\\{0,7}["'])|(?=\})|\Z)"""
)
_LEAST = 4


def apart_in(text: str, low: str, literals: Collection[str]) -> Iterator[Span]:
    """The values of secrets with distant names. `low` is the text in small letters, `literals` those of `LITERALS` that it may hold."""
    for literal, rule in _RULES:
        at = text.find(literal) if literal in literals else -1
        while at >= 0:
            found = rule.match(text, at)
            if found is not None and (meaning := _meaning(found["name"])) is not None:
                group = "value" if found["value"] is not None else "bare"
                if is_secret(found[group], meaning, ValueNotation.SETTING, quoted=group == "value"):
                    yield found.start(group), found.end(group), SecretKind.SECRET
            at = text.find(literal, at + len(literal))
    if _CREATED in literals:
        yield from _created(text)
    if "={" in text and ("pwd={" in low or "password={" in low):
        for found in _BRACES.finditer(text):
            if not stands_for(found["value"]):
                yield found.start("value"), found.end("value"), SecretKind.PASSWORD
    if "<auth-user-pass>" in text:
        for login in _LOGIN.finditer(text):
            yield *login.span("value"), SecretKind.PASSWORD
    if "kind" in text and "data" in low:
        yield from _manifests(text)


def _meaning(name: str) -> Meaning | None:
    """The meaning of a name; a missing name belongs to a value that is marked as secret."""
    return meaning_of(name.rpartition("/")[2][-80:]) if name else Meaning.PASSWORD


def _created(text: str) -> Iterator[Span]:
    """All values that `kubectl` makes a secret of, whatever their names."""
    at = text.find(_CREATED)
    while at >= 0:
        command = _COMMAND.match(text, at)
        end = command.end() if command is not None else at + len(_CREATED)
        for given in _GIVEN.finditer(text, at, end):
            if not stands_for(given["value"]):
                yield *given.span("value"), SecretKind.SECRET
        at = text.find(_CREATED, end)


def _manifests(text: str) -> Iterator[Span]:
    """All values in Secrets of Kubernetes, whatever their names."""
    kinds = [found.start() for found in _KIND.finditer(text)]
    if not kinds:
        return
    bounds = [0, *(found.start() for found in _NEXT_MANIFEST.finditer(text)), len(text)]
    at = 0
    for start, end in pairwise(bounds):
        while at < len(kinds) and kinds[at] < start:
            at += 1
        if at < len(kinds) and kinds[at] < end:
            done = start
            for block in _DATA.finditer(text, start, end):
                if block.start("name") >= done:
                    done = block.end()
                    for entry in _entries(text, done, end):
                        done = entry.end()
                        value = entry["value"]
                        if (
                            len(value) >= _LEAST
                            and not stands_for(value)
                            and (block["name"] == "stringData" or _is_base64(value))
                        ):
                            yield entry.start("value"), entry.end("value"), SecretKind.SECRET


def _entries(text: str, at: int, end: int) -> Iterator[re.Match[str]]:
    """The lines from a place on that are a name and a value, indented at least as deep as the first."""
    deep = _indent(text, at)
    while (entry := _ENTRY.match(text, at, end)) is not None and _indent(text, at) >= deep:
        yield entry
        at = entry.end()


def _indent(text: str, at: int) -> int:
    line = text[at : at + 40]
    return len(line) - len(line.lstrip(" \t"))


def _is_base64(value: str) -> bool:
    try:
        return bool(base64.b64decode(value, validate=True))
    except (binascii.Error, ValueError):
        return False
