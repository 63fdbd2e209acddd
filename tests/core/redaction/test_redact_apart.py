"""Secrets whose name stands farther off, in manifests, webhooks and programs that no other test has; and what only looks so."""

from __future__ import annotations

import base64
import random
import string

import pytest

from leafward.redaction.redaction import Redactor, redact
from tests.core.redacted import assert_stays, assert_takes_linear_time, repeated

_RNG = random.Random(1126)


def _of(alphabet: str, size: int) -> str:
    return "".join(_RNG.choices(alphabet, k=size))


_LETTERS = string.ascii_letters + string.digits
HEX = "0687d8cc2c7d844f4433f0379f6f3f1a"
KEY = "4d8hpgv4eatuori7rw4o4nqoxbwxhkct"
TOKEN = "wEgRGIK79bNxafj71sfKqUXR"
UUID = "5ba72974-d095-4cd3-a446-c2cb371311a9"
PASSWORD = "gL4cier$77"
WORDS = "legal winner thank year wave sausage worth useful legal winner thank yellow"
PLAIN = base64.b64encode(b"\0ada\0" + TOKEN.encode()).decode()
TUNNEL = "eyJhIjoi" + base64.b64encode(_RNG.randbytes(120)).decode().rstrip("=")

SECRETS = [
    # Lists, and programs and sentences without a name for the value.
    ("APP_KEYS={},uT8eWa2MhV3nC6xJq0RdF4kL", TOKEN),
    ("APP_KEYS=uT8eWa2MhV3nC6xJq0RdF4kL,{}", TOKEN),
    ('"api_keys": ["{}", "b"]', TOKEN),
    ("tokens:\n  - {}\n  - b\n", TOKEN),
    ("PASSWORDS=a,{}", PASSWORD),
    ("kubeadm init phase upload-certs --certificate-key {}", HEX + HEX),
    ("https://api.weather.example/data?q=Bonn&appid={}", HEX),
    ("radtest -t mschap ada {} localhost 0 1812", PASSWORD),
    ("doveadm auth test ada@mail.example {}", PASSWORD),
    ("wg set wg0 private-key <(echo {})", "ns6qBm3DDM27Ug8fwp49/3mIYHDgXRWjRGpGFv+ysHM="),
    ("addauth digest ada:{}", PASSWORD),
    ("cache_peer proxy parent 3128 0 login=ada:{}", PASSWORD),
    ("user worker on >{} ~jobs:* +@all", PASSWORD),
    ('ada : EAP "{}"', PASSWORD),
    ("security import c.p12 -k login.keychain -P {} -T /usr/bin/codesign", PASSWORD),
    ("tctl tokens add --value={} --type=node", HEX),
    ("echo '{}' | pass insert -e mail/ada", PASSWORD),
    ("$ argocd admin initial-password -n argocd\n{}", TOKEN),
    ("twine upload -u ada -p '{}' dist/*", "Winter.is.here1"),
    ("export BORG_PASSPHRASE='{}'", "rain on the seventh roof"),
    ("The app password: {}, in case you need it", "abqz wkel mxfd ujtp"),
    ("key = {}", "K0012ZTCWRUKxTabspvNLUBQzCbrVD4"),
    ("https://shop.example/reset-password/{}", TOKEN + TOKEN),
    ("mosquitto_passwd -b /etc/mosquitto/passwd dev {}", PASSWORD),
    ("codecov -t {} -f cov.xml", UUID),
    ("subscription-manager register --org=1 --activationkey={}", TOKEN),
    ("printf '%s' '{}' | kubectl create secret generic x --from-file=pw=/dev/stdin", PASSWORD),
    ("log in with user `ada`, pass `{}`", PASSWORD),
    ("use ada / {} to log in to the panel", PASSWORD),
    ("I rotated the key, the new one is {}", TOKEN),
    # A name, and the value behind other options, fields or lines.
    ("Set-Item -Path Env:API_TOKEN -Value '{}'", TOKEN),
    ("aws ssm put-parameter --name /x/db_password --type SecureString --value '{}'", PASSWORD),
    ('{{"Parameter": {{"Name": "/prod/db/password", "Type": "SecureString", "Value": "{}"}}}}', TOKEN),
    ('variable "db_password" {{\n  type = string\n  default = "{}"\n}}', PASSWORD),
    (
        '{{"type": "random_password", "instances": [{{"attributes": {{"length": 16, "result": "{}"}}}}]}}',
        TOKEN,
    ),
    ('"password":\n    "{}"', PASSWORD),
    ("Unseal Key 1: {}", base64.b64encode(_RNG.randbytes(33)).decode()),
    ("Secret ID    = {}", UUID),
    ("SecretID:         {}", UUID),
    ("My seed phrase is: {}", WORDS),
    ("Driver={{ODBC Driver 18}};Server=db;UID=sa;PWD={{{}}};Encrypt=yes", "Wint3r!Sol"),
    ("CREATE LOGIN ada WITH PASSWORD = N'{}';", PASSWORD),
    ("set DB_PASSWORD={}&& run.exe", "jZkXXKlfPvXz"),
    ("&lt;password&gt;{}&lt;/password&gt;", PASSWORD),
    ("https%3A%2F%2Fx.dev%2F%3Fapi_key%3D{}%26q%3D1", HEX),
    ("https://x.dev/app;jsessionid={}?x=1", KEY.upper()),
    # Whatever it is called there.
    ("apiVersion: v1\ndata:\n  settings: {}\nkind: Secret\nmetadata:\n  name: x", "cG9zdGdyZXM6Ly8="),
    ("kind: Secret\nstringData:\n  mail-out: {}\n", PASSWORD),
    ('{{\n  "kind": "Secret",\n  "data": {{\n    "dsn": "{}"\n  }}\n}}', "cG9zdGdyZXM6Ly8="),
    # Requests.
    ('"Authorization": "Bearer " + "{}"', TOKEN),
    ("http -A bearer -a {} GET api.example", TOKEN),
    ('Authorization: Digest username="ada", nonce="abc", uri="/", response="{}"', HEX),
    (
        'Authorization: Hawk id="dh37", nonce="j4h3g2", mac="{}"',
        "buRCCh4FoKKo5sbRjizi7ShnGkGDCkMmjF/6rwkbMs8=",
    ),
    ('Authorization: OAuth oauth_token="abc", oauth_signature="{}"', "UsyKFqoaEyffqpyUia6IOihKY1s%3D"),
    ('{{"name": "sessionid", "value": "{}", "domain": ".x.dev", "httpOnly": true}}', KEY),
    ("cookies = {{'sessionid': '{}', 'lang': 'en'}}", KEY),
    # Programs.
    ("curl -sSfu ada:{} https://x", "Z7Z9F6L85mLk"),
    ("poetry config http-basic.internal ada {}", TOKEN),
    ("cargo login {}", TOKEN),
    ("wandb login {}", HEX),
    ("cypher-shell -u neo4j -p {} 'MATCH (n) RETURN n'", TOKEN),
    ("ALTER USER scott IDENTIFIED BY {};", "Uuc2oJPu0W"),
    ("ACL SETUSER ada on >{} ~* +@all", "pBYnpLgyZ4EeR9"),
    ("127.0.0.1:6379> AUTH default {}", TOKEN),
    ("AUTH PLAIN {}", PLAIN),
    ("a1 LOGIN ada@x.org {}", TOKEN),
    ('a1 LOGIN "ada@x.org" "{}"', PASSWORD),
    ("USER ada\r\nPASS {}\r\n", TOKEN),
    ("C: USER ada\nS: +OK\nC: PASS {}\n", "s3cr3tW0rd"),
    ("rclone obscure {}", TOKEN),
    ("su - ada <<< {}", "maple_xKqQZ"),
    ("CREATE ROLE ada LOGIN PASSWORD '{}';", "maple_xKqQZ"),
    ("ALTER USER ada WITH SUPERUSER PASSWORD '{}'", "maple-xKqQZ"),
    ("su ada <<< {}", "maple_xKqQZ"),
    ("passwd: changed to {}", "Maple-walnut47"),
    ("ctx login -t {}", TOKEN),
    ("rclone config create nas sftp user ada pass {}", "maple_xKqQZ"),
    ("defaults write com.orchard apiToken -string {}", TOKEN),
    # Two words and a number are no member of an object.
    ("DB_PASSWORD={}", "Maple.walnut4711"),
    ("redis-cli -a {} ping", "Maple.walnut4711"),
    # The first digits of a block are no number of its line.
    ("password: |\n  {}", "47maplexKqQZ"),
    ("password: >-\n  3 {}", "47maplexKqQZ"),
    # Settings of a PIN.
    ("CARD_PIN={}", "482716"),
    ('{{"pin": "{}"}}', "4827"),
    ("pkcs11-tool --login --pin {} -O", "482716"),
    ("mount -t cifs //h/s /m -o username=ada,uid=1000,password={}", "maple-xKqQZ"),
    ("//h/s /m cifs username=ada,password={},uid=1000 0 0", "maple-xKqQZ"),
    ("Username: ada, Password: {}", "maple-xKqQZ"),
    ("echo -n '{}' | gh secret set DEPLOY_TOKEN", TOKEN),
    ("printf '{}' | gcloud secrets create db-pass --data-file=-", PASSWORD),
    ('vercel env add SECRET production <<< "{}"', TOKEN),
    ("echo -e '{0}\\n{0}' | passwd ada", "1necxkqPSY"),
    ("snmp-server community {} RO", "lM23hZSMp1Ov"),
    ("radius-server key {}", "5YBVRzAdrtN1"),
    ("username ada password 7 {}", "4E7A3B3CBE01FE54CF"),
    ("::add-mask::{}", TOKEN),
    ("rabbitmqctl add_user ada {}", TOKEN),
    ("bw unlock '{}'", PASSWORD),
    ("ParameterKey=DBPassword,ParameterValue={}", TOKEN),
    ("nats://{}@nats:4222", TOKEN),
    ("users=ada:$$apr1$$YFh1KMts$${}", "eUTsKAfrCDv4HShUjq3Uc7"),
    ('{{"username":"ada","key":"{}"}}', HEX),
    ("echo {} | base64 --decode >> .env", base64.b64encode(b"DB_PASSWORD=VsVW3jicUN89").decode()),
    # Forms.
    ("https://hooks.slack-gov.com/services/{}", "T00Q19QRLT/B0N89DLUZ2/o8Z0BUqSvLELt4PA2EVfRBAn"),
    ("https://x.webhook.office.com/webhookb2/{}", f"{UUID}@{UUID}/IncomingWebhook/{HEX}/{UUID}"),
    ("https://open.feishu.cn/open-apis/bot/v2/hook/{}", UUID),
    ("https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key={}", UUID),
    ("https://hooks.zapier.com/hooks/catch/1234567/{}", "ewco9f5"),
    ("https://maker.ifttt.com/trigger/x/with/key/{}", TOKEN),
    ("https://mm.example/hooks/{}", "i8l50f0r8dlln7rz6m49mha062"),
    ("irc pass oauth:{}", "5j3fyc3zl2qw0v9nbdwl2h3mwzgvdt"),
    ("tid={};exp=1764;sku=x", HEX),
    ("cloudflared service install {}", TUNNEL),
    ("polar_oat_{}", _of(_LETTERS, 43)),
    (f"pdl_live_apikey_{_of(string.ascii_lowercase, 26)}_{{}}", f"{_of(_LETTERS, 22)}_{_of(_LETTERS, 3)}"),
    ("vercel_blob_rw_{}", f"{_of(_LETTERS, 16)}_{_of(_LETTERS, 30)}"),
    ("confluent cflt{}", _of(_LETTERS, 59) + "7"),
    (f"pi_{_of(_LETTERS, 24)}_secret_{{}}", _of(_LETTERS, 25)),
    ("-----BEGIN OpenVPN Static key V1-----\n{}\n-----END OpenVPN Static key V1-----", HEX),
]


