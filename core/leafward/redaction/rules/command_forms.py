"""The forms in which programs are given passwords. The module is long because it is one table."""

from __future__ import annotations

from leafward.redaction.rules.code_calls import CALLS
from leafward.redaction.rules.device_forms import DEVICE_FORMS

_WORD = r"""(?:(?P<q>\\{0,7}["'])(?P<quoted>[^\n"']{1,200}?)(?P=q)|(?P<bare>[^\s"'`\\;|&<>()-][^\s"'`\\;|<>]{2,200}))"""
_REST = r"""(?:[^\n|;&]|\\\n|&(?!&)){0,400}?"""
"""Text between a program and its option."""
_GAP = r"""(?:[ \t]{1,8}|[ \t]{0,4}\\{1,3}n?\n?[ \t]{0,20}|["'],[ \t]{0,4}(?=["']))"""
_IMPACKET = (
    *(
        "psexec.py ",
        "wmiexec.py ",
        "smbexec.py ",
        "atexec.py ",
        "dcomexec.py ",
        "secretsdump.py ",
        "impacket-",
    ),
    *("mssqlclient.py ", "smbclient.py ", "GetNPUsers.py ", "GetUserSPNs.py ", "getTGT.py "),
)
"""Programs that take a user and a password, or its hash, in one word: `domain/user:password@host`."""

