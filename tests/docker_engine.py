"""A real Docker engine that belongs to the tests: its own data, socket, containerd, cgroups and mounts.

    from docker_engine import DockerEngine, docker, docker_engine   # in a conftest.py; `docker` is what tests take

    @pytest.mark.needs("docker-engine")
    def test_...(docker: DockerEngine) -> None:
        docker.run("web", "sleep", "1000", options=["--memory", "16m"])
        docker("exec", "web", "cat", "/etc/hostname").stdout

One engine serves a whole test session (each xdist worker has its own); the containers of a test are removed at its
end. Nothing can be pulled: the one image, `IMAGE`, is a tree of busybox, and more of the host's programs come in
with `--volume /usr:/usr:ro`. There is no bridge: a container has `--network none` unless told `--network host`.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import pytest

IMAGE = "busybox:here"
START_SECONDS = 60.0
COMMAND_SECONDS = 120.0
_BUSYBOX = Path("/bin/busybox")
_CGROUPS = Path("/sys/fs/cgroup")


@dataclass(frozen=True)
class DockerEngine:
    """A running dockerd: call it with the words of a `docker` command line."""

    root: Path

    @property
    def socket(self) -> Path:
        return self.root / "docker.sock"

    @property
    def host(self) -> str:
        """What DOCKER_HOST is for a client of this engine."""
        return f"unix://{self.socket}"

    @property
    def log(self) -> str:
        return (self.root / "log").read_text()

    def __call__(self, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run `docker WORDS…` against this engine; fail with what it said unless it ends well or `check` is off."""
        done = subprocess.run(
            ["docker", *words],
            env={"PATH": os.environ["PATH"], "DOCKER_HOST": self.host, "HOME": str(self.root)},
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=COMMAND_SECONDS,
        )
        assert not check or done.returncode == 0, f"docker {' '.join(words)}: {done.stderr}"
        return done

    def run(self, name: str, *command: str, options: Sequence[str] = ()) -> str:
        """Start a container in the background and return its id."""
        network = () if any(option.startswith("--network") for option in options) else ("--network", "none")
        return self("run", "--detach", "--name", name, *network, *options, IMAGE, *command).stdout.strip()

    def remove_all(self) -> None:
        """Remove every container, running or not."""
        if found := self("ps", "--all", "--quiet").stdout.split():
            self("rm", "--force", "--volumes", *found)


@contextmanager
def running_engine() -> Iterator[DockerEngine]:
    """Run a Docker engine of one's own (part "docker-engine"); afterwards nothing of it is left."""
    root = Path(tempfile.mkdtemp(prefix="ogw-docker-"))  # short: socket paths have at most 107 bytes
    engine = DockerEngine(root)
    argv = [
        # Mounts are its own and go with it; those that tests make later are seen. It ends with the tests.
        *("unshare", "--mount", "--propagation", "slave", "setpriv", "--pdeathsig", "TERM", "dockerd"),
        *("--data-root", f"{root}/data", "--exec-root", f"{root}/run", "--pidfile", f"{root}/pid"),
        *("--host", engine.host, "--storage-driver", "vfs"),
        *("--exec-opt", "native.cgroupdriver=cgroupfs", "--cgroup-parent", f"/{root.name}"),
        *("--iptables=false", "--ip6tables=false", "--bridge=none"),
    ]
    with (root / "log").open("w") as log:
        daemon = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        _wait_until_ready(engine, daemon)
        _import_image(engine)
        yield engine
    finally:
        _end(engine, daemon)


@pytest.fixture(scope="session")
def docker_engine() -> Iterator[DockerEngine]:
    """The engine of this session; take `docker` instead, which tidies up after each test."""
    with running_engine() as engine:
        yield engine


@pytest.fixture
def docker(docker_engine: DockerEngine) -> Iterator[DockerEngine]:
    """The engine, without containers, whose containers are removed at the end of the test."""
    yield docker_engine
    docker_engine.remove_all()


def _wait_until_ready(engine: DockerEngine, daemon: subprocess.Popen[bytes]) -> None:
    give_up = time.monotonic() + START_SECONDS
    while engine("version", check=False).returncode != 0:
        assert daemon.poll() is None and time.monotonic() < give_up, engine.log
        time.sleep(0.05)


def _import_image(engine: DockerEngine) -> None:
    """Make IMAGE: busybox under every name it answers to, and the directories that programs expect."""
    applets = subprocess.run([_BUSYBOX, "--list"], check=True, capture_output=True, text=True).stdout.split()
    packed = engine.root / "image.tar"
    with tarfile.open(packed, "w") as image:
        for name in ("bin", "etc", "tmp", "usr", "lib", "lib64", "var", "root"):
            directory = tarfile.TarInfo(name)
            directory.type, directory.mode = tarfile.DIRTYPE, 0o1777 if name == "tmp" else 0o755
            image.addfile(directory)
        image.add(_BUSYBOX.resolve(), "bin/busybox")
        for applet in applets:
            link = tarfile.TarInfo(f"bin/{applet}")
            link.type, link.linkname = tarfile.SYMTYPE, "busybox"
            if applet != "busybox":
                image.addfile(link)
        passwd = b"root:x:0:0::/root:/bin/sh\n"
        entry = tarfile.TarInfo("etc/passwd")
        entry.size = len(passwd)
        image.addfile(entry, BytesIO(passwd))
    engine("import", str(packed), IMAGE)
    packed.unlink()


def _end(engine: DockerEngine, daemon: subprocess.Popen[bytes]) -> None:
    """Stop containers and engine, then whatever of it still runs, and remove its files and cgroups."""
    with suppress(AssertionError, subprocess.TimeoutExpired):
        engine.remove_all()
    daemon.terminate()
    try:
        daemon.wait(timeout=START_SECONDS)
    except subprocess.TimeoutExpired:
        daemon.kill()
        daemon.wait()
    for pid in _speaking_of(engine.root):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    for mounted in (_CGROUPS, *_CGROUPS.iterdir()):  # cgroup v2 alone, or a hierarchy for each controller
        for group in sorted(mounted.glob(f"{engine.root.name}/**/"), reverse=True):
            with suppress(OSError):
                group.rmdir()
    shutil.rmtree(engine.root, ignore_errors=True)


def _speaking_of(root: Path) -> list[int]:
    """The processes whose command line names `root`: containerd, and the shim of each container."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with suppress(OSError):
                if os.fsencode(root) in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
    return found