@pytest.mark.parametrize(("text", "secret"), SECRETS, ids=[text[:40] for text, _ in SECRETS])
def test_it_is_taken_out(text: str, secret: str) -> None:
    text = text.format(secret)
    assert secret not in redact(text)
    shown = f"$ cat x\n{text}\ndone"
    assert secret not in Redactor().value({"output": shown})["output"]
    assert redact(redact(shown)) == redact(shown)


@pytest.mark.parametrize(
    "text",
    [
        # Words of protocols.
        "CREATE ROLE ada LOGIN PASSWORD 'your-password';",
        "ALTER USER ada WITH PASSWORD %s",
        "Username: text, Password: text",
        "Username: ada, Password: required",
        "Username: string, Password: masked",
        "connect(username=name,password=value)",
        "connect(user=cfg.user,password=cfg.password)",
        "connect(user=self.user,password=self.password)",
        "Username: john, Password: ***, Port: 22",
        "su - postgres <<< $PASSWORD",
        "USER ada\nPASS anonymous\n",
        "USER www-data\nPASS_FILE=/run/mail",
        "the LOGIN user@example.com button",
        "a1 LOGIN ada@x.org password",
        "su root -c id",
        "ctx login -t $TOKEN",
        "password: changed to a stronger one",
        "token: updated to the newer one",
        "defaults write com.apple.dock tilesize -int 36",
        "key: set to ctrl+shift+p",
        "password: user.password1",
        "SPIN=4000 pin=13, 'pinned': 202411",
        # Names of types and of fields.
        "private_key: Ed25519PrivateKey | Ed448PrivateKey",
        "auth: AgentKillSwitchAuth | None = None",
        "'secret': 'V1SecretProjection',",
        "X_XET_ACCESS_TOKEN = 'X-Xet-Access-Token'",
        "('OAUTH2_CLIENT_SECRET', 'oauth2ClientSecret')",
        "struct FixIrreduciblePass : PassInfoMixin<FixIrreduciblePass>",
        '["Authorization", "Proxy-Authorization"]',
        '("authorization", "x-amz-content-sha256", "x-amz-date")',
        "authorization = base64.decodebytes(header)",
        'auth = "Basic " + base64.b64encode(user_pass).decode()',
        "password={password!r}",
        # Names of what is stored elsewhere.
        "arn:aws:secretsmanager:us-west-2:123456789012:secret:MyTestDatabaseSecret-a1b2c3",
        '["arn:aws:backup:*:*:backup-vault:asdf-*"]',
        "--secret=projects/my-project/secrets/my-secret/versions/2",
        "TOKEN_TYPE = 'urn:ietf:params:oauth:token-type:access_token'",
        'SUBJECT_TOKEN = "urn:ietf:params:oauth:token-type:access_token"',
        "aws ssm get-parameter --name /x/db_password --with-decryption",
        'variable "db_password" {\n  type = string\n  sensitive = true\n}',
        # Numbers and addresses.
        'address: "2606:2800:21f:cb07:6820:80da:af6b:8b2c" family: IPv6',
        "#define GL_STENCIL_PASS_DEPTH_PASS        0x0B96",
        "#define UPLUG_TOKEN 0x54762486",
        '#define TLS1_TXT_DHE_PSK_WITH_AES_256_CCM "DHE-PSK-AES256-CCM"',
        # Sentences, marks, styles.
        "Upgrade to set pass through routes by key",
        "tls: add PSK support",
        "Philippe <pw at earthwave.example>\nR. Andrew Bailey <bailey at x.example>",
        "=item B<pass>\n\n=item B<fail>",
        ".auth-wrapper .authorize{margin-left:10px;margin-right:10px}",
        "apiVersion: v1\nkind: ConfigMap\ndata:\n  settings: cG9zdGdyZXM6Ly8=\n",
        "kind: Secret\nmetadata:\n  name: orchard\n---\nkind: ConfigMap\ndata:\n  settings: cG9zdGdyZXM6Ly8=\n",
        '{"name": "theme", "value": "dark", "httpOnly": true}',
        "/hooks/use-session-state-of-rows.ts",
        # Names with a version, checksums behind words, text in base64, lists of other things.
        "Is this a secret? Kubernetes1.31",
        "Which token? Sonnet4.5 or Opus4.1",
        "No password? Postgres16 asks for one.",
        "https://shop.example/reset-password/confirm-your-address-now",
        f"Cache restored from key: Linux-node-20-{HEX}{HEX}",
        "PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcv",
        "SORT_KEYS=created_at_v2,updated_at_v2",
        "STOP_TOKENS=<|eot_id|>,<|im_end|>",
        "secrets:\n- default-token-x7k2p\n- shop-db-v2",
        "--certificate-key /etc/ssl/server-2024.pem",
        "user `ada`, pass `--force`",
        "appid=730",
        "isinstance(key, 'Gtk.TreeIter')",
        'PASSWORD="Enter your password twice"',
    ],
)  # fmt: skip
def test_it_stays(text: str) -> None:
    assert_stays(text)


