"""Taking flags out of the hands of an agent that may put anything under a flag's name."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hostile_files import SECRET, as_user

from executor.errors import Unavailable
from executor.protocol.bodies import BODY_LIMIT, looks_cut_off
from executor.protocol.claims import Claim
from executor.protocol.shared_dir import SharedDir

NOBODY = 65534

OBSTACLES = [
    ("link to a secret", "flag_is_symlink"),
    ("link to an endless device", "flag_is_symlink"),
    ("dangling link", "flag_is_symlink"),
    ("link to itself", "flag_is_symlink"),
    ("link to a directory", "flag_is_symlink"),
    ("hard link to a secret", "flag_is_hard_link"),
    ("named pipe", "flag_is_fifo"),
    ("socket", "flag_is_socket"),
    ("empty directory", "flag_is_directory"),
    ("full directory", "flag_is_directory"),
    pytest.param("device", "flag_is_device", marks=pytest.mark.needs("root")),
]


def take(directory: SharedDir, name: bytes) -> Claim:
    claim = directory.claim(name)
    assert claim is not None
    return claim


def problem_of(claim: Claim) -> str:
    assert claim.content is None
    assert claim.problem is not None
    assert claim.problem.hint
    return claim.problem.code


def test_a_claimed_flag_is_gone_from_its_name_and_holds_its_bytes(shared: Path, directory: SharedDir) -> None:
    (shared / "git_push.flag").write_text("main\n")

    claim = take(directory, b"git_push.flag")

    assert (claim.name, claim.content, claim.problem) == (b"git_push.flag", b"main\n", None)
    assert not (shared / "git_push.flag").exists()
    assert directory.release(claim)
    assert list(shared.iterdir()) == []


def test_a_flag_that_is_gone_is_none(directory: SharedDir) -> None:
    assert directory.claim(b"git_push.flag") is None
    assert directory.peek(b"git_push.flag") is None


@pytest.mark.parametrize(("kind", "code"), OBSTACLES)
def test_whatever_else_has_a_flags_name_is_refused_by_what_it_is_and_removed(
    kind: str, code: str, shared: Path, directory: SharedDir, put_in_the_way: Callable[[str, Path], None]
) -> None:
    put_in_the_way(kind, shared / "git_commit.flag")

    [sighting] = directory.scan()
    claim = take(directory, sighting.name)

    assert problem_of(claim) == code
    assert directory.release(claim)
    assert directory.scan() == []
    assert directory.leftovers() == ([], False)


def test_a_full_directory_under_a_flags_name_is_set_aside_where_its_owner_finds_it(
    shared: Path, directory: SharedDir, put_in_the_way: Callable[[str, Path], None]
) -> None:
    put_in_the_way("full directory", shared / "git_add.7.flag")

    directory.release(take(directory, b"git_add.7.flag"))

    [aside] = shared.iterdir()
    assert aside.name.startswith("set-aside.")
    assert aside.name.endswith(".git_add.7.flag")
    assert (aside / "inside").read_text() == "the agent's own"


@pytest.mark.parametrize("size", [BODY_LIMIT + 1, 20 * 1024**3], ids=["one byte too many", "sparse 20 GB"])
def test_a_huge_flag_is_refused_without_being_read(size: int, shared: Path, directory: SharedDir) -> None:
    (shared / "git_commit.flag").touch()
    os.truncate(shared / "git_commit.flag", size)

    claim = take(directory, b"git_commit.flag")

    assert problem_of(claim) == "body_too_large"
    assert directory.release(claim)


def test_a_flag_of_exactly_the_limit_is_read_whole(shared: Path, directory: SharedDir) -> None:
    (shared / "git_commit.flag").write_bytes(b"x" * BODY_LIMIT)

    assert take(directory, b"git_commit.flag").content == b"x" * BODY_LIMIT


def before_opening(monkeypatch: pytest.MonkeyPatch, act: Callable[[Path], None], shared: Path) -> None:
    """Let the agent act in the moment between looking at a claimed flag and opening it."""
    genuine = os.open

    def swapped(path: Any, flags: int, *args: Any, **kwargs: Any) -> int:
        if isinstance(path, bytes) and path.startswith(b".claim."):
            act(shared / os.fsdecode(path))
        return genuine(path, flags, *args, **kwargs)

    monkeypatch.setattr(os, "open", swapped)


@pytest.mark.parametrize(("kind", "code"), OBSTACLES)
def test_what_is_swapped_between_looking_and_opening_is_never_read(
    kind: str,
    code: str,
    shared: Path,
    directory: SharedDir,
    put_in_the_way: Callable[[str, Path], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (shared / "git_commit.flag").write_text("innocent")

    def swap(private: Path) -> None:
        private.unlink()
        put_in_the_way(kind, private)

    before_opening(monkeypatch, swap, shared)

    problem = problem_of(take(directory, b"git_commit.flag"))

    assert problem in (code, "flag_unreadable")  # a socket cannot even be opened


def test_a_flag_that_is_removed_between_looking_and_opening_is_withdrawn(
    shared: Path, directory: SharedDir, monkeypatch: pytest.MonkeyPatch
) -> None:
    (shared / "git_commit.flag").write_text("innocent")
    before_opening(monkeypatch, Path.unlink, shared)

    assert directory.claim(b"git_commit.flag") is None
    assert directory.leftovers() == ([], False)


def test_a_flag_that_grows_while_it_is_read_is_refused(
    shared: Path, directory: SharedDir, monkeypatch: pytest.MonkeyPatch
) -> None:
    (shared / "git_commit.flag").write_text("x")
    genuine = os.read

    def growing(fd: int, count: int) -> bytes:
        [private] = shared.glob(".claim.*")
        with private.open("ab") as file:
            file.write(b"y" * 40_000)
        return genuine(fd, count)

    monkeypatch.setattr(os, "read", growing)

    assert problem_of(take(directory, b"git_commit.flag")) == "body_too_large"


FLIPPER = """
import itertools, os, sys
shared, secret = sys.argv[1:]
os.chdir(shared)
def bait(kind):
    if kind == 0: os.symlink(secret, "bait")
    elif kind == 1: os.link(secret, "bait")
    elif kind == 2: os.mkfifo("bait")
    else:
        with open("bait", "x") as file: file.write("main")
