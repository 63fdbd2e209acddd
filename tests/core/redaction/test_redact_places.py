"""Secrets whose place names them: another line, a column, an element inside, a section, an earlier mention."""

from __future__ import annotations

import base64
import random
import string

import pytest

from leafward.redaction.redaction import Redactor, redact, secrets_in
from tests.core.linear_time import in_linear_time

_RNG = random.Random(1127)


def _of(alphabet: str, size: int) -> str:
    return "".join(_RNG.choices(alphabet, k=size))


_LETTERS = string.ascii_letters + string.digits
PASSWORD = "Biber-Damm-47"
WORD = "gL4cierMoss77"
KEY = f"{_of(_LETTERS, 20)}7ILoJQ4x{_of(_LETTERS, 12)}"
HEX = "0687d8cc2c7d844f4433f0379f6f3f1a"
BASE32 = "NY22G3VCHX34TPOCE4Z3FFXDCGDCTH67"
WORDS = "orbit ability crisp famous gadget humble ivory juice kitten lemon matrix panda"
LINES = base64.b64encode(_RNG.randbytes(48)).decode(), base64.b64encode(_RNG.randbytes(20)).decode()

SECRETS = [
    # SQL, databases, queues.
    ("create user ada identified by {} default tablespace users;", "Beaver_47x"),
    ("CREATE DATABASE LINK l CONNECT TO ada IDENTIFIED BY {} USING 'orcl';", "Beaver_47x"),
    ("DECLARE @pw nvarchar(50) = N'{}';", PASSWORD),
    ("EXEC sp_addlogin 'ada', '{}', 'shop';", PASSWORD),
    ("CALL dbms.security.createUser('ada', '{}', false)", PASSWORD),
    ("jdbc:sqlserver://h:1433;databaseName=x;user=sa;password={{{}}};", "Yx7}}qq-11"),
    ('sasl.jaas.config=x.PlainLoginModule required username="a" user_ada="{}";', PASSWORD),
    ("sentinel auth-pass mymaster {}", PASSWORD),
    ("authentication_string: *{}", "5663CC9980E704E6B6AF5839FA2B17934C4CEB37"),
    # Options of programs.
    ("psexec \\\\srv -u ada -p {} cmd", WORD),
    ("security add-generic-password -a ada -s svc -w {}", WORD),
    ("snmpwalk -v3 -u ada -A firstPart11 -X {} h", WORD),
    ("aws ssm put-parameter --name /prod/db --type SecureString --value {}", WORD),
    ("aws ssm put-parameter --name /prod/db --value {} --type SecureString", WORD),
    ("reg add HKLM\\SOFTWARE\\Acme /v ApiKey /t REG_SZ /d {} /f", KEY),
    ("    DefaultPassword    REG_SZ    {}", WORD),
    ("rsync --password-file=<(echo {}) a b::m", WORD),
    ("restic backup --password-command 'echo {}'", WORD),
    ('-H "Authorization: Basic $(echo -n ada:{} | base64)"', WORD),
    ("bundle config gems.firma.example ada:{}", WORD),
    ("helm install --set-string secrets.jwt={}", KEY),
    # Code.
    ('new PasswordAuthentication("ada", "{}".toCharArray())', WORD),
    ('curl_easy_setopt(curl, CURLOPT_USERPWD, "ada:{}");', WORD),
    ('pyotp.TOTP("{}").now()', BASE32),
    ("CryptoJS.AES.encrypt(text, '{}')", PASSWORD),
    ('builder.signWith(SignatureAlgorithm.HS256, "{}")', KEY),
    ('new SymmetricSecurityKey(Encoding.UTF8.GetBytes("{}"))', KEY),
    ("Cookies.set('session', '{}')", KEY),
    ('char password[] = "{}";', WORD),
    ('"Jwt": {{ "Key": "{}", "Issuer": "x" }}', "gOqlDfqz1SeEXODcfMLHWuxuPELtlBUe"),
    # Elements, rows, columns.
    ("<AdministratorPassword><Value>{}</Value></AdministratorPassword>", WORD),
    ('<setting name="ApiToken" serializeAs="String"><value>{}</value></setting>', KEY),
    ("key,value\ndb_password,{}", WORD),
    ("User   Password        Host\nada    {}   db.example", WORD),
    ("NAME   API KEY         AGE\nci     {}   3d", WORD),
    # What programs print.
    ("$ kubectl get secret db -o jsonpath='{{.data.password}}' | base64 -d; echo\n{}", WORD),
    ("New value: {}\nPassword for the [elastic] user successfully reset.", "*47ITIgw^fVVF2oSQq_g"),
    ("C:\\> echo %API_KEY%\n{}", KEY),
    ("irb> ENV['API_KEY']\n=> \"{}\"", KEY),
    ("> process.env.API_KEY\n'{}'", KEY),
    ("Your verification code is {}", "366447"),
    ("{} is your Google verification code", "816944"),
    # Sentences.
    ("the SMTP pass got rotated to {}", WORD),
    ("wifi key: {}", "Apfelbaum77"),
    ("Zugangsdaten: ada / {}", PASSWORD),
    ("identifiants : ada / {}", PASSWORD),
    ("das Kennwort für den Server ist {}", "Igel55Park"),
    ("Der geheime Schlüssel lautet {}", KEY),
    ("Le jeton est {}", KEY),
    ("la clé API : {}", KEY),
    ("ключ API: {}", KEY),
    ("token di accesso: {}", KEY),
    ("Mnemonic: {}", " ".join(f"{at}. {word}" for at, word in enumerate(WORDS.split(), 1))),
    ('seed: "{}"', WORDS),
    ("manual entry key {}", BASE32),
    # Forms of providers.
    (f"K3S_TOKEN={{}}::server:{HEX}", f"K10{HEX}{HEX}"),
    ("nsc: {}", "SUACEAMTNWD43GATJGVXG23ANCBZJEVKDD2DE4I2NFC3WUHW3LKWY2IK2M"),
    ("SAMLResponse={}&RelayState=x", f"PHNhbWxwOlJlc3BvbnNl{KEY}{KEY}%3D"),
    ("Authorization: AWS AKIAJ5QW2ZN7TB4KX3VE:{}", "cmvfhwX5vs2QvUGqQWavbSxxPOh="),
    ("OKTA: SSWS {}", "00YFw-Rugm2vj6MhNxpTdbD-CJL5iSaFiYLD1Vh7c6"),
    ("porkbun {}", f"sk1_{HEX}{HEX}"),
    ("mollie {}", "live_hy08nPiWzBogrPzuLxiwdRO5LuD56y"),
    ("doadm  {}  db", "AVNS_09frqxJIIZVAaajVgjy4"),
    ('"web" "md5{}"', HEX),
    # More programs, shells and sentences.
    ("stats auth admin:{}", WORD),
    ("  user ada insecure-password {}", "Y6ktEP0LXFBQ"),
    ('Pass "{}"', WORD),
    ('autosendcmd = "/msg nickserv identify {}";', WORD),
    ('irb(main):001> Rails.application.secret_key_base\n=> "{}"', HEX),
    ("$ python -c \"import os; print(os.environ['DB_PASSWORD'])\"\n{}", WORD),
    ("$ php -r \"echo getenv('API_KEY');\"\n{}", KEY),
    ('$ jq .apiKey config.json\n"{}"', KEY),
    ("$ yq '.db.password' values.yaml\n{}", WORD),
    ("PS> Get-Content Env:\\API_KEY\n{}", KEY),
    ("New-LocalUser -Password (ConvertTo-SecureString {} -AsPlainText -Force)", WORD),
    ('p4 login <<< "{}"', WORD),
    ("isql dsn sa {}", WORD),
    ("db2 connect to shop user ada using {}", WORD),
    ("winrs -r:srv -u:ada -p:{} dir", WORD),
    ("certutil -p {} -importpfx c.pfx", WORD),
    ("I changed POSTGRES_PASSWORD from {} to another", WORD),
    ("Passwort vom Root: {}", "Igel55Park"),
    ("JWT_SECRET={}", "Winter_Kettle_Ninety"),
    ("Passwort für die Datenbank: {}", "Sommer-Kessel-93"),
    ("mot de passe de la base : {}", "Ete-Theiere-93"),
    ("mot de passe administrateur : {}.", "Ete-Theiere-93"),
    ("contraseña de la base de datos: {}", "Verano-Tetera-93"),
    ("staging password — {}", WORD),
    ("user ada pass {}", "qQIzw2yixVqm"),
    ("password -> {}", WORD),
    ("API_KEY <- '{}'", KEY),
    ("username ada password {}", "Xk9-wQ2mL7p"),
    ("Password\n\n{}\n", "Xk9-wQ2mL7p"),
    ("Password\n========\n{}\n", "Xk9-wQ2mL7p"),
    ('(password . "{}")', WORD),
    ("<b>password:</b> {}", WORD),
    ("openssl passwd -6 -salt ab {}", WORD),
    ("mkpasswd -m sha-512 {}", WORD),
    ("ansible-vault encrypt_string '{}' --name pw", WORD),
    ("fill_in 'Password', with: '{}'", WORD),
    ("find_field('Password').set('{}')", WORD),
    ("pswd: {}", WORD),
    (">>> os.environ['DB_PASS']\n'{}'", WORD),
    (">>> print(cfg.password)\n{}", WORD),
    ('> var.db_password\n"{}"', WORD),
    ("az keyvault secret set --vault-name kv --name db --value {}", WORD),
    ('Content-Disposition: form-data; name="password"\n\n{}\n------', WORD),
    ("password [staging] = {}", WORD),
    ('[{{user, "ada"}}, {{password, "{}"}}]', WORD),
    ('pymysql.connect("db", "app", "{}", "shop")', WORD),
    ('keyring.set_password("svc", "ada", "{}")', WORD),
    ("la password è {}", PASSWORD),
    ("Login with `ada` / `{}`", WORD),
    ("Password for the elastic user (reset with `bin/reset-password -u elastic`):\n  {}", "Xk9wQ2mL7p+"),
    ("create_superuser('ada', 'a@b.example', '{}')", WORD),
    ("host1 ansible_user=ada ansible_ssh_pass={}", "rowanZxac"),
    ("level=info user=ada password={} host=db", "quincetree"),
]


