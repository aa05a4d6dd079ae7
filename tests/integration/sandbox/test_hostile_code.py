"""Native code inside a domain, as the ELF loader can be talked into starting it, finds the walls standing."""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from confined_scene import Scene, build_scene

from executor.policy.model import Contact
from executor.sandbox.confinement import Confinement, Profile, Support

pytestmark = pytest.mark.needs("landlock", "git")

PROGRAM = Path(__file__).with_name("hostile_code.py")
WORKS = {"own file", "random", "limits read", "fork"}  # what every program needs
SEEN_AS_DENIED = {"EPERM", "EACCES", "EXDEV", "ENOSYS"}


@pytest.fixture
def unix_socket(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "agent.sock"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()
        yield path


def attempts(scene: Scene, contact: Contact, unix_socket: Path) -> dict[str, str]:
    """Run the hostile program in the profile of `contact`, widened by the interpreter that it is written for."""
    bare = scene.profile(contact)
    python = Path(sys.executable).resolve()
    library = Path(os.__file__).resolve().parent
    profile = Profile(
        contact,
        (*bare.read, PROGRAM, library, *_shared_library(python)),
        bare.write,
        (python,),
        bare.tcp_ports,
        bare.sockets,
        bare.links,
    )
    victim = scene.outside / "victim"
    victim.write_text("precious\n")
    done = scene.runner.run(
        (str(python), "-I", "-S", str(PROGRAM), str(scene.canary), str(victim), str(os.getpid()), str(unix_socket)),
        env={"PYTHONHOME": sys.base_prefix},
        cwd=scene.tree if contact is Contact.WRITE else scene.root / "state/tmp",
        profile=profile,
        deadline=30,
    )
    assert done.exit_code == 0, done
    assert victim.read_text() == "precious\n"
    return dict(json.loads(done.stdout))


def _shared_library(python: Path) -> tuple[Path, ...]:
    return tuple({path.resolve() for path in (python.parent.parent / "lib").glob("libpython3*.so*")})


@pytest.mark.parametrize("contact", [Contact.NONE, Contact.READ, Contact.WRITE])
def test_local_profiles_leave_no_way_out(tmp_path: Path, unix_socket: Path, contact: Contact) -> None:
    result = attempts(build_scene(tmp_path), contact, unix_socket)
    works = WORKS | ({"symlink"} if contact is Contact.WRITE else set())

    assert {name for name, outcome in result.items() if outcome == "done"} == works
    assert {outcome for name, outcome in result.items() if name not in works} <= SEEN_AS_DENIED


def test_the_remote_profile_adds_internet_sockets_and_nothing_else(tmp_path: Path, unix_socket: Path) -> None:
    result = attempts(build_scene(tmp_path), Contact.REMOTE, unix_socket)

    # TCP stays denied without a granted port; UDP is for names, Unix sockets are for the ssh agent.
    assert {name for name, outcome in result.items() if outcome == "done"} == WORKS | {"udp", "unix"}


def test_on_the_oldest_landlock_the_filter_still_stops_what_it_stops(tmp_path: Path, unix_socket: Path) -> None:
    result = attempts(build_scene(tmp_path, support=Support(1, True, None)), Contact.READ, unix_socket)

    # Signals are the one thing that an older kernel leaves open, and `missing` says so.
    assert {name for name, outcome in result.items() if outcome == "done"} == WORKS | {"signal"}
    assert any("signals" in gap for gap in Confinement(Support(1, True, None)).report().missing)
