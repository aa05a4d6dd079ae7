"""What git itself needs of the host to run at all: found once, by looking, without starting anything."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from executor.errors import ConfigError

_GIT_PLACES = ("/usr/bin/git", "/usr/local/bin/git", "/bin/git")
_EXEC_PATHS = ("lib/git-core", "libexec/git-core")  # Debian; Fedora, Alpine and git's own default
_LIBRARIES = ("/usr/lib", "/usr/lib64", "/usr/local/lib", "/lib", "/lib64")
_READ_FILES = (
    "/etc/ld.so.cache",
    "/etc/ld-musl-x86_64.path",
    "/etc/localtime",  # commits carry the host's zone
    "/dev/urandom",  # "unable to get random bytes" without it
)
_PROGRAM_HEADER = struct.Struct("<IIQQQQ")
_INTERPRETER = 3  # PT_INTERP
_LONGEST_PATH = 4096  # bytes, PATH_MAX


@dataclass(frozen=True, slots=True)
class System:
    """Resolved paths that every git process gets: nothing here can be written by the gateway's user or an agent."""

    git: Path
    exec_path: Path
    loader: Path | None  # None for a static git
    read: tuple[Path, ...]
    execute: tuple[Path, ...]
    write: tuple[Path, ...]  # /dev/null


def find_system() -> System:
    """Return what git needs on this host. Raise ConfigError if there is no git, or its exec-path is not found."""
    git = _first(_GIT_PLACES)
    if git is None:
        raise ConfigError("git_missing", "There is no git on this host.", "Install git (Debian: apt install git).")
    prefix = git.parent.parent
    exec_path = _first(str(prefix / place) for place in _EXEC_PATHS)
    if exec_path is None:
        raise ConfigError("git_exec_path", f"The programs of {git} are not beside it.", "Install git from a package.")
    interpreter = elf_interpreter(git)
    loader = interpreter.resolve() if interpreter else None
    shared = prefix / "share/git-core"
    read = [Path(name) for name in (*_LIBRARIES, *_READ_FILES, str(shared)) if os.path.exists(name)]
    return System(
        git=git,
        exec_path=exec_path,
        loader=loader,
        read=_resolved(read),
        execute=(git, exec_path, *((loader,) if loader else ())),
        write=(Path("/dev/null"),),
    )


def elf_interpreter(program: Path) -> Path | None:
    """Return the loader that `program`, an ELF file, names for itself, or None for a static one.

    Raise ConfigError if it is not a whole, little-endian, 64-bit ELF file.
    """
    try:
        with program.open("rb") as file:
            header = file.read(64)
            if header[:6] != b"\x7fELF\x02\x01":
                raise ValueError("another format")
            (table,) = struct.unpack_from("<Q", header, 32)
            size, count = struct.unpack_from("<HH", header, 54)
            file.seek(table)
            entries = file.read(size * count)
            for number in range(count):
                kind, _flags, offset, _virtual, _physical, length = _PROGRAM_HEADER.unpack_from(
                    entries, number * size
                )
                if kind == _INTERPRETER:
                    file.seek(offset)
                    return Path(os.fsdecode(file.read(min(length, _LONGEST_PATH)).rstrip(b"\0")))
    except (struct.error, ValueError, OverflowError, OSError) as error:
        raise ConfigError("not_elf", f"{program} is not a 64-bit program.", "Use the distribution's git.") from error
    return None


def _first(names: Iterable[str]) -> Path | None:
    for name in names:
        if os.path.exists(name):
            return Path(name).resolve()
    return None


def _resolved(paths: list[Path]) -> tuple[Path, ...]:
    """Return `paths` without symbolic links, each once (on a merged /usr, /lib is /usr/lib)."""
    return tuple(dict.fromkeys(path.resolve() for path in paths))