COMMAND_FORMS: tuple[tuple[tuple[str, ...], tuple[str, ...], str], ...] = (
    (
        ("-u", "-U", "-a", "curl"),
        ("curl", "wget", "http ", "https ", "xh "),
        rf"\w*{_REST}(?<=[\s\"'])(?:-[a-zA-Z#]{{0,12}}u|--user|--proxy-user|-U|-a|--auth)(?:{_GAP}|=)?(?P<o>\\{{0,7}}[\"'])?[^\s:\"'\\/]{{0,80}}:(?P<bare>[^\s\"'\\][^\s\"'\\]{{2,200}})",
    ),
    (
        ("-u",),
        (" -u ", "--user ", "--user=", '-u", "'),
        r"[\"']?[A-Za-z][^\s:\"'\\/]{0,80}:(?P<strange>[^\s\"'\\/:]{4,200})",
    ),
    # A name and a password side by side, whatever the program.
    (
        ("-p",),
        (" -u ",),
        r"[\"']?[\w.@\\-]{1,60}[\"']?[ \t]{1,4}(?:-d[ \t]{1,4}\S{1,60}[ \t]{1,4})?-p[ \t]{1,4}[\"']?(?P<strange>[^\s\"'\\/]{6,100})(?=[\s\"'\\]|\Z)",
    ),
    (("-p",), ("sshpass",), rf"{_REST}(?<=[\s\"'])-p{_GAP}?{_WORD}"),
    (("-p",), ("mysql", "mariadb"), rf"[a-z]{{0,10}}\b{_REST}(?<=[\s\"'])-p{_WORD}"),
    (
        ("-p",),
        (
            "docker login", "podman login", "buildah login", "skopeo login", "helm registry login",
            "nerdctl login", "az login", "az acr login", "oc login", "crane auth login", "oras login",
            "cf login", "ibmcloud login"
        ),
        rf"[a-z]{{0,10}}\b{_REST}(?<=[\s\"'])-p{_GAP}{_WORD}",
    ),
    (
        ("-p",),
        (
            "twine upload", "mongo", "influx ", "ansible-", "dotnet ", "nuget ", "lpass ", "cqlsh",
            "cypher-shell", "arangosh", "rabbitmqadmin"
        ),
        rf"[a-z]{{0,10}}\b{_REST}(?<=[\s\"'])-p{_GAP}{_WORD}",
    ),
    (
        ("-p",),
        (
            "psexec", "certutil", "PsExec", "evil-winrm", "netexec ", "nxc ", "crackmapexec ",
            "couchbase-cli", "cbq ", "supabase "
        ),
        rf"[a-z]{{0,10}}\b{_REST}(?<=[\s\"'])-p{_GAP}{_WORD}",
    ),
    # Hashes of Windows, which are as good as the password.
    (
        ("-H ", "hash", "/rc4:", "/ntlm:"),
        (" -H ", " -hashes ", "-hashes=", "-nthash ", "/rc4:", "/ntlm:"),
        r"[\"']?(?:[0-9a-fA-F]{32})?:?(?P<bare>[0-9a-fA-F]{32})(?![0-9a-fA-F])",
    ),
    (
        _IMPACKET,
        _IMPACKET,
        rf"{_REST}(?<=[\s\"'])(?:[\w.-]{{1,80}}/[\w.$-]{{1,80}}:\\{{0,7}}[\"']?(?P<bare>[^\s\"'/\\:@]{{3,100}})(?=[\s\"'\\@]|\Z)|[\w.$-]{{1,80}}:(?P<quoted>[^\s\"'/\\:@]{{3,100}})(?=@[\w.-]))",
    ),
    (("-a",), ("redis-cli", "valkey-cli", "keydb-cli"), rf"{_REST}(?<=[\s\"'])-a{_GAP}{_WORD}"),
    (
        ("-w",),
        ("ldapsearch", "ldapmodify", "ldapadd", "ldapwhoami", "ldapdelete", "ldappasswd"),
        rf"{_REST}(?<=[\s\"'])-w{_GAP}?{_WORD}",
    ),
    (
        ("-U",),
        ("smbclient", "rpcclient", "smbmap", "mount.cifs", "nmblookup", "winexe", "wmic ", "net ads ", "net rpc ", "pth-"),
        rf"{_REST}(?<=[\s\"'])-U{_GAP}?[\"']?[^\s%\"']{{1,80}}%(?P<bare>[^\s\"']{{3,100}})",
    ),
    (("pass:",), ("openssl",), rf"{_REST}\bpass:(?P<bare>[^\s\"'\\]{{3,100}})"),
    (("-k",), ("openssl enc", "openssl aes"), rf"{_REST}(?<=[\s\"'])-k{_GAP}{_WORD}"),
    (("-p", "-hp"), ("7z ", "7za ", "rar "), rf"{_REST}(?<=[\s\"'])-h?p{_WORD}"),
    (
        ("-P", "-N"),
        ("zip ", "sqlcmd ", "ipmitool ", "bcp ", "ssh-keygen "),
        rf"{_REST}(?<=[\s\"'])-[PN]{_GAP}?{_WORD}",
    ),
    (
        ("htpasswd",),
        ("htpasswd",),
        rf"[ \t]{{1,4}}-[a-zA-Z0-9]{{0,6}}b[a-zA-Z0-9]{{0,6}}(?:[ \t]{{1,4}}-\S{{1,4}}){{0,3}}[ \t]{{1,4}}(?:\S{{1,200}}[ \t]{{1,4}})?[A-Za-z0-9_.@\"'-]{{1,60}}[ \t]{{1,4}}{_WORD}(?=[ \t]*(?:$|[\n\\|;&>]))",
    ),
    (("/p:", "-p"), ("xfreerdp", "rdesktop", "wfreerdp"), rf"{_REST}(?:/p:|-p[ \t]{{1,4}}){_WORD}"),
    (("/user:",), ("net use",), rf"{_REST}/user:[^\s\"']{{1,80}}[ \t]{{1,4}}{_WORD}"),
    (("/user:",), ("net use",), rf"[ \t]{{1,4}}\S{{1,40}}[ \t]{{1,4}}\\\\\S{{1,200}}[ \t]{{1,4}}{_WORD}"),
    (("net user ",), ("net user ",), rf"[\w.-]{{1,40}}[ \t]{{1,4}}{_WORD}"),
    (("/pass:",), ("cmdkey", "runas"), rf"{_REST}/pass:{_WORD}"),
    (
        ("ENTIFIED", "entified"),
        ("IDENTIFIED ", "identified ", "Identified "),
        r"(?i:(?:with[ \t]{1,4}\S{1,40}[ \t]{1,4})?(?:by|as)[ \t]{1,4}(?:values[ \t]{1,4})?(?:password[ \t]{1,4})?)(?:(?P<q>\\{0,7}[\"'])(?P<quoted>[^\n\"']{3,200})(?P=q)|(?P<strange>[A-Za-z0-9_$#]{6,60})(?=[ \t]*(?:;|$|[\n\\\"']|(?i:default|temporary|profile|account|quota|replace|require|password|container|with|using)\b)))",
    ),
    (
        ("ASSWORD", "assword"),
        (
            "CREATE USER ", "ALTER USER ", "CREATE ROLE ", "ALTER ROLE ", "create user ", "alter user ",
            "create role ", "alter role "
        ),
        r"[^\n;]{1,200}?\b(?i:password)[ \t]{1,4}(?P<q>\\{0,7}[\"'])(?P<quoted>[^\n\"']{3,200})(?P=q)",
    ),
    (
        (",pass", ", pass", ", Pass"),
        ("username=", "user=", "sername: "),
        r"[^\s,\"']{1,60}(?:,[^\s\"']{1,80})?,(?:pass(?:word)?=|[ ](?i:password):[ ])(?![A-Za-z_]{1,40}\.[a-z]|&[A-Za-z_]{1,40}[\s,)<])(?=[^\s,()]{0,60}[^\sa-z,()])(?P<bare>[^\s,\"'\\()]{4,100})",
    ),
    (("WIFI:",), ("WIFI:",), r"(?:[TSH]:[^;\n]{0,80};){0,3}P:(?P<bare>[^;\s\"']{3,80})"),
    (
        ("composer", "poetry"),
        ("github-oauth.", "gitlab-token.", "http-basic.", "bearer."),
        rf"[\w.-]{{1,80}}[ \t]{{1,4}}(?:[\w@.-]{{1,60}}[ \t]{{1,4}})?{_WORD}",
    ),
    (
        ("ConvertTo-SecureString",),
        ("ConvertTo-SecureString",),
        rf"(?:[ \t]{{1,4}}-String)?[ \t]{{1,4}}(?=\\{{0,7}}[\"']){_WORD}",
    ),
    (
        ("ConvertTo-SecureString",),
        ("ConvertTo-SecureString ", "ConvertTo-SecureString -String "),
        r"(?P<bare>[^\s\"'$()-][^\s\"'()]{2,100})[ \t]{1,4}-(?:AsPlainText|Force)",
    ),
    (("winrs",), ("winrs",), rf"{_REST}(?<=[\s\"'])[-/]p(?:assword)?:{_WORD}"),
    (("isql ",), ("isql ",), rf"[\w.-]{{1,60}}[ \t]{{1,4}}[\w.@-]{{1,60}}[ \t]{{1,4}}{_WORD}"),
    (
        ("db2 ",),
        ("db2 connect",),
        rf"{_REST}\buser[ \t]{{1,4}}\S{{1,60}}[ \t]{{1,4}}using[ \t]{{1,4}}{_WORD}",
    ),
    (
        ("identify ", "IDENTIFY "),
        ("nickserv identify ", "NickServ identify ", "NickServ IDENTIFY "),
        rf"(?:[\w-]{{1,30}}[ ])?{_WORD}",
    ),
    (("stats auth",), ("stats auth ",), r"[\w.@-]{1,60}:(?P<bare>[^\s\"'\\]{3,100})"),
    (
        ("passwd ",),
        ("openssl passwd ", "mkpasswd ", "slappasswd "),
        rf"(?:-[mRS][ ]\S{{1,20}}[ ]{{1,4}}|-salt[ ]\S{{1,40}}[ ]{{1,4}}|--?(?![mRS][ ])\w{{1,12}}(?:=\S{{1,40}})?[ ]{{1,4}}){{0,4}}+{_WORD}(?=[ \t]*(?:$|[\n\\|;&)`\"']))",
    ),
    (
        ("encrypt_string ",),
        ("encrypt_string ",),
        rf"(?:--\S{{1,60}}[ ]{{1,4}}){{0,2}}(?=\\{{0,7}}[\"']){_WORD}",
    ),
    (("schtasks",), ("schtasks",), rf"(?i:{_REST}/rp)[ \t]{{1,4}}{_WORD}"),
    (("-P",), ("mosquitto_",), rf"{_REST}(?<=[\s\"'])-P{_GAP}{_WORD}"),
    (
        ("vault login",),
        ("vault login",),
        rf"(?:[ \t]{{1,4}}-[\w=-]{{1,40}}){{0,4}}[ \t]{{1,4}}(?:token=)?{_WORD}",
    ),
    (
        ("alias set", "host add"),
        ("mc alias set", "mc config host add"),
        rf"[ \t]{{1,4}}\S{{1,60}}[ \t]{{1,4}}\S{{1,200}}[ \t]{{1,4}}\S{{1,100}}[ \t]{{1,4}}{_WORD}",
    ),
    (
        ("login ", 'login", "'),
        ("cargo login", "wandb login", "hf auth login", "netlify login", "railway login", "ngrok authtoken"),
        r"[ \t\"',]{1,6}(?:--\S{1,20}[ \t=]{1,4}){0,2}(?P<token>[A-Za-z0-9_-]{20,200})",
    ),
    (
        ("AUTH ",),
        ("> AUTH ", "\nAUTH ", "\\nAUTH ", "AUTH PLAIN ", "AUTH XOAUTH2 "),
        r"(?:(?:(?:PLAIN|XOAUTH2)[ \t]{1,4})?(?P<token>[A-Za-z0-9+/]{12,400}={0,2})|(?:[\w.-]{1,40}[ \t]{1,4})?(?P<strange>[^\s\"'\\]{6,200})(?=[ \t]*(?:$|[\n\r\\\"'])))",
    ),
    (
        ("SETUSER ", "setuser "),
        ("ACL SETUSER ", "acl setuser "),
        r"[^\n>]{1,120}[ \t]>(?P<bare>[^\s\"'\\]{3,200})",
    ),
    (("user ",), ("user ",), r"[\w.-]{1,60}[ ](?:on|off)[ ](?:[^\n>]{0,120}[ ])?>(?P<bare>[^\s\"'\\]{3,200})"),
    (
        ("-server ",),
        ("snmp-server ", "radius-server ", "tacacs-server "),
        r"(?:host[ \t]{1,4}\S{1,60}[ \t]{1,4})?(?:community|key)[ \t]{1,4}(?:[0-9][ \t]{1,4})?(?P<strange>[^\s\"'\\]{4,100})",
    ),
    (
        ("password ", "secret ", "key "),
        tuple(f"{name} {number} " for name in ("password", "secret", "key") for number in (0, 5, 7, 8, 9)),
        r"(?P<strange>[A-Za-z0-9$./!#%&*+?@^~_-]{8,120})(?=[ \t\r]*(?:$|[\n\\\"']))",
    ),
    (
        ("rabbitmqctl",),
        ("add_user", "change_password", "authenticate_user"),
        rf"[ \t]{{1,4}}[\w.@-]{{1,60}}[ \t]{{1,4}}{_WORD}",
    ),
    (("unlock ",), ("bw unlock",), rf"[ \t]{{1,4}}{_WORD}"),
    (
        ("sonar.login",),
        ("sonar.login",),
        r"[ \t]{0,4}[=:][ \t]{0,4}\\{0,7}[\"']?(?P<token>[A-Za-z0-9_-]{32,200})(?![\w-])",
    ),
    # A value alone into a file whose name says that it is a secret.
    (
        ("echo ", "printf "),
        ("echo ", "printf "),
        r"(?:-n[ ]|'?%s'?[ ])?\\{0,7}[\"']?(?P<token>[^\s\"'|$`>\\]{8,400}+)\\{0,7}[\"']?[ \t]{0,4}(?:>{1,2}|\|[ \t]{0,4}(?:sudo[ \t]{1,4})?tee(?:[ \t]{1,4}-a)?[ \t])[ \t]{0,4}\\{0,7}[\"']?[\w./~${}-]{0,120}(?:\.(?:key|pem)|passw|\.?pass|secret|token|credential)[\w.-]{0,20}",
    ),
    (("add-mask",), ("::add-mask::",), r"(?P<bare>[^\s\"'\\$]{4,400})"),
    (
        ("username",),
        ('"username":', '\\"username\\":', '"username" :'),
        r"\s{0,8}\\{0,7}\"[^\"\n\\]{1,60}\\{0,7}\"\s{0,8},\s{0,20}\\{0,7}\"key\\{0,7}\"\s{0,4}:\s{0,8}\\{0,7}\"(?P<token>[0-9a-f]{32})\\{0,7}\"",
    ),
    (
        ("random_password",),
        ("random_password",),
        r"[^\x00]{0,900}?\bresult\b\\{0,7}\"?\s{0,8}[:=]\s{0,8}\\{0,7}\"(?P<bare>[^\"\n\\]{4,200})\\{0,7}\"",
    ),
    (("-u",), ("lftp",), rf"{_REST}(?<=[\s\"'])-u{_GAP}?[\"']?[^\s,\"']{{1,80}},(?P<bare>[^\s\"']{{3,100}})"),
    (("wpa_",), ("wpa_passphrase",), rf"[ \t]{{1,4}}(?:\"[^\"\n]{{1,60}}\"|\S{{1,60}})[ \t]{{1,4}}{_WORD}"),
    (("nmcli",), ("nmcli",), rf"{_REST}\bpassword[ \t]{{1,4}}{_WORD}"),
    (
        ("snmp",),
        ("snmpwalk", "snmpget", "snmpset", "snmpbulk", "snmptable", "snmptrap"),
        rf"{_REST}(?<=[\s\"'])-[Ac]{_GAP}{_WORD}",
    ),
    (
        ("-X",),
        ("snmpwalk", "snmpget", "snmpset", "snmpbulk", "snmptable", "snmptrap"),
        rf"{_REST}(?<=[\s\"'])-X{_GAP}{_WORD}",
    ),
    (
        ("createUser",),
        ("createUser ",),
        rf"[\w.-]{{1,60}}[ \t]{{1,4}}(?:MD5|SHA[0-9-]{{0,4}})[ \t]{{1,4}}{_WORD}",
    ),
    (
        ("createUser",),
        (" AES ", " DES ", " AES128 ", " AES-128 ", " AES256 ", " AES-256 "),
        rf"[ \t]{{0,4}}{_WORD}",
    ),
    (
        ("{PLAIN}", "{CLEAR}", "{CLEARTEXT}"),
        ("{PLAIN}", "{CLEAR}", "{CLEARTEXT}"),
        r"(?P<bare>[^\s:\"'\\]{3,200})",
    ),
    (("kv put ",), ("kv put ", "kv patch "), r"(?:-\S{1,60}[ \t]{1,4}){0,4}\S{1,120}[ \t]{1,4}[\w.-]{1,60}=(?P<strange>[^\s\"'\\@$]{6,400})"),
    (
        ("BUNDLE_",),
        ("__COM=", "__COM: ", "__ORG=", "__ORG: ", "__IO=", "__IO: ", "__NET=", "__NET: ", "__DEV=", "__DEV: "),
        r"\\{0,7}[\"']?(?P<bare>[^\s\"'\\:/]{1,100}:[^\s\"'\\/]{3,200})",
    ),
    (("Pass",), ("\nPass ",), r"[ \t]{0,8}\"?(?P<strange>[^\s\"\\]{6,200})\"?[ \t]*(?=\r?\n|\Z)"),
    (("community",), ("rocommunity", "rwcommunity"), rf"6?[ \t]{{1,8}}{_WORD}"),
    (
        ("secret",),
        ("gh secret set ",),
        rf"\S{{1,80}}{_REST}(?<=[\s\"'])(?:--body(?:{_GAP}|=)|-b{_GAP}?=?){_WORD}",
    ),
    (
        ("secret",),
        ("secrets set ", "secret set "),
        r"(?:-\S{1,20}[ \t]{1,4}){0,4}\w{1,80}=(?:(?P<q>[\"'])(?P<quoted>[^\n\"']{3,400})(?P=q)|(?P<bare>[^\s\"'`$\\]{3,400}))",
    ),
    (
        ("passwd", "kinit", "<<<"),
        ("passwd ", "kinit ", "su "),
        r"(?:-l?[ ]{1,4})?[\w.@-]{0,60}[ \t]{0,4}<<<[ \t]{0,4}\$?[\"']?(?P<bare>[^\s\"']{3,200})",
    ),
    (
        ("npm", "docker"),
        ("npm login", "npm adduser", "docker login"),
        r"[^\n<|]{0,100}<<-?[ \t]{0,2}[\"']?\w{1,20}[\"']?(?:\n|\\n)[\w.@-]{1,60}(?:\n|\\n)(?P<bare>[^\s\"'\\]{6,100})(?=\n|\\n)",
    ),
    (
        ("BUNDLE_",),
        ("BUNDLE_",),
        r"[A-Z0-9_]{2,80}__[A-Z0-9_]{2,40}\\{0,7}[\"']?[ \t]{0,4}[:=][ \t]{0,4}\\{0,7}[\"']?(?:[\w.-]{1,80}:)?(?P<token>[A-Za-z0-9_-]{6,200})",
    ),
    (
        ("security ",),
        (
            "security unlock-keychain",
            "security create-keychain",
            "security set-key-partition-list",
        ),
        rf"{_REST}(?<=[\s\"'])-[pk]{_GAP}{_WORD}",
    ),
    (("-P",), ("security import",), rf"{_REST}(?<=[\s\"'])-P{_GAP}{_WORD}"),
    (
        ("-generic-password", "-internet-password"),
        ("security add-generic-password", "security add-internet-password"),
        rf"{_REST}(?<=[\s\"'])-w{_GAP}{_WORD}",
    ),
    (
        ("assword-", "PASSWORD_COMMAND", "-key ", "-key=", "-file ", "psk "),
        (
            "assword-file", "assword-command", "PASSWORD_COMMAND", "private-key", "preshared-key", "shared-key",
            "token-file", "secret-file", "passphrase-file", "key-file"
        ),
        rf"[ =](?:<\(|[\"'])(?:echo|printf)[ \t]{{1,4}}(?:-n[ \t]|%s[ \t]|'%s'[ \t])?{_WORD}(?=[ \t]{{0,4}}[)\"'])",
    ),
    (
        ("echo ", "printf "),
        ("echo -n ", "printf ", "printf '%s' ", "printf %s "),
        r"\\{0,7}[\"']?[\w.@+-]{1,60}:(?P<bare>[^\s\"'|\\$]{3,100})\\{0,7}[\"']?[ \t]{0,3}\|[ \t]{0,3}(?:openssl[ ])?(?:enc[ ]-)?base64(?![ \t]{1,4}-+[dD])",
    ),
    (
        ("bundle ",),
        ("bundle config ",),
        r"(?:(?:set|--\w{1,12})[ \t]{1,4}){0,3}(?:https?://)?[\w-]{1,60}(?:\.[\w-]{1,60}){1,6}/?[ \t]{1,4}[\w.@%-]{1,60}:(?P<bare>[^\s\"'\\]{3,100})",
    ),
    (
        ("LoginModule", "sasl.jaas"),
        ("LoginModule", "sasl.jaas"),
        r"[^;]{0,400}?\buser_\w{1,40}=\\{0,7}[\"'](?P<strange>[^\s\"'\\]{4,200})\\{0,7}[\"']",
    ),
    (("entinel auth-pass ",), ("entinel auth-pass ",), rf"\S{{1,80}}[ \t]{{1,4}}{_WORD}"),
    (("oathtool",), ("oathtool ",), rf"{_REST}(?<=[\s\"'])(?P<token>[A-Z2-7]{{16,128}})\b"),
    (("radtest ",), ("radtest ",), rf"(?:-\w[ \t]{{1,4}}(?:\S{{1,12}}[ \t]{{1,4}})?){{0,4}}\S{{1,60}}[ \t]{{1,4}}{_WORD}"),
    (("doveadm ",), ("doveadm auth test ", "doveadm auth login "), rf"(?:-\w[ \t]{{1,4}}\S{{1,60}}[ \t]{{1,4}}){{0,4}}\S{{1,80}}[ \t]{{1,4}}{_WORD}"),
    (
        ("mosquitto_passwd",),
        ("mosquitto_passwd -b ", "mosquitto_passwd -c -b "),
        rf"\S{{1,200}}[ \t]{{1,4}}\S{{1,60}}[ \t]{{1,4}}{_WORD}",
    ),
    (("codecov ",), ("codecov -t ",), r"(?P<token>[0-9a-f-]{36})(?![\w-])"),
    # Links that let whoever has them in.
    (
        ("password", "magic", "verify", "confirm", "invit"),
        (
            "reset-password/", "password-reset/", "reset_password/", "password_reset/", "password/reset/",
            "magic-link/", "magic_link/", "verify-email/", "confirm-email/", "/invitations/", "/invite/"
        ),
        r"(?P<token>[A-Za-z0-9_-]{20,400})(?![\w./-])",
    ),
    (("addauth ",), ("addauth digest ",), r"[\w.@-]{1,60}:(?P<bare>[^\s\"'\\]{3,100})"),
    (("login=", "user="), (" login=", "\nuser=", "\\nuser="), r"[\w.@-]{1,60}:(?P<strange>[^\s\"'\\]{4,100})"),
    (("tokens add",), ("tokens add ",), rf"{_REST}--value(?:=|[ ])(?P<token>[A-Za-z0-9_-]{{12,200}})"),
    (("BW_SESSION",), ("BW_SESSION=", "BW_SESSION "), r"\\{0,7}[\"']?(?P<token>[A-Za-z0-9+/]{40,200}={0,2})"),
    # Secrets of IPsec: the name of a method stands before each.
    ((" EAP ", " XAUTH ", " NTLM "), (": EAP ", ": XAUTH ", ": NTLM "), r"\\{0,7}\"(?P<quoted>[^\n\"\\]{3,200})\\{0,7}\""),
    (("altool ", "notarytool "), ("altool ", "notarytool "), rf"{_REST}(?<=[\s\"'])-p{_GAP}{_WORD}"),
    (("nuget",), ("nuget push",), rf"{_REST}(?<=[\s\"'])-k{_GAP}{_WORD}"),
    (("signtool",), ("signtool",), rf"{_REST}[ \t]/p[ \t]{{1,4}}{_WORD}"),
    (("login -t ",), (" login -t ",), r"(?P<token>[A-Za-z0-9._-]{16,400})"),
    (("auth ",), ("auth login", "auth init"), rf"{_REST}(?<=[\s\"'])-t{_GAP}{_WORD}"),
    (
        ("activate-refresh-token", "set-agent-token"),
        ("activate-refresh-token ", "set-agent-token "),
        rf"\S{{1,80}}[ \t]{{1,4}}{_WORD}",
    ),
    (
        ("rootpw",),
        ("rootpw --plaintext", "rootpw"),
        rf"[ \t]{{1,4}}(?:--\w{{1,12}}[ \t]{{1,4}}){{0,2}}{_WORD}",
    ),
    (("psk",), ("wpa-psk ascii", "wpa-psk hex"), rf"[ \t]{{1,4}}(?:[0-9][ \t]{{1,4}})?{_WORD}"),
    (
        ("chpasswd",),
        ("chpasswd:",),
        r"(?:\s|\\n){1,20}(?:\w{1,12}: \w{1,12}(?:\s|\\n){1,20})?list:[ \t]*[|>]?(?:\s|\\n){1,20}[\w.-]{1,40}:(?P<bare>[^\s\"'\\]{3,100})",
    ),
    (
        ("chpasswd",),
        ("chpasswd <<", "chpasswd -", "| chpasswd", "sudo chpasswd"),
        r"(?:[^\n<;\\]{0,20}<<)?(?:[^\n<;\\]|\\{1,7}[\"']){0,40}(?:\r?\n|\\{1,7}n)(?P<logins>(?:[ \t]{0,12}[A-Za-z_][\w.@-]{0,60}:[^\s\"'\\|]{3,100}(?:\r?\n|\\{1,7}n)){1,64})[ \t]{0,12}[A-Z_]{2,20}\b",
    ),
    (("-p",), ("useradd", "usermod"), rf"{_REST}(?<=[\s\"'])-p{_GAP}{_WORD}"),
    (
        ("expect ", "send", "sendline("),
        ("expect ", "send ", "send --", "sendline("),
        r"[\"'\\ -]{0,6}(?P<strange>[^\s\"'\\]{6,100})\\{1,3}[rn]",
    ),
    (
        ("|",),
        ("echo ", "printf ", "echo -n "),
        r"(?:-[neE]{1,3}[ \t]{1,4})?(?:\\{0,7}[\"'](?:%s(?:\\{1,4}n)?\\{0,7}[\"'][ \t]{1,4}\\{0,7}[\"'])?)?(?:[a-z_][\w-]{0,31}:)?(?P<bare>[^\s\"'|$`][^\n\"'|]{2,100}?)(?:\\{1,4}n)?\\{0,7}[\"']?[ \t]{0,4}\|[ \t]{0,4}(?:sudo[ \t]{1,4}(?:-[a-zA-Z]{1,5}[ \t]{1,4}){0,4}-\w{0,3}S|[^\n|;]{1,200}--(?:password|api-key|token|secret)-stdin|[^\n|;]{0,60}passwd[^\n|;]{0,40}--stdin|(?:sudo )?(?:chpasswd|passwd)\b|[^\n|;]{0,60}\bsecrets?[ :](?:set|put|create|add|versions add)\b|[^\n|;]{0,20}vault (?:kv put|write)\b|[^\n|;]{1,120}--with-token|gpg[^\n|;]{1,120}--passphrase-fd|cryptsetup|pass(?:age)? insert\b|[^\n|;]{0,60}--passwd-on-stdin|secret-tool store|kubectl create secret|(?:npx )?(?:vercel|netlify|eas|railway) (?:env|variables?)[ :](?:add|set|create) (?:--?\S{1,20} ){0,3}\w{0,60}(?:SECRET|TOKEN|KEY|PASS|PWD|CRED)\w{0,40})",
    ),
    (
        ("<<<",),
        (
            "sudo -S", "--password-stdin", "--passphrase-fd 0", "--with-token", "keepassxc-cli", "p4 login",
            "cryptsetup", "secret put", "secret create", "secret set", "env add"
        ),
        rf"[^\n|;<]{{0,120}}<<<[ \t]{{0,4}}{_WORD}",
    ),
    (
        ("openvpn",),
        ("openvpn/",),
        r"[\w.@/-]{0,60}(?:auth|login|pass|cred|user)[\w.-]{0,20}\\{0,7}[\"']?(?:[ \t]{0,3}<<-?[ \t]{0,2}\\{0,7}[\"']?\w{1,20}\\{0,7}[\"']?)?(?:\r?\n|\\{1,7}n)[\w.@-]{1,60}(?:\r?\n|\\{1,7}n)(?P<strange>[^\s\"'\\]{4,100})(?=\s|\\|\"|\Z)",
    ),
    (
        ("UGFzc3dvcmQ6",),
        ("334 UGFzc3dvcmQ6",),
        r"[^\x00]{0,200}?(?:\bC: |[Ss]end: ?b?\\{0,7}[\"']|[-~>]> )(?P<bare>[A-Za-z0-9+/]{4,400}={0,2})(?=[\s\\\"']|\Z)",
    ),
    (
        ("AUTHENTICATE",),
        ("AUTHENTICATE PLAIN", "AUTHENTICATE LOGIN", "AUTHENTICATE XOAUTH2"),
        r"(?:[\s+]|\\{1,7}[rn]|[SC<>-]{1,3}:? ){1,20}(?P<token>[A-Za-z0-9+/]{12,2000}={0,2})",
    ),
    (
        ("PASS",),
        ("PASS ",),
        r"(?P<strange>[^\s\"'\\]{4,100})(?=\\{0,7}[\"']?(?:\s|\\{1,7}[rn]){1,4}(?:S: |<[-~]{0,2} ?)?(?:230|\+OK|530|-ERR)\b)",
    ),
    (
        ("USER",),
        ("USER ",),
        r"[\w.@+-]{1,80}(?:\r?\n|\\{1,7}r?\\{0,7}n)(?:(?:S: |<[-~]{0,2} ?)?(?:\+OK|331)[^\n\\]{0,120}(?:\r?\n|\\{1,7}r?\\{0,7}n))?(?:C: |[-~]{0,2}> ?)?PASS (?P<strange>[^\s\"'\\]{4,100})",
    ),
    (
        (" LOGIN ",),
        (" LOGIN ",),
        r"\\{0,7}\"?[\w.+-]{1,60}@[\w.-]{1,80}\\{0,7}\"?[ ](?:\\{0,7}\"(?P<quoted>[^\s\"\\]{4,100})\\{0,7}\"|(?P<strange>[^\s\"'\\()]{6,100}))(?=[ \t]*(?:$|[\n\r\\\"']))",
    ),
    (("<<<",), ("login <<<",), rf"[ \t]{{0,4}}{_WORD}"),
    (("-passwd ",), ("dscl ",), rf"\S{{1,60}}[ \t]{{1,4}}-passwd[ \t]{{1,4}}\S{{1,100}}[ \t]{{1,4}}{_WORD}"),
    (("read -",), ("read -s", "read -rs", "read -sr"), rf"[^\n|;<]{{0,60}}<<<[ \t]{{0,4}}{_WORD}"),
    (
        ("passwd",),
        ("(echo ",),
        r"\\{0,7}[\"']?(?P<bare>[^\s\"'\\;]{3,100})\\{0,7}[\"']?[ ]?;[ ]?echo[ ]\S{3,110}[ ]?\)[ ]?\|[^\n|;]{0,40}passwd",
    ),
    (("rclone",), ("rclone obscure ",), rf"[ \t]{{0,4}}{_WORD}"),
    (("rclone",), ("rclone config ",), rf"{_REST}[ \t]pass[ \t]{{1,4}}{_WORD}"),
    (
        ("heroku",),
        ("heroku config:set ",),
        r"(?:-\S{1,20}[ \t]{1,4}){0,4}\\{0,7}[\"']?\w{1,80}=\\{0,7}[\"']?(?P<token>[^\s\"'`$\\]{12,400})",
    ),
    (("IncomingWebhook/",), ("IncomingWebhook/",), r"(?P<token>[0-9a-f]{32})(?![0-9a-f])"),
    (
        ("%3A%2F%2F",),
        ("%3A%2F%2F",),
        r"[\w.~-]{0,60}%3A(?P<bare>[A-Za-z0-9._~-]{3,100})%40(?=[A-Za-z0-9])",
    ),
    *CALLS,
    *DEVICE_FORMS,
)  # fmt: skip
"""Signs, one of which the text holds; literals before a password; and the form from there on."""
