"""Most of what is planted is found, in every form and context; of what only looks like it, nothing."""

from __future__ import annotations

import base64
import hashlib
import json
import random
import re
import uuid
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from leafward.redaction.redaction import Redactor, redact, secrets_in
from leafward.redaction.spans import MARKER
from tests.core.redacted import SIZE, assert_stays, assert_takes_linear_time
from tests.planted import Planted, pem, planted
from tests.surroundings import THOROUGH

if TYPE_CHECKING:
    from pathlib import Path

LEAST_RECALL = 0.99
MOST_FALSE = 1 / 10_000


def recall(every: list[Planted]) -> tuple[float, list[Planted]]:
    stay = [one for one in every if one.left(redact(one.text))]
    return 1 - len(stay) / len(every), stay


@pytest.mark.parametrize("half", [0, 1])
@pytest.mark.parametrize("seed", [12345])
def test_what_is_planted_is_found(half: int, seed: int) -> None:
    every = planted(half, seed)
    assert len(every) >= 300
    found, stay = recall(every)
    assert found >= LEAST_RECALL, [(one.form, one.context) for one in stay]


def test_what_replaced_a_secret_is_no_secret() -> None:
    for one in planted(0, 5):
        once = redact(one.text)
        assert redact(once) == once, (one.form, one.context)


def test_it_is_the_same_each_time() -> None:
    every = planted(1, 9)
    assert [redact(one.text) for one in every] == [redact(one.text) for one in every]


def test_places_are_in_order_and_apart() -> None:
    text = "\n".join(one.text for one in planted(0, 11))
    spans = secrets_in(text)
    assert all(0 <= start < end <= len(text) for start, end, _ in spans)
    assert all(one[1] <= two[0] for one, two in pairwise(spans))


_RNG = random.Random(4)
LOOKALIKES = (
    *(hashlib.new(name, b"x").hexdigest() for name in ("md5", "sha1", "sha256", "sha512")),
    *(str(uuid.UUID(int=_RNG.getrandbits(128))) for _ in range(3)),
    f"commit {_RNG.randbytes(20).hex()}",
    f"index {_RNG.randbytes(4).hex()}..{_RNG.randbytes(4).hex()} 100644",
    f'"integrity": "sha512-{base64.b64encode(_RNG.randbytes(64)).decode()}"',
    f"--hash=sha256:{_RNG.randbytes(32).hex()}",
    f"toolu_01{base64.b32encode(_RNG.randbytes(14)).decode()[:22]}",
    f"data:image/png;base64,{base64.b64encode(_RNG.randbytes(3000)).decode()}",
    f"h1:{base64.b64encode(_RNG.randbytes(32)).decode()}",
    f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5{base64.b64encode(_RNG.randbytes(33)).decode()} ada@host",
    f"-----BEGIN CERTIFICATE-----\nMIIDXTCCAkWgAwIBAgI{base64.b64encode(_RNG.randbytes(40)).decode()}\n-----END CERTIFICATE-----",
    "looks for -----BEGIN RSA PRIVATE KEY----- at the start and -----END RSA PRIVATE KEY----- at the end",
    "password = get_password()",
    "password: str",
    "fn write_env(url: &str, username: &str, password: &str) -> Result<()> {",
    "token: str | None = None",
    "def login(user: str, password: str = '') -> Token:",
    "PASSWORD=$PASSWORD",
    "PASSWORD=${DB_PASSWORD:-}",
    'export TOKEN="$(cat token.txt)"',
    "docker login -u ada --password-stdin < token.txt",
    "docker run -u 1000:1000 -p 8080:80 app",
    "curl -u $USER:$PASS https://host",
    "API_KEY=<your-api-key>",
    "api_key: your-api-key-here",
    "api_key = 'xxxxxxxxxxxxxxxxxxxx'",
    "OPENAI_API_KEY=sk-...",
    "password: '********'",
    "token: ${{ secrets.GITHUB_TOKEN }}",
    "api_key=settings.api_key, timeout=3",
    "  client_secret=client_secret,",
    'os.environ["OPENAI_API_KEY"]',
    'key = os.environ.get("ANTHROPIC_API_KEY_2")',
    "max_tokens: 16384, prompt_tokens=120045",
    "next_page_token = 'abc123def456ghi7'",
    "primary_key='user_id_2024_v1'",
    "cache_key: 3f2a9c1e9f8e7d6c5b4a39281706f5e4",
    "passed 12345678 of 12345679 tests",
    "--- PASS: TestSession/7_hex_chars (0.00s)",
    "bypass=rule12345, compass: north2south",
    "author: Ada1815Lovelace",
    '"password": "Enter your password"',
    '"passwordLabel": "Password (8+ characters)"',
    "if password == '':",
    "password-reset/confirm2",
    "https://example.com:8080/path@2x.png",
    "http://localhost:3000/@vite/client",
    "git@github.com:ada/orchard.git",
    "https://user@host.dev/x",
    "npm install @scope/pkg@1.2.3",
    "The secret is to keep going",
    "identified by name",
    "Authorization: Bearer $TOKEN",
    "Authorization: Bearer <token>",
    "Cookie: theme=dark; lang=en-GB",
    "/home/ada/.ssh/id_ed25519_backup2024",
    "src/auth/token_service2.py:120: class TokenService2:",
    "keyboard: qwerty12345",
    "AccountKeyword: foo2bar3baz4",
    "https://host.dev/page?code=404&lang=en",
    "error_code=E1234567890abcdefXYZ",
    "{ pass: 12, fail: 0 }",
    "pass: string, fail: string",
    "curl -b cookies.txt https://host",
    "passphrase: the quick brown fox jumps over it",
    base64.b64encode(b"a text of no interest, long enough to be looked into by whoever looks\n").decode(),
    "git log --author=ada:smith@tcp(x)"[:20],
    "api_key = (\n    settings.api_key\n)",
)


