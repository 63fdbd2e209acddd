"""Values over several lines, and values that only begin or end like something else."""

from __future__ import annotations

import json

import pytest

from leafward.redaction.redaction import redact
from tests.core.redacted import assert_stays, assert_takes_linear_time, repeated

LOGINS = {"anna": "Kirschbaum42x", "bert": "Zwetschge77q", "carl": "Mirabelle19z"}
LINES = "\n".join(f"{user}:{password}" for user, password in LOGINS.items())
CALLS = [
    "chpasswd <<EOF\n{}\nEOF\n",
    "sudo chpasswd <<'EOF'\n{}\nEOF",
    "chpasswd -c SHA512 << EOF\n{}\nEOF",
    "cat <<EOF | chpasswd\n{}\nEOF",
    "cat <<-EOT | sudo chpasswd\n{}\n\tEOT",
]


@pytest.mark.parametrize("call", CALLS)
def test_every_line_that_chpasswd_reads(call: str) -> None:
    text = call.format(LINES)
    for said in (redact(text), redact(json.dumps({"command": text}))):
        assert not [password for password in LOGINS.values() if password in said], said
        assert "anna" in said


@pytest.mark.parametrize("line", ["{}", '"{}"', "'{}'", "  {}"])
@pytest.mark.parametrize("name", ["export DB_PASSWORD", "API_KEY"])
def test_a_value_in_the_next_line_of_a_command(name: str, line: str) -> None:
    text = f"{name}=\\\n{line.format('Kirschbaum42x')}\n"
    assert "Kirschbaum42x" not in redact(text)


@pytest.mark.parametrize(
    "value",
    ["example9Kf2Lq8z", "changeme9Kf2Lq", "placeholder-9Kf2Lq8z", "mySecret9Kf2Lq", "dummy_token_9Kf2Lq"],
)
def test_a_value_that_only_begins_like_a_placeholder(value: str) -> None:
    assert value not in redact(f"password={value}")
    assert value not in redact(f'password = "{value}"')


@pytest.mark.parametrize("value", ["hT7kq2Lx9!", "Kirschbaum42x!"])
@pytest.mark.parametrize("name", ["пароль", "Passwort", "senha"])
def test_a_sign_at_its_end_is_one_of_the_password(name: str, value: str) -> None:
    assert value not in redact(f"{name} {value}")


OTHERS = [
    "run chpasswd <<EOF with lines\nuser:password\nEOF",
    "man chpasswd\nnote: an important one\nEOF",
    "sudo chpasswd\nLet it read lines",
    *(f"password={value}" for value in ("exampleKey123", "changeme123", "your_password_here", "mySecret123")),
    "password=placeholder-password",
    "API_KEY=example-key-2024",
    "PASSWORD=\\\n$(cat file)",
    "Passwort vergessen!",
    "пароль изменён!",
]


@pytest.mark.parametrize("text", OTHERS)
def test_what_looks_alike_stays(text: str) -> None:
    assert_stays(text)


@pytest.mark.parametrize(
    "piece", ["chpasswd <<EOF\na:chpasswd\n", "KEY=\\\n", "password=changeme", "пароль a!"]
)
def test_hostile_text_takes_linear_time(piece: str) -> None:
    assert_takes_linear_time(repeated(piece))
