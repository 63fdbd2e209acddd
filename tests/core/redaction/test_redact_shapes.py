"""Shapes that were found to be missed, or taken for secrets: each by the structure that tells it."""

from __future__ import annotations

import base64
import random
import string

import pytest

from leafward.redaction.redaction import redact
from leafward.redaction.rules.wallet_phrases import SELDOM
from tests.core.redacted import assert_stays

_RNG = random.Random(15)


def _of(alphabet: str, size: int) -> str:
    return "".join(_RNG.choices(alphabet, k=size))


PASSWORD = f"MWrXcu{_of(string.ascii_letters, 4)}38*b"
KEY = f"{_of(string.ascii_letters + string.digits, 20)}7ILAOJQ4{_of(string.ascii_letters + string.digits, 12)}9x"

MAIL = base64.b64encode(b"ada@acme.example").decode()
ENCODED = base64.b64encode(PASSWORD.encode()).decode()
PLAIN = base64.b64encode(f"\0ada\0{PASSWORD}".encode()).decode()
ACCOUNT_KEY = base64.b64encode(_RNG.randbytes(64)).decode()
HEX = "0687d8cc2c7d844f4433f0379f6f3f1a"
WALLET = "abandon arctic cable dinner ethics garden island mango oxygen puzzle ribbon velvet"
WORD_LIST = "\n".join(sorted(SELDOM)[:20])


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ('co = cohere.Client("{}")', KEY),
        ("https://d111.cloudfront.net/a.mp4?Expires=1700000000&Signature={}&Key-Pair-Id=K2JC", KEY),
        ('new NetworkCredential("ada", "{}")', PASSWORD),
        ("supabase link --project-ref abcdefghijkl -p {}", PASSWORD),
        ("csrftoken ok, sessionid={}", "mdxj37wwlardtu5hs2yhep5dxw6a7db7"),
        (f"twilio auth: AC{HEX} / {{}}", HEX[::-1]),
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
        ('const w = Wallet.fromPhrase("{}");', WALLET),
        ("seed = Bip39.from_mnemonic('{}')", WALLET),
        ("$ sudo cat /etc/openvpn/client/auth.txt\nacme-ada\n{}\n$ ", PASSWORD),
        ("cat > /etc/openvpn/login.conf <<EOF\nada\n{}\nEOF", PASSWORD),
        (f"C: AUTH LOGIN\nS: 334 VXNlcm5hbWU6\nC: {MAIL}\nS: 334 UGFzc3dvcmQ6\nC: {{}}\nS: 235 ok", ENCODED),
        ("a1 AUTHENTICATE PLAIN\n+\n{}\na1 OK", PLAIN),
        ("USER deploy\n331 Please specify the password.\nPASS {}\n230 Login successful.", PASSWORD),
        ("USER ada\n+OK\nPASS {}\n+OK Logged in.", PASSWORD),
        ("heroku config:set FOO={} -a shop", KEY),
        ("https://acme.webhook.office.com/webhookb2/a@b/IncomingWebhook/{}/c", HEX),
        ("redirect=postgres%3A%2F%2Fada%3A{}%40db.acme.example", "Beaver47x"),
        ("Authorization: NTLM {}", ENCODED * 2),
        ("Authorization: Hawk {}", KEY),
        ('Credentials creds{{"ada"}}; Password password{{"{}"}};', PASSWORD),
        ("$ az storage account keys list -n shop --query '[0].value' -o tsv\n{}", ACCOUNT_KEY),
        ("$ cat config/master.key\n{}", HEX),
        ("$ sqlite3 app.db 'select * from users'\n1|ada|ada@acme.example|{}|1", PASSWORD),
        ("The PIN for the door panel is {}, press # afterwards.", "4711"),
        ("my card pin is {} if the terminal asks", "4711"),
        ("use pin {} to unlock the key", "471108"),
        ("SIM unlocked with PIN {}", "4711"),
        ("it printed:\n{}\n", WALLET),
        ("1. {}", "\n2. ".join(WALLET.split())),
        ("mvn sonar:sonar -Dsonar.host.url=http://sq:9000 -Dsonar.login={}", HEX + HEX[:8]),
        ("psexec.py acme/ada@10.0.0.4 -hashes aad3b435b51404eeaad3b435b51404ee:{}", HEX),
        ("evil-winrm -i 10.0.0.4 -u ada -H {}", HEX),
        ("wmiexec.py acme/ada:{}@10.0.0.4", PASSWORD),
        ("secretsdump.py 'acme/ada:{}'@10.0.0.4", HEX),
        ("GetUserSPNs.py acme.local/ada:{} -dc-ip 10.0.0.1", PASSWORD),
        ("$ bw unlock --raw\n{}\n", ACCOUNT_KEY),
        ("echo {} > config/master.key", HEX),
        ("printf '{}' | sudo tee /etc/shop/secret.txt", KEY),
        ("API_KEY:\n{}\n", KEY),
        ("Credentials: admin/{}", "Winter_Kettle"),
        ("log in as ada with {} (once)", PASSWORD),
        ("bloodhound-python -u ada -p '{}' -d acme.local", PASSWORD),
        ("enable secret 0 {}", "Rocket%-1fV643"),
        ("gh secret set NPM -b'{}'", KEY),
        ("> What is the database password? {}\n> Continue? yes", PASSWORD),
        ("? Enter your API key? {}", KEY),
        ("new Resend('{}')", "re_" + "jrtClHeB_" + "kTegDJxxCf1EyOjUQapb5t0p"),
        ('const jwtSecret: string = process.env.JWT ?? "{}";', f"dev-{PASSWORD}"),
        ("apiKey: import.meta.env.VITE_K || '{}',", KEY),
        ("$password = getenv('DB_PASS') ?: '{}';", PASSWORD),
        ('let secret = env::var("SECRET").unwrap_or("{}".to_string());', KEY),
        ('let secret = env::var("SECRET").unwrap_or_else(|_| "{}".into());', KEY),
        ('secret = args.secret if args.secret else "{}"', KEY),
        ("solana keypair: {}", str([(7 * one) % 256 for one in range(64)])),
        ("le mot de passe du serveur c'est {}, merci", PASSWORD),
        ("le mot de passe, c’est «\u00a0{}\u00a0»", PASSWORD),
        ("Das Kennwort heißt {}", PASSWORD),
        ("Benutzer ada, Kennwort „{}“", "Tannen4711x"),
        ("パスワード「{}」", "Sakura2031"),
        ("la password del db è {}", "Estate2031"),
        ('password: "{}"', "rd-YCYGyzGJFXyU"),
        ("define( 'AUTH_SALT', '{}' );", "my?[/aIg2lJO_b%1S]*xb zwCnApI[%P?XZdi{2oI%s2U:cdg2+*;XuVU)rTVG(s"),
    ],
)
def test_it_is_taken_out(text: str, secret: str) -> None:
    assert secret not in redact(text.format(secret))


