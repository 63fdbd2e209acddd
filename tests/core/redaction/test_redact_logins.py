"""Passwords in notes about logins: what stands between the name and the value, in which language, made of which characters."""

from __future__ import annotations

import json

import pytest

from leafward.redaction.redaction import redact
from tests.core.redacted import assert_stays, assert_takes_linear_time, repeated

CHOSEN = "mVYMCBW&ibPJ22"
"""As rules for passwords demand it: four sorts of characters, which hardly alternate."""
GIVEN = "FQaHNnER4YEB"

SENTENCES = [
    "login is ada and the password is {}",
    "user ada, password is {}",
    "account ada, the password is {} now",
    "PASSWORD IS {}",
    "the new password will be {}",
    "password for the staging db is {}",
    "you can sign in with ada, the pw you need is {}",
    "Passwort vom Server ist {}",
    "Das neue Passwort lautet jetzt {}",
    "heslo k databázi je {}",
    "пароль до сервера — {}",
    "пароль — {}",
    "Passwort - {}",
    "lozinka je {}",
    "parola este {}",
    "पासवर्ड है {}",
    "رمز عبور: {}",
    "geslo: {}",
    "mdp: {}",
    "usuario: ada, clave: {}",
    "usuario ada y contraseña {}",
]


_ONLY_CHOSEN = {"password for the staging db is {}", "the new password will be {}"}


@pytest.mark.parametrize("sentence", SENTENCES)
@pytest.mark.parametrize("value", [CHOSEN, GIVEN])
def test_a_sentence_names_it(sentence: str, value: str) -> None:
    if value == GIVEN and sentence in _ONLY_CHOSEN:
        pytest.skip("only a value that is clearly a password is taken there")
    if value == CHOSEN and "clave" in sentence:
        pytest.skip("a key has no signs")
    text = sentence.format(value)
    assert value not in redact(text)
    assert value not in redact(json.dumps({"text": f"{text}\nand then"}, ensure_ascii=False))


OTHERS = [
    f"Login with `ada` / `{CHOSEN.replace('&', '*')}`.",
    "password is: river.Lamp.3281",
    'dsn: "ada:Monkey2025$@/orders?parseTime=true"',
    "dscl . -passwd /Users/ada river-Kite#3065",
    "winexe -U ada%KxVwZOe!EB1z87 //host cmd",
    "az devops login <<< 5kfiqgeljb3koil57fezyh6ktuuplvrb7umo6vi777lka5fi3qal",
    "token: >-\n  5kfiqGeljb3koil57fEzyh6ktuuplvrb\n  7umo6vi777Lka5fi3qalb3koil57fez\n",
]


@pytest.mark.parametrize("text", OTHERS)
def test_other_forms(text: str) -> None:
    shown = redact(text)
    for secret in (
        "mVYMCBW", "river", "Monkey", "KxVw", "5kfiq", "7umo6"
    ):  # fmt: skip
        assert secret not in shown


STAY = [
    "Das Passwort für Benutzer ist in Abschnitt 4.2 beschrieben",
    "mdp oublié ? cliquez ici",
    "clave: userId2",
    "la clave es src/auth2.ts",
    "ключ: sortKey",
    "пароль — обязательное поле",
    "Passwort - Pflichtfeld",
    "PASSWORD IS REQUIRED",
    "user ada, password is wrong",
    "for user ada the password is in 1Password",
    "See password rules in Docs#Section2A",
    "password in Foo?Bar=1",
    'import a from "ui:b@/components/Button2"',
    'docker login <<< "$PASS"',
    "password: foo.bar.baz",
    "secret: my.app.name",
]


@pytest.mark.parametrize("text", STAY)
def test_what_says_nothing_of_the_kind_stays(text: str) -> None:
    assert_stays(text)


@pytest.mark.parametrize(
    "piece",
    [
        "heslo k a ",
        "пароль — ",
        "user ada, password ",
        "login `a` / `*",
        '"a:b@/',
        "mdp a a a a ",
        "aA1!aA1!%",
    ],
)
def test_hostile_text_takes_linear_time(piece: str) -> None:
    assert_takes_linear_time(repeated(piece))
    assert_takes_linear_time(f"password is {repeated(piece)}")