@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_it_is_taken_out(text: str, secret: str) -> None:
    assert secret not in redact(text.format(secret))


@pytest.mark.parametrize(
    "text",
    [
        'TOKEN="{}\\\n{}"',
        'API_KEY = (\n    "{}"\n    "{}"\n)',
        'token = "{}" \\\n        "{}"',
        "private_key: |\n  {}\n  {}\n",
    ],
)
def test_both_pieces_of_a_value_are_taken_out(text: str) -> None:
    made = redact(text.format(*LINES))
    assert not any(line[:12] in made for line in LINES)


@pytest.mark.parametrize(
    "text",
    [
        "DB_PASSWORD={0}\nlater in the log: connect app {0} ok",
        "password: {0}\n\nI then typed {0}, and it worked.",
        '{{"password": "{0}", "log": "sent {0}\\n{0}"}}',
    ],
)
@pytest.mark.parametrize("secret", [PASSWORD, WORD, HEX])
def test_a_secret_that_was_named_is_taken_out_of_the_rest_of_the_text(text: str, secret: str) -> None:
    assert secret not in redact(text.format(secret))


@pytest.mark.parametrize(
    "text",
    [
        # Keys of examples, rules of forms, numbers of public keys.
        "AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE\nAWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "'password' => 'required|min:8|confirmed',",
        "password: 'password123',",
        "gpg:                using RSA key 5A1D19E2DC62A573CE42AECEF552988FFE42DD0F",
        "private_key = ed25519.Ed25519PrivateKey",
        # What the new rules could take.
        "aws ssm put-parameter --name /prod/region --type String --value eu-west-1",
        "reg add HKCU\\Software\\Acme /v Theme /t REG_SZ /d dark-2031-blue /f",
        '<setting name="Theme" serializeAs="String"><value>dark2031</value></setting>',
        "verification code sent to 12345 people",
        "Zugangsdaten: siehe Wiki",
        "Anmeldedaten: Name / Passwort",
        "the clave is a percussion instrument: sticks",
        "NAME      TOKENS   AGE\nci        4096     3d",
        "name,token\nvalue,count",
        'keys = [\n    "alpha"\n    "beta"\n]',
        'password = (\n    "Passwort ist zu kurz, "\n    "bitte mindestens zwölf Zeichen"\n)',
        "make all \\\n    target-one-of-many \\\n    target-two-of-many",
        "user = data.users.createUser(name, options)",
        "seed: 42",
        "postgres://postgres:postgres@localhost:5432/postgres",
        "amqp://guest:guest@localhost:5672/",
        ">>> tokens\n[1, 2, 3]",
        "user ada pass 14 tests",
        "password — see the wiki",
        'pass "quoted words" to the program',
        "$ python -c \"import os; print(os.environ['HOME'])\"\n/home/ada2031x",
        "ConvertTo-SecureString cmdlet2031",
        "mkpasswd -m sha-512",
        "def f(password) -> Dict2Any:",
        "password\nOAuth2TokenStore\n",
        "token\nexpires_at_2031\n",
    ],
)
def test_it_stays(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize(
    ("named", "rest"),
    [
        ("PASSWORD=Winterabend", "Winterabend war lang."),
        ("DB_PORT_PASSWORD=12345678", "port 12345678"),
        ("auth_token=AES-256-GCM", "AES-256-GCM is used."),
        ("secret = 'OneLogin_Saml2_Auth'", "import OneLogin_Saml2_Auth"),
        ("DB_PASS=shop2031x", "image: shop2031x_data"),
    ],
)
def test_words_numbers_and_parts_of_words_are_not_looked_for_again(named: str, rest: str) -> None:
    assert redact(f"{named}\n{rest}").split("\n")[1] == rest


def test_many_secrets_that_come_again_take_linear_time() -> None:
    text = "\n".join(f"PASSWORD=aB3dE5fG{at}x" for at in range(10_000))
    with in_linear_time(10):
        assert len(secrets_in(text)) == 10_000


def test_a_secret_that_was_named_is_taken_out_of_later_texts() -> None:
    entries = [{"text": f"DB_PASS={PASSWORD}"}, {"command": f"connect app {PASSWORD} db"}, {"id": HEX}]
    redactor = Redactor()
    made = [redactor.value(entry) for entry in entries]
    assert made[1]["command"] == "connect app [redacted: secret] db"
    assert made[2]["id"] == HEX


@pytest.mark.parametrize("clean", [None, set()], ids=["", "remembered"])
def test_a_secret_that_a_program_printed_alone_is_taken_out_of_later_texts(clean: set[str] | None) -> None:
    redactor = Redactor(clean=clean)
    redactor.value({"command": "true"})
    redactor.value({"command": "pass show web/acme"})
    assert redactor.value({"output": PASSWORD}) == {"output": "[redacted: secret]"}
    assert (
        redactor.value({"text": f"connect app {PASSWORD} db"})["text"] == "connect app [redacted: secret] db"
    )
    # The same call again, the text of which is known by now.
    redactor.value({"command": "pass show web/acme"})
    assert redactor.value({"output": f"new-{PASSWORD[::-1]}"}) == {"output": "[redacted: secret]"}


def test_an_id_stays_although_a_text_names_it_as_a_secret() -> None:
    redactor = Redactor()
    assert redactor.text(f"API_KEY={HEX}") == "API_KEY=[redacted: secret]"
    entry = {"id": HEX, "note": f"sent {HEX}, ok"}
    assert redactor.value(entry) == {"id": HEX, "note": "sent [redacted: secret], ok"}
