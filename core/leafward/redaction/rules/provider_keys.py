"""Secrets that are recognised by their form: the forms in which providers issue keys and tokens.

A form is a kind, literals of which the secret holds one (searched first, because that is fast), and an expression. All
repetitions are bounded.
"""

from __future__ import annotations

import re
import string
from functools import cache
from typing import TYPE_CHECKING

from leafward.base.late_pattern import late

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from leafward.redaction.spans import Span

_UUID = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"

_MIXED = r"(?=[^A-Z]{0,24}[A-Z])(?=[^a-z]{0,24}[a-z])(?=[^0-9]{0,24}[0-9])"
"""Capitals, small letters and digits, as random values have them."""

_FORMS: tuple[tuple[str, str, str], ...] = (
    # Models.
    ("anthropic key", "sk-ant-", r"sk-ant-[A-Za-z0-9_-]{16,400}"),
    ("openrouter key", "sk-or-", r"sk-or-(?:v1-)?[A-Za-z0-9_-]{16,400}"),
    ("langfuse key", "sk-lf-", rf"sk-lf-{_UUID}"),
    ("openai key", "sk-", r"sk-(?=[A-Za-z0-9_-]{0,60}[0-9])[A-Za-z0-9_-]{20,400}"),
    ("openai key", "sess-", r"sess-[A-Za-z0-9]{40}"),
    ("hugging face token", "hf_ api_org_", r"(?:hf_|api_org_)[A-Za-z0-9]{30,100}"),
    ("groq key", "gsk_", r"gsk_[A-Za-z0-9]{30,100}"),
    ("xai key", "xai-", r"xai-[A-Za-z0-9]{40,200}"),
    ("perplexity key", "pplx-", r"pplx-[A-Za-z0-9]{32,100}"),
    ("cerebras key", "csk-", r"csk-[a-z0-9]{32,100}"),
    ("nvidia key", "nvapi-", r"nvapi-[A-Za-z0-9_-]{40,100}"),
    ("replicate token", "r8_", r"r8_[A-Za-z0-9]{30,50}"),
    ("together key", "tgp_v1_", r"tgp_v1_[A-Za-z0-9_-]{30,80}"),
    ("fireworks key", "fw_", r"fw_(?=[A-Za-z]{0,30}[0-9])[A-Za-z0-9]{20,60}"),
    ("elevenlabs key", "sk_", r"sk_[0-9a-f]{48}"),
    ("langsmith key", "lsv2_", r"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}"),
    ("pinecone key", "pcsk_", r"pcsk_[A-Za-z0-9_]{40,100}"),
    ("tavily key", "tvly-", r"tvly-(?:dev-|prod-)?[A-Za-z0-9-]{24,60}"),
    ("voyage key", "pa-", r"pa-(?=[^A-Z]{0,42}[A-Z])(?=[A-Za-z_-]{0,42}[0-9])[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])"),
    ("firecrawl key", "fc-", r"fc-[0-9a-f]{32}"),
    ("e2b key", "e2b_", r"e2b_[0-9a-f]{40}"),
    ("cursor key", "crsr_ key_", r"(?:crsr|key)_[0-9a-f]{64}"),
    ("kaggle token", "KGAT_", r"KGAT_[0-9a-f]{32}"),
    ("composio key", "ak_", rf"ak_{_MIXED}[A-Za-z0-9_-]{{20}}(?![A-Za-z0-9_-])"),
    ("modal token", "ak- as-", rf"a[ks]-{_MIXED}[A-Za-z0-9]{{22}}(?![A-Za-z0-9_-])"),
    (
        "token",
        "sk_ tok_ secret_ apikey_ pat_",
        rf"(?:sk_|tok_|secret_|apikey_|pat_){_MIXED}[A-Za-z0-9]{{24,120}}(?![A-Za-z0-9_-])",
    ),
    ("backblaze key", "K00", rf"K00[0-9]{_MIXED}[A-Za-z0-9+/]{{27}}(?![A-Za-z0-9+/=_-])"),
    ("runpod key", "rpa_", r"rpa_[A-Za-z0-9]{30,60}"),
    ("jina key", "jina_", r"jina_[0-9a-f]{32}[A-Za-z0-9_-]{20,40}"),
    ("wandb key", "wandb_v1_", r"wandb_v1_[A-Za-z0-9_-]{40,120}"),
    ("daytona key", "dtn_", r"dtn_[0-9a-f]{64}"),
    ("browserbase key", "bb_live_ bb_test_", r"bb_(?:live|test)_[A-Za-z0-9_-]{20,60}"),
    ("trigger.dev key", "tr_dev_ tr_prod_ tr_stg_ tr_pat_", r"tr_(?:dev|prod|stg|pat)_[A-Za-z0-9]{20,60}"),
    # Code hosting, packages, builds.
    ("github token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9_.-]{20,800}"),
    ("github token", "v1.", r"v1\.[0-9a-f]{40}(?![0-9A-Za-z.-])"),
    ("copilot token", "tid=", r"tid=[0-9a-f]{32};[A-Za-z0-9=;:._/%+-]{10,2000}"),
    ("github token", "github_pat_", r"github_pat_[A-Za-z0-9_]{20,400}"),
    (
        "gitlab token",
        "glpat- gldt- glrt- glrtr- glcbt- glptt- glft- glimt- glagent- gloas- glsoat- glffct- glwt-",
        r"gl(?:pat|dt|rtr?|cbt|ptt|ft|imt|agent|oas|soat|ffct|wt)-[A-Za-z0-9_.-]{16,400}",
    ),
    ("gitlab token", "GR1348941", r"GR1348941[A-Za-z0-9_-]{20,60}"),
    ("bitbucket token", "ATBB", r"ATBB[A-Za-z0-9_=.-]{24,400}"),
    ("atlassian token", "ATATT3 ATCTT3 ATOA", r"AT(?:ATT3|CTT3|OA)[A-Za-z0-9_=.-]{24,400}"),
    ("npm token", "npm_", r"npm_[A-Za-z0-9]{30,100}"),
    ("pypi token", "pypi-", r"pypi-[A-Za-z0-9_-]{40,400}"),
    ("rubygems key", "rubygems_", r"rubygems_[0-9a-f]{40,60}"),
    ("crates.io token", "cio", r"cio[A-Za-z0-9]{32}"),
    ("nuget key", "oy2", r"oy2[a-z0-9]{43}"),
    ("docker token", "dckr_", r"dckr_[po]at_[A-Za-z0-9_-]{20,60}"),
    ("docker swarm token", "SWMTKN-1-", r"SWMTKN-1-[a-z0-9]{40,60}-[a-z0-9]{20,30}"),
    ("artifactory key", "AKCp", r"AKCp[0-9A-Za-z]{60,90}"),
    ("clojars token", "CLOJARS_", r"CLOJARS_[a-z0-9]{60}"),
    ("circleci token", "CCIPAT_ CCIPRJ_", r"CCIP(?:AT|RJ)_[A-Za-z0-9]{20,24}_[0-9a-f]{40}"),
    ("buildkite token", "bkua_ bkaj_ bkct_", r"bk(?:ua|aj|ct)_[A-Za-z0-9]{36,60}"),
    ("sonar token", "squ_ sqp_ sqa_", r"sq[upa]_[0-9a-f]{40}"),
    ("sourcegraph token", "sgp_ sgd_", r"sg[pd]_(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40}"),
    ("octopus key", "API-", r"API-[A-Z0-9]{25,36}"),
    ("jetbrains token", "perm:", r"perm:[A-Za-z0-9+/=.-]{24,200}"),
    ("deno token", "ddp_ ddo_", r"dd[po]_[A-Za-z0-9]{36}"),
    ("teamcity token", "eyJ0eXAiOiAiVENWMiJ9", r"eyJ0eXAiOiAiVENWMiJ9\.[A-Za-z0-9_-]{10,80}\.[A-Za-z0-9_-]{20,100}"),
    ("jsr token", "jsrp_ jsrd_", r"jsr[pd]_[A-Za-z0-9]{40,60}"),
    ("artifactory token", "cmVmdGtu", r"cmVmdGtu[A-Za-z0-9]{56}"),
    ("snyk token", "snyk_", r"snyk_(?:uat|sat)\.[0-9a-f]{8}\.[A-Za-z0-9._-]{40,200}"),
    ("socket token", "sktsec_", r"sktsec_[A-Za-z0-9_-]{30,80}"),
    ("harness token", "pat. sat.", r"[ps]at\.[A-Za-z0-9_-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}"),
    ("gitpod token", "gitpod_pat_", r"gitpod_pat_[A-Za-z0-9_.-]{40,120}"),
    ("val town token", "vtwn_", r"vtwn_[A-Za-z0-9]{24,60}"),
    ("honeybadger token", "hbp_", r"hbp_[A-Za-z0-9]{30,60}"),
    # Clouds.
    ("aws key", "AKIA ASIA ABIA ACCA", r"A(?:KIA|SIA|BIA|CCA)(?![A-Z0-9]{9}EXAMPLE)[A-Z0-9]{16}(?![A-Za-z0-9+/=])"),
    ("aws token", "FwoGZXIvYXdz IQoJb3JpZ2lu", r"(?:FwoGZXIvYXdz|IQoJb3JpZ2lu)[A-Za-z0-9+/=_%-]{40,4000}"),
    ("aws key", "ABSK", r"ABSK[A-Za-z0-9+/]{100,300}={0,2}"),
    ("aws key", "amzn.mws.", rf"amzn\.mws\.{_UUID}"),
    ("google key", "AIza", r"AIza[A-Za-z0-9_-]{35}"),
    ("google key", "AQ.A", r"AQ\.A[A-Za-z0-9_-]{40,100}"),
    ("google token", "ya29.", r"ya29\.[A-Za-z0-9_.-]{20,800}"),
    ("google token", "1//0", r"1//0[A-Za-z0-9_-]{30,200}"),
    ("google secret", "GOCSPX-", r"GOCSPX-[A-Za-z0-9_-]{20,60}"),
    ("azure secret", "Q~", r"[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}"),
    ("azure devops token", "AZDO", r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}"),
    ("azure key", "AzSe AIoT AzFu AzCa ACDb APIM JQQJ99", r"[A-Za-z0-9+/_-]{32,80}(?:AzSe|AIoT|AzFu|AzCa|ACDb|APIM|JQQJ99)[A-Za-z0-9+/_-]{4,60}={0,2}"),
    ("azure key", "+ASt", r"[A-Za-z0-9+/]{76}\+ASt[A-Za-z0-9+/]{6}=="),
    ("digitalocean token", "dop_v1_ doo_v1_ dor_v1_", r"do[opr]_v1_[0-9a-f]{40,80}"),
    ("aiven password", "AVNS_", r"AVNS_[A-Za-z0-9_-]{15,40}"),
    ("digitalocean key", "DO00 DO801", r"DO(?:00|801)[A-Z0-9]{14,18}"),
    ("heroku key", "HRKU-", r"HRKU-[A-Za-z0-9_-]{30,80}"),
    ("fly token", "fo1_ fm1r_ fm1a_ fm2_", r"f(?:o1|m1r|m1a|m2)_[A-Za-z0-9+/=_,-]{30,1000}"),
    ("vercel token", "vcp_ vck_ vca_ vcr_ vci_", r"vc[pkari]_[A-Za-z0-9]{24,80}"),
    ("netlify token", "nfp_ nfc_ nfo_ nfu_", r"nf[pcou]_[A-Za-z0-9_-]{30,60}"),
    ("supabase key", "sbp_ sb_secret_", r"(?:sbp_(?:oauth_)?[0-9a-f]{40}|sb_secret_[A-Za-z0-9_-]{20,60})"),
    ("cloudflare token", "v1.0-", r"v1\.0-[0-9a-f]{24}-[0-9a-f]{100,160}"),
    ("cloudflare token", "cfut_ cfat_ cfk_", r"cf(?:ut|at|k)_[A-Za-z0-9_-]{36,80}"),
    ("cloudflare token", "eyJhIjoi", r"eyJhIjoi[A-Za-z0-9+/=_-]{100,400}"),
    ("confluent secret", "cflt", r"cflt(?=[A-Za-z+/]{0,59}[0-9])[A-Za-z0-9+/]{60}(?![A-Za-z0-9+/])"),
    ("infisical token", "st.", r"st\.[0-9a-f]{24}\.[0-9a-f]{32}\.[0-9a-f]{32}"),
    ("vercel token", "vercel_blob_rw_", r"vercel_blob_rw_[A-Za-z0-9]{16}_[A-Za-z0-9]{24,40}"),
    ("render key", "rnd_", r"rnd_[A-Za-z0-9]{24,40}"),
    ("neon key", "napi_", r"napi_[A-Za-z0-9]{48,80}"),
    ("planetscale token", "pscale_", r"pscale_(?:tkn|oauth|pw)_[A-Za-z0-9_.-]{30,64}"),
    ("databricks token", "dapi", r"dapi[0-9a-f]{32}(?:-[0-9])?"),
    ("vault token", "hvs. hvb. hvr.", r"hv[sbr]\.[A-Za-z0-9_-]{20,300}"),
    ("vault token", "s.", r"s\.(?=[A-Za-z]{0,23}[0-9])(?=[A-Z0-9]{0,23}[a-z])(?=[a-z0-9]{0,23}[A-Z])[A-Za-z0-9]{24}(?![A-Za-z0-9_.(-])"),
    ("terraform token", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{40,100}"),
    ("k3s token", "K10", r"K10[0-9a-f]{64}::[A-Za-z0-9:.]{16,120}"),
    ("nats seed", "SUA SAA SOA SNA SCA SXA", r"S[ACNOUX]A[A-P][A-Z2-7]{54}(?![A-Za-z0-9])"),
    ("saml response", "SAMLResponse= PHNhbWxw PHNhbWwy PHNhbWw6", r"(?:SAMLResponse=[A-Za-z0-9+/=%_-]{40,20000}|(?<![+/])PHNhbW(?:xw|wy|w6)[A-Za-z0-9+/=%_-]{40,20000})"),
    ("readme key", "rdme_", r"rdme_[a-z0-9]{60,80}"),
    ("adobe secret", "p8e-", r"p8e-[A-Za-z0-9_-]{32}(?![A-Za-z0-9_-])"),
    ("pulumi token", "pul-", r"pul-[0-9a-f]{40}"),
    ("doppler token", "dp.", r"dp\.(?:pt|st|ct|sa|scim|audit|said)\.(?:[a-z0-9_-]{1,40}\.)?[A-Za-z0-9]{40,44}"),
    ("infracost key", "ico-", r"ico-[A-Za-z0-9]{32}"),
    ("tailscale key", "tskey-", r"tskey-[a-z]{2,10}-[A-Za-z0-9]{6,30}(?:-[A-Za-z0-9]{10,50})?"),
    ("scaleway key", "SCW", r"SCW[A-Z0-9]{17}"),
    ("alibaba key", "LTAI", r"LTAI[A-Za-z0-9]{12,24}"),
    ("tencent key", "AKID", r"AKID[A-Za-z0-9]{32}"),
    ("yandex key", "AQVN", r"AQVN[A-Za-z0-9_-]{35,38}"),
    ("1password token", "ops_eyJ", r"ops_eyJ[A-Za-z0-9+/=_-]{60,2000}"),
    ("1password key", "A3-", r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}"),
    ("age key", "AGE-SECRET-KEY-", r"(?i:AGE-SECRET-KEY-(?:PQ-)?1[0-9A-Z]{30,100})"),
    ("openshift token", "sha256~", r"sha256~[A-Za-z0-9_-]{43}"),
    ("scalingo token", "tk-us-", r"tk-us-[A-Za-z0-9_-]{48}"),
    ("yandex token", "t1.", r"t1\.[A-Za-z0-9_-]{10,400}={0,2}\.[A-Za-z0-9_-]{86}={0,2}"),
    ("clickhouse key", "4b1d", r"4b1d(?=[A-Za-z]{0,37}[0-9])[A-Za-z0-9]{38}"),
    ("xata key", "xau_", r"xau_[A-Za-z0-9]{30,60}"),
    ("convex key", "prod: dev: preview:", r"(?:prod|dev|preview):[a-z0-9-]{5,60}\|[A-Za-z0-9+/=_-]{40,200}"),
    ("node key", "alchemy.com infura.io quiknode.pro", r"(?:alchemy\.com|infura\.io|quiknode\.pro)\\*/(?:v[0-9]\\*/)?[A-Za-z0-9_-]{28,80}"),
    # Messages and mail.
    ("slack token", "xoxa- xoxb- xoxc- xoxd- xoxe- xoxe. xoxo- xoxp- xoxr- xoxs-", r"xox[a-eoprs](?:\.xox[a-eoprs])?-[A-Za-z0-9%+/=-]{10,400}"),
    ("slack token", "xapp- xwfp-", r"(?:xapp|xwfp)-[A-Za-z0-9-]{20,400}"),
    ("slack webhook", "hooks.slack.com hooks.slack-gov.com", r"hooks\.slack(?:-gov)?\.com\\*/(?:services|workflows|triggers)\\*/[A-Za-z0-9/\\_+-]{20,200}"),
    ("discord webhook", "discord.com discordapp.com", r"discord(?:app)?\.com\\*/api\\*/(?:v[0-9]{1,2}\\*/)?webhooks\\*/[0-9]{15,22}\\*/[A-Za-z0-9_-]{40,100}"),
    ("teams webhook", ".webhook.office.com", r"[A-Za-z0-9-]{1,60}\.webhook\.office\.com\\*/webhookb2\\*/[A-Za-z0-9@\\/_-]{60,400}"),
    ("webhook", "open.feishu.cn open.larksuite.com", rf"open\.(?:feishu\.cn|larksuite\.com)\\*/open-apis\\*/bot\\*/v2\\*/hook\\*/{_UUID}"),
    ("webhook", "qyapi.weixin.qq.com", rf"qyapi\.weixin\.qq\.com\\*/cgi-bin\\*/webhook\\*/send\?key=(?:{_UUID})"),
    ("webhook", "hooks.zapier.com", r"hooks\.zapier\.com\\*/hooks\\*/catch\\*/[0-9]{4,12}\\*/[A-Za-z0-9]{5,40}"),
    ("webhook", "maker.ifttt.com", r"maker\.ifttt\.com\\*/trigger\\*/[\w{}-]{1,60}\\*/(?:json\\*/)?with\\*/key\\*/[A-Za-z0-9_-]{20,60}"),
    ("webhook", "/hooks/", r"[A-Za-z0-9.:-]{1,60}\\*/hooks\\*/(?=[a-z]{0,25}[0-9])[a-z0-9]{26}(?![A-Za-z0-9_-])"),
    ("twitch token", "oauth:", r"oauth:[a-z0-9]{30}(?![A-Za-z0-9])"),
    ("firebase token", ":APA91b", r"[A-Za-z0-9_-]{11,22}:APA91b[A-Za-z0-9_-]{100,200}"),
    ("intercom token", "dG9rOj", r"dG9rOj[A-Za-z0-9+/=]{40,80}"),
    ("telegram token", "api.telegram.org", r"api\.telegram\.org\\*/(?:file\\*/)?bot[0-9]{6,12}:[A-Za-z0-9_-]{30,40}"),
    ("telegram token", ":A", r"(?:bot)?[0-9]{8,10}:A[A-Za-z0-9_-]{34}(?![A-Za-z0-9_-])"),
    ("sendgrid key", "SG.", r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}"),
    ("mailgun key", "key-", r"key-[0-9a-f]{32}"),
    ("mailchimp key", "-us", r"[0-9a-f]{32}-us[0-9]{1,2}"),
    ("mandrill key", "md-", r"md-(?=[A-Za-z_-]{0,21}[0-9])(?=[^A-Z]{0,21}[A-Z])[A-Za-z0-9_-]{22}"),
    ("brevo key", "xkeysib- xsmtpsib-", r"x(?:key|smtp)sib-[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    ("resend key", "re_", r"re_(?=[a-z0-9_]{0,30}[A-Z])(?=[A-Za-z_]{0,36}[0-9])[A-Za-z0-9]{6,12}_[A-Za-z0-9]{20,30}"),
    ("twilio key", "AC", r"AC[0-9a-f]{32}(?:\\{0,7}[\"'][ \t]{0,4},\s{0,20}\\{0,7}[\"']|[ \t]{0,4}[:/|][ \t]{0,4})[0-9a-f]{32}"),
    ("twilio key", "SK AC", r"(?:SK|AC)[0-9a-f]{32}"),
    ("session cookie", "sessionid=", r"sessionid=(?=[a-f0-9]{0,31}[g-z])(?=[a-z]{0,31}[0-9])[a-z0-9]{32}(?![A-Za-z0-9_-])"),
    # Money, shops.
    ("stripe key", "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_", r"[rs]k_(?:live|test|prod)_[A-Za-z0-9]{16,400}"),
    ("stripe secret", "whsec_", r"whsec_[A-Za-z0-9+/=]{24,100}"),
    ("shopify token", "shpat_ shpca_ shppa_ shpss_ shptk_ shptka_ shpua_", r"shp(?:at|ca|pa|ss|tka?|ua)_[0-9a-fA-F]{30,40}"),
    ("square token", "sq0atp- sq0csp- sq0idp-", r"sq0[a-z]{3}-[A-Za-z0-9_-]{22,50}"),
    ("square token", "EAAA", r"EAAA[A-Za-z0-9_-]{50,80}"),
    ("linkedin token", "AQV AQX", rf"AQ[VX]{_MIXED}[A-Za-z0-9_-]{{150,400}}"),
    ("zuplo key", "zpka_", r"zpka_[0-9a-f]{32}_[0-9a-f]{8}"),
    ("segment token", "sgp_", r"sgp_[A-Za-z0-9]{64}"),
    ("instagram token", "IGQV IGQW IGAA", r"IG(?:QV|QW|AA)[A-Za-z0-9_-]{80,300}"),
    ("facebook token", "EAA", r"EAA[A-Za-z0-9]{80,400}"),
    ("paypal token", "access_token$", r"access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[0-9a-f]{32}"),
    ("plaid token", "access-", rf"access-(?:sandbox|development|production)-{_UUID}"),
    ("paddle key", "pdl_", r"pdl_(?:live_|sdbx_)?apikey_[a-z0-9]{26}_[A-Za-z0-9]{22}_[A-Za-z0-9]{3}"),
    ("polar token", "polar_", r"polar_(?:oat|pat|whs|at_[uo]|rt_[uo])_[A-Za-z0-9]{30,60}"),
    ("stripe secret", "_secret_", r"(?:pi|seti|cs_live|cs_test|src)_[A-Za-z0-9]{14,80}_secret_[A-Za-z0-9]{16,60}"),
    ("easypost key", "EZAK EZTK", r"EZ[AT]K[A-Za-z0-9]{54}"),
    ("flutterwave key", "FLWSECK", r"FLWSECK(?:_TEST)?-[A-Za-z0-9]{12,40}(?:-X)?"),
    ("razorpay key", "rzp_", r"rzp_(?:live|test)_[A-Za-z0-9]{14,24}"),
    ("duffel token", "duffel_", r"duffel_(?:test|live)_[A-Za-z0-9_=-]{40,60}"),
    ("payment key", "live_", r"live_[0-9a-f]{30,60}"),
    ("gocardless token", "live_ sandbox_", r"(?:live|sandbox)_(?=[A-Za-z_-]{0,39}[0-9])(?=[^A-Z]{0,39}[A-Z])[A-Za-z0-9_-]{40}"),
    ("mollie key", "live_", rf"live_{_MIXED}[A-Za-z0-9]{{30}}(?![A-Za-z0-9_-])"),
    ("porkbun key", "sk1_ pk1_", r"[sp]k1_[0-9a-f]{64}"),
    ("klaviyo key", "pk_", r"pk_[0-9a-f]{34}"),
    # Work and watching.
    ("linear key", "lin_", r"lin_(?:api|oauth|wh)_[A-Za-z0-9]{32,80}"),
    ("notion token", "secret_ ntn_", r"(?:secret_(?=[A-Za-z]{0,42}[0-9])[A-Za-z0-9]{43}|ntn_[A-Za-z0-9]{40,60})"),
    ("figma token", "figd_ figo_ figu_ figr_", r"fig[dour][hr]?_[A-Za-z0-9_-]{36,100}"),
    ("postman key", "PMAK- PMAT-", r"PMA[KT]-[0-9A-Za-z]{20,30}(?:-[0-9a-f]{34})?"),
    ("airtable token", "pat", r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    ("hubspot token", "pat-", rf"pat-(?:na|eu|ap)[0-9]-{_UUID}"),
    ("typeform token", "tfp_", r"tfp_[A-Za-z0-9_.=-]{40,60}"),
    ("contentful token", "CFPAT-", r"CFPAT-[A-Za-z0-9_-]{43}"),
    ("dropbox token", "sl.", r"sl\.(?:u\.|B)?[A-Za-z0-9_-]{80,1500}"),
    ("new relic key", "NRAK- NRII- NRJS- NRRA- NRAA- NRBR- NRIQ-", r"NR[A-Z]{2}-[A-Za-z0-9_-]{19,40}"),
    ("new relic key", "NRAL", r"(?:eu01xx|gov01xx)?[0-9a-f]{26,40}(?:FFFF)?NRAL"),
    ("grafana token", "glsa_", r"glsa_[A-Za-z0-9]{32}_[0-9a-fA-F]{8}"),
    ("grafana token", "glc_", r"glc_[A-Za-z0-9+/=]{32,400}"),
    ("grafana key", "eyJrIjoi", r"eyJrIjoi[A-Za-z0-9+/=]{40,400}"),
    ("sentry token", "sntrys_ sntryu_ sntrya_ sntryi_", r"sntry[a-z]_[A-Za-z0-9+/=_-]{40,400}"),
    ("dynatrace token", "dt0c01. dt0s01. dt0s02. dt0s16.", r"dt0[a-z][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    ("honeycomb key", "hcaik_ hcbik_ hcxik_ hcamk_", r"hc[abx][im]k_[A-Za-z0-9]{30,80}"),
    ("axiom token", "xaat- xapt-", rf"xa[ap]t-{_UUID}"),
    ("posthog key", "phx_", r"phx_[A-Za-z0-9]{40,60}"),
    ("launchdarkly key", "sdk- api- mob-", rf"(?:sdk|api|mob)-{_UUID}"),
    ("mapbox token", "sk.eyJ tk.eyJ", r"[st]k\.eyJ[A-Za-z0-9_-]{40,200}\.[A-Za-z0-9_-]{20,40}"),
    ("prefect key", "pnu_ pnb_", r"pn[ub]_[A-Za-z0-9]{36}"),
    ("clickup key", "pk_", r"pk_[0-9]{6,12}_[A-Z0-9]{32}"),
    ("adafruit key", "aio_", r"aio_[A-Za-z0-9]{28}"),
    ("maxmind key", "_mmk", r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk"),
    ("conda token", "/t/", r"conda[\w.-]{0,60}\\*/t\\*/[A-Za-z0-9_-]{10,80}(?=\\*/)"),
    ("readme key", "rdme_", r"rdme_[a-z0-9]{70}"),
    ("wakatime key", "waka_", rf"waka_{_UUID}"),
    ("apify token", "apify_api_", r"apify_api_[A-Za-z0-9-]{36,46}"),
    ("frame.io token", "fio-u-", r"fio-u-[A-Za-z0-9_=-]{60,70}"),
    ("liveblocks key", "sk_dev_ sk_prod_", r"sk_(?:dev|prod)_[A-Za-z0-9_-]{40,80}"),
    ("x token", "AAAAAAAAAAAAAAAAAAA", r"A{19,22}[A-Za-z0-9]{10,60}(?:%[23][A-F][A-Za-z0-9]{0,60}){1,10}"),
    ("nostr key", "nsec1", r"nsec1[02-9ac-hj-np-z]{58}"),
    ("mongodb secret", "mdb_sa_sk_", r"mdb_sa_sk_[A-Za-z0-9_-]{36,60}"),
    ("inngest key", "signkey-", r"signkey-[a-z]{2,8}-[0-9a-f]{32,80}"),
    # The web, passwords that were hashed, wallets.
    ("web token", "eyJ", r"eyJ[A-Za-z0-9_-]{10,4000}\.eyJ[A-Za-z0-9_-]{8,8000}(?:\.[A-Za-z0-9_-]{0,4000}){0,3}"),
    ("web token", "eyJ", r"eyJ[A-Za-z0-9_-]{15,2000}\.[A-Za-z0-9_-]{0,2000}\.[A-Za-z0-9_-]{8,200}\.[A-Za-z0-9_-]{2,8000}\.[A-Za-z0-9_-]{10,200}"),
    ("web token", "eyJhbGciOi eyJ0eXAiOi eyJraWQiOi", r"eyJ(?:hbGciOi|0eXAiOi|raWQiOi)[A-Za-z0-9_-]{5,2000}\.[A-Za-z0-9_-]{20,8000}\.[A-Za-z0-9_-]{40,1000}"),
    ("password hash", "$2a$ $2b$ $2y$ $$2", r"\${1,2}2[aby]\${1,2}[0-9]{2}\${1,2}[./A-Za-z0-9]{53}"),
    ("password hash", "$apr1$ $$apr1$ $1$ $5$ $6$ $y$ $7$", r"\$(?:apr1|[156y7])\${1,2}(?:rounds=[0-9]{1,9}\${1,2})?(?:[./A-Za-z0-9]{1,8}\${1,2})?[./A-Za-z0-9]{1,64}\${1,2}[./A-Za-z0-9]{22,90}"),
    ("password hash", "$argon2 $scrypt$ $pbkdf2", r"\$(?:argon2[a-z]{1,2}|scrypt|pbkdf2[a-z0-9-]{0,10})\$[A-Za-z0-9=,$./+-]{30,300}"),
    ("password hash", "pbkdf2_sha pbkdf2:sha scrypt:", r"(?:pbkdf2[_:]sha[0-9]{1,3}|scrypt)[:$][0-9:]{1,20}\$[A-Za-z0-9]{4,40}\$[A-Za-z0-9+/=]{30,140}"),
    ("password hash", "{SHA} {SSHA} {SSHA256} {SSHA512} {SHA512} {SHA256}", r"\{S?SHA(?:256|512)?\}[A-Za-z0-9+/]{27,140}={0,2}"),
    ("password hash", "SCRAM-SHA-", r"SCRAM-SHA-(?:1|256|512)\$[0-9]{3,8}:[A-Za-z0-9+/=]{8,100}\$[A-Za-z0-9+/=]{20,100}:[A-Za-z0-9+/=]{20,100}"),
    ("password hash", "md5", r"md5[0-9a-f]{32}(?![0-9A-Za-z])"),
    ("password hash", ":::", r"[0-9a-fA-F]{32}:[0-9a-fA-F]{32}:::"),
    ("password hash", "grub.pbkdf2.", r"grub\.pbkdf2\.sha512\.[0-9]{3,8}\.[0-9A-Fa-f]{32,1024}\.[0-9A-Fa-f]{32,512}"),
    ("paseto", "v1.local. v2.local. v3.local. v4.local. v2.public. v3.public. v4.public.", r"v[1-4]\.(?:local|public)\.[A-Za-z0-9_-]{40,4000}(?:\.[A-Za-z0-9_-]{2,800})?"),
    ("wallet key", "xprv zprv yprv", r"[xyz]prv[A-HJ-NP-Za-km-z1-9]{100,112}"),
)  # fmt: skip

_UNMARKED = (
    # Discord's: the number of an account, a time, a signature; they share no literal.
    ("discord token", re.compile(r"[MNO][A-Za-z0-9_-]{22,27}\.[A-Za-z0-9_-]{6,7}\.[A-Za-z0-9_-]{27,40}")),
    ("product key", re.compile(r"[A-Z0-9]{5}(?:-[A-Z0-9]{5}){4}(?![A-Za-z0-9-])")),
    ("asana token", re.compile(r"[12]/[0-9]{10,20}(?:/[0-9]{10,20})?:[0-9a-f]{32}(?![0-9a-f])")),
    ("mailgun key", re.compile(r"[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?![0-9a-f-])")),
    ("discord token", re.compile(r"mfa\.[A-Za-z0-9_-]{84}")),
    (
        "bitcoin key",
        re.compile(
            r"(?<![A-Za-z0-9+/=])(?:5[HJK][1-9A-HJ-NP-Za-km-z]{49}|[KL][1-9A-HJ-NP-Za-km-z]{51})(?![A-Za-z0-9+/=])"
        ),
    ),
)

KINDS = frozenset(form[0] for form in (*_FORMS, *_UNMARKED))
"""The kinds that the forms of providers tell."""

_INSIDE = frozenset({
    ".atlasv1.", ":A", ":APA91b", "/hooks/", ".webhook.office.com", "_secret_", "_mmk", "-us", "NRAL", "Q~",
    "AZDO", "+ASt", ":::", "/t/", "AzSe", "AIoT", "AzFu", "AzCa", "ACDb", "APIM", "JQQJ99"
})  # fmt: skip
"""Literals inside their form. All others begin their form, so that a single place needs a match."""
_REACH = 100
"""Code points before such a literal within which its form may begin."""

RUN_SIGNS = frozenset(f"{string.ascii_letters}{string.digits}_$.:/\\+=~%{{}}-")
LEAST_RUN = 18
"""Every recognisable token lies in a run of so many such signs or more. Most of a text lies outside such runs, and the same runs come
again and again, so that a search for the literals in the different runs takes a fraction of the time."""
_ESCAPE_BEFORE = late(r"(?:\\[nrtbf]|%[0-9A-F]{2}|\\u[0-9a-fA-F]{4}|\[[0-9;]{1,8}m)\Z")
"""Text before a token that may end with a letter or digit: an escape of a text inside a text, a colour."""
_ESCAPE_REACH = 10
_FILLED = late("[xX]{8}")
"""Letters that stand for those of a token in instructions."""


_Forms = tuple[tuple[str, str], ...]


def _by_literal() -> tuple[tuple[str, bool, _Forms], ...]:
    found: dict[str, list[tuple[str, str]]] = {}
    for kind, literals, form in _FORMS:
        for literal in literals.split(" "):
            found.setdefault(literal, []).append((kind, form))
    return tuple((literal, literal in _INSIDE, tuple(forms)) for literal, forms in found.items())


_TABLE = _by_literal()


def by_first_letter(texts: Iterable[str]) -> str:
    """An expression for any of some texts that looks only at those with the letter that stands there."""
    groups: dict[str, list[str]] = {}
    for text in texts:
        groups.setdefault(text[0], []).append(re.escape(text[1:]))
    return "|".join(f"{re.escape(letter)}(?:{'|'.join(rests)})" for letter, rests in groups.items())


_PLACES = {literal: place for place, (literal, _, _) in enumerate(_TABLE, len(_UNMARKED))}
_ANY_LITERAL = by_first_letter(sorted(_PLACES, key=len, reverse=True))
"""The longest literal at a place: all others there are beginnings of it."""


@cache
def _compiled(form: str) -> re.Pattern[str]:
    """The expression of a form, compiled on first use: compiling all of them would take longer than the start of Leafward."""
    return re.compile(form)


def tokens_in(text: str, together: str) -> Iterator[Span]:
    """The secrets with a provider's form. `together` are the runs of the text."""
    runs = set(together.split("\n")) - _plain
    if not runs:
        return
    found = {place for run in runs & _holding.keys() for place in _holding[run]}
    unknown = runs - _holding.keys()
    if unknown:
        found.update(_noted(unknown))
    if not found:
        return
    there = sorted(found)
    for kind, pattern in [_UNMARKED[place] for place in there if place < len(_UNMARKED)]:
        for unmarked in pattern.finditer(text):
            if (
                _begins(text, unmarked.start())
                and any(map(str.isdigit, unmarked[0]))
                and any(map(str.isalpha, unmarked[0]))
            ):
                yield unmarked.start(), unmarked.end(), kind
    for literal, inside, forms in [
        _TABLE[place - len(_UNMARKED)] for place in there if place >= len(_UNMARKED)
    ]:
        yield from _of_literal(text, literal, inside, forms)


def matching_runs(together: str) -> list[str]:
    """Those of some runs that a token may lie in, where hardly any others follow: each literal is looked for by itself."""
    runs = set(together.split("\n"))
    _noted(runs - _plain - _holding.keys(), once=True)
    return [run for run in runs if run not in _plain]


def _noted(runs: set[str], *, once: bool = False) -> list[int]:
    """The places in `_UNMARKED`, then in `_TABLE`, that some new runs match; the places of each run are remembered."""
    together = "\n".join(runs)
    unmarked = [place for place, (_, form) in enumerate(_UNMARKED) if form.search(together) is not None]
    marked = _each_marked(together) if once else _marked(together)
    if len(_plain) + len(_holding) > _MOST_PLAIN:
        _plain.clear()
        _holding.clear()
    for run in runs:
        if len(run) <= _LONGEST_PLAIN:
            here = [place for place in unmarked if _UNMARKED[place][1].search(run) is not None]
            here += [place for place in marked if _TABLE[place - len(_UNMARKED)][0] in run]
            if here:
                _holding[run] = here
            else:
                _plain.add(run)
    return [*unmarked, *marked]


def _each_marked(together: str) -> set[int]:
    """The same as `_marked`, without an expression: compiling it takes longer than looking for each literal in a few runs."""
    held = set(together).issuperset
    return {place for literal, place in _PLACES.items() if held(literal) and literal in together}


def _marked(together: str) -> set[int]:
    """The places of the literals in some runs."""
    longest: set[str] = set()
    any_literal = _compiled(_ANY_LITERAL)
    found = any_literal.search(together)
    while found is not None:
        longest.add(found[0])
        found = any_literal.search(together, found.start() + 1)
    beginnings = {literal[:size] for literal in longest for size in range(1, len(literal) + 1)}
    return {_PLACES[literal] for literal in beginnings & _PLACES.keys()}


_plain: set[str] = set()
"""Runs without a match: the same names and paths come again and again."""
_holding: dict[str, list[int]] = {}
"""The matches of the other runs, as places."""
_MOST_PLAIN = 1 << 14
_LONGEST_PLAIN = 200


def _of_literal(text: str, literal: str, inside: bool, forms: _Forms) -> Iterator[Span]:
    at = text.find(literal)
    while at >= 0:
        end = at + len(literal)
        for kind, form in forms:
            found = _around(text, at, form) if inside else _compiled(form).match(text, at)
            if found is not None and _begins(text, found.start()) and not _FILLED.search(found[0]):
                yield found.start(), found.end(), kind
                end = max(end, found.end())
                break
        at = text.find(literal, end)


def _around(text: str, at: int, form: str) -> re.Match[str] | None:
    """The match of a form that includes a place."""
    found = _compiled(form).search(text, max(0, at - _REACH), at + 2 * _REACH)
    while found is not None and found.end() <= at:
        found = _compiled(form).search(text, found.end(), at + 2 * _REACH)
    return found if found is not None and found.start() <= at else None


def _begins(text: str, at: int) -> bool:
    """Whether a token can begin at a place: no letter or digit precedes it, except at the end of an escape."""
    if at == 0 or not text[at - 1].isalnum():
        return True
    return _ESCAPE_BEFORE.search(text, max(0, at - _ESCAPE_REACH), at) is not None
