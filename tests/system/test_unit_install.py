"""deploy/install.sh, in a machine that has nothing of ours: installed, upgraded, taken away and installed again."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from booted_host import PROJECT, UNIT, BootedHost, booted_host
from repos import work_tree

SCRIPT = PROJECT / "deploy" / "install.sh"
SETUPTOOLS = "setuptools>=77"  # what building from the clone needs
DEVELOPER = 1000  # whose clone it was
NOBODYS = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What pip finds in the machine, which reaches no package index."""
    place = tmp_path_factory.mktemp("wheels")
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    ask = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--only-binary=:all:"]
    ask += ["--dest", str(place), "--python-version", systems_python(), SETUPTOOLS, *project["dependencies"]]
    done = subprocess.run(ask, capture_output=True, text=True, timeout=170)
    if done.returncode != 0:
        pytest.skip(f"needs a package index that pip reaches: {done.stderr.strip()[-300:]}")
    place.chmod(0o755)
    return place


def systems_python() -> str:
    """The version of /usr/bin/python3, which the machine has too."""
    ask = ["/usr/bin/python3", "-c", "import sys; print('.'.join(map(str, sys.version_info[:2])))"]
    return subprocess.run(ask, capture_output=True, text=True, check=True).stdout.strip()


def installing(machine: BootedHost, *words: str) -> str:
    """Run the script in the machine; it must succeed."""
    offline = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "/opt/wheels", "PIP_NO_CACHE_DIR": "1"}
    return machine.run("sh", "/opt/project/deploy/install.sh", *words, env=offline)


def served(machine: BootedHost, flag: str) -> str:
    """Raise a flag `OP.ID.flag` and return how it ended."""
    machine.raise_flag(flag)
    return str(machine.in_state(flag.split(".")[1], "succeeded", "failed", "refused")["state"])


def written_by_git(machine: BootedHost) -> Path:
    """A file that the gateway's own git wrote in the work tree."""
    (machine.tree / "file.txt").unlink()
    machine.raise_flag("git_cmd.bring-back.flag", "git checkout -- file.txt")
    machine.in_state("bring-back", "awaiting_approval")
    machine.run("ops-gateway", "approve", "bring-back")
    machine.in_state("bring-back", "succeeded")
    return machine.tree / "file.txt"


