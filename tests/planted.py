"""Secrets made at run time from grammars: forms of secrets times the places in which agents meet them.

No secret stands here: each is put together of pieces and random characters. Half of the contexts are used for developing
(`half=0`), the other half only to measure (`half=1`), with another seed.
"""

from __future__ import annotations

import base64
import json
import random
import string
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

UP, LOW, DIG = string.ascii_uppercase, string.ascii_lowercase, string.digits
ALNUM, HEX = UP + LOW + DIG, DIG + "abcdef"
URL64, B64 = ALNUM + "-_", ALNUM + "+/"


@dataclass(frozen=True)
class Planted:
    """A text, and the pieces of it that nobody may read afterwards."""

    form: str
    context: str
    text: str
    secrets: tuple[str, ...]

    def left(self, redacted: str) -> list[str]:
        """The pieces that are still there."""
        return [secret for secret in self.secrets if secret in redacted]


def rand(rng: random.Random, size: int, chars: str = ALNUM) -> str:
    """Random characters of which one is a digit, one a letter, where both are among them."""
    needed = [any(char in chars for char in DIG), any(char in chars for char in UP + LOW)]
    while True:
        made = "".join(rng.choices(chars, k=size))
        if size < 8 or [any(c in DIG for c in made), any(c.isalpha() for c in made)] == needed:
            return made


def person(rng: random.Random) -> str:
    """A password as a person makes one."""
    words = [
        "tiger",
        "Falcon",
        "summer",
        "Winter",
        "coffee",
        "purple",
        "Magic",
        "river",
        "Rocket",
        "maple",
        "Ninja",
        "sunset",
    ]
    word = rng.choice(words)
    return rng.choice([
        f"{word}{rng.randrange(10, 9999)}{rng.choice('!@#$%&*?')}",
        f"{word[:2]}{rng.choice('034$@')}{word[2:].upper()}{rng.randrange(10, 99)}",
        f"{rand(rng, 4, LOW)}{rng.choice('!@#%^&*')}{rand(rng, 5)}",
        rand(rng, rng.randrange(10, 20), ALNUM + "!#%*^_-"),
    ])  # fmt: skip


def jwt(rng: random.Random) -> str:
    def part(value: dict[str, object]) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    head, body = (
        part({"alg": "HS256", "typ": "JWT"}),
        part({"sub": rand(rng, 10), "iat": rng.randrange(10**9)}),
    )
    return f"{head}.{body}.{rand(rng, 43, URL64)}"


def gid(rng: random.Random) -> str:
    return str(uuid.UUID(int=rng.getrandbits(128)))


