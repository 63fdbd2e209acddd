"""Secrets that are told by what stands around them as a reader sees it: a command above, a sentence, a frame, pieces put together."""

from __future__ import annotations

import json
import random
import string
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from leafward.redaction.redaction import Redactor, listed, redact
from tests.core.redacted import assert_stays, assert_takes_linear_time, repeated

if TYPE_CHECKING:
    from collections.abc import Callable

_RNG = random.Random(1926)
_ALNUM = string.ascii_letters + string.digits


def _of(alphabet: str, size: int) -> str:
    return "".join(_RNG.choices(alphabet, k=size))


VALUE = "wEgRG7K9bNxafj4s"
HEX = "0687d8cc2c7d844f4433f0379f6f3f1a"
WORDS = "canyon-copper-quartz-violet"
PAIR = ", ".join(str(byte) for byte in _RNG.sample(range(256), 64))

PRINTED = [
    "gh auth token",
    "pass show web/acme",
    "op read op://prod/db/password",
    "bw get password acme",
    "security find-generic-password -w -s acme",
    "aws ssm get-parameter --name /db/pw --with-decryption --query Parameter.Value --output text",
    "gcloud secrets versions access latest --secret=db",
    "kubectl get secret grafana -o jsonpath='{.data.admin-password}' | base64 -d",
    "vault kv get -field=password secret/db",
    "openssl rand -base64 12",
    "head -c 24 /dev/urandom | base64",
    "printenv API_TOKEN",
    'echo "$DB_PASSWORD"',
    "jq -r .db.password creds.json",
    "cat /var/jenkins_home/secrets/initialAdminPassword",
    "cd infra && terraform output -raw db_password",
]


@pytest.mark.parametrize("command", PRINTED)
def test_what_a_program_prints_alone_is_taken_out(command: str) -> None:
    assert VALUE not in redact(f"$ {command}\n{VALUE}\n$ ls\n")
    assert VALUE not in redact(json.dumps({"output": f"ada@host:~$ {command}\n{VALUE}\n"}))


@pytest.mark.parametrize("command", PRINTED)
@pytest.mark.parametrize("secret", [VALUE, HEX])
def test_it_is_taken_out_of_the_record_behind_the_call_too(command: str, secret: str) -> None:
    redactor = Redactor()
    redactor.value({"type": "toolCall", "id": "call_1", "name": "bash", "arguments": {"command": command}})
    result = {
        "toolCallId": "call_1",
        "content": [{"type": "text", "text": f"{secret}\n"}],
        "toolUseResult": {"stdout": secret, "stderr": ""},
    }
    assert secret not in json.dumps(redactor.value(result))
    assert redactor.found.total() == 1


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("git rev-parse HEAD", HEX),
        ("TOKEN=$(gh auth token)", "v22.11.0-rc1"),
        ("openssl rand -hex 16 > key.txt", "wrote2bytes"),
        ("echo $HOSTNAME", "orchard-7f9c4d5b8"),
        ("cat src/tokens.py", "generated2026"),
        ("let the tests pass through", "unchanged2."),
        ("gh auth token", "no oauth token found for github.com"),
    ],
)
def test_what_other_programs_print_stays(command: str, output: str) -> None:
    text = f"$ {command}\n{output}\n"
    assert redact(text) == text
    redactor = Redactor()
    redactor.value({"arguments": {"command": command}})
    assert redactor.value({"content": output}) == {"content": output}


def test_it_is_taken_out_of_a_record_that_holds_call_and_output() -> None:
    """As opencode stores them: the call is an object ahead of the text."""
    state = {"input": {"command": "gh auth token"}, "output": VALUE, "metadata": {"output": VALUE}}
    assert VALUE not in str(Redactor().value({"type": "tool", "state": state}))


def test_only_what_is_printed_next_is_taken_for_the_secret() -> None:
    redactor = Redactor()
    redactor.value({"arguments": {"command": "gh auth token"}})
    redactor.value({"content": "not logged in"})
    assert redactor.value({"content": "build2026x"}) == {"content": "build2026x"}


