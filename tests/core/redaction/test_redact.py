"""Secrets are taken out and named; what only looks a little like one stays."""

from __future__ import annotations

import base64
import random

import pytest

from leafward.redaction.redaction import Redactor, secrets_in
from leafward.redaction.secret_values import is_secret
from tests.core.linear_time import in_linear_time
from tests.core.redacted import SIZE, assert_takes_linear_time, repeated

PRIVATE_KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7+\nabc/123=\n-----END RSA PRIVATE KEY-----"

HEX = "28bf6609ada91e735e4ee46643f9fba7"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("sk-proj-" + "aB3" * 12, "[redacted: openai key]"),
        ("sk-ant-api03-" + "aB3_" * 10, "[redacted: anthropic key]"),
        ("OPENAI_API_KEY=sk-" + "a1" * 20, "OPENAI_API_KEY=[redacted: openai key]"),
        ("ghp_" + "aB3d" * 9, "[redacted: github token]"),
        ("github_pat_" + "11AAAA_" * 8, "[redacted: github token]"),
        ("id AKIAJ5QW2ZN7TB4KX3VE.", "id [redacted: aws key]."),
        ("xoxb-123456789012-abcdefABCDEF", "[redacted: slack token]"),
        ("AIza" + "aB3-_" * 7, "[redacted: google key]"),
        ("Authorization: Bearer abc123.def456-ghi789", "Authorization: Bearer [redacted: bearer token]"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl", "[redacted: web token]"),
        ("postgres://ada:s3cr3t@db/x", "postgres://ada:[redacted: password]@db/x"),
        (f"before\n{PRIVATE_KEY}\nafter", "before\n[redacted: private key]\nafter"),
        ("password = 'Tr0ub4dor&3'", "password = '[redacted: secret]'"),
        ('"client_secret": "q8Zk2LmN0pR4sT6u"', '"client_secret": "[redacted: secret]"'),
        ("DB_PASSWORD: 9f8e7d6c5b4a", "DB_PASSWORD: [redacted: secret]"),
        ('{\\"token\\": \\"q8Zk2LmN0pR4sT6u\\"}', '{\\"token\\": \\"[redacted: secret]\\"}'),
        (f"algolia admin key: {HEX}", "algolia admin key: [redacted: secret]"),
        (f"infura project secret {HEX}", "infura project secret [redacted: secret]"),
        (f"https://eth-mainnet.g.alchemy.com/v2/{HEX}", "https://eth-mainnet.g.[redacted: node key]"),
        (f"prod:happy-animal-123|{HEX}{HEX}", "[redacted: convex key]"),
        (f"shippo_live_{HEX}a1b2c3d4", "shippo_[redacted: payment key]"),
        ("Das Passwort lautet Tr0ub4dor&3", "Das Passwort lautet [redacted: password]"),
        ("mot de passe : Tr0ub4dor&3.", "mot de passe : [redacted: password]."),
        ("la contraseña es «Tr0ub4dor&3»", "la contraseña es «[redacted: password]»"),
        ("密码：Tr0ub4dor&3。", "密码：[redacted: password]。"),
        ("パスワードは「Tr0ub4dor&3」です", "パスワードは「[redacted: password]」です"),
        ("user,password\nada,Tr0ub4dor&3", "user,password\nada,[redacted: secret]"),
        ("id;api_key;plan\n1;q8Zk2LmN0pR4sT6u;free\n", "id;api_key;plan\n1;[redacted: secret];free\n"),
        ("new PDO($dsn, 'ada', 'Tr0ub4dor&3')", "new PDO($dsn, 'ada', '[redacted: password]')"),
        ('Client("q8Zk2LmN0pR4sT6uVw7xYz12")', 'Client("[redacted: password]")'),
        ("schtasks /create /ru ada /rp Tr0ub4dor&3", "schtasks /create /ru ada /rp [redacted: password]"),
        ("mosquitto_sub -u ada -P Tr0ub4dor&3 -t x", "mosquitto_sub -u ada -P [redacted: password] -t x"),
        (
            'ConvertTo-SecureString "Tr0ub4dor3" -AsPlainText',
            'ConvertTo-SecureString "[redacted: password]" -AsPlainText',
        ),
        (
            "<password>{jSMOWnoPFgsHVpMvz5VrIt5kRbzGpI8u=}</password>",
            "<password>[redacted: secret]</password>",
        ),
        ("app-specific password: abcd-efgh-ijkl-mnop", "app-specific password: [redacted: secret]"),
        (f"secretKey: [{', '.join(map(str, range(100, 164)))}]", "secretKey: [redacted: secret]"),
        ("nsec1" + "q0z9" * 14 + "q0", "[redacted: nostr key]"),
        (f"token: eyJhbGciOiJSUzI1NiJ9.{HEX}.{HEX}{HEX}", "token: [redacted: web token]"),
    ],
)
def test_taken_out(text: str, kept: str) -> None:
    redactor = Redactor()
    assert redactor.text(text) == kept
    assert sum(redactor.found.values()) == 1
    assert redactor.text(kept) == kept