@pytest.mark.parametrize(
    "text",
    [
        "We pin 1024 pages of memory",
        "pin 2024.1 in requirements",
        "CPU pin 1234",
        "the pin is 4096 bytes",
        "please pin 3000 as the port",
        "with pin 1234 high the LED is on",
        "SHA256 (secret.txt) = 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "PASS tests/test_api.py\n230 tests passed",
        "PASS src/login.test.ts (5.1 s)\n+OK",
        "openvpn --config acme.ovpn\nauth.txt\nInitialization Sequence Completed",
        "cat /etc/openvpn/README-auth.md\nauthentication\nis described below\n",
        "heroku config:set NODE_ENV=production",
        "cat config/master.key.example\nput the key here",
        "$ sqlite3 app.db 'select * from users'\n1|ada|ada@acme.example|2026-11-21|admin",
        "334 files changed, 12 insertions",
        "S: a1 AUTHENTICATE PLAIN is supported",
        "const w = Wallet.fromPhrase(words);",
        "https%3A%2F%2Facme.example%3A8080%2Fa",
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
        WORD_LIST,
        "one can act about any zone that they carry over then when there will come more over here again",
        "-Dsonar.login=$SONAR_TOKEN",
        "sonar.login is deprecated in favour of sonar.token",
        "psexec.py HOST -hashes LMHASH:NTHASH",
        "wmiexec.py domain/user:password@host",
        "registry/app:1.2.3@sha256:0687d8cc",
        "git commit -u ada -p 8080:80",
        "supabase db reset -p",
        "sessionid=01a22a6428f57012be4200d0fb4a617b",
        "docker run -u node -p 127.0.0.1:8080:80 shop",
        "$ bw unlock --raw > /dev/null",
        "check a.zip --hash 0687d8cc2c7d844f4433f0379f6f3f1a",
        "echo hello > config/master.key",
        "echo $KEY > config/master.key",
        "echo 'secret rotated' > status/secret.txt",
        "API_KEY:\n  description: The key of the API\n",
        "API_KEY:\n  required\n",
        "Credentials: admin/settings",
        "Credentials: auth/Service_Account",
        "log in as ada with OAuth",
        "seed phrase:\n1. open the wallet\n2. write it down\n3. keep it",
        "Where is the token? src/auth/TokenStore2.ts",
        "Which password? The one in config2.yaml",
        "re_pattern_matcherforlongidentifiers2",
        "GITHUB_TOKEN=ghp_" + "X" * 36,
        "paste your key, sk-ant-api03-" + "x" * 32 + ", there",
        "const token = props.token ?? 'missing';",
        "label = errors.password || 'Please enter your password';",
        'secret = args.secret if args.secret else "none"',
        "keypair: shop-eu-west-1-keypair",
        "Passwort „vergessen“ anklicken",
        "パスワード「必須」",
        "la password del db è obbligatoria",
        "le mot de passe, c'est obligatoire",
    ],
)
def test_it_stays(text: str) -> None:
    assert redact(text) == text