SAID = [
    "you can log in as ada with {} as the password",
    "log in with ada@acme.dev and {}",
    "the staging password's {}",
    "the token you need is {}, it expires in a week",
    "creds are ada:{}",
    "DB creds -> ada / {}",
    "user ada pw {}",
    "ssh ada@10.0.0.4 (password {})",
    "changed password from {} to Xy4kQ9ttWm2p",
    "password must be {} on staging",
    "Temporary password for ada: {}",
    "api token (expires friday): {}",
    "pass phrase = {}",
    "I set POSTGRES_PASSWORD to {}",
    "Password set to {}",
    "Please use the following password to proceed to installation:\n\n{}\n\nThis may also be found at: /x",
    "secret key base64: {}",
    "password → {}",
]


@pytest.mark.parametrize("text", SAID)
def test_what_a_sentence_says_from_afar_is_taken_out(text: str) -> None:
    assert VALUE not in redact(text.format(VALUE))
    assert VALUE not in redact(json.dumps({"output": text.format(VALUE)}, ensure_ascii=False))


PLACED = [
    ("password    {}\nusername    ada", VALUE[:15]),
    ('db_password = "{}"', WORDS),
    ('{{"admin_password": {{"sensitive": true, "type": "string", "value": "{}"}}}}', VALUE),
    ('{{"Name": "/prod/stripe", "Type": "SecureString", "Value": "{}"}}', VALUE),
    ('{{"primaryKey": "{}"}}', f"2+afYokzkWi336StzZ0m0G13X7HS3wcJHVaBj5VUjj{_of('Sx', 1)}="),
    ("define('AUTH_KEY', '{}');", "5tU`Euc?P.jS~x9:>JO[zyK9Ae5R.{P4bvt1u1p}AL[+BchThv~>]G+GqPmB*eG"),
    ('<machineKey validationKey="{}" />', HEX.upper() * 4),
    ('vault_smtp: "{}"', VALUE + "Xe3"),
    ("    Key Content            : {}", VALUE),
    ("<auth-user-pass>\nada\n{}\n</auth-user-pass>", VALUE),
    ("snmpwalk -v2c -c {} 10.0.0.1", VALUE),
    ("rocommunity {} 10.0.0.0/8", VALUE),
    ("net use Z: \\\\nas\\share {} /user:ada", VALUE),
    ("gh secret set DEPLOY --body {}", VALUE),
    ("fly secrets set ORCHARD={}", VALUE),
    ("passwd ada <<< $'{0}\\n{0}'", VALUE),
    ("npm login <<EOF\nada\n{}\nada@x.dev\nEOF", VALUE),
    ("security unlock-keychain -p {} build.keychain", VALUE),
    ("keytool -importkeystore -srcstorepass {}", VALUE),
    ("jwt.sign(payload, '{}', {{ expiresIn: '1h' }})", VALUE),
    ("hmac.new(b'{}', message, hashlib.sha256)", VALUE),
    ("createHmac('sha256', '{}')", VALUE),
    ('smtp.PlainAuth("", "ada", "{}", host)', VALUE),
    ('.basic_auth("ada", Some("{}"))', VALUE),
    ('["password"]=>\n  string(16) "{}"', VALUE),
    ("local token = [[{}]]", VALUE),
    ('{{default_pass, <<"{}">>}}', VALUE),
    ('Const DbPassword As String = "{}"', VALUE),
    ("export ARTIFACTORY_PSW={}", VALUE),
    ("CF_Key={}", HEX + "a1b2c"),
    ('BUNDLE_GEMS__CONTRIBSYS__COM: "5c205073:{}"', "de023d7c2a6e"),
    ('{{"key":"TOKEN","value":"{}"}}', VALUE),
    ("const k = 'sk_live_' + '{}';", VALUE + VALUE),
    ("TOKEN='aB3dE7gH9jK2'\\\n'{}'", VALUE),
    ("Backup codes: {} 31788629 79550972", "76585053"),
    ("Save these recovery codes:\nvy1gk-dnrtd\n{}\nuhsh7-e5pli\n", "gibcg-xib4q"),
    ("Can't scan it? Enter this key: {}", "SHKO LLWU WJPL WTMT 375A IXLK UYWK FQC2"),
    ("[{}]\n", PAIR),
    ("privateExponent:\n    {}", ":".join(_of("0123456789abcdef", 2) for _ in range(15))),
    ("untrusted comment: minisign encrypted secret key\n{}", "RWRTY0Iy" + _of(_ALNUM, 200)),
    ("Administrator:500:{0}:{0}:::", HEX),
    ("https://api.telegram.org/bot8626763480:{}/sendMessage", "v9Bz_TeW_62iZh6jH0dq56JsrfBpJnRe9HI"),
    ("v2.local.{}", _of(_ALNUM, 90)),
    ("tok_{}", "OmEx3uQEvrr9RfcxQQ8qmeGI4ohLCBKs"),
    ("product key: {}", "MCCGW-9OJ0Z-GG3ZQ-9FZ33-UDFI5"),
    ("REDIS_AUTH={}", "rpPlIhcJwd9iMJ"),
    ('~ master_password = "a7kWJEvU8FuqX" -> "{}"', VALUE),
    ("password => Sensitive('{}'),", VALUE),
    ("postgresql+asyncpg://shop:{}@/shop?host=/var/run/postgresql", VALUE),
    ("new Stripe('{}', {{ apiVersion: '2024' }})", VALUE),
    ("http.basic_auth 'ada', '{}'", VALUE),
    ("cy.get('[name=password]').type('{}')", VALUE),
    ("driver.find_element(By.ID, 'password').send_keys('{}')", VALUE),
    ("use {} for the db password", VALUE),
    ("Enter passphrase for key '/home/ada/.ssh/id_rsa': {}", VALUE),
    ("$ python -c 'import secrets; print(secrets.token_urlsafe(32))'\n{}\n", VALUE),
    ("oathtool --totp -b {}", "ZYN5FGS52S6H3UMVC5GOFREL72MNY54H"),
    (
        "Write this mnemonic phrase down.\n\n{}\n",
        "adapt awesome anxiety alpha artist apple army already august audit agree anchor",
    ),
    ("new ethers.Wallet('0x{}', provider)", HEX * 2),
    ("hibernate.connection.password {}", VALUE),
    (
        "SCRAM-SHA-256$4096:{}",
        "u1bw06hXHUEeKcl1FcO1Bk==$HoSB0npWDHp52WTXj2XeNtg5JKPNSOh3nRR7aCAh2El=:dMFCBXDCyl7p5JdReBnp31Jp662/N4WvpXVcOLbq8oH=",
    ),
    ("kinit ada <<< {}", WORDS),
    ("https://conda.acme.dev/t/{}/main", "ac-0f2df53c-6f70"),
]