def _forms() -> dict[str, Callable[[random.Random], str]]:
    def form(*pieces: object) -> Callable[[random.Random], str]:
        def make(rng: random.Random) -> str:
            made = []
            for piece in pieces:
                if isinstance(piece, str):
                    made.append(piece)
                elif callable(piece):
                    made.append(piece(rng))
                else:
                    assert isinstance(piece, tuple)
                    made.append(rand(rng, *piece))
            return "".join(made)

        return make

    h, a = HEX, ALNUM
    return {
        "anthropic": form("sk-", "ant-api03-", (93, URL64), "AA"), "openai": form("sk-", "proj-", (64, URL64)),
        "openai old": form("sk-", (48, a)), "openrouter": form("sk-", "or-v1-", (64, h)), "hf": form("hf", "_", (34, a)),
        "groq": form("gsk", "_", (52, a)), "xai": form("xai", "-", (80, a)), "replicate": form("r8", "_", (37, a)),
        "perplexity": form("pplx", "-", (48, a)), "nvidia": form("nvapi", "-", (64, URL64)),
        "github": form("gh", "p_", (36, a)), "github oauth": form("gh", "o_", (36, a)), "github app": form("gh", "s_", (36, a)),
        "github user": form("gh", "u_", (36, a)), "github refresh": form("gh", "r_", (76, a)),
        "github fine": form("github", "_pat_", (22, a), "_", (59, a)), "gitlab": form("glpat", "-", (20, URL64)),
        "gitlab deploy": form("gldt", "-", (20, URL64)), "gitlab runner": form("glrt", "-", (20, URL64)),
        "gitlab ci": form("glcbt", "-", (2, h), "_", (20, URL64)), "bitbucket": form("ATBB", (32, a)),
        "atlassian": form("ATATT3", "xFfGF0", (180, URL64), "=", (8, UP + DIG)), "npm": form("npm", "_", (36, a)),
        "pypi": form("pypi", "-AgEIcHlwaS5vcmc", (150, URL64)), "rubygems": form("rubygems", "_", (48, h)),
        "crates": form("ci", "o", (32, a)), "nuget": form("oy", "2", (43, LOW + DIG)), "docker": form("dckr", "_pat_", (27, URL64)),
        "circleci": form("CCIPAT", "_", (22, a), "_", (40, h)), "sonar": form("sq", "p_", (40, h)), "sourcegraph": form("sgp", "_", (16, h), "_", (40, h)),
        "aws id": form("AK", "IA", (16, UP + DIG)), "aws temporary": form("AS", "IA", (16, UP + DIG)), "aws secret": form((40, B64)),
        "google": form("AI", "za", (35, URL64)), "google oauth": form("ya", "29.", (80, URL64)), "google secret": form("GOC", "SPX-", (28, URL64)),
        "google refresh": form("1/", "/0", (60, URL64)), "azure secret": form((3, a), "8", "Q", "~", (34, a)),
        "do": form("dop", "_v1_", (64, h)), "heroku": form("HR", "KU-", gid), "fly": form("fo", "1_", (43, URL64)), "vercel": form("vc", "p_", (56, a)),
        "netlify": form("nf", "p_", (36, a)), "supabase": form("sb", "p_", (40, h)), "supabase secret": form("sb", "_secret_", (31, URL64)),
        "databricks": form("da", "pi", (32, h)), "vault": form("hv", "s.", (90, URL64)), "vault batch": form("hv", "b.", (120, URL64)),
        "terraform": form((14, a), ".atlas", "v1.", (67, URL64)), "pulumi": form("pu", "l-", (40, h)), "doppler": form("dp", ".pt.", (43, a)),
        "tailscale": form("tskey", "-auth-", (17, a), "-", (32, a)), "age": form("AGE-SECRET", "-KEY-1", (58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L")),
        "slack bot": form("xox", "b-", (12, DIG), "-", (13, DIG), "-", (24, a)), "slack user": form("xox", "p-", (12, DIG), "-", (12, DIG), "-", (32, h)),
        "slack app": form("xa", "pp-1-A", (10, UP + DIG), "-", (13, DIG), "-", (64, h)),
        "slack hook": form("hooks.sl", "ack.com/services/T", (9, UP + DIG), "/B", (9, UP + DIG), "/", (24, a)),
        "discord": form("M", (25, a), ".", (6, URL64), ".", (38, URL64)), "discord hook": form("discord", ".com/api/webhooks/", (18, DIG), "/", (68, URL64)),
        "telegram": form((10, "123456789"), ":A", "A", (33, URL64)), "sendgrid": form("S", "G.", (22, URL64), ".", (43, URL64)),
        "mailgun": form("ke", "y-", (32, h)), "mailchimp": form((32, h), "-u", "s14"), "twilio": form("S", "K", (32, h)), "brevo": form("xkey", "sib-", (64, h), "-", (16, a)),
        "stripe": form("sk_", "live_", (99, a)), "stripe restricted": form("rk_", "live_", (99, a)), "stripe hook": form("wh", "sec_", (32, a)),
        "shopify": form("shp", "at_", (32, h)), "square": form("sq0", "csp-", (43, URL64)), "paypal": form("access_", "token$production$", (16, LOW + DIG), "$", (32, h)),
        "linear": form("lin_", "api_", (40, a)), "notion": form("nt", "n_", (46, a)), "notion old": form("sec", "ret_", (43, a)), "figma": form("fi", "gd_", (40, URL64)),
        "postman": form("PM", "AK-", (24, h), "-", (34, h)), "airtable": form("pa", "t", (14, a), ".", (64, h)), "hubspot": form("pa", "t-na1-", gid),
        "newrelic": form("NR", "AK-", (27, UP + DIG)), "grafana": form("gl", "sa_", (32, a), "_", (8, h)), "grafana cloud": form("gl", "c_", (100, a)),
        "sentry": form("sntr", "yu_", (64, h)), "dynatrace": form("dt0", "c01.", (24, UP + DIG), ".", (64, UP + DIG)), "planetscale": form("psc", "ale_tkn_", (43, URL64)),
        "jwt": jwt, "bcrypt": form("$2", "y$10$", (53, a)), "apr1": form("$ap", "r1$", (8, a), "$", (22, a)), "shadow": form("$", "6$", (16, a), "$", (86, a)),
    }  # fmt: skip


FORMS = _forms()

TOKEN_CONTEXTS: dict[str, str] = {
    "alone": "{s}",
    "sentence": "I found the key {s} in the log, rotate it.",
    "end": "The leaked one is {s}.",
    "backticks": "use `{s}` there",
    "json": '{{"ok": true, "output": "{s}"}}',
    "escaped": '{{\\"a\\": [\\"{s}\\"]}}',
    "escaped twice": '"{{\\\\\\"x\\\\\\": \\\\\\"{s}\\\\\\"}}"',
    "newlines in json": '"first line\\n{s}\\nlast"',
    "diff": "@@ -1,2 +1,2 @@\n-old\n+{s}\n",
    "diff yaml": "+  value: {s}",
    "numbers": "     7→{s}\n     8→",
    "grep": "src/app.py:12:client = Client('{s}')",
    "table": "| prod | {s} | ada |",
    "list": "- {s}\n- other",
    "comment": "# {s}",
    "heredoc": "cat > f <<'EOF'\n{s}\nEOF",
    "code": 'client = Client("{s}", retries=3)',
    "html": '<meta content="{s}">',
    "query": "https://api.host.dev/v1/items?limit=5&auth={s}&x=1",
    "colour": "\x1b[32m{s}\x1b[0m ok",
    "quoted": "> {s}",
    "tuple": "('main', '{s}', 3)",
}
"""A token is one wherever it stands."""

NAMES_PASSWORD = ("DB_PASS", "DB_PASSWORD", "MYSQL_ROOT_PASSWORD", "password", "dbPassword", "smtp_password", "REDIS_PASSWORD", "admin_pwd", "PGPASSWORD", "spring.datasource.password", "SMTP_PASS", "keystorePassword", "passphrase", "RABBITMQ_DEFAULT_PASS")  # fmt: skip
NAMES_SECRET = ("SECRET_KEY", "ENCRYPTION_KEY", "api_key", "apiKey", "client_secret", "clientSecret", "ACCESS_TOKEN", "JWT_SECRET", "auth_token", "AWS_SECRET_ACCESS_KEY", "webhook_secret", "SESSION_SECRET", "signing-key", "x-api-key", "TWILIO_AUTH_TOKEN", "CLOUDFLARE_API_TOKEN", "DD_API_KEY", "private_key", "AccountKey", "refresh_token", "masterKey")  # fmt: skip

ASSIGNED_CONTEXTS: dict[str, str] = {
    "env": "{n}={s}",
    "export": "export {n}={s}",
    "env quoted": '{n}="{s}"',
    "ini": "[db]\n{n} = {s}\nport = 5",
    "toml": '{n} = "{s}"',
    "yaml": "auth:\n  {n}: {s}\n",
    "yaml quoted": "  {n}: '{s}'",
    "json": '{{"{n}": "{s}", "x": 1}}',
    "json pretty": '{{\n  "{n}": "{s}"\n}}',
    "escaped": '{{\\"{n}\\": \\"{s}\\"}}',
    "escaped twice": '{{\\\\\\"{n}\\\\\\":\\\\\\"{s}\\\\\\"}}',
    "env in json": '"PORT=1\\n{n}={s}\\nHOST=x"',
    "diff": "-{n}=changed\n+{n}={s}",
    "numbers": "    12→{n}={s}\n    13→X=1",
    "numbers pipe": " 12 | {n}: {s}",
    "docker": "ENV {n} {s}",
    "docker run": "docker run -e {n}={s} -p 80:80 app",
    "compose": "    environment:\n      - {n}={s}",
    "k8s": "        - name: {n}\n          value: {s}",
    "terraform": '  {n} = "{s}"',
    "python": '{n_} = "{s}"',
    "python call": 'connect(host="x", {n_}="{s}", port=5)',
    "js": "const {n_} = '{s}';",
    "object": "{{ {n_}: '{s}', a: 1 }}",
    "environ": 'os.environ["{n}"] = "{s}"',
    "php": "define('{n}', '{s}');",
    "xml": "<{n}>{s}</{n}>",
    "xml add": '<add key="{n}" value="{s}" />',
    "option": "./run --{o} {s} --verbose",
    "option equals": "./run --{o}={s}",
    "argv": '["./run", "--{o}", "{s}"]',
    "table": "| {n} | {s} |",
    "table ticks": "| `{n}` | `{s}` | used by ci |",
    "properties": "{n}={s}\nother=1",
    "said": "the {n} is `{s}` for now",
    "header": "X-Trace: 1\n{n}: {s}\nAccept: */*",
    "powershell": '$env:{n} = "{s}"',
    "fish": "set -gx {n} {s}",
    "go": '{n_} := "{s}"',
    "ruby": "{n_} => '{s}',",
    "grep": "config/.env.local:3:{n}={s}",
    "commented": "# {n}={s}",
    "secret from literal": "kubectl create secret generic x --from-literal={n}={s}",
    "typed": '{n_}: str = "{s}"',
    "logfmt": 'level=info user=ada {n}={s} msg="ok"',
    "systemd": 'Environment="{n}={s}"',
    "apache": "SetEnv {n} {s}",
    "perl": "$ENV{{'{n}'}} = '{s}';",
    "clojure": '{{:{n_} "{s}"}}',
    "rust": 'const {n}: &str = "{s}";',
    "java": 'private static final String {n_} = "{s}";',
    "sql": "UPDATE cfg SET {n_} = '{s}' WHERE id = 1;",
    "helm": "helm install x --set {n}={s}",
    "input": '<input type="hidden" name="{n}" value="{s}">',
    "said bare": "Set {n} to {s} and restart.",
    "bold": "**{n}:** {s}",
    "appended": 'echo "{n}={s}" >> .env',
    "gh secret": 'gh secret set {n} --body "{s}"',
    "default": 'process.env.{n} || "{s}"',
    "getenv": 'os.getenv("{n}", "{s}")',
    "anchor": "{n}: &x {s}",
    "property list": "<key>{n}</key><string>{s}</string>",
    "url in url": "a%3D1%26{n_}%3D{s}%26b",
}


def _connection(rng: random.Random) -> list[tuple[str, str, str]]:
    s = person(rng).replace("@", "1").replace("?", "2").replace("#", "3").replace("%", "4").replace("&", "5")
    t = rand(rng, 24)
    cookie, b = rand(rng, 32), base64.b64encode(f"ada:{s}".encode()).decode()
    key88 = base64.b64encode(rng.randbytes(64)).decode()
    return [
        ("postgres", f"postgresql://ada:{s}@db.host:5432/x", s), ("redis", f"redis://:{s}@cache:6379/0", s), ("amqp", f"amqps://u:{s}@mq/v", s),
        ("mongo", f'MONGO="mongodb+srv://app:{s}@c0.ab.mongodb.net/x?retryWrites=true"', s), ("git", f"git clone https://{t}@github.com/a/b.git", t),
        ("git oauth", f"https://oauth2:{t}@gitlab.host/a/b.git", t), ("slash", f"postgres://u:ab/{s}@h:5432/d", s), ("smtp", f"smtps://mail%40x.dev:{s}@smtp.host:465", s),
        ("escaped slashes", f'"url":"https:\\/\\/ada:{s}@h.dev\\/x"', s), ("sentry", f"https://{rand(rng, 32, HEX)}@o1.ingest.sentry.io/22", ""),
        ("ado", f"Server=db;Database=x;User Id=sa;Password={s};Encrypt=true", s), ("ado pwd", f'"Server=tcp:x,1433;Uid=u;Pwd={s};"', s),
        ("jdbc", f"jdbc:mysql://h:3306/d?user=u&password={t}&ssl=1", t), ("jdbc sqlserver", f"jdbc:sqlserver://h:1433;user=u;password={s};", s),
        ("oracle", f"jdbc:oracle:thin:scott/{t}@//h:1521/x", t), ("azure storage", f"DefaultEndpointsProtocol=https;AccountName=a;AccountKey={key88};EndpointSuffix=core.windows.net", key88),
        ("azure sas", f"https://a.blob.core.windows.net/c?sv=2022-11-02&sp=r&sig={rand(rng, 43, ALNUM)}%3D", ""), ("service bus", f"Endpoint=sb://x/;SharedAccessKeyName=Root;SharedAccessKey={key88[:43]}=", key88[:43]),
        ("npmrc", f"//packages.example/:_authToken={gid(rng)}", ""), ("npm auth", f"_auth={b}", b), ("docker config", f'{{"auths": {{"images.example": {{"auth": "{b}"}}}}}}', b),
        ("netrc", f"machine api.host login ada password {s}", s), ("netrc lines", f"machine h\n  login ada\n  password {s}\n", s), ("pgpass", f"db.host:5432:prod:ada:{t}", t),
        ("kube", f"    client-key-data: {base64.b64encode(b'-----BEGIN RSA ' + b'PRIVATE KEY-----' + rng.randbytes(300)).decode()}", ""), ("kube token", f"    token: {jwt(rng)}", ""),
        ("basic", f"Authorization: Basic {b}", b), ("bearer", f"Authorization: Bearer {t}", t), ("bearer in curl", f"curl -H 'Authorization: Bearer {t}' https://x", t),
        ("token header", f'-H "Authorization: token {t}"', t), ("raw header", f'"authorization": "{t}"', t), ("private token", f"curl --header 'PRIVATE-TOKEN: {t}' x", t),
        ("cookie", f"Cookie: theme=dark; sessionid={cookie}; lang=en", cookie), ("set-cookie", f"< set-cookie: connect.sid=s%3A{cookie}.{t}; Path=/; HttpOnly", cookie),
        ("jar", f"#HttpOnly_.x.dev\tTRUE\t/\tTRUE\t1999999999\tsid\t{cookie}", cookie), ("curl user", f"curl -su ada:{s} https://h/x".replace("-su", "-s -u"), s),
        ("curl long", f"curl --user 'ada:{s}' https://h", s), ("sshpass", f"sshpass -p '{s}' ssh u@h", s), ("sshpass bare", f"sshpass -p{t} ssh u@h", t), ("mysql", f"mysql -u root -p{t} -h db x", t),
        ("docker login", f"docker login -u ada -p {t} images.example", t), ("stdin", f"echo {t} | docker login -u ada --password-stdin", t), ("sudo", f"echo '{s}' | sudo -S ls", s), ("redis-cli", f"redis-cli -h h -a {t} ping", t),
        ("ldap", f"ldapsearch -x -D cn=admin -w {t} -b dc=x", t), ("smb", f"smbclient //h/s -U ada%{t}", t), ("openssl", f"openssl rsa -in k.pem -passin pass:{t}", t), ("zip", f"zip -P {t} -r a.zip d", t),
        ("htpasswd", f"htpasswd -bc .htpasswd ada {t}", t), ("sql", f"CREATE USER ada IDENTIFIED BY '{s}';", s), ("sql pg", f"ALTER ROLE ada WITH PASSWORD '{s}';", s), ("requirepass", f"requirepass {t}", t),
        ("wifi", f'network={{ ssid="x" psk="{s}" }}', s), ("wireguard", f"[Interface]\nPrivateKey = {key88[:43]}=\n", key88[:43]), ("twine", f"twine upload -u __token__ -p {t} dist/*", t),
        ("pgpassword", f"PGPASSWORD={t} psql -h db", t), ("aws configure", f"aws configure set aws_secret_access_key {rand(rng, 40, B64)}", ""), ("phrase", 'DB_PASSWORD="correct river battery staple"', "correct river battery staple"),
        ("phrase json", '{"password": "orange stapler window lamp"}', "orange stapler window lamp"), ("gcp", json.dumps({"type": "service_account", "private_key_id": rand(rng, 40, HEX), "private_key": pem(rng, "PRIVATE KEY")[0]}), ""),
        ("zero width", "ghp" + "_" + rand(rng, 18) + "\u200b" + "Q7" + rand(rng, 16), ""), ("setx", f'setx DB_PASSWORD "{s}"', s), ("login form", f'-d "username=ada&password={t}"', t), ("vault login", f"vault login {rand(rng, 26)}", ""),
        ("go source", f'dsn := "ada:{s}@tcp(127.0.0.1:3306)/orchard"', s), ("go source in env", f"MYSQL_DSN=ada:{t}@unix(/run/m.sock)/x", t),
        ("function code", f"https://x.azurewebsites.net/api/fn?a=1&code={rand(rng, 52)}==", ""), ("code behind a question mark", f"https://x.dev/cb?code={t}&state=1", t),
        ("sdk call", f"new Twilio('AC{rand(rng, 32, HEX)}', '{rand(rng, 32, HEX)}')", ""), ("search client", f"algoliasearch('{rand(rng, 10, UP)}', '{rand(rng, 32, HEX)}')", ""),
        ("cookies of curl", f"curl -s -b 'lang=en; connect.sid=s%3A{cookie}.{t}' https://h", cookie), ("aligned define", f"define( 'AUTH_KEY',         '{t}#{t}' );", t),
        ("argument on its own line", f'api_key = (\n    "{t}"\n)', t), ("the same in json", json.dumps({"code": f'api_key = (\n    "{t}"\n)'}), t),
        ("one program's password", "SMTP_PASSWORD=" + " ".join(rand(rng, 4, LOW) for _ in range(4)), ""), ("words of a wallet", f"mnemonic: {' '.join(['abandon', 'ability', 'able', 'about', 'above', 'absent'] * 2)}", "above absent"),
        ("mail account", f"auth: {{ user: 'a@x.dev', pass: '{s}' }}", s), ("part of a path", f"/var/cache/token={t}/x.json", t), ("key that begins with a slash", f"PrivateKey = /{key88[:42]}=", key88[:42]),
        ("settings in base64", f"echo {base64.b64encode(f'PORT=80{chr(10)}HOST=orchard.dev{chr(10)}DB_PASSWORD={s}{chr(10)}'.encode()).decode()} | base64 -d > .env", ""),
        ("account in base64", "KEY=" + base64.b64encode(json.dumps({"type": "service_account", "private_key": pem(rng, "PRIVATE KEY")[0]}).encode()).decode(), ""),
        ("ansible", f"ansible_become_pass: {s}", s), ("maven", f"<server><id>x</id><username>u</username><password>{s}</password></server>", s), ("aws sigv4", f"X-Amz-Signature={rand(rng, 64, HEX)}", ""),
    ]  # fmt: skip


def pem(rng: random.Random, what: str = "RSA PRIVATE KEY") -> tuple[str, list[str]]:
    """A block that looks like a private key, and its lines."""
    starts = {
        "RSA PRIVATE KEY": "MIIEpAIBAAKCAQEA",
        "OPENSSH PRIVATE KEY": "b3BlbnNzaC1rZXktdjEAAAAA",
        "PRIVATE KEY": "MIIEvQIBADANBgkqhkiG9w0B",
    }
    body = [rand(rng, 64, B64) for _ in range(14)]
    start = starts.get(what, "")
    body[0] = start + body[0][len(start) :]
    body.append(rand(rng, 24, B64) + "==")
    return "\n".join([f"-----BEGIN {what}-----", *body, f"-----END {what}-----", ""]), body


KEY_KINDS = (
    "RSA PRIVATE KEY",
    "OPENSSH PRIVATE KEY",
    "PRIVATE KEY",
    "EC PRIVATE KEY",
    "DSA PRIVATE KEY",
    "ENCRYPTED PRIVATE KEY",
    "PGP PRIVATE KEY BLOCK",
)


def _key_contexts(rng: random.Random, what: str) -> list[tuple[str, str, list[str]]]:
    block, body = pem(rng, what)
    lines = block.rstrip("\n").split("\n")
    numbered = "\n".join(f"{n:6}→{line}" for n, line in enumerate(lines, 1))
    made = [
        ("plain", f"$ cat id\n{block}$", body), ("numbers", numbered, body), ("pipes", "\n".join(f"| {line} |" for line in lines), body),
        ("box", "\n".join(f"│ {line:<70} │" for line in lines), body), ("quoted", "\n".join(f"> {line}" for line in lines), body),
        ("comment", "\n".join(f"# {line}" for line in lines), body), ("json", json.dumps({"key": block}), body), ("json twice", json.dumps(json.dumps({"k": block})), body),
        ("diff", "\n".join(f"+{line}" for line in lines), body), ("middle cut", "\n".join([*lines[:4], "... [8 lines truncated] ...", *lines[-4:]]), [*body[:3], *body[-3:]]),
        ("head only", "\n".join(lines[:9]), body[:8]), ("tail only", "\n".join(lines[6:]), body[6:]), ("indented", "key: |\n" + "\n".join(f"    {line}" for line in lines), body),
        ("numbers pipe", "\n".join(f"{n:4} | {line}" for n, line in enumerate(lines, 1)), body), ("tail numbers", "\n".join(numbered.split("\n")[7:]), body[7:]),
        ("strings", " +\n".join(f'    "{line}\\n"' for line in lines), body), ("one line", " ".join(lines), body),
        ("grep", "\n".join(f"./k.pem:{n}:{line}" for n, line in enumerate(lines, 1)), body),
        ("echo", "\n".join(f"echo '{line}' >> id" for line in lines), body),
        ("blame", "\n".join(f"a1b2c3d4 (Ada 2024-01-01 12:00:00 +0000 {n}) {line}" for n, line in enumerate(lines, 1)), body),
        ("array", json.dumps(lines), body),
        ("page", "<pre>" + "<br>".join(lines) + "</pre>", body),
        ("cat -A", "\n".join(f"{line}$" for line in lines), body), ("env", 'PRIVATE_KEY="' + "\\n".join(lines) + '"', body),
    ]  # fmt: skip
    if what in ("RSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "PRIVATE KEY"):
        made.append(("no marks", "\n".join(lines[1:6]), body[:5]))
    return made


def planted(half: int, seed: int) -> list[Planted]:
    """The set of one half; every form is in it, in contexts of that half."""
    rng = random.Random(seed * 2 + half)
    made: list[Planted] = []

    def contexts(every: dict[str, str]) -> list[tuple[str, str]]:
        return [item for at, item in enumerate(every.items()) if at % 2 == half]

    for name, form in FORMS.items():
        for context, pattern in rng.sample(contexts(TOKEN_CONTEXTS), 3):
            secret = form(rng)
            made.append(Planted(name, context, pattern.format(s=secret), (secret,)))
    for names, make in ((NAMES_PASSWORD, person), (NAMES_SECRET, None)):
        for context, pattern in contexts(ASSIGNED_CONTEXTS):
            for name in rng.sample(names, 4):
                secret = (
                    make(rng)
                    if make
                    else rng.choice(
                        [
                            rand(rng, 32, HEX),
                            rand(rng, 24),
                            rand(rng, 40, B64),
                            rand(rng, 20, URL64),
                            gid(rng),
                        ]
                    )
                )
                name_ = name.replace("-", "_").replace(".", "_")
                option = name.lower().replace("_", "-").replace(".", "-")
                made.append(
                    Planted(
                        f"assigned {name}",
                        context,
                        pattern.format(n=name, n_=name_, o=option, s=secret),
                        (secret,),
                    )
                )
    for _ in range(2):
        every = _connection(rng)
        for at, (name, text, secret) in enumerate(every):
            if at % 2 == half:
                # Without a piece of its own: whatever the last run of characters is.
                pieces = (
                    (secret,)
                    if secret
                    else (max("".join(c if c in B64 + "-_" else " " for c in text).split(), key=len)[-16:],)
                )
                made.append(Planted("connection", name, text, pieces))
    for kind in KEY_KINDS:
        for at, (context, text, body) in enumerate(_key_contexts(rng, kind)):
            if at % 2 == half:
                made.append(Planted(kind, context, text, tuple(body)))
    return made
