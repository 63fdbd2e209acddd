"""Passwords named by a sentence or label in a language other than English: `Passwort: …`, `密码是 …`, `mot de passe : …`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from leafward.base.redact.names import Meaning
from leafward.base.redact.secret_values import Place, is_secret, stands_out

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.base.redact.spans import Span

_NAMES = (
    *(
        "passwort",
        "mot de passe",
        "passord",
        "senha",
        "parola",
        "parola d'ordine",
        "wachtwoord",
        "adgangskode",
        "salasana",
        "heslo",
    ),
    *("contrasena", "kata sandi"),
)
_NAMES_BEYOND_ASCII = (
    *(
        "contraseña",
        "lösenord",
        "hasło",
        "jelszó",
        "şifre",
        "пароль",
        "пароля",
        "κωδικός",
        "密码",
        "密碼",
        "口令",
    ),
    *("パスワード", "비밀번호", "암호", "mật khẩu", "รหัสผ่าน", "סיסמה", "كلمة المرور"),
)
EVERYWHERE = _NAMES + _NAMES_BEYOND_ASCII
"""Words for a password, in small letters. `names` holds `Kennwort` and the words that English shares."""
_IS = r"(?:lautet|ist|war|est|es|era|é|era|è|era|is|är|er|on|to|je|a|:|：|=|=>|→|является|это|是|为|為|は|는|은|là|adalah|คือ)"
_VALUE = re.compile(
    rf"""(?ix) [^\W\d_]{{0,3}} [ \t\u00a0]{{0,4}} (?: \([^()\n]{{1,40}}\) [ \t]{{0,2}} )? {_IS} [ \t\u00a0]{{0,4}} (?: {_IS} [ \t]{{1,4}} )?
    (?P<quote> [\"'`“”„«‘’「『*]{{0,2}} ) (?P<value> [^\s\"'`“”„«»‘’「」『』<>|]{{4,100}} )"""
)
_FAR = re.compile(
    rf"""(?ix) [^\W\d_]{{0,3}} (?: [ ][^\W\d_]{{1,14}} ){{0,3}}? (?: [ ]{_IS} )? :? [ ]
    (?P<quote> [\"'`“”„«‘’*]{{0,2}} ) (?P<value> [^\s\"'`“”„«»‘’<>|]{{8,100}} )"""
)
"""`senha do banco é …`, `Passwort …`: with words between or without any; the value must be clearly a password."""
_OTHER_SCRIPT = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")
"""Scripts without spaces between words."""
_BEHIND = ".,;:!?)]}。，、；！？）*"
"""Characters that end a sentence behind a value."""


def spoken_in(text: str, low: str) -> Iterator[Span]:
    """The passwords named in other languages. `low` is the text in small letters."""
    for name in filter(low.__contains__, _NAMES if text.isascii() else EVERYWHERE):
        at = low.find(name)
        while at >= 0:
            end = at + len(name)
            found = _VALUE.match(text, end)
            if found is None:
                far = _FAR.match(text, end)
                if far is not None and stands_out(value := far["value"].rstrip(_BEHIND)):
                    yield far.start("value"), far.start("value") + len(value), "password"
            if found is not None:
                value = found["value"]
                if not found["quote"] and (script := _OTHER_SCRIPT.search(value)) is not None:
                    # The sentence continues behind it without a space.
                    value = value[: script.start()]
                value = value.rstrip(_BEHIND)
                place = Place.QUOTED if found["quote"] else Place.LINE
                if is_secret(value, Meaning.PASSWORD, place) and not value.isdecimal():
                    yield found.start("value"), found.start("value") + len(value), "password"
            at = low.find(name, end)
