"""deploy/docker-compose.yml on a real engine: the whole protocol works from inside, and nothing of the host is there.

The agent is tried as its own user and as the container's root; the gateway runs as a third user, with the umask of
the systemd unit. Python and git come into the container with the host's /usr, which an agent's own image would hold.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from compose_service import ComposeError, docker_run, interpolated
from docker_engine import IMAGE, DockerEngine, running_engine
from repos import plain_git
from served_host import ServedHost, served_host

pytestmark = pytest.mark.needs("git", "landlock", "http-backend", "docker-engine", "unprivileged-user", "acl")

ROOT = Path(__file__).resolve().parents[2]
COMPOSE = ROOT / "deploy" / "docker-compose.yml"
KIT = ROOT / "deploy" / "agent"
GATEWAY, AGENT, GROUP = 4242, 4343, 4344  # uid, uid, gid
PROGRAMS = {"/usr": "/usr", "/usr/lib": "/lib", "/usr/lib64": "/lib64"}
HOSTOPS = "/opt/hostops/hostops.py"


@dataclass(frozen=True)
class Container:
    """A running container of the compose file's agent, and the host that it belongs to."""

    host: ServedHost
    engine: DockerEngine
    name: str
    uid: int

    def __call__(self, line: str) -> subprocess.CompletedProcess[str]:
        """Run a line of shell in it."""
        return self.engine("exec", self.name, "sh", "-uc", line, check=False)

    def ok(self, line: str) -> str:
        done = self(line)
        assert done.returncode == 0, f"{line}: {done.stdout}{done.stderr}"
        return done.stdout

    def python(self, program: str) -> Any:
        """Run a program that prints JSON in it, and return what that says."""
        return json.loads(self.engine("exec", self.name, "python3", "-c", program).stdout)


def local_git(host: ServedHost) -> Path:
    return host.state / "repos" / "shop" / "local.git"


def head(host: ServedHost) -> str:
    """The commit that is checked out, asked by root on the host, who owns nothing there."""
    return plain_git(host.tree(), "-c", "safe.directory=*", "rev-parse", "HEAD")


def variables(host: ServedHost, uid: int) -> dict[str, str]:
    places = {"SHARED_DIR": host.shared, "REPO_DIR": host.tree(), "GIT_DIR": local_git(host), "AGENT_KIT_DIR": KIT}
    user = {"AGENT_UID": str(uid), "AGENT_GID": str(GROUP)}
    return {"AGENT_IMAGE": IMAGE, **user, **{name: str(place) for name, place in places.items()}}


def let_in(host: ServedHost) -> None:
    """Give the group what docs/agent.md gives it."""
    for words in (
        ["chgrp", "-R", str(GROUP), host.shared, host.tree()],
        ["chmod", "2770", host.shared],
        ["chmod", "-R", "g+rwX", host.tree()],
        ["find", host.tree(), "-type", "d", "-exec", "chmod", "g+s", "{}", "+"],
        ["setfacl", "-R", "-m", f"g:{GROUP}:rX", "-m", f"d:g:{GROUP}:rX", local_git(host)],
    ):
        subprocess.run([str(word) for word in words], check=True)


@pytest.fixture(scope="module")
def host() -> Iterator[ServedHost]:
    """A host whose gateway asks before it pushes, and keeps what it makes from everybody else."""
    before = os.umask(0o007)
    root = Path(tempfile.mkdtemp(prefix="ogw-agent-"))
    root.chmod(0o711)  # others pass through to what is theirs, as below /srv and /var/lib
    try:
        with served_host(root, account=GATEWAY) as host:
            let_in(host)
            with host.running(GATEWAY_APPROVE="git_push") as gateway:
                yield host
                assert "Traceback" not in gateway.log
    finally:
        os.umask(before)
        shutil.rmtree(root)


@pytest.fixture(scope="module")
def engine() -> Iterator[DockerEngine]:
    with running_engine() as engine:
        yield engine


@pytest.fixture(scope="module", params=[AGENT, 0], ids=["as the agent", "as root"])
def inside(request: pytest.FixtureRequest, host: ServedHost, engine: DockerEngine) -> Iterator[Container]:
    programs = [
        word
        for source, target in PROGRAMS.items()
        for word in ("--mount", f"type=bind,source={source},target={target},readonly")
    ]
    engine(*docker_run(COMPOSE, "agent", variables(host, request.param), programs))
    yield Container(host, engine, "ops-gateway-agent-agent", request.param)
    engine.remove_all()


