"""When programs are confined, when they are refused, and what is said about it; with kernels that are not at hand."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path

import pytest

from executor.errors import Unavailable
from executor.policy.model import Contact
from executor.sandbox import landlock
from executor.sandbox.confinement import UNSAFE_SETTING, Confinement, Profile, Support, grants, probe
from executor.sandbox.kernel import Kernel
from executor.sandbox.launcher import Launcher
from executor.sandbox.system import System

NO_LANDLOCK = Support(0, True, "the kernel has no Landlock")
SYSTEM = System(
    git=Path("/usr/bin/git"),
    exec_path=Path("/usr/lib/git-core"),
    loader=Path("/lib/ld.so"),
    read=(Path("/usr/lib"),),
    execute=(Path("/usr/bin/git"),),
    write=(Path("/dev/null"),),
)


class RecordingKernel(Kernel):
    """A kernel of another age: it says what it was asked to enforce, and enforces nothing."""

    def __init__(self, abi: int = 0, *, problem: int = 0, seccomp: bool = True) -> None:
        super().__init__()
        self.abi, self.problem, self.has_seccomp = abi, problem, seccomp
        self.asked: list[str] = []
        self.ports: list[int] = []

    def landlock_abi(self) -> int:
        if self.problem:
            raise OSError(self.problem, os.strerror(self.problem))
        return self.abi

    def seccomp_available(self) -> None:
        if not self.has_seccomp:
            raise OSError(errno.ENOSYS, "no seccomp")

    def create_ruleset(self, attribute: bytes) -> int:
        self.asked.append(f"ruleset of {len(attribute)} bytes")
        return os.open(os.devnull, os.O_RDONLY)

    def add_path(self, ruleset: int, rights: int, path_fd: int) -> None:
        assert rights & ~landlock.handled(self.abi).fs == 0

    def add_port(self, ruleset: int, rights: int, port: int) -> None:
        self.ports.append(port)

    def restrict(self, ruleset: int) -> None:
        self.asked.append("restrict")

    def no_new_privileges(self) -> None:
        self.asked.append("no new privileges")

    def filter(self, program: bytes) -> None:
        self.asked.append("filter")


def profile(contact: Contact, where: Path = Path("/"), **rest: tuple[int, ...]) -> Profile:
    return Profile(contact, (), (where,), (), **rest)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("code", "words"),
    [(errno.ENOSYS, "5.13"), (errno.EOPNOTSUPP, "lsm="), (errno.EPERM, "seccomp profile"), (errno.EIO, "answer")],
)
def test_a_kernel_without_landlock_is_told_from_one_where_it_is_off_or_blocked(code: int, words: str) -> None:
    support = probe(RecordingKernel(problem=code))

    assert support.landlock_abi == 0
    assert support.problem is not None and words in support.problem


def test_landlock_alone_is_not_enough() -> None:
    support = probe(RecordingKernel(7, seccomp=False))

    assert (support.landlock_abi, support.seccomp) == (7, False)
    assert support.problem is not None and "seccomp" in support.problem


def test_a_machine_without_a_table_of_calls_has_no_filter() -> None:
    kernel = Kernel()
    kernel.machine = "riscv64"

    with pytest.raises(OSError, match="riscv64"):
        kernel.seccomp_available()


@pytest.mark.parametrize("contact", [Contact.READ, Contact.WRITE])
def test_without_confinement_the_work_tree_is_not_touched_and_the_cost_of_lifting_that_is_named(
    contact: Contact,
) -> None:
    with pytest.raises(Unavailable) as caught:
        Confinement(NO_LANDLOCK, kernel=RecordingKernel()).call(profile(contact), lambda: pytest.fail("it ran"))

    assert caught.value.code == "confinement_unavailable"
    assert f"{UNSAFE_SETTING}=true" in caught.value.hint and "run programs" in caught.value.hint


@pytest.mark.parametrize("contact", [Contact.NONE, Contact.REMOTE])
def test_without_confinement_what_sees_no_work_tree_goes_on(contact: Contact) -> None:
    kernel = RecordingKernel()

    assert Confinement(NO_LANDLOCK, kernel=kernel).call(profile(contact), lambda: "ran") == "ran"
    assert kernel.asked == ["no new privileges", "filter"]  # what is left of it is applied


def test_the_unsafe_setting_lifts_only_what_the_kernel_lacks() -> None:
    lacking, able = RecordingKernel(), RecordingKernel(7)
    Confinement(NO_LANDLOCK, unsafe=True, kernel=lacking).call(profile(Contact.WRITE), lambda: None)
    Confinement(Support(7, True, None), unsafe=True, kernel=able).call(profile(Contact.WRITE), lambda: None)

    assert "restrict" not in lacking.asked
    assert able.asked == ["no new privileges", "ruleset of 24 bytes", "restrict", "filter"]


@pytest.mark.parametrize(("abi", "length", "ports"), [(1, 8, []), (3, 8, []), (4, 16, [22, 53]), (7, 24, [22, 53])])
def test_an_older_landlock_is_asked_for_what_it_has(abi: int, length: int, ports: list[int]) -> None:
    kernel = RecordingKernel(abi)
    confinement = Confinement(Support(abi, True, None), kernel=kernel)
    confinement.call(profile(Contact.REMOTE, tcp_ports=(22, 53)), lambda: None)

    assert f"ruleset of {length} bytes" in kernel.asked
    assert kernel.ports == ports


def test_a_thread_restricts_itself_once_and_is_used_again(tmp_path: Path) -> None:
    kernel = RecordingKernel(7)
    confinement = Confinement(Support(7, True, None), kernel=kernel)
    threads = {confinement.call(profile(Contact.READ, tmp_path), threading.get_ident) for _ in range(5)}

    assert len(threads) == 1 and threads != {threading.get_ident()}
    assert kernel.asked.count("restrict") == 1


def test_a_root_that_was_replaced_gets_a_new_thread_and_the_old_one_ends(tmp_path: Path) -> None:
    confinement = Confinement(Support(7, True, None), kernel=RecordingKernel(7))
    root = tmp_path / "tree"
    root.mkdir()
    before = confinement.call(profile(Contact.READ, root), threading.current_thread)
    root.rename(tmp_path / "old")
    root.mkdir()
    after = confinement.call(profile(Contact.READ, root), threading.current_thread)
    before.join(timeout=10)

    assert after is not before
    assert not before.is_alive() and after.is_alive()


def test_a_root_that_is_gone_is_said_to_be(tmp_path: Path) -> None:
    confinement = Confinement(Support(7, True, None), kernel=RecordingKernel(7))
    root = tmp_path / "tree"
    root.mkdir()
    confinement.call(profile(Contact.READ, root), lambda: None)
    root.rmdir()

    with pytest.raises(Unavailable) as caught:
        confinement.call(profile(Contact.READ, root), lambda: None)
    assert caught.value.code == "path_missing" and str(root) in caught.value.message


def test_threads_are_bounded_and_the_one_unused_longest_goes(tmp_path: Path) -> None:
    confinement = Confinement(Support(7, True, None), kernel=RecordingKernel(7))
    threads = []
    for number in range(60):
        root = tmp_path / str(number)
        root.mkdir()
        threads.append(confinement.call(profile(Contact.READ, root), threading.current_thread))
    threads[0].join(timeout=10)

    assert not threads[0].is_alive() and threads[-1].is_alive()
    assert len([thread for thread in threads if thread.is_alive()]) <= 50
    confinement.close()


def test_a_confinement_that_nobody_holds_leaves_no_thread(tmp_path: Path) -> None:
    confinement = Confinement(Support(7, True, None), kernel=RecordingKernel(7))
    thread = confinement.call(profile(Contact.READ, tmp_path), threading.current_thread)
    del confinement
    thread.join(timeout=10)

    assert not thread.is_alive()


def test_what_goes_wrong_in_the_thread_is_raised_to_the_caller() -> None:
    def fail() -> None:
        raise FileNotFoundError("there")

    with pytest.raises(FileNotFoundError, match="there"):
        Confinement(NO_LANDLOCK, kernel=RecordingKernel()).call(profile(Contact.NONE), fail)
    with pytest.raises(FileNotFoundError, match="there"):
        Launcher(fail)


def test_rights_on_one_path_from_several_lists_add_up() -> None:
    wanted = Profile(Contact.READ, (Path("/usr/bin/git"),), (Path("/state"),), (Path("/usr/bin/ssh"),))

    assert grants(wanted, SYSTEM, 7) == {
        Path("/usr/lib"): landlock.READ,
        Path("/usr/bin/git"): landlock.EXECUTE,
        Path("/dev/null"): landlock.WRITE,
        Path("/state"): landlock.WRITE,
        Path("/usr/bin/ssh"): landlock.EXECUTE,
    }


def test_links_can_be_made_only_where_a_work_tree_is_written_and_nothing_moves_from_there() -> None:
    tree, state = Path("/tree"), Path("/state")
    rights = grants(Profile(Contact.WRITE, (), (state, tree), (), links=(tree,)), SYSTEM, 7)

    assert rights[tree] & landlock.Fs.MAKE_SYM
    assert not rights[state] & landlock.Fs.MAKE_SYM
    assert rights[state] & ~rights[tree] == landlock.Fs.IOCTL_DEV  # a file moved there would gain it: refused


def test_the_report_says_what_is_in_force_and_what_is_not() -> None:
    confined = Confinement(Support(4, True, None)).report()
    refusing = Confinement(NO_LANDLOCK).report()
    unsafe = Confinement(NO_LANDLOCK, unsafe=True).report()

    assert confined.confined and "ABI 4" in confined.summary and len(confined.missing) == 2
    assert not refusing.confined and "refuses" in refusing.summary and "no Landlock" in refusing.summary
    assert not unsafe.confined and "WITHOUT" in unsafe.summary
