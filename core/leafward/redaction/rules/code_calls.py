"""Functions that receive a password or a key as an argument: `HTTPBasicAuth("ada", "…")`, `jwt.sign(payload, "…")`."""

from __future__ import annotations

_STRING = r"""\\{0,7}["'][^"'\n\\]{0,200}\\{0,7}["']"""

CALLS: tuple[tuple[tuple[str, ...], tuple[str, ...], str], ...] = (
    (
        ("Phrase(", "nemonic"),
        ("fromPhrase(", "fromMnemonic(", "mnemonicToSeed(", "mnemonicToSeedSync(", "from_mnemonic("),
        r"\s{0,20}\\{0,7}[\"'`](?P<bare>[a-z]{3,8}(?: [a-z]{3,8}){11,23})\\{0,7}[\"'`]",
    ),
    (
        ("Wallet(", "privateKeyToAccount(", "from_key("),
        ("Wallet(", "privateKeyToAccount(", "from_key("),
        r"\s{0,20}\\{0,7}[\"'`](?:0x)?(?P<token>[0-9a-fA-F]{64})\\{0,7}[\"'`]",
    ),
    (
        ("Stripe(", "HMAC", "SecurityKey(", "KeySpec(", "KeyFor("),
        (
            "Stripe(", "Algorithm.HMAC256(", "Algorithm.HMAC384(", "Algorithm.HMAC512(",
            "SecurityKey(Encoding.UTF8.GetBytes(", "SecurityKey(Encoding.ASCII.GetBytes(",
            "HMACSHA256(Encoding.UTF8.GetBytes(", "HMACSHA256(Encoding.ASCII.GetBytes(", "hmacShaKeyFor(",
            "SecretKeySpec("
        ),
        r"\s{0,20}\\{0,7}[\"'`](?P<strange>[^\"'`\n\\]{8,200})\\{0,7}[\"'`]",
    ),
    (
        ("auth", "Auth(", "Authentication", "redential", ".login(", "oliasearch(", "Client.create("),
        (
            "auth=(", "auth = (", "auth: [", "auth = [", "DigestAuth(", "BasicAuth(", "basic_auth(",
            "basic_auth ", "basicAuth(", "basic_auth=(", "Authentication(", "AuthenticationToken(",
            "Credentials(", "Credential(", ".login(", ".auth(", "algoliasearch(", "SearchClient.create("
        ),
        r"\s{0,20}(?:[\w.=]{0,20}\\{0,7}[\"'][^\"'\n\\]{1,80}\\{0,7}[\"']|[\w.]{1,60})\s{0,4},\s{0,20}(?:Some\()?[\w.=]{0,20}\\{0,7}[\"'](?P<strange>[^\"'\n\\]{4,100})\\{0,7}[\"']",
    ),
    (
        (
            "create_superuser(", "keyring.", "pymysql", "MySQLdb", "Sequelize(", "PDO(", "mysqli",
            ".getConnection(", "Minio("
        ),
        (
            "create_superuser(", "keyring.set_password(", "pymysql.connect(", "MySQLdb.connect(",
            "Sequelize(", "PDO(", "mysqli(", "mysqli_connect(", ".getConnection(", "Minio("
        ),
        rf"(?:\s{{0,20}}(?:{_STRING}|[$\w.>-]{{1,60}})\s{{0,4}},){{2}}\s{{0,20}}\\{{0,7}}[\"'](?P<strange>[^\"'\n\\]{{4,100}})\\{{0,7}}[\"']",
    ),
    (
        ("Client(", "Api(", "API(", "SDK("),
        ("Client(", "Api(", "API(", "SDK("),
        r"\s{0,20}\\{0,7}[\"'](?P<key>[A-Za-z0-9_-]{24,100})\\{0,7}[\"']",
    ),
    (
        ("jwt.", "Jwt", "jsonwebtoken", "CryptoJS.", ".signWith("),
        (
            "jwt.sign(", "jwt.verify(", "jwt.encode(", "jwt.decode(", "JWT.encode ", "JWT.encode(",
            "JWT.decode(", "jsonwebtoken.sign(", "CryptoJS.AES.encrypt(", "CryptoJS.AES.decrypt(",
            "CryptoJS.HmacSHA1(", "CryptoJS.HmacSHA256(", "CryptoJS.HmacSHA512(", ".signWith("
        ),
        r"\s{0,20}(?:\{[^{}\n]{0,200}\}|[\w.\[\]()\"']{1,80})\s{0,4},\s{0,20}b?\\{0,7}[\"'`](?P<strange>[^\"'`\n\\]{8,200})\\{0,7}[\"'`]",
    ),
    (
        ("hmac", "Hmac", "HMAC", "Fernet(", "crypt", "Cipheriv(", "AES.new(", "cookieParser("),
        (
            "bcrypt.hash(", "bcrypt(", "hashpw(", "hashSync(", "compareSync(", "AES.new(",
            "createCipheriv(", "createDecipheriv(", "cookieParser(", "hmac.new(", "HMAC.new(", "Fernet(",
            "createHmac(", "hash_hmac(", "OpenSSL::HMAC.hexdigest(", "HmacUtils(", "hmac.New("
        ),
        r"(?:\s{0,20}(?:\\{0,7}[\"'][a-z0-9-]{3,12}\\{0,7}[\"']|sha[0-9]{1,3}\.New|\$?\w{1,40})\s{0,4},){0,2}\s{0,20}(?:\[\]byte\()?b?\\{0,7}[\"'`](?!(?:aes|des|sha|md5|rc4|chacha)[a-z0-9-]{0,20}[\"'`])(?P<strange>[^\"'`\n\\]{8,200})\\{0,7}[\"'`]",
    ),
    (
        ("USERPWD", "Userpwd"),
        ("CURLOPT_USERPWD", "CURLOPT_PROXYUSERPWD", ".USERPWD", ".PROXYUSERPWD"),
        r"\s{0,4}(?:,|=>|=)\s{0,20}\\{0,7}[\"'][^\s:\"'\\]{1,80}:(?P<bare>[^\s\"'\\]{3,200})\\{0,7}[\"']",
    ),
    (
        ("TOTP", "HOTP", "totp.", "uthenticator."),
        (
            "TOTP(", "HOTP(", "TOTP.new(", "authenticator.generate(", "totp.now(", "totp.GenerateCode("
        ),
        r"\s{0,20}(?:\w{1,20}\s{0,2}=\s{0,2})?\\{0,7}[\"'`](?P<token>[A-Za-z2-7]{16,128}={0,6})\\{0,7}[\"'`]",
    ),
    (
        ("ookies.set(", "etCookie(", "set_cookie("),
        ("ookies.set(", "etCookie(", "set_cookie("),
        r"\s{0,20}\\{0,7}[\"'`][\w.-]{0,40}(?i:sess|sid|auth|token|jwt)[\w.-]{0,40}\\{0,7}[\"'`]\s{0,4},\s{0,20}\\{0,7}[\"'`](?P<token>[^\s\"'`\\]{12,2000})\\{0,7}[\"'`]",
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
        ("login", "signIn", "authenticate(", "createUser("),
        ("login(", "signIn(", "authenticate(", "createUser(", "sp_addlogin "),
        r"\s{0,20}\\{0,7}[\"'][\w.@+-]{1,60}\\{0,7}[\"']\s{0,4},\s{0,20}\\{0,7}[\"'](?P<strange>[^\"'\s\\]{6,100})\\{0,7}[\"']",
    ),
)  # fmt: skip
"""As the table of `commands`: signs, literals before a password, and the form from there on."""