@pytest.mark.parametrize(("text", "secret"), PLACED, ids=[text[:40] for text, _ in PLACED])
def test_it_is_taken_out_where_it_stands(text: str, secret: str) -> None:
    shown = text.format(secret)
    assert secret not in redact(shown)
    assert redact(redact(shown)) == redact(shown)


def _numbered(text: str) -> str:
    return "\n".join(f"{number:6d}\t{line}" for number, line in enumerate(text.split("\n"), 1))


def _before_each(frame: str) -> Callable[[str], str]:
    return lambda text: "\n".join(frame + line for line in text.split("\n"))


SHOWN: dict[str, Callable[[str], str]] = {
    "numbered": _numbered,
    "added": _before_each("+"),
    "bordered": _before_each("│ "),
    "quoted": _before_each("> "),
    "of a search": _before_each("conf/app.txt:7:"),
    "JSON": lambda text: json.dumps({"output": text}),
    "JSON in JSON": lambda text: json.dumps(json.dumps({"output": text})),
}
LINES = [
    f"$ gh auth token\n{VALUE}\n",
    f'{{\n  "Name": "/prod/stripe",\n  "Type": "SecureString",\n  "Value": "{VALUE}"\n}}',
    f"<auth-user-pass>\nada\n{VALUE}\n</auth-user-pass>",
    f'admin_password:\n  "{VALUE}"\nhost: x',
    f"Use the following password to log in:\n\n{VALUE}\n\nChange it.",
    f"====\nKey         Value\n---         -----\npassword    {VALUE}\n",
]


@pytest.mark.parametrize("way", SHOWN)
@pytest.mark.parametrize("text", LINES, ids=["printed", "field", "element", "next line", "below", "column"])
def test_it_is_taken_out_however_it_is_shown(text: str, way: str) -> None:
    assert VALUE not in redact(SHOWN[way](text))