# --- the whole protocol works


def test_a_whole_change_goes_from_edit_to_push_with_an_operator_outside(inside: Container) -> None:
    host, own = inside.host, f"push-{inside.uid}"
    inside.ok(f"echo new > made-by-{inside.uid}.txt")
    assert f"made-by-{inside.uid}.txt" in inside.ok(f"{HOSTOPS} request git_status --wait 120")
    inside.ok(f"{HOSTOPS} request git_add made-by-{inside.uid}.txt --wait 120")
    inside.ok(f"{HOSTOPS} request git_commit 'Made in a container by {inside.uid}' --wait 120")

    def decide() -> None:
        host.in_state(own, "awaiting_approval")
        host.ok("approve", own)

    operator = threading.Thread(target=decide)
    operator.start()
    pushed = inside.ok(f"{HOSTOPS} request git_push main --reason 'it is tested' --id {own} --wait 120")
    operator.join()

    assert "effect=True" in pushed
    assert plain_git(host.bare(), "log", "-1", "--format=%s", "main") == f"Made in a container by {inside.uid}"


def test_a_denial_reaches_the_agent_with_its_reason_and_an_exit_code_of_its_own(inside: Container) -> None:
    own = f"denied-{inside.uid}"
    inside(f"{HOSTOPS} request git_push main --id {own}")
    inside.host.in_state(own, "awaiting_approval")
    inside.host.ok("deny", own, "--reason", "not on a Friday")

    denied = inside(f"{HOSTOPS} wait {own}")
    assert denied.returncode == 4
    assert "not on a Friday" in denied.stdout


def test_what_was_asked_is_explained_and_taken_back(inside: Container) -> None:
    own = f"back-{inside.uid}"
    assert "operators would be asked" in inside.ok(f"{HOSTOPS} explain git_push main")
    inside(f"{HOSTOPS} request git_push main --id {own}")
    inside.host.in_state(own, "awaiting_approval")

    assert inside(f"{HOSTOPS} cancel {own}").returncode == 9
    assert "git_push: approval" in inside.ok(f"{HOSTOPS} capabilities")


def test_flags_of_the_ancestor_are_answered(inside: Container) -> None:
    inside.ok("echo 'git log -1' > /shared/git_cmd.flag")

    inside.host.taken("git_cmd.flag")
    answer = "import json, time\nfrom pathlib import Path\nold = Path('/shared/results/git_cmd.json')\n"
    answer += "end = time.monotonic() + 60\n"
    answer += "while time.monotonic() < end and (not old.exists() or 'succeeded' not in old.read_text()):\n"
    answer += "    time.sleep(0.05)\nprint(old.read_text())"
    assert inside.python(answer)["state"] == "succeeded"


def test_the_agents_own_git_reads_the_repository_and_what_the_gateway_wrote_last(inside: Container) -> None:
    inside.ok(f"echo staged > staged-by-{inside.uid}.txt && {HOSTOPS} request git_add . --wait 120")

    assert f"staged-by-{inside.uid}.txt" in inside.ok("git diff --cached --name-only")
    assert inside.ok("git log -1 --format=%H").strip() == head(inside.host)
    assert "On branch main" in inside.ok("git status")
    inside.ok("git show --stat HEAD && git fsck --no-dangling")


# --- nothing of the host is reachable


def test_there_is_no_network_but_the_containers_own_loopback(inside: Container) -> None:
    assert inside.python("import json, socket; print(json.dumps(socket.if_nameindex()))") == [[1, "lo"]]
    connect = f"import socket; socket.create_connection(('127.0.0.1', {inside.host.remote.port}), 5)"
    assert "refused" in inside(f'python3 -c "{connect}"').stderr


