"""Secrets in the configurations of routers, gateways and servers, and in files that only their name makes secret."""

from __future__ import annotations

import pytest

from leafward.redaction.redaction import Redactor, redact
from tests.core.redacted import assert_stays, assert_takes_linear_time, repeated

VALUE = "blueOwl152"
HASH = "eee65f53e9421ce50211670eae679f02"
LINES = [
    "enable password {}",
    "enable secret level 5 {}",
    " neighbor 10.0.0.1 password 7 {}",
    "crypto isakmp key {} address 192.0.2.4",
    "ip ospf message-digest-key 1 md5 {}",
    "ip ospf authentication-key {}",
    "ntp authentication-key 1 md5 {} 7",
    "  key-string 7 {}",
    "standby 1 authentication md5 key-string {}",
    "pre-shared-key local {}",
    "snmp-server user ada ops v3 auth sha {} priv aes 128 {}",
    'authentication-key "$9${}"; ## SECRET-DATA',
    "set security ike policy p pre-shared-key ascii-text {}",
    "set system login user ada authentication plain-text-password-value {}",
    "set snmp community {} authorization read-only",
    "set psksecret ENC {}K7pQ2mZx9TvRw3Ld==",
    "/snmp community set name={}",
    "iwconfig wlan0 key s:{}",
    'login = cleartext "{}"',
    "pap = cleartext {}",
    "login = des {}abc",
    "# tac_plus\nkey = {}",
    ": PSK {}",
    ': RSA gateway.pem "{}"',
    "register => ada:{}@sip.example.net",
    "read -s PW <<< {}",
    "(echo {}; echo {}) | smbpasswd -s -a ada",
    "kind: Secret\ndata:\n  pw: aGVsbG8=\nstringData:\n  foo: {}\n",
    '{{"data":{{"user":"Ym9iSXFCWktt","foo":"YmlnLWtldHRsZS03"}},"kind":"Secret","x":"{}"}}',
]
FILES = {
    "/etc/racoon/psk.txt": f"192.0.2.1\t{VALUE}\nvpn.example.net   {VALUE}2\n",
    "/etc/exim4/passwd.client": f"# target:login:password\n*:ada@example.net:{VALUE}\nmail.example.net:ada:{VALUE}2\n",
    "/etc/rsyncd.secrets": f"ada:{VALUE}\ngrace:{VALUE}2\n",
    "/etc/apache2/users.htdigest": f"ada:Private Area:{HASH}\n",
    "voicemail.conf": f"100 => {VALUE},Ada\n",
}


def test_lines_of_configurations() -> None:
    for line in LINES[:-1]:
        assert VALUE not in redact(line.format(VALUE, VALUE)), line
    assert "Ym9i" not in (said := redact(LINES[-1].format(VALUE)))
    assert "YmlnLWtl" not in said


def test_files_that_their_name_makes_secret() -> None:
    for path, text in FILES.items():
        numbered = "".join(f"     {at}\t{line}\n" for at, line in enumerate(text.splitlines(), 1))
        shown = [
            redact(f"$ cat {path}\n{text}"),
            str(Redactor().value([{"command": f"cat {path}"}, {"output": text}])[1]),
            str(Redactor().value([{"file_path": path}, {"content": numbered}])[1]),
        ]
        for one in shown:
            assert VALUE not in one, path
            assert HASH not in one, path


def test_lines_that_look_like_those_of_configurations() -> None:
    for text in (
        "enable password protection for the archive",
        "enable secret scanning in the settings",
        "the neighbor 10.0.0.1 password is missing",
        "pre-shared-key is not set",
        "a level of cleartext passwords",
        "it cost $9$ and $10$ each",
        "ada:Private Area:of the garden\n",
        f"md5 of the tree:\n{HASH}  a.txt\n",
        "src/app.py:main:warning\n",
        "login = description",
        "kind: ConfigMap\ndata:\n  a: aGVsbG8=\n",
        ": PSK authentication failed",
        "register => handler",
    ):
        assert_stays(text)


@pytest.mark.parametrize(
    "piece",
    [
        *("htdigest a:b c:", "psk.txt\na.b ", "tac_plus key ", "standby 1 authentication ", ": RSA a "),
        *("snmp community a ", "(echo a; echo ", "pre-shared-key local hex ", "passwd.client\n*:a:"),
    ],
)
def test_hostile_text_takes_linear_time(piece: str) -> None:
    assert_takes_linear_time(repeated(piece))
