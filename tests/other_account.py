"""Programs that a test starts as another account of this host."""

from __future__ import annotations


def become(uid: int, gid: int | None = None) -> list[str]:
    """Return the words before a command line that run it as that uid, with one group (by default of the same number).

    It can read everything, for the interpreter may lie in somebody's home; it can write what is its own. Needs the
    part "unprivileged-user".
    """
    words = ["setpriv", "--reuid", str(uid), "--regid", str(uid if gid is None else gid), "--clear-groups"]
    return [*words, "--inh-caps", "+dac_read_search", "--ambient-caps", "+dac_read_search"]
