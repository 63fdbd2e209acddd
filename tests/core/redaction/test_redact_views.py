"""Secrets in texts with colours, escapes of JSON and signs of comments; and what these do not make one."""

from __future__ import annotations

import json

import pytest

from leafward.redaction.redaction import redact, secrets_in
from tests.core.redacted import assert_stays, assert_takes_linear_time, repeated

VALUE = "wEgRG7K9bNxafj4s"
PLAIN = [
    "The password is wrong, the token is invalid, the secret is missing.",
    "  admin_password = random_password.db.result",
    "le mot de passe est obligatoire",
    'read -s -p "Password: " PASSWORD',
    "mysql -u root -p shop",
    '{"password": null, "token": "", "secret": false}',
]


@pytest.mark.parametrize("text", PLAIN)
def test_a_colour_is_no_part_of_a_value(text: str) -> None:
    coloured = f"\x1b[32m{text}\x1b[0m"
    assert_stays(coloured)
    assert_stays(json.dumps({"output": coloured}))


@pytest.mark.parametrize(
    "text", ["password: \x1b[33m{}\x1b[0m", "DB_PASS=\x1b[1m{}\x1b[0m", "{0:.6}\x1b[0m{0}"]
)
def test_a_colour_hides_no_value(text: str) -> None:
    token = f"ghp_{VALUE}{VALUE}Kq7x"
    value = token if text.startswith("{") else VALUE
    assert value not in redact(text.format(value))
    assert value not in redact(json.dumps({"output": text.format(value)}))


@pytest.mark.parametrize(
    "text", ["пароль: {}", "密码是{}", "hasło: {}", "la contraseña es {}", "\x1b[1mpassword:\x1b[0m\n{}"]
)
def test_escapes_of_letters_hide_no_name(text: str) -> None:
    written = json.dumps({"output": text.format(VALUE)})
    assert VALUE not in redact(written)
    assert VALUE not in redact(json.dumps({"line": written}))


def test_a_secret_that_begins_or_ends_with_an_escape_goes_whole() -> None:
    for secret in ("\u00fcber7Gh!kX", "kX7Gh!\u00fcber\u00fc"):
        written = json.dumps({"output": f"password: {secret}"})
        (span,) = secrets_in(written)
        assert written[slice(*span[:2])] == json.dumps(secret)[1:-1]


@pytest.mark.parametrize("sign", ["#", "//", "--", ";"])
@pytest.mark.parametrize(
    "lines",
    [
        ["env:", "  - name: DB_PASSWORD", f"    value: {VALUE}"],
        ["kind: Secret", "stringData:", f"  dsn: {VALUE}"],
        ["| user | password |", "|---|---|", "| ada | T4bleP4ss |"],
        ["Password:", VALUE],
    ],
)
def test_what_is_commented_out_is_found(sign: str, lines: list[str]) -> None:
    value = "T4bleP4ss" if "T4bleP4ss" in lines[-1] else VALUE
    assert value not in redact("\n".join(f"{sign} {line}" for line in lines))


@pytest.mark.parametrize("frame", ["+", "> ", "     3→", "a.ts:3:"])
def test_pieces_below_each_other_in_a_frame_are_one_key(frame: str) -> None:
    first, second = f"sk-ant-api03-{VALUE * 2}", f"{VALUE * 3}Qx7AA"
    lines = ["export {", f'const key = "{first}" +', f'  "{second}";']
    assert second not in redact("\n".join(frame + line for line in lines))
    assert second not in redact(json.dumps({"output": "\n".join(lines)}))


@pytest.mark.parametrize("sign", ["+", "-"])
def test_pieces_in_a_patch_are_one_key(sign: str) -> None:
    first, second = f"sk-ant-api03-{VALUE * 2}", f"{VALUE * 3}Qx7AA"
    patch = f'*** Update File: key.ts\n@@\n{sign}const key = "{first}" +\n{sign}  "{second}";\n*** End Patch'
    assert second not in redact(patch)


@pytest.mark.parametrize(
    "text",
    [
        '<label for="password">Password:</label>',
        '<label htmlFor="password">Passwort</label>',
        "# Password\n# Key\n# Secret\n",
        "// the token is checked here\n// password: see the settings\n",
    ],
)
def test_it_stays(text: str) -> None:
    assert_stays(text)


@pytest.mark.parametrize("piece", ["\\u0041", '{"\\u001b[0m', "\x1b[0mkey=", "# pass\n", '"+\n"'])
def test_it_takes_linear_time(piece: str) -> None:
    assert_takes_linear_time(f'{{"a":"{repeated(piece)}')