HOSTILE = {
    name: repeated(piece)
    for name, piece in {
        "options": "--name a ",
        "settings of macOS": "defaults write a token ",
        "blocks": "password: |\n 1 1 ",
        "pins": '--pin "pin": ',
        "roles": "CREATE ROLE a PASSWORD ",
        "mounts": "username=a,password=",
        "names and options": "--name db_password --value ",
        "fields": '"Name":"password","a":"b",',
        "variables": 'variable "db_password" {',
        "kinds": "kind: Secret\n",
        "kinds and data": "kind: Secret\ndata:\n ",
        "data in data": "kind: Secret\n data:\n",
        "entries": "kind: Secret data:\n a: b",
        "braces": ";pwd={",
        "cookies": '"name":"sid","value":',
        "items": "cookies={'a':",
        "concatenated": '"Bearer " + ',
        "static keys": "BEGIN OpenVPN Static key V1-----",
        "results": "random_password result ",
        "logins": "cargo login --x ",
        "keys of words": "secret ID secret 1 ",
        "named again": "apiKeyApiKey=",
        "elements in elements": "&lt;password&gt;",
        "arns": "arn:a:secret:",
        "hooks": "a/hooks/",
        "types": "auth: KeyKeyKeyAuthId",
        "lists": "api_keys=[",
        "lists of lists": "secrets: ['a', secrets: [",
        "items of YAML": "tokens:\n- a\n- b",
        "users of Redis": "user a on ",
        "users to log in": "use a / b1 to log in ",
    }.items()
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_takes_linear_time(name: str) -> None:
    assert_takes_linear_time(HOSTILE[name])