@pytest.mark.parametrize(
    "text",
    [
        "the key for the cache is user-profile-settings",
        "the token is validated in src/auth/middleware2.ts",
        "key fingerprint is SIXvRyDmBJSgatgTQRGbInBaAK",
        "the password of user getUserById2 is hashed",
        "Public key sha256: SIXvRyDmBJSgatgTQRGbInBaAKhZOQ18UmrSwnDlK8",
        "with an Ed25519PrivateKey as the key",
        "recovery codes are shown once; see docs/2026-11-recovery.md",
        "backup code path taken 12345 times of 67890",
        "token      Identifier\nvalue      foo",
        "PASSWORD=`cat /run/secrets/db`",
        "curl -u user:pass https://example.com",
        "GPG_KEY=A035C8C19219BA821ECEA86B64E628F8D684696D",
        "createCipheriv('aes-192-ccm', key, nonce)",
        "util._assertion_pass = call_assertion_pass_hook",
        "#define OBJ_pbe_WithSHA1And3_Key_TripleDES_CBC OBJ_pkcs12_pbeids,3L",
        "'name: ' + 'value of the key'",
        f"[{', '.join(['0', '1'] * 32)}]\n",
        '{"sensitive": false, "type": "string", "value": "eu-west-1a2b3c4d"}',
        "token (str): Access token of the API",
        'primaryKey: "user_id_of_the_row"',
        "github://org:repo@/precip/catalog.yml",
    ],
)
def test_it_stays(text: str) -> None:
    assert_stays(text)


HOSTILE = {
    name: repeated(piece)
    for name, piece in {
        "names": "key ",
        "names and words": "key the ",
        "links": "password is a is b ",
        "labels": "password a b c:\n",
        "groups": "key:ABCD EFGH ",
        "codes": "recovery codes: a1b2c3 ",
        "labels of codes": "recovery codes ",
        "numbers of codes": "backup code:1) ",
        "commands": "$ gh auth token ",
        "filters": "$ gh auth token | tr ",
        "names that are printed": "$ echo $",
        "paths that are printed": "$ cat a/",
        "joints": "'abcd' + ",
        "joints without spaces": '"+"',
        "joints over lines": "'+\n   ",
        "sensitive": '"sensitive": true,',
        "fields in fields": 'password: {"a":"b",',
        "columns": "password  ",
        "lists of bytes": "\n[1,2,",
        "numbers of keys": "priv:aa:bb:",
        "logins": "<auth-user-pass>\na\n",
        "calls": "jwt.sign(a, ",
        "digests": "hmac.new($a, ",
        "keys of products": "A1B2C-D3E4F-G5H6I-J7K8L-",
        "frames": "+\n",
        "numbered lines": "     1\tkey \n",
        "escapes": '{"a":"\\\\\\"\\n',
        "parentheses": "key (a): ",
        "named": "put a into API_KEY ",
        "plans": 'password = "a" -> ',
        "fields of a page": "password').type('",
        "words of wallets": "mnemonic\nabc abc ",
        "settings of Java": "\na.password a",
        "seeds": "oathtool -b ",
        "pairs of pgbouncer": '"a" "b"\n',
        "secrets of PPP": "\na pptpd b ",
        "logins of Postfix": "\n[smtp.a.b]:587 a",
    }.items()
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_takes_linear_time(name: str) -> None:
    assert_takes_linear_time(HOSTILE[name])


@pytest.mark.parametrize(
    "text",
    [
        "the new password will be ZqvVOOL?b2Y780",
        "\x1b[32mDB_PASSWORD\x1b[0m=\x1b[33mTrMoGjs!fuvs95\x1b[0m",
        "пароль от базы: KxwNghI9INR72",
    ],
)
@pytest.mark.parametrize("ascii_only", [True, False])
def test_each_string_of_a_call_that_is_stored_as_json_is_redacted_by_itself(
    text: str, *, ascii_only: bool
) -> None:
    call = {"path": "notes.txt", "content": text}
    row = {
        "type": "function_call",
        "name": "write",
        "arguments": json.dumps(call, ensure_ascii=ascii_only),
        "output": json.dumps({"output": text, "metadata": {"exit_code": 0}}, ensure_ascii=ascii_only),
    }
    shown = Redactor().value(row)
    for secret in ("ZqvVOOL", "TrMoGjs", "KxwNghI"):
        assert secret not in json.dumps(shown)
    assert json.loads(shown["arguments"])["path"] == "notes.txt"
    assert "[redacted: " in json.loads(shown["arguments"])["content"]
    assert json.loads(shown["output"])["metadata"] == {"exit_code": 0}


def test_kinds_are_counted_in_plain_words() -> None:
    found = Counter({"password hash": 2, "github token": 2, "aws key": 1})
    assert listed(found) == "1 aws key, 2 github tokens, 2 password hashes"
