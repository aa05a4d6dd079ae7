"""Made-up secrets and what only looks like one, written so that this file itself holds none.

Every run makes the same ones.
"""

from __future__ import annotations

import base64
import random
import string

_RANDOM = random.Random(5)
_LETTERS, _UPPER, _HEX = (
    string.ascii_letters + string.digits,
    string.ascii_uppercase + string.digits,
    "0123456789abcdef",
)
BLOCK = "-----"


def made(length: int, alphabet: str = _LETTERS) -> str:
    return "".join(_RANDOM.choice(alphabet) for _ in range(length))


def packed(size: int) -> str:
    return base64.b64encode(_RANDOM.randbytes(size)).decode()


AWS_KEY = f"AKIA{made(16, _UPPER)}"

# path, line, a word of the kind that is told
SECRETS = [
    ("app.py", f'KEY = "{AWS_KEY}"', "AWS"),
    ("app.py", f'aws_secret_access_key = "{made(40)}"', "AWS"),
    ("tests/test_s3.py", f'KEY = "{AWS_KEY}"', "AWS"),
    ("app.min.js", "x" * 3000 + f'"{AWS_KEY}"' + "y" * 3000, "AWS"),
    ("package-lock.json", f'"resolved": "https://x/?k={AWS_KEY}"', "AWS"),
    ("config/app.php", f"'token' => 'ghp_{made(36)}',", "GitHub"),
    ("a.yml", f"t: glpat-{made(20)}", "GitLab"),
    ("a.js", f'const k = "sk_live_{made(24)}"', "Stripe"),
    ("a.js", f'post("https://hooks.slack.com/services/T{made(8, _UPPER)}/B{made(8, _UPPER)}/{made(24)}")', "Slack"),
    ("a.js", f'x = "eyJ{made(20)}.eyJ{made(40)}.{made(43)}"', "web token"),
    ("bot.py", f'TOKEN = "{made(9, "123456789")}:AA{made(33)}"', "bot token"),
    ("a.py", f'k = "sk-ant-api03-{made(60)}"', "sk-"),
    ("a.py", f'k = "AIza{made(35)}"', "Google"),
    ("a.py", f'k = "SG.{made(22)}.{made(43)}"', "SendGrid"),
    (".npmrc", f"//registry.npmjs.org/:_authToken=npm_{made(36)}", "npm"),
    ("account.json", f'"private_key": "{BLOCK}BEGIN PRIVATE KEY{BLOCK}\\n{packed(60)}"', "private key"),
    (".env", f"AWS_SECRET_ACCESS_KEY={made(40)}", "name"),
    (".env", f"APP_KEY=base64:{packed(32)}", "name"),
    (".env", "DB_PASSWORD=hunter2x", "name"),
    (".env", "export DB_PASSWORD=correcthorse", "name"),
    (".env.production", 'MAIL_PASSWORD="p4ssw0rd!"', "name"),
    ("config.yml", "password: hunter2hunter2", "name"),
    ("config.yml", f"  token: {made(24)}", "name"),
    ("docker-compose.yml", "      MYSQL_ROOT_PASSWORD: s3cr3tpw9", "name"),
    ("main.tf", f'  password = "{made(11)}7"', "name"),
    ("A.java", f'String password = "{made(10)}9";', "name"),
    ("a.py", f'SECRET_KEY = "{made(64, _HEX)}"', "name"),
    ("a.sh", f'curl -H "Authorization: Bearer {made(32)}" https://api', "name"),
    ("a.rb", f'DATABASE_URL = "postgres://app:{made(12)}@db.internal/app"', "address"),
    ("a.go", f'connect("{made(16)}+/{made(20)}Aa1")', "random"),
]

# what ordinary changes are full of
NO_SECRETS = [
    ("composer.lock", f'"reference": "{made(40, _HEX)}",'),
    ("package-lock.json", f'"integrity": "sha512-{packed(64)}",'),
    ("go.sum", f"golang.org/x/text v0.3.0 h1:{packed(32)}"),
    ("Dockerfile", f"FROM debian@sha256:{made(64, _HEX)}"),
    (".github/workflows/ci.yml", f"- uses: actions/checkout@{made(40, _HEX)} # v4"),
    ("index.html", f'<script src="x.js" integrity="sha384-{packed(48)}">'),
    ("style.css", 'src: url("data:font/woff2;base64,' + packed(90) + '")'),
    ("logo.svg", f'<path d="M{made(400)}"/>'),
    ("wasm.js", f'Buffer.from("{packed(600)}{AWS_KEY}{packed(90)}", "base64")'),
    ("a.py", 'ID = "8c7a4fd2-11b3-4c6e-9a3b-2f4f6b1c9d10"'),
    ("a.py", f'COMMIT = "{made(40, _HEX)}"'),
    ("a.py", f'expected = "{made(64, _HEX)}"'),
    ("a.py", 'PI = "31415926535897932384626433832795028841971"'),
    ("a.py", 'KEY = "AKIAIOSFODNN7EXAMPLE"'),
    ("a.py", 'TOKEN = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"'),
    ("a.py", 'TOKEN = "ghp_' + "x" * 36 + '"'),
    ("a.py", f'if "{BLOCK}BEGIN RSA PRIVATE KEY{BLOCK}" in text:'),
    ("a.py", 'password = os.environ["APP_PASSWORD1"]'),
    ("a.py", "reset_password_token_2 = user.create_token(24)"),
    ("a.php", "'password' => env('DB_PASSWORD', ''),"),
    ("a.php", "'password' => Hash::make($request->password1),"),
    ("a.js", "const token = await getToken(user.id1)"),
    ("a.ts", "type Props = { passwordField1: string; token2?: string }"),
    ("en.json", '"password": "At least 8 characters"'),
    ("values.yaml", "secretName: app-tls-2024"),
    ("a.yml", "password: ${{ secrets.DB_PASSWORD1 }}"),
    ("b.yml", '  password: "{{ vault_password1 }}"'),
    (".env", "APP_KEY="),
    (".env", "MAIL_PASSWORD=null"),
    (".env", 'VITE_PUSHER_APP_KEY="${PUSHER_APP_KEY}"'),
    (".env", "APP_NAME=Kitchen2000"),
    (".env.example", "DB_PASSWORD=changeme1"),
    ("README.md", "export API_KEY=abc123def456"),
    ("tests/test_login.py", 'login(password="hunter2hunter2")'),
    ("tests/test_db.py", 'connect("postgres://app:hunter2x@localhost/app")'),
    ("src/login.test.ts", "const password = 'hunter2hunter2'"),
    ("fixtures/users.yml", f"  token: {made(24)}"),
]