@pytest.mark.parametrize("text", LOOKALIKES)
def test_what_only_looks_like_one_stays(text: str) -> None:
    assert_stays(text)


@pytest.mark.parametrize("gap", ["\u200b", "\u2060", "\ufeff", "\u00ad", "\x1b[31m", "\x1b[0m"])
def test_a_token_is_found_across_what_nobody_sees(gap: str) -> None:
    token = "ghp" + "_" + "aB3d" * 9
    for at in range(1, len(token)):
        assert redact(f"x {token[:at]}{gap}{token[at:]} y") == f"x {MARKER}github token] y", at


def test_capitals_whose_small_letters_are_longer_move_no_place() -> None:
    assert redact("İİİ DB_PASSWORD=Tr0ub4dor&3 İ") == f"İİİ DB_PASSWORD={MARKER}secret] İ"


def test_a_value_beside_a_name_in_an_object_is_found() -> None:
    pair = {"name": "DB_PASSWORD", "value": "Tr0ub4dor&3"}
    assert Redactor().value([pair])[0]["value"] == f"{MARKER}secret]"


def test_a_key_in_a_list_of_lines_is_found() -> None:
    lines = pem(random.Random(1))[0].split("\n")
    told = json.dumps(Redactor().value({"lines": lines}))
    assert not any(line in told for line in lines[1:-2])


HOSTILE = {
    "words": "pass" * 62_500,
    "settings": "PASSWORD=" * 27_500,
    "quotes": 'token="' * 35_000,
    "escapes": "\\" * SIZE,
    "escaped quotes": 'key: \\"' * 35_000,
    "begins": "-----BEGIN RSA PRIVATE KEY-----\n" * 7_500,
    "ends": "-----END RSA PRIVATE KEY-----\n" * 7_500,
    "keys without end": ("-----BEGIN PRIVATE KEY-----\n" + "A" * 16 + "\n") * 2_500,
    "lines of keys": ("A1b2C3d4" * 2 + "\n") * 3_750,
    "starts of keys": "MIIEpAIBAAKCAQEA " * 15_000,
    "starts of keys around a longer one": "MIIEpAIBAAKCAQEA " * 1_400
    + "MIIEpAIBAABAAKCAQEA "
    + "MIIEpAIBAAKCAQEA " * 1_400,
    "addresses": "a://b:" * 40_000 + "@",
    "addresses on addresses": "://" * 82_500,
    "signs": "@" * SIZE,
    "commands": "curl mysql sshpass " * 12_500,
    "echoes": "echo a " * 35_000 + "| sudo -S x",
    "cookies": "cookie: a=b;" * 20_000,
    "headers": "authorization: " * 16_500,
    "web tokens": "eyJ" * 82_500,
    "dots": "eyJabcdefghijklm." * 14_500,
    "prefixes": "ghp_ sk- xoxb- " * 16_500,
    "numbers": "1" * SIZE,
    "long run": "aB3" * 83_250,
    "spaces": "password" + " " * SIZE,
    "elements": "<password " * 25_000,
    "cells": "| password | " * 18_750,
    "heads of tables": "token, token\n" * 6_000 + "TOKEN  TOKEN\n" * 6_000 + "| token |\n|---|\n" * 6_000,
    "passwords of postgres": "a:*:b:c:" * 30_000,
    "nothing seen": "a\u200b" * 125_000,
    "colours": "\x1b[3" * 82_500,
    "mixed": "".join(_RNG.choices("paswordtkenky=:\"'\\ \n|-@/", k=SIZE)),
    "all that is planted": "\n".join(one.text for half in (0, 1) for one in planted(half, 2)),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_takes_linear_time(name: str) -> None:
    assert_takes_linear_time(HOSTILE[name])


@pytest.mark.slow
def test_next_to_nothing_of_the_corpora_is_taken_for_a_secret(corpora: Path) -> None:
    lines = found = 0
    for path in sorted(corpora.rglob("*.jsonl")):
        text = path.read_text("utf-8", "replace")
        for line in text.split("\n")[:: 1 if THOROUGH else 4]:
            lines += 1 + len(re.findall(r"\\n", line))
            try:
                value = json.loads(line)
            except ValueError:
                continue
            redactor = Redactor()
            redactor.value(value)
            found += redactor.found.total()
    assert found < lines * MOST_FALSE
