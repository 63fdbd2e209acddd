"""Passwords named by a sentence or label in a language other than English: `Passwort: …`, `密码是 …`, `mot de passe : …`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.redaction.names import Meaning
from leafward.redaction.secret_values import ValueNotation, is_secret, stands_out
from leafward.redaction.spans import SecretKind

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator

    from leafward.redaction.spans import Span

_OF_PASSWORDS = (
    "passwort", "mot de passe", "passord", "senha", "parola", "parola d'ordine", "wachtwoord",
    "adgangskode", "salasana", "heslo", "kennwort", "sifre", "jelszo", "kodeord", "codice di accesso",
    "palavra-passe", "palabra clave", "clave de acceso", "contrasena", "kata sandi", "contraseña",
    "lösenord", "hasło", "jelszó", "şifre", "пароль", "пароля", "κωδικός", "密码", "密碼", "口令", "パスワード",
    "비밀번호", "암호", "mật khẩu", "รหัสผ่าน", "סיסמה", "كلمة المرور", "كلمة السر", "رمز عبور", "گذرواژه",
    "पासवर्ड", "পাসওয়ার্ড", "mdp", "lozinka", "лозинка", "парола", "geslo", "slaptažodis", "salasõna", "lykilorð",
    "contrasenya", "kata laluan", "գաղտնաբառ", "პაროლი"
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
_IS = r"(?:(?:lautet|heißt|heisst|ist|war|c['’]est|est|es|era|é|è|is|är|er|on|to|je|jest|este|a|является|это|là|adalah)\b|:|：|=|=>|→|[—–-](?=[ ])|是|为|為|は|는|은|है|คือ)"
_VALUE = late(
    rf"""(?ix) [^\W\d_]{{0,3}} [ \t\u00a0]{{0,4}} (?: \([^()\n]{{1,40}}\) [ \t]{{0,2}} )? (?: ,[ ] )?
    (?: (?P<link>{_IS}) [ \t\u00a0]{{0,4}} (?: {_IS} [ \t]{{1,4}} )? | (?=[「『„“«]) )
    (?P<quote> (?: « [ \u00a0\u202f] )? [\"'`“”„«‘’「『*]{{0,2}} ) (?P<value> [^\s\"'`“”„«»‘’「」『』<>|]{{4,100}} )"""
)
_FAR = late(
    rf"""(?ix) [^\W\d_]{{0,3}} (?: [ ][^\W\d_]{{1,14}} ){{0,5}}? (?: [ \u00a0]? (?P<colon> [:：] ) | [ ](?P<link>{_IS}) )? [ ]
    (?P<quote> [\"'`“”„«‘’*]{{0,2}} ) (?= [^\s]{{0,99}} (?: [0-9!#$%&*?^~] | (?-i:[a-z][A-Z]) ) ) (?P<value> [^\s\"'`“”„«»‘’<>|]{{8,100}}+ ) (?<![:：]) (?! [ \u00a0][:：] )"""
)
"""`senha do banco é …`, `Passwort …`: with words between or without any; the value must be clearly a password."""
_OF_KEY = late(
    rf"""(?ix) [^\W\d_]{{0,3}} (?: [ -][^\W\d_]{{1,10}} ){{0,3}}? [ \t\u00a0]{{0,4}} {_IS} [ \t\u00a0]{{0,4}}
    (?P<quote> [\"'`“”„«‘’「『*]{{0,2}} ) (?P<value> [A-Za-z0-9_.+/=-]{{8,400}} )"""
)
_LARGE_AND_SMALL = late(r"(?=[^A-Z]*[A-Z])(?=[^a-z]*[a-z])(?=[^0-9]*[0-9])[!-~]{8,}\Z")
_OTHER_SCRIPT = late("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")
"""Scripts without spaces between words."""
_KEY = (_OF_KEY, Meaning.SECRET, ValueNotation.QUOTED)
_LOGIN = (_USER, Meaning.PASSWORD, ValueNotation.INLINE)
_LEAST_KEY = 16
"""Fewest characters of a key that is not clearly random: some of these words also mean a button, or the way in."""
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
                sure = rule[1] is not Meaning.SECRET or len(value) >= _LEAST_KEY or stands_out(value)
                if sure and is_secret(value, *rule[1:]) and not value.isdecimal():
                    yield found.start("value"), found.start("value") + len(value), SecretKind.SECRET
            at = low.find(name, end)


def _password(text: str, end: int) -> Iterator[Span]:
    found = _VALUE.match(text, end)
    near = _near(found) if found is not None else ""
    if found is not None and near:
        yield found.start("value"), found.start("value") + len(near), SecretKind.PASSWORD
        return
    far = _FAR.match(text, end)
    if far is None:
        return
    value = far["value"].rstrip(_BEHIND)
    if not stands_out(value) and stands_out(far["value"]):
        # A sign at its end is one of the password: without it there would be less than all sorts of characters.
        value = far["value"]
    place = ValueNotation.LINE if far["colon"] else ValueNotation.INLINE
    labelled = (far["colon"] or (far["link"] and _LARGE_AND_SMALL.match(value))) and is_secret(
        value, Meaning.PASSWORD, place
    )
    if (labelled and not value.isdecimal()) or stands_out(value):
        yield far.start("value"), far.start("value") + len(value), SecretKind.PASSWORD


def _near(found: re.Match[str]) -> str:
    """The password that follows its name without other words between; empty where it is none."""
    value = found["value"]
    if not found["quote"] and (script := _OTHER_SCRIPT.search(value)) is not None:
        # The sentence continues behind it without a space.
        value = value[: script.start()]
    value = value.rstrip(_BEHIND)
    place = ValueNotation.QUOTED if found["quote"] and found["link"] else ValueNotation.LINE
    return value if is_secret(value, Meaning.PASSWORD, place) and not value.isdecimal() else ""
