"""Secrets as agents and their tools come to hold them now: login files, found passwords, secrets of clusters and hosts."""

from __future__ import annotations

import json
import random
import string

import pytest

from leafward.redaction.redaction import Redactor, redact
from tests.core.redacted import assert_stays, assert_takes_linear_time, repeated

_RNG = random.Random(26)


def _of(alphabet: str, size: int) -> str:
    return "".join(_RNG.choices(alphabet, k=size))


TOKEN = f"qX3{_of(string.ascii_letters + string.digits, 12)}_7LaOJQ4{_of(string.ascii_letters + string.digits, 20)}-9x"
CHOSEN = "Kiesel7Strand!"
PLAIN = "holunder4912"
MD5, SHA1 = _of("0123456789abcdef", 32), _of("0123456789abcdef", 40)
BCRYPT = "$2b$12$" + _of(string.ascii_letters + string.digits, 53)


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ('{{"access": "{}"}}', TOKEN),
        ('{{"opencode": {{"type": "oauth", "refresh": "{}", "expires": 1795900000}}}}', TOKEN),
        (r'{{\"access\": \"{}\"}}', TOKEN),
        ("{{'refresh': '{}'}}", TOKEN),
        (f"{MD5}:{{}}", CHOSEN),
        (f"hashcat --show found.txt\n{SHA1}:{{}}\n", PLAIN),
        (f"{BCRYPT}:{{}}", PLAIN),
        ("kubectl create secret generic mail --from-literal=relay={}", PLAIN),
        ("kubectl create secret generic mail \\\n  --from-literal=host=mail.acme.example \\\n  --from-literal=relay={}", PLAIN),
        ("2FA seed: {}", "7YRT CK7M X34A QVM2 6FBS NIV7 LRAD 3ZDC"),
        ("echo '{}' | vercel env add JWT_SIGNING_SECRET production", TOKEN),
    ],
)  # fmt: skip
def test_it_is_taken_out(text: str, secret: str) -> None:
    assert secret not in redact(text.format(secret))


def test_a_token_in_a_decoded_login_is_taken_out() -> None:
    assert TOKEN not in json.dumps(Redactor().value({"type": "oauth", "access": TOKEN, "expires": 1}))


def test_a_key_of_a_login_stays_telling_where_clean_texts_are_remembered() -> None:
    redactor = Redactor(clean=set())
    assert redactor.value([{"access": "public"}, {"note": TOKEN}]) == [{"access": "public"}, {"note": TOKEN}]
    assert TOKEN not in json.dumps(redactor.value({"access": TOKEN}))


@pytest.mark.parametrize(
    "text",
    [
        '{"access": "public", "refresh": "daily"}',
        '{"access": "restricted-to-administrators-of-the-project"}',
        '{"refresh": "019a2b3c-4d5e-7f60-8a9b-0c1d2e3f4a5b"}',
        "type Login = { access: string; refresh: string }",
        f"{SHA1}:README.md",
        f"{SHA1}:src/auth/token_store.py",
        f"{MD5}:24",
        f"{MD5}:holunder",
        f"git show {SHA1}:src/main.rs",
        f"{MD5}:{SHA1}",
        "kubectl create secret tls web --cert=web.crt\nkubectl create configmap web --from-literal=mode=debug42",
        "echo production | vercel env add NODE_ENV",
        "the token is React$Node2",
        "token: React$Node2",
        "the key is Outer$Inner1, as the compiler says",
        "publishable key pk_test_TYooMQauvdEDq54NiTphI7jx is public",
        "the anon key is sb_publishable_B3xT9mQw2LkZ7vN1 here",
        "the seed is 20261129",
        "2FA seed: shown once",
    ],
)
def test_it_stays(text: str) -> None:
    assert_stays(text)


@pytest.mark.parametrize(
    "piece",
    [
        '"access": "',
        '"refresh":"aA1',
        f"{MD5}:",
        f"{MD5}:aA1!\n",
        "$2b$12$aB1:",
        "kubectl create secret --from-literal=a=",
        "--from-literal=a=b create secret generic ",
        "the token is aA$",
        "React",
    ],
)
def test_hostile_text_takes_linear_time(piece: str) -> None:
    assert_takes_linear_time(repeated(piece))
    assert_takes_linear_time(f"{repeated(piece)}!{repeated(piece)}")