FILES = {
    "userlist.txt of pgbouncer": '"app" "pear tree 7"\n"billing" "Qx7vLm2pRt"\n',
    "a line of it among others": '$ tail -1 userlist.txt\n"billing" "Qx7vLm2pRt"\n',
    "chap-secrets": "# client server secret IP\nada * Qx7vLm2pRt *\n",
    "chap-secrets with tabs": "ada\tpptpd\tQx7vLm2pRt\t10.0.0.7\n",
    "pap-secrets": 'ada * "Qx7vLm2pRt"\n',
    "sasl_passwd": "[smtp.example.net]:587 ada@example.net:Qx7vLm2pRt\n",
    "sasl_passwd by name": "smtp.example.net    ada:Qx7vLm2pRt\n",
    "snmpd.conf": 'createUser ada SHA "Qx7vLm2pRt" AES "Qx7vLm2pRt"\n',
    "users of dovecot": "ada:{PLAIN}Qx7vLm2pRt:1000:1000::/home/ada\n",
    "mbsyncrc": "IMAPAccount a\nUser ada\nPass Qx7vLm2pRt\n",
    "offlineimaprc": "remotepass = Qx7vLm2pRt\n",
    "vault": "vault kv put secret/app value=Qx7vLm2pRt\n",
    "bundler": "BUNDLE_GEMS__EXAMPLE__COM=ada:Qx7vLm2pRt\n",
    "grub": f"password_pbkdf2 root grub.pbkdf2.sha512.10000.{'A7' * 64}.{'B8' * 64}\n",
}


@pytest.mark.parametrize("name", FILES)
def test_files_whose_passwords_have_no_name(name: str) -> None:
    text = FILES[name]
    for secret in ("Qx7vLm2pRt", "pear tree 7", "A7A7A7", "B8B8B8"):
        assert secret not in redact(text)
    assert redact(text) != text


@pytest.mark.parametrize(
    "text",
    [
        "return a *\n    width * 0x9e37);\n",
        "0 3 * * * /usr/local/bin/tidy-7b\n",
        '#define NAME "leafward" "-v2.1"\n',
        '"iso-8859-1" in names\n',
        "smtp.example.net port:2525\nsmtp.example.net status: ready\n",
        "- a * b\n* Pass criteria\nPass\n",
        "select * from t1_2026 limit 10\n",
    ],
)
def test_lines_that_look_like_those_of_such_files(text: str) -> None:
    assert_stays(text)