@pytest.mark.slow
@pytest.mark.needs("git", "landlock", "systemd-nspawn")
@pytest.mark.timeout(600)
def test_a_machine_serves_after_the_steps_that_the_script_names_and_keeps_all_through_upgrade_and_reinstallation(
    tmp_path: Path, wheels: Path
) -> None:
    """Shared directory and work tree lie in a home, where the service sees nothing else."""
    with booted_host(tmp_path, f"{wheels}:/opt/wheels") as machine:
        work_tree(machine.tree)
        subprocess.run(["chown", "-R", f"{DEVELOPER}:{DEVELOPER}", str(machine.tree)], check=True)
        machine.write("/home/agent/.profile", "")
        machine.run("mount", "--bind", "--mkdir", "/srv/agent", "/home/agent/code")
        machine.write("/home/somebody/secret", "x")
        work_tree(machine.srv / "agent" / "blog")
        place = "/home/agent/code"
        directories = ("--shared", f"{place}/shared", "--work-tree", f"{place}/shop", "--work-tree", f"{place}/blog")

        plan = installing(machine, "--dry-run", *directories)
        assert "make the account ops-gateway" in plan
        assert not machine.path("/opt/ops-gateway").exists()
        assert machine.attempt("getent", "passwd", "ops-gateway").returncode != 0

        steps = installing(machine, "--yes", *directories)
        for named in (
            "ops-gateway init",
            "ops-gateway adopt",
            "ops-gateway doctor",
            "systemctl enable --now ops-gateway",
        ):
            assert named in steps
        assert "cannot" not in steps
        machine.write("/etc/ops-gateway/credentials/SSH_KEY.pub", "ssh-ed25519 AAAA\n")  # no setting
        told = machine.attempt("ops-gateway", "init", "--non-interactive", "--yes", "--no-telegram").stdout
        assert "shop/local.git" in told
        assert "FAIL" not in told, told
        assert "knows these settings and directories: systemctl enable --now" in told
        assert "Paths=" not in told, "the drop-in is the script's business"
        assert "sudo" not in told, "root reads it, and Debian has no sudo"
        assert "unit's watchdog" not in told
        machine.run("ops-gateway", "adopt", "blog", "--yes")
        machine.run("systemctl", "enable", "ops-gateway")
        first = machine.start()
        assert machine.shows("StatusText") == "serving shop, blog"
        assert served(machine, "git_status.one.flag") == "succeeded"
        assert served(machine, "git_status@blog.other.flag") == "succeeded"
        assert written_by_git(machine).stat().st_mode & 0o060 == 0o060  # for the agent to edit
        assert machine.run("nsenter", "-t", str(first), "-m", "ls", "/home") == "agent\n"
        program = machine.path("/opt/ops-gateway/venv").readlink()

        installing(machine, "--yes")
        assert machine.path("/opt/ops-gateway/venv").readlink() != program
        machine.wait_for("ActiveState", "active")
        assert machine.shows("MainPID") != str(first)
        assert served(machine, "git_status.two.flag") == "succeeded"
        assert "nothing" not in installing(machine, "--dry-run")

        said = installing(machine, "--uninstall", "--yes")
        assert "/var/lib/ops-gateway" in said
        units = (f"/etc/systemd/system/{UNIT}", f"/etc/systemd/system/{UNIT}.d")
        for gone in ("/opt/ops-gateway", "/usr/local/bin/ops-gateway", *units):
            assert not machine.path(gone).exists()
        assert installing(machine, "--uninstall", "--yes").split("\n")[1].strip() == "nothing"
        assert machine.run("git", "-c", "safe.directory=*", "-C", "/home/agent/code/shop", "log", "-1", "--format=%s")

        installing(machine, "--yes", *directories)
        machine.start()
        assert served(machine, "git_status.three.flag") == "succeeded"
        assert "request.succeeded" in machine.run("ops-gateway", "why", "one")


@pytest.mark.needs("systemd-nspawn")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--shared", "shared"), "not a plain absolute path: shared"),
        (("--shared", "/srv/with space"), "not a plain absolute path"),
        (("--shared", "/srv/../etc"), "not a plain absolute path"),
        (("--shared", "/"), "not a plain absolute path"),
        (("--shared", "/etc"), "/etc is not empty, and no gateway has served it"),
        (("--work-tree", "/etc"), "/etc is no work tree of git"),
        (("--source", "/etc"), "/etc is neither a clone nor a wheel"),
        (("--group",), "--group needs a value"),
        (("--shared=/srv",), "usage: install.sh"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_anything_is_shown(words: tuple[str, ...], said: str) -> None:
    done = subprocess.run(
        ["sh", str(SCRIPT), "--dry-run", *words], env=NOBODYS, capture_output=True, text=True, timeout=60
    )
    assert done.returncode != 0
    assert said in done.stderr
    assert "This would be done" not in done.stdout


@pytest.mark.needs("systemd-nspawn")
def test_a_no_changes_nothing(tmp_path: Path) -> None:
    with booted_host(tmp_path) as machine:
        machine.run("install", "-d", "/srv/shop/.git")
        done = machine.attempt("sh", "/opt/project/deploy/install.sh", "--work-tree", "/srv/shop")
        assert done.returncode == 1
        assert "Nothing was done." in done.stdout
        assert not machine.path("/etc/ops-gateway").exists()


@pytest.mark.needs("shellcheck")
def test_shellcheck_has_nothing_to_say_about_the_script() -> None:
    found = subprocess.run(["shellcheck", str(SCRIPT)], capture_output=True, text=True, timeout=60)
    assert (found.returncode, found.stdout) == (0, "")