print("ready", flush=True)
swapped = set()
for n in itertools.count():
    try:
        bait(n % 4)
        os.rename("bait", "git_push.flag")
        for name in os.listdir("."):
            if name in swapped:
                os.unlink(name)
            elif name.startswith(".claim."):
                bait(n // 4 % 4)
                os.rename("bait", name)
                swapped.add(name)
    except FileExistsError:
        os.unlink("bait")
    except FileNotFoundError:
        pass
"""


@pytest.fixture
def flipper(shared: Path, secret: Path) -> Iterator[None]:
    """An agent that swaps the flag, and whatever was claimed, as fast as it can."""
    process = subprocess.Popen([sys.executable, "-c", FLIPPER, shared, secret], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    yield
    assert process.poll() is None
    process.kill()
    process.wait()
    process.stdout.close()


@pytest.mark.usefixtures("flipper")
def test_flags_swapped_as_fast_as_can_be_never_give_away_a_byte_from_outside(directory: SharedDir) -> None:
    wanted = {"read", "flag_is_symlink", "flag_is_hard_link", "flag_is_fifo"}
    outcomes: list[str] = []

    while len(outcomes) < 500 or not wanted <= set(outcomes):  # until the race was really run in every way
        claim = directory.claim(b"git_push.flag")
        if claim is None:
            continue
        assert claim.content is None or claim.content in (b"main", b"")  # the flipper writes after it creates
        assert SECRET not in (claim.content or b"")
        outcomes.append(claim.problem.code if claim.problem else "read")
        directory.release(claim)


def test_a_flag_under_a_lease_does_not_make_the_gateway_wait(shared: Path, directory: SharedDir) -> None:
    (shared / "git_push.flag").write_text("main")
    lease = (
        "import fcntl, os, signal, sys; signal.signal(signal.SIGIO, signal.SIG_IGN);"
        "fd = os.open(sys.argv[1], os.O_RDWR); fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK);"
        "print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", lease, shared / "git_push.flag"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"

        claim = take(directory, b"git_push.flag")

    assert problem_of(claim) == "flag_unreadable"


def test_a_writer_that_still_holds_the_file_open_does_not_change_what_was_read(
    shared: Path, directory: SharedDir
) -> None:
    with (shared / "git_push.flag").open("w") as writer:
        writer.write("main")
        writer.flush()
        claim = take(directory, b"git_push.flag")
        writer.write(" --force")

    assert claim.content == b"main"


def test_a_new_flag_under_the_name_of_a_claimed_one_is_not_lost_with_it(shared: Path, directory: SharedDir) -> None:
    (shared / "git_push.flag").write_text("main")
    first = take(directory, b"git_push.flag")
    (shared / "git_push.flag").write_text("dev")

    directory.release(first)

    assert take(directory, b"git_push.flag").content == b"dev"


def test_the_same_content_raised_again_is_another_request(shared: Path, directory: SharedDir) -> None:
    identities = set()
    for _ in range(3):
        (shared / "git_add.flag").write_text(".")
        os.utime(shared / "git_add.flag", (1, 1))
        claim = take(directory, b"git_add.flag")
        directory.release(claim)
        identities.add(claim.identity)

    assert len(identities) == 3


def test_a_claim_that_a_crash_left_is_found_once_with_the_identity_that_was_recorded(shared: Path) -> None:
    (shared / "git_push.42.flag").write_text("main")
    before = take(SharedDir(shared), b"git_push.42.flag")

    after = SharedDir(shared)  # a new process
    [found], _more = after.leftovers()

    assert found == before
    assert after.leftovers() == ([], False)
    assert after.release(found)
    assert list(shared.iterdir()) == []


@pytest.mark.needs("root")
def test_a_claim_that_a_crash_left_keeps_its_identity_whatever_is_done_to_its_file(shared: Path) -> None:
    (shared / "git_commit.flag").write_text("Make release notes")
    before = take(SharedDir(shared), b"git_commit.flag")

    os.chown(shared / os.fsdecode(before.private), NOBODY, NOBODY)  # as `chown -R` at the start of a container does
    os.utime(shared / os.fsdecode(before.private), (1, 1))
    [found], _more = SharedDir(shared).leftovers()

    assert found.identity == before.identity


def test_leftovers_are_taken_oldest_first_a_bounded_number_from_one_listing(shared: Path) -> None:
    for number in range(7):
        planted = shared / f".claim.{number:016x}.git_status.flag"
        planted.write_text(str(number))
        os.utime(planted, (100 - number, 100 - number))
    directory = SharedDir(shared)

    (first, more), (rest, no_more) = directory.leftovers(4), directory.leftovers(4)

    assert [[claim.content for claim in claims] for claims in (first, rest)] == [
        [b"6", b"5", b"4", b"3"],
        [b"2", b"1", b"0"],
    ]
    assert (more, no_more) == (True, False)


def test_a_claim_in_hand_is_not_a_leftover(shared: Path, directory: SharedDir) -> None:
    (shared / "git_push.flag").write_text("main")
    claim = take(directory, b"git_push.flag")

    assert directory.leftovers() == ([], False)
    assert directory.release(claim)


def test_a_forged_leftover_is_only_a_flag_and_held_to_the_same_rules(shared: Path, secret: Path) -> None:
    (shared / ".claim.0123456789abcdef.git_add.flag").symlink_to(secret)
    (shared / ".claim.0123456789abcdef.passwd").symlink_to(secret)

    [claim], _more = SharedDir(shared).leftovers()

    assert problem_of(claim) == "flag_is_symlink"


@pytest.mark.needs("root")
def test_an_immutable_flag_is_not_run_and_named_the_same_each_time(shared: Path, directory: SharedDir) -> None:
    flag = shared / "git_status.flag"
    flag.touch()
    if subprocess.run(["chattr", "+i", flag], check=False, capture_output=True).returncode:
        pytest.skip("needs a file system with immutable files")
    try:
        first, second = take(directory, b"git_status.flag"), take(directory, b"git_status.flag")
        [sighting] = directory.scan()

        assert problem_of(first) == "flag_not_removable"
        assert first.identity == second.identity == sighting.identity
        assert not directory.release(first)
        assert directory.scan(ignore={first.identity}) == []
    finally:
        subprocess.run(["chattr", "-i", flag], check=True)


@pytest.mark.needs("unprivileged-user")
@pytest.mark.parametrize("mode", [0o755, 0o1777], ids=["root's directory", "sticky directory"])
def test_d06_a_flag_that_another_user_owns_is_seen_and_not_run(mode: int, open_to_all: Path) -> None:
    (open_to_all / "git_status.flag").touch()
    open_to_all.chmod(mode)

    def sweep() -> list[tuple[str, bytes | None, str, str]]:
        directory = SharedDir(open_to_all)
        claims = [(sighting.identity, take(directory, sighting.name)) for sighting in directory.scan()]
        return [(seen, claim.content, problem_of(claim), claim.identity) for seen, claim in claims]

    [(seen, content, problem, identity)] = as_user(NOBODY, sweep)

    assert (content, problem, identity) == (None, "flag_not_removable", seen)
    assert (open_to_all / "git_status.flag").exists()


@pytest.mark.needs("unprivileged-user")
def test_a_flag_that_may_not_be_read_is_refused_and_removed(open_to_all: Path) -> None:
    (open_to_all / "git_status.flag").touch(mode=0o600)
    open_to_all.chmod(0o777)

    def sweep() -> tuple[str, bool]:
        directory = SharedDir(open_to_all)
        claim = take(directory, b"git_status.flag")
        return problem_of(claim), directory.release(claim)

    assert as_user(NOBODY, sweep) == ("flag_unreadable", True)
    assert list(open_to_all.iterdir()) == []


def test_d11_a_full_disk_while_claiming_leaves_the_flag_for_later(
    shared: Path, directory: SharedDir, monkeypatch: pytest.MonkeyPatch
) -> None:
    (shared / "git_push.flag").write_text("main")

    def full(*args: object, **kwargs: object) -> None:
        raise OSError(errno.ENOSPC, "full")

    with monkeypatch.context() as patched:
        patched.setattr(os, "rename", full)
        with pytest.raises(Unavailable, match="No space left on device"):
            directory.claim(b"git_push.flag")

    assert take(directory, b"git_push.flag").content == b"main"


@pytest.mark.parametrize("raised_again", [False, True])
def test_a_host_out_of_descriptors_refuses_nobody_and_loses_nothing(
    raised_again: bool, shared: Path, directory: SharedDir, monkeypatch: pytest.MonkeyPatch
) -> None:
    (shared / "git_push.flag").write_text("main")
    genuine = os.open

    def exhausted(path: Any, *args: Any, **kwargs: Any) -> int:
        if isinstance(path, bytes) and path.startswith(b".claim."):
            if raised_again:
                (shared / "git_push.flag").write_text("dev")
            raise OSError(errno.EMFILE, "too many")
        return genuine(path, *args, **kwargs)

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", exhausted)
        with pytest.raises(Unavailable, match="Too many open files"):
            directory.claim(b"git_push.flag")

    now = take(directory, b"git_push.flag")
    directory.release(now)
    at_next_start = [claim.content for claim in SharedDir(shared).leftovers()[0]]
    assert [now.content, *at_next_start] == ([b"dev", b"main"] if raised_again else [b"main"])


def test_releasing_what_went_away_with_its_directory_is_no_error(shared: Path, directory: SharedDir) -> None:
    (shared / "git_push.flag").write_text("main")
    claim = take(directory, b"git_push.flag")
    shutil.rmtree(shared)

    assert not directory.release(claim)


def test_d02_a_typed_request_that_is_still_being_written_is_looked_at_and_left(
    shared: Path, directory: SharedDir
) -> None:
    request = shared / "7.request.json"
    request.write_text('{"operation":')
    early = directory.peek(b"7.request.json")
    with request.open("a") as file:
        file.write(' "git_status"}')

    late = directory.peek(b"7.request.json")
    claim = take(directory, b"7.request.json")

    assert early is not None
    assert late is not None
    assert looks_cut_off(early.content or b"")
    assert not looks_cut_off(late.content or b"")
    assert claim.content == b'{"operation": "git_status"}'


def test_looking_at_a_link_reads_nothing_and_releases_nothing(
    shared: Path, directory: SharedDir, secret: Path
) -> None:
    (shared / "7.request.json").symlink_to(secret)

    seen = directory.peek(b"7.request.json")

    assert seen is not None
    assert problem_of(seen) == "flag_is_symlink"
    assert not directory.release(seen)
    assert stat.S_ISLNK((shared / "7.request.json").lstat().st_mode)
