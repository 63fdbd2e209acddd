"""Functions that receive a password or a key as an argument: `HTTPBasicAuth("ada", "…")`, `jwt.sign(payload, "…")`."""

from __future__ import annotations

_STRING = r"""\\{0,7}["'][^"'\n\\]{0,200}\\{0,7}["']"""

CALLS: tuple[tuple[tuple[str, ...], tuple[str, ...], str], ...] = (
    (
        ("Wallet(", "privateKeyToAccount(", "from_key("),
        ("Wallet(", "privateKeyToAccount(", "from_key("),
        r"\s{0,20}\\{0,7}[\"'`](?:0x)?(?P<token>[0-9a-fA-F]{64})\\{0,7}[\"'`]",
    ),
    (
        ("Stripe(",),
        ("Stripe(",),
        r"\s{0,20}\\{0,7}[\"'`](?P<strange>[^\"'`\n\\]{8,200})\\{0,7}[\"'`]",
    ),
    (
        ("auth", "Auth(", "redential", ".login(", "oliasearch(", "Client.create("),
        (
            "auth=(",
            "auth = (",
            "auth: [",
            "auth = [",
            "DigestAuth(",
            "BasicAuth(",
            "basic_auth(",
            "basic_auth ",
            "basicAuth(",
            "basic_auth=(",
            "Credentials(",
            "Credential(",
            ".login(",
            ".auth(",
            "algoliasearch(",
            "SearchClient.create(",
        ),
        r"\s{0,20}(?:[\w.=]{0,20}\\{0,7}[\"'][^\"'\n\\]{1,80}\\{0,7}[\"']|[\w.]{1,60})\s{0,4},\s{0,20}(?:Some\()?[\w.=]{0,20}\\{0,7}[\"'](?P<strange>[^\"'\n\\]{4,100})\\{0,7}[\"']",
    ),
    (
        ("Sequelize(", "PDO(", "mysqli", ".getConnection(", "Minio("),
        (
            "Sequelize(",
            "PDO(",
            "mysqli(",
            "mysqli_connect(",
            ".getConnection(",
            "Minio(",
        ),
        rf"(?:\s{{0,20}}(?:{_STRING}|[$\w.>-]{{1,60}})\s{{0,4}},){{2}}\s{{0,20}}\\{{0,7}}[\"'](?P<strange>[^\"'\n\\]{{4,100}})\\{{0,7}}[\"']",
    ),
    (
        ("Client(", "Api(", "API(", "SDK("),
        ("Client(", "Api(", "API(", "SDK("),
        r"\s{0,20}\\{0,7}[\"'](?P<key>[A-Za-z0-9_-]{24,100})\\{0,7}[\"']",
    ),
    (
        ("jwt.", "Jwt", "jsonwebtoken"),
        (
            "jwt.sign(",
            "jwt.verify(",
            "jwt.encode(",
            "jwt.decode(",
            "JWT.encode ",
            "JWT.encode(",
            "JWT.decode(",
            "jsonwebtoken.sign(",
        ),
        r"\s{0,20}(?:\{[^{}\n]{0,200}\}|[\w.\[\]()\"']{1,80})\s{0,4},\s{0,20}b?\\{0,7}[\"'`](?P<strange>[^\"'`\n\\]{8,200})\\{0,7}[\"'`]",
    ),
    (
        ("hmac", "Hmac", "HMAC", "Fernet(", "crypt", "Cipheriv(", "AES.new(", "cookieParser("),
        (
            "bcrypt.hash(",
            "hashpw(",
            "hashSync(",
            "compareSync(",
            "AES.new(",
            "createCipheriv(",
            "createDecipheriv(",
            "cookieParser(",
            "hmac.new(",
            "HMAC.new(",
            "Fernet(",
            "createHmac(",
            "hash_hmac(",
            "OpenSSL::HMAC.hexdigest(",
            "HmacUtils(",
            "hmac.New(",
        ),
        r"(?:\s{0,20}(?:\\{0,7}[\"'][a-z0-9-]{3,12}\\{0,7}[\"']|sha[0-9]{1,3}\.New|\$?\w{1,40})\s{0,4},){0,2}\s{0,20}(?:\[\]byte\()?b?\\{0,7}[\"'`](?!(?:aes|des|sha|md5|rc4|chacha)[a-z0-9-]{0,20}[\"'`])(?P<strange>[^\"'`\n\\]{8,200})\\{0,7}[\"'`]",
    ),
    (
        ("PlainAuth(",),
        ("PlainAuth(",),
        rf"(?:\s{{0,20}}(?:{_STRING}|[$\w.>-]{{1,60}})\s{{0,4}},){{2}}\s{{0,20}}\\{{0,7}}[\"'](?P<bare>[^\"'\s\\]{{6,100}})\\{{0,7}}[\"']",
    ),
    (
        ("createClient(",),
        ("createClient(",),
        rf"\s{{0,20}}(?:{_STRING}|[$\w.>-]{{1,60}})\s{{0,4}},\s{{0,20}}\\{{0,7}}[\"'](?P<token>[^\"'\n\\]{{12,400}})\\{{0,7}}[\"']",
    ),
    (
        ("login(", "signIn", "authenticate("),
        ("login(", "signIn(", "authenticate("),
        r"\s{0,20}\\{0,7}[\"'][\w.@+-]{1,60}\\{0,7}[\"']\s{0,4},\s{0,20}\\{0,7}[\"'](?P<strange>[^\"'\s\\]{6,100})\\{0,7}[\"']",
    ),
)
"""As the table of `commands`: signs, literals before a password, and the form from there on."""