@pytest.mark.parametrize(
    "line",
    [
        "touch $GIT_DIR/planted",
        "echo x > $GIT_DIR/HEAD",
        "rm -f $GIT_DIR/config",
        "mv $GIT_DIR/hooks $GIT_DIR/hooks.away",
        "chmod 0777 $GIT_DIR",
        "chown 0 $GIT_DIR",
        "mount -o remount,rw $GIT_DIR",
        "umount $GIT_DIR",
        "git commit --allow-empty -m planted",
        "git config core.fsmonitor /tmp/evil",
        "echo x > /opt/hostops/hostops.py",
    ],
)
def test_what_is_mounted_read_only_stays_as_it_is(inside: Container, line: str) -> None:
    before = head(inside.host)
    tried = inside(line.replace("$GIT_DIR", str(local_git(inside.host))))

    assert tried.returncode != 0
    assert head(inside.host) == before


def test_no_more_of_the_host_is_mounted_than_the_file_says(inside: Container) -> None:
    found = {line.split()[4] for line in inside.ok("cat /proc/self/mountinfo").splitlines()}
    host = inside.host
    ours = {"/shared", "/opt/hostops", str(host.tree()), str(local_git(host)), *PROGRAMS.values()}
    temporary = {"/", "/tmp", "/home/agent"}
    named = {"/etc/hosts", "/etc/hostname", "/etc/resolv.conf", "/sbin/docker-init", "/dev/init"}
    systems = {place for place in found if place.startswith(("/proc", "/sys", "/dev"))}

    assert found - temporary - named - systems == ours
    assert not any("sock" in place for place in found)


def test_of_the_state_directory_only_the_git_directory_can_be_seen(inside: Container) -> None:
    state = inside.host.state
    seen = "import json, os\nprint(json.dumps([os.path.join(place, name)"
    seen += f" for place, dirs, files in os.walk({str(state)!r}) for name in dirs + files]))"
    outside = [path for path in inside.python(seen) if not f"{path}/".startswith(f"{local_git(inside.host)}/")]

    assert sorted(outside) == [str(state / "repos"), str(state / "repos" / "shop")]


def test_no_process_of_the_host_can_be_seen_or_signalled(inside: Container) -> None:
    program = "import json, os\nprint(json.dumps([open(f'/proc/{pid}/cmdline').read().replace(chr(0), ' ')"
    program += " for pid in os.listdir('/proc') if pid.isdigit()]))"
    seen = inside.python(program)

    assert len(seen) < 10
    assert not any("gateway run" in line or "dockerd" in line for line in seen)
    assert inside(f"kill -0 {os.getpid()}").returncode != 0


def test_nothing_that_makes_root_powerful_is_left(inside: Container) -> None:
    lines = [line.split(":") for line in inside.ok("cat /proc/self/status").splitlines()]
    status = {name: value.strip() for name, value in (line[:2] for line in lines)}

    assert int(status["CapEff"], 16) == int(status["CapBnd"], 16) == 0
    assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")
    assert inside("touch /bin/planted /etc/planted").returncode != 0
    assert inside("mknod /tmp/disk b 8 0").returncode != 0
    assert inside("chroot / true").returncode != 0


def test_processes_and_memory_have_a_limit(inside: Container) -> None:
    [found] = json.loads(inside.engine("inspect", inside.name).stdout)

    assert found["HostConfig"]["PidsLimit"] == 512
    assert found["HostConfig"]["Memory"] == found["HostConfig"]["MemorySwap"] == 4 * 2**30
    assert found["HostConfig"]["Privileged"] is False


# --- the file and what reads it


def test_a_value_that_is_missing_is_named_before_anything_starts(tmp_path: Path) -> None:
    with pytest.raises(ComposeError, match="GIT_DIR: the adopted git directory"):
        interpolated("${GIT_DIR:?the adopted git directory}", {"GIT_DIR": ""})


@pytest.mark.parametrize("more", ["    privileged: true\n", "    pid: host\n", "    volumes_from: [other]\n"])
def test_a_key_that_the_test_would_not_start_the_container_with_fails_it(tmp_path: Path, more: str) -> None:
    changed = tmp_path / "docker-compose.yml"
    changed.write_text(COMPOSE.read_text().replace("    init: true\n", f"    init: true\n{more}"))
    values = dict.fromkeys(
        ("AGENT_IMAGE", "AGENT_UID", "AGENT_GID", "SHARED_DIR", "REPO_DIR", "GIT_DIR", "AGENT_KIT_DIR"), "x"
    )
    with pytest.raises(ComposeError, match=more.split(":")[0].strip()):
        docker_run(changed, "agent", values)