@pytest.mark.parametrize(
    "text",
    [
        "password: string",
        "password = getpass()",
        "api_key=os.environ['OPENAI_API_KEY']",
        "token = tokenizer.encode2(text)",
        "token_count = 12345678",
        "secret: your-secret-here",
        "token: src/tokens2.py",
        "the key: press any key to continue",
        "sk-learn is a library, sk-image another",
        "task-forces-and-other-words-with-dashes",
        "maxTokens: 16384",
        "bearer of bad news about authentication",
        "https://example.com/path?x=1",
        "git@github.com:ada/orchard.git",
        "3f2a9c1e commit 9f8e7d6c5b4a39281706f5e4d3c2b1a098765432",
        "password = ${DB_PASSWORD_2}",
        "AKIA is a prefix",
        f"cache key {HEX}",
        f"the row key: {HEX}",
        "the secret sauce of 2026-11-21",
        "Passwort: optional",
        "Passwort vergessen? Hier klicken",
        "Das Passwort ist falsch",
        "mot de passe : obligatoire",
        "la contraseña es obligatoria",
        "密码：必填",
        "密码错误，请重试",
        "パスワードは必須です",
        "user,token,count\nada,word,12",
        "name, password, role\nthis, that, other",
        "key: [1, 2, 3, 4]",
        'new Client("http://localhost:8080/api/v1/orders")',
        'new Client("a-name-of-a-service-that-is-long")',
    ],
)
def test_left_alone(text: str) -> None:
    redactor = Redactor()
    assert redactor.text(text) == text
    assert not redactor.found


def test_values_are_redacted_as_deep_as_they_go() -> None:
    deep: object = {"token": "q8Zk2LmN0pR4sT6u"}
    for _ in range(5000):
        deep = [deep]
    redactor = Redactor()
    found = redactor.value({"a": [{"b": "ghp_" + "aB3d" * 9}], "n": 5, "deep": deep})
    assert found["a"] == [{"b": "[redacted: github token]"}]
    assert redactor.found == {"github token": 1, "secret": 1}


def test_the_value_given_is_not_changed() -> None:
    value = {"a": ["sk-proj-" + "aB3" * 12]}
    Redactor().value(value)
    assert value == {"a": ["sk-proj-" + "aB3" * 12]}


def test_a_picture_is_left_alone() -> None:
    block = {"type": "image", "mimeType": "image/png", "data": "AKIAJ5QW2ZN7TB4KX3VE"}
    assert Redactor().value([block]) == [block]


@pytest.mark.parametrize("data", ["iVBORw0KGgo= ghp_" + "x9Yz" * 9, ["ghp_" + "x9Yz" * 9]])
def test_what_is_no_base64_is_no_picture(data: object) -> None:
    """An image block may hold any text under the name of its data, and a document shows it."""
    assert "x9Yz" not in str(Redactor().value({"type": "image", "data": data}))


@pytest.mark.parametrize(
    "text",
    [
        base64.b64encode(random.Random(1).randbytes(SIZE)).decode(),
        *map(repeated, ("password", "token=", "eyJ", "-----BEGIN PRIVATE KEY-----\n")),
        repeated("a://b:") + "@",
        repeated("Bearer "),
    ],
    ids=["base64", "names", "assignments", "web tokens", "private keys", "addresses", "schemes"],
)
def test_hostile_text_takes_linear_time(text: str) -> None:
    assert_takes_linear_time(text)


@pytest.mark.parametrize("piece", ["token:", "secret:", "PASSWORD="])
def test_the_value_of_a_name_that_is_repeated_without_end_is_judged_once(piece: str) -> None:
    before = is_secret.cache_info().misses
    secrets_in(piece * 4_000)
    assert is_secret.cache_info().misses - before < 200, "those at the end, each shorter than the one before"


@pytest.mark.parametrize("piece", ["token:", "Token:", "auth:"])
def test_a_name_whose_value_reaches_no_further_than_others_is_not_judged(piece: str) -> None:
    """Each value differs here, and holds the names that come next."""
    text = "".join(f"{piece}{number}" for number in range(4_000))
    before = is_secret.cache_info().misses
    assert secrets_in(text) == [(len(piece), len(text), "secret")]
    assert is_secret.cache_info().misses - before < 400


@pytest.mark.parametrize("name", ["tokens", "tokens."])
def test_a_list_among_such_names_is_looked_at(name: str) -> None:
    """A list is longer than a value: the value of a name in it does not stand for it."""
    chance = random.Random(1)
    noise = ["".join(chance.choices("abcXYZ0123456789", k=size)) for size in (18, 110, 530)]
    text = f"token:{noise[0]}/{name}={noise[1]}/token:{noise[2]} end"
    assert secrets_in(text) == [(len("token:"), len(text) - len(" end"), "secret")]


@pytest.mark.parametrize("name", ["passwords", "tokens", "api_keys"])
def test_lists_that_hold_each_other_are_judged_once(name: str) -> None:
    """Each holds the three hundred that come next: a megabyte took four minutes."""
    text = "".join(f"{name}={number}," for number in range(1_000, 2_500))
    with in_linear_time():
        secrets_in(text)


def test_a_private_key_in_one_text_of_a_list_is_taken_out_there() -> None:
    """Arguments of a command: one of them may have more lines than there are arguments."""
    command = ["bash", "-lc", f"cat > key <<END\n{PRIVATE_KEY}\nEND", "-"]
    found = Redactor()
    assert found.value({"command": command}) == {
        "command": ["bash", "-lc", "cat > key <<END\n[redacted: private key]\nEND", "-"]
    }
    assert found.found == {"private key": 1}
    lines = PRIVATE_KEY.split("\n")
    assert Redactor().value(["before", f"a {PRIVATE_KEY} b", *lines, "after"]) == [
        "before",
        "a [redacted: private key] b",
        *["[redacted: private key]"] * len(lines),
        "after",
    ]


def test_each_key_that_is_a_secret_keeps_its_value() -> None:
    tokens = ["ghp_" + letter * 18 + "7Kq2" + letter.upper() * 14 for letter in "abc"]
    counts = {**{token: number for number, token in enumerate(tokens)}, "other": 3}
    assert Redactor().value(counts) == {
        "[redacted: github token]": 0,
        "[redacted: github token] (2)": 1,
        "[redacted: github token] (3)": 2,
        "other": 3,
    }
