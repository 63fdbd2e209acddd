"""Shapes that were found to be missed, or taken for secrets: each by the structure that tells it."""

from __future__ import annotations

import random
import string

import pytest

from leafward.base.redact.redaction import redact

_RNG = random.Random(15)


def _of(alphabet: str, size: int) -> str:
    return "".join(_RNG.choices(alphabet, k=size))


PASSWORD = f"MWrXcu{_of(string.ascii_letters, 4)}38*b"
KEY = f"{_of(string.ascii_letters + string.digits, 20)}7ILAOJQ4{_of(string.ascii_letters + string.digits, 12)}9x"

WALLET = "abandon arctic cable dinner ethics garden island mango oxygen puzzle ribbon velvet"


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ('co = cohere.Client("{}")', KEY),
        ("https://d111.cloudfront.net/a.mp4?Expires=1700000000&Signature={}&Key-Pair-Id=K2JC", KEY),
        ('new NetworkCredential("ada", "{}")', PASSWORD),
        ("db.auth('ada', '{}')", PASSWORD),
        ("La parola d'ordine: {}", PASSWORD),
        ("lösenordet är {}", PASSWORD),
        ("Fastly-Key: {}", KEY),
        ("| user | password |\n|---|---|\n| ada | {} |", PASSWORD),
        ("| Service | API key |\n| --- | --- |\n| shop | `{}` |", KEY),
        ("│ user │ password       │\n├──────┼────────────────┤\n│ ada  │ {} │", PASSWORD),
        (" user | password \n------+----------\n ada  | {}\n", PASSWORD),
        ("INSERT INTO users (name, password) VALUES ('bob', NULL), ('ada', '{}');", PASSWORD),
        ("use password {} for the admin account", PASSWORD),
        ("user ada insecure-password {}", PASSWORD),
        ("WIFI:T:WPA;S:home;P:{};;", PASSWORD),
        ("- ParameterKey: MasterUserPassword\n  ParameterValue: {}", PASSWORD),
        ('{{"ParameterKey": "DbPassword", "ParameterValue": "{}"}}', PASSWORD),
        ("ParameterKey=DbPassword,ParameterValue={}", PASSWORD),
        ('$1 = {{user = 0x55d0 "ada", password = 0x55e0 "{}"}}', PASSWORD),
        ("(Pdb) p self.password\n'{}'", PASSWORD),
        ("ipdb> pp config.api_key\n'{}'", KEY),
        ("A senha do banco é {}", PASSWORD),
        ("Zugangsdaten: Benutzer ada, Passwort {}", PASSWORD),
        ("Your recovery phrase is:\n{}\nkeep it", WALLET),
        ("seed phrase:\n{}", "\n".join(f"{at}. {word}" for at, word in enumerate(WALLET.split(), 1))),
        ("composer config github-oauth.github.com {}", KEY),
        ("密码是{}，请保密", PASSWORD),
    ],
)
def test_it_is_taken_out(text: str, secret: str) -> None:
    assert secret not in redact(text.format(secret))


@pytest.mark.parametrize(
    "text",
    [
        "POSTGRES_PASSWORD: ${POSTGRES_PASSWORD:?required}",
        "パスワードは8文字以上です。",
        "https://0c2d95a1b3e64f7788990011aabbccdd@o123.ingest.sentry.io/456",
        "| option | token | meaning |\n|---|---|---|\n| a | mdCodeBlockBorder | a name |",
        "| field | password |\n|---|---|\n| type | string |\n| min | 12 |",
        "  id | token_count \n----+-------------\n  1 | 4096",
        "INSERT INTO settings (key, value) VALUES ('theme', 'dark');",
        "Surrogate-Key: post-12 post-13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        "use password authentication for the admin account",
        "lösenordet är felaktigt",
        "new TokenCredential(scope, audience)",
        "(Pdb) p self.token_count\n4096",
        "A senha do usuário é obrigatória",
        "Passwort Richtlinien: mindestens zwölf Zeichen",
        "- ParameterKey: InstanceType\n  ParameterValue: t3.micro-2xlarge",
        "seed phrase:\n1. open the wallet\n2. write it down\n3. keep it",
    ],
)
def test_it_stays(text: str) -> None:
    assert redact(text) == text
