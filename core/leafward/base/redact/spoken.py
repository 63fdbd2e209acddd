"""Passwords named by a sentence or label in a language other than English: `Passwort: …`, `密码是 …`, `mot de passe : …`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.base.redact.names import Meaning
from leafward.base.redact.secret_values import ValueNotation, is_secret, stands_out
from leafward.base.redact.spans import SecretKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from leafward.base.redact.spans import Span

_OF_PASSWORDS = (
    "passwort", "mot de passe", "passord", "senha", "parola", "parola d'ordine", "wachtwoord",
    "adgangskode", "salasana", "heslo", "kennwort", "sifre", "jelszo", "kodeord", "codice di accesso",
    "palavra-passe", "palabra clave", "clave de acceso", "contrasena", "kata sandi", "contraseña",
    "lösenord", "hasło", "jelszó", "şifre", "пароль", "пароля", "κωδικός", "密码", "密碼", "口令", "パスワード",
    "비밀번호", "암호", "mật khẩu", "รหัสผ่าน", "סיסמה", "كلمة المرور"
)  # fmt: skip
_OF_KEYS = (
    "jeton", "clave", "chave", "chiave", "accesso", "acceso", "acesso", "sleutel", "klucz", "schlüssel",
    "clé", "ключ", "токен", "密钥", "秘钥", "令牌", "キー", "シークレット", "トークン", "키", "토큰"
)  # fmt: skip
"""Words for what a program makes: the value must be random."""
_OF_LOGINS = (
    "zugangsdaten", "anmeldedaten", "logindaten", "identifiants", "credenciales", "credenziali",
    "credenciais", "inloggegevens", "dane logowania", "dane do logowania", "учётные данные",
    "учетные данные", "přihlašovací údaje", "账号密码", "アカウント情報"
)  # fmt: skip
EVERYWHERE = (*_OF_PASSWORDS, *_OF_KEYS, *_OF_LOGINS)
"""In small letters. `names` holds the words that English shares."""
_USER = late(
    r"""(?x) (?: [ ][^\W\d_]{1,14} ){0,4} [ ]? (?: [:：=→] | [ ] ) [ \t]{0,4} [\"'`“„*]{0,2} [\w.@+-]{1,60} [\"'`”“*]{0,2} [ ]? [/|:,] [ ]?
    (?P<quote> [\"'`“„*]{0,2} ) (?P<value> [^\s\"'`“”„«»‘’<>|]{6,100} )"""
)
"""`Zugangsdaten: ada / …`."""
_IS = r"(?:(?:lautet|ist|war|est|es|era|é|è|is|är|er|on|to|je|a|является|это|là|adalah)\b|:|：|=|=>|→|是|为|為|は|는|은|คือ)"
_VALUE = late(
    rf"""(?ix) [^\W\d_]{{0,3}} [ \t\u00a0]{{0,4}} (?: \([^()\n]{{1,40}}\) [ \t]{{0,2}} )? {_IS} [ \t\u00a0]{{0,4}} (?: {_IS} [ \t]{{1,4}} )?
    (?P<quote> [\"'`“”„«‘’「『*]{{0,2}} ) (?P<value> [^\s\"'`“”„«»‘’「」『』<>|]{{4,100}} )"""
)
_FAR = late(
    rf"""(?ix) [^\W\d_]{{0,3}} (?: [ ][^\W\d_]{{1,14}} ){{0,5}}? (?: [ \u00a0]? (?P<colon> [:：] ) | [ ]{_IS} )? [ ]
    (?P<quote> [\"'`“”„«‘’*]{{0,2}} ) (?P<value> [^\s\"'`“”„«»‘’<>|]{{8,100}}+ ) (?<![:：]) (?! [ \u00a0][:：] )"""
)
"""`senha do banco é …`, `Passwort …`: with words between or without any; the value must be clearly a password."""
_OF_KEY = late(
    rf"""(?ix) [^\W\d_]{{0,3}} (?: [ -][^\W\d_]{{1,10}} ){{0,3}}? [ \t\u00a0]{{0,4}} {_IS} [ \t\u00a0]{{0,4}}
    (?P<quote> [\"'`“”„«‘’「『*]{{0,2}} ) (?P<value> [A-Za-z0-9_.+/=-]{{16,400}} )"""
)
_OTHER_SCRIPT = late("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")
"""Scripts without spaces between words."""
_KEY = (_OF_KEY, Meaning.SECRET, ValueNotation.QUOTED)
_LOGIN = (_USER, Meaning.PASSWORD, ValueNotation.INLINE)
_BEHIND = ".,;:!?)]}。，、；！？）*"
"""Characters that end a sentence behind a value."""


def spoken_in(text: str, low: str, names: Iterable[str]) -> Iterator[Span]:
    """The secrets named in other languages. `low` is the text in small letters, `names` those that it may hold."""
    for name in names:
        rule = _KEY if name in _OF_KEYS else _LOGIN if name in _OF_LOGINS else None
        at = low.find(name)
        while at >= 0:
            end = at + len(name)
            if rule is None:
                yield from _password(text, end)
            elif (found := rule[0].match(text, end)) is not None:
                value = found["value"].rstrip(_BEHIND)
                if is_secret(value, *rule[1:]) and not value.isdecimal():
                    yield found.start("value"), found.start("value") + len(value), SecretKind.SECRET
            at = low.find(name, end)


def _password(text: str, end: int) -> Iterator[Span]:
    found = _VALUE.match(text, end)
    if found is None:
        far = _FAR.match(text, end)
        if far is None:
            return
        value = far["value"].rstrip(_BEHIND)
        labelled = bool(far["colon"]) and is_secret(value, Meaning.PASSWORD, ValueNotation.LINE)
        if (labelled and not value.isdecimal()) or stands_out(value):
            yield far.start("value"), far.start("value") + len(value), SecretKind.PASSWORD
        return
    value = found["value"]
    if not found["quote"] and (script := _OTHER_SCRIPT.search(value)) is not None:
        # The sentence continues behind it without a space.
        value = value[: script.start()]
    value = value.rstrip(_BEHIND)
    place = ValueNotation.QUOTED if found["quote"] else ValueNotation.LINE
    if is_secret(value, Meaning.PASSWORD, place) and not value.isdecimal():
        yield found.start("value"), found.start("value") + len(value), SecretKind.PASSWORD
