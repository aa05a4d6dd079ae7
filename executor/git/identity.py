"""Who may stand in a commit: names and email addresses (pure)."""

from __future__ import annotations

import re

NAME_LIMIT = 100  # characters
EMAIL_LIMIT = 254  # characters, RFC 5321

_NOT_IN_NAMES = re.compile(r'[<>"\\]')
# Brackets and plus stand in the addresses of well-known bots: 1234+helper[bot]@users.noreply.github.com
_EMAIL = re.compile(
    r"[A-Za-z0-9_](?:[A-Za-z0-9._%+'\[\]-]*[A-Za-z0-9_\]])?"
    r"@[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*",
    re.ASCII,
)


def name_problem(name: str) -> str | None:
    """Return why `name` cannot be the name of who commits, or None. Hidden characters are looked for elsewhere."""
    if not name.strip() or len(name) > NAME_LIMIT:
        return f"a name has 1 to {NAME_LIMIT} characters"
    if name.startswith("-"):
        return "it begins with '-' like an option"
    if found := _NOT_IN_NAMES.search(name):
        return f"{found[0]} cannot stand in a name"
    return None


def email_problem(email: str) -> str | None:
    """Return why `email` is not one plain address, or None."""
    if len(email) > EMAIL_LIMIT or ".." in email or not _EMAIL.fullmatch(email):
        return "it is not one plain address"
    return None
