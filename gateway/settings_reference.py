"""The settings as pages for people, made from the model: `docs/settings.md` and `.env.example`.

python -m gateway.settings_reference page > docs/settings.md
python -m gateway.settings_reference example > .env.example
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator

from pydantic.fields import FieldInfo

from gateway.settings_model import RepositorySettings, Settings
from gateway.settings_sources import variable

_PAGE = """\
# Settings

Made from the settings model (`python -m gateway.settings_reference page`); a test keeps it true.

A setting is looked for in this order; the first place that has it counts:

1. the environment, as `GATEWAY_…`;
2. systemd credentials: files named like the variables in `$CREDENTIALS_DIRECTORY`. For a setting that names a file
   (`GATEWAY_SSH_KEY`) the credential itself is the file;
3. an env file: the one that `GATEWAY_ENV_FILE` names, else `.env` in the working directory, unless that lies in a git
   work tree. It must not be writable by anybody else. A name in it that is no setting is an error;
4. the `gateway.toml` that `GATEWAY_CONFIG_FILE` names, with the names below in small letters and without `GATEWAY_`.

Lists are written with commas or spaces, or as a JSON list. A variable that is empty counts as not set.
A setting that cannot be used ends the start with exit code 78; the message names the variable and never its value.

| variable | meaning | example |
| --- | --- | --- |
{rows}

## Several repositories

They stand in `gateway.toml`. `GATEWAY_REPO_DIR`, if set, is the first and so the default one; without it the first
table is. Each may have the keys {keys}.

```toml
[[repositories]]
name = "blog"
path = "/srv/agent/blog"
ssh_key = "/etc/ops-gateway/blog_ed25519"
known_hosts = "/etc/ops-gateway/known_hosts"
```
"""

_EXAMPLE = """\
# Settings of ops-gateway. `ops-gateway init` writes such a file; by hand: copy it, chmod 600, change the first two.
# It is read as .env in the directory where ops-gateway is started, unless that lies in a git work tree (the agent
# could write it there). A file anywhere else, /etc/ops-gateway/gateway.env say, is read where it is named:
# GATEWAY_ENV_FILE=/etc/ops-gateway/gateway.env in the environment (of the unit, of cron, of your shell).
# It must belong to root or to the gateway's user, and nobody else may write it.
# Written so that systemd, docker --env-file, compose and python-dotenv read it alike:
# no quotes, no spaces around =, no export, comments only on lines of their own.

{entries}"""


def page() -> str:
    """Return the text of docs/settings.md."""
    rows = "\n".join(
        f"| `{variable(name)}` | {field.description} | `{example}` |" for name, field, example in _by_variable()
    )
    keys = ", ".join(f"`{name}`" for name in RepositorySettings.model_fields)
    return _PAGE.format(rows=rows, keys=keys)


def example() -> str:
    """Return the text of .env.example: what must be set as it could be, everything else as a comment.

    The state directory has a default that each user can make; /var/lib needs root once.
    """
    entries = []
    for name, field, value in _by_variable():
        comment = textwrap.fill(field.description or "", 116, initial_indent="# ", subsequent_indent="# ")
        mark = "" if name in ("shared_dir", "repo_dir") else "#"
        entries.append(f"{comment}\n{mark}{variable(name)}={value}\n")
    return _EXAMPLE.format(entries="\n".join(entries))


def _by_variable() -> Iterator[tuple[str, FieldInfo, str]]:
    """Yield each setting that is a variable, with its example, the general ones first; `repositories` is none."""
    own = Settings.__annotations__
    for name, field in sorted(Settings.model_fields.items(), key=lambda entry: entry[0] not in own):
        if field.examples:
            yield name, field, str(field.examples[0])


if __name__ == "__main__":
    sys.stdout.write({"page": page, "example": example}[sys.argv[1]]())
