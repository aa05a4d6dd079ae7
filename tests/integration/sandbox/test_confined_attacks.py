"""What the agent plants in its work tree does not run, and what git is talked into stays inside."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from confined_scene import GIT, Scene, build_scene, unconfined_git

from executor.errors import Unavailable
from executor.policy.model import Contact

pytestmark = pytest.mark.needs("landlock", "git")

PLANTED = (
    ("core.fsmonitor", "status"),
    ("filter.evil.clean", "status"),
    ("filter.evil.process", "status"),
    ("diff.evil.textconv", "diff"),
    ("diff.external", "diff"),
)


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return build_scene(tmp_path)


@pytest.fixture
def listener() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def embed_repository(scene: Scene, marker: Path) -> None:
    """Plant a nested repository whose own configuration runs a script, and get it into the index as a gitlink."""
    nested = scene.tree / "nested"
    nested.mkdir()
    unconfined_git(nested, "init", "-q")
    (nested / "inner.txt").write_text("inner\n")
    unconfined_git(nested, "add", ".")
    unconfined_git(nested, "commit", "-q", "-m", "Inner")
    (nested / ".gitattributes").write_text("*.txt filter=evil diff=evil\n")
    for key, _command in PLANTED:
        unconfined_git(nested, "config", key, f"touch {marker}")
    (scene.tree / ".gitmodules").write_text('[submodule "nested"]\n\tpath = nested\n\turl = ./x\n\tignore = none\n')
    scene.git("add", ".", contact=Contact.READ)
    (nested / "inner.txt").write_text("changed\n")


@pytest.mark.parametrize(
    "command",
    [
        ("status",),
        ("status", "--ignore-submodules=none"),
        ("diff", "--ignore-submodules=none"),
        ("diff", "--submodule=diff", "--ignore-submodules=none"),
        ("add", "."),
        ("commit", "-a", "-m", "x"),
        ("describe", "--always", "--dirty"),
        ("stash", "push"),
        ("rm", "-f", "nested"),
    ],
    ids=" ".join,
)
def test_nothing_of_an_embedded_repository_runs(scene: Scene, command: tuple[str, ...]) -> None:
    marker = scene.outside / "ran"
    embed_repository(scene, marker)
    marker.unlink(missing_ok=True)  # planting it by plain git may have run it

    scene.git(*command, contact=Contact.WRITE)

    assert not marker.exists()


def test_the_embedded_repository_runs_where_confinement_is_off(tmp_path: Path) -> None:
    """The attack is real: the test above would fail without the wall."""
    scene = build_scene(tmp_path)
    marker = scene.outside / "ran"
    embed_repository(scene, marker)
    marker.unlink(missing_ok=True)
    environment = {"GIT_DIR": str(scene.git_dir), "GIT_WORK_TREE": str(scene.tree), "PATH": "/usr/bin:/bin"}
    subprocess.run([GIT, "-c", "core.bare=false", "status"], cwd=scene.tree, env=environment, capture_output=True)

    assert marker.exists()


@pytest.mark.parametrize(("key", "command"), PLANTED)
def test_a_program_in_a_deliberately_unsafe_configuration_cannot_be_executed(
    scene: Scene, key: str, command: str
) -> None:
    script = scene.tree / "evil.sh"
    script.write_text(f"#!/bin/sh\ntouch {scene.outside}/ran\ncat\n")
    script.chmod(0o755)
    (scene.tree / ".gitattributes").write_text("*.txt filter=evil diff=evil\n")
    (scene.tree / "file.txt").write_text("two\n")
    for program in (str(script), f"touch {scene.outside}/ran"):
        options = ("--ext-diff", "--textconv") if command == "diff" else ()
        done = scene.git(command, *options, config=[(key, program), ("core.hooksPath", "/dev/null")])
        assert b"cannot exec" in done.stderr, done

    assert not (scene.outside / "ran").exists()


def test_planted_hooks_and_aliases_cannot_be_executed(scene: Scene) -> None:
    hooks = scene.tree / "hooks"
    hooks.mkdir()
    for name in ("pre-commit", "post-checkout", "post-index-change", "reference-transaction"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {scene.outside}/ran\n")
        (hooks / name).chmod(0o755)
    config = [("core.hooksPath", str(hooks)), ("alias.evil", f"!touch {scene.outside}/ran")]
    scene.git("commit", "--allow-empty", "-m", "x", config=config)
    scene.git("checkout", "-b", "other", config=config)

    assert b"cannot exec" in scene.git("evil", config=config).stderr
    assert not (scene.outside / "ran").exists()


@pytest.mark.parametrize(
    "command",
    [
        ("log", "--output={0}/written"),
        ("diff", "--output={0}/written", "HEAD"),
        ("archive", "-o", "{0}/written", "HEAD"),
        ("bundle", "create", "{0}/written", "HEAD"),
        ("init", "{0}/repository"),
        ("worktree", "add", "{0}/written"),
        ("config", "--file", "{0}/written", "a.b", "c"),
    ],
    ids=lambda command: command[0],
)
def test_nothing_is_written_outside(scene: Scene, command: tuple[str, ...]) -> None:
    done = scene.git(*(word.format(scene.outside) for word in command))

    assert done.exit_code != 0
    assert [path.name for path in scene.outside.iterdir()] == ["secret"]


@pytest.mark.parametrize(
    "command",
    [
        ("diff", "--no-index", "/dev/null", "{0}"),
        ("hash-object", "-w", "{0}"),
        ("commit", "--allow-empty", "-F", "{0}"),
        ("blame", "--contents", "{0}", "file.txt"),
        ("config", "--file", "{0}", "--list"),
        ("-c", "include.path={0}", "log"),
        ("grep", "-f", "{0}"),
        ("add", "--pathspec-from-file={0}"),
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_nothing_is_read_outside(scene: Scene, command: tuple[str, ...]) -> None:
    done = scene.git(*(word.format(scene.canary) for word in command))

    assert b"CANARY" not in done.stdout + done.stderr
    assert "CANARY" not in scene.ok("log", "-p", "--all", contact=Contact.NONE)


@pytest.mark.parametrize("contact", list(Contact))
def test_a_connection_to_a_port_that_is_not_granted_is_denied(scene: Scene, listener: int, contact: Contact) -> None:
    done = _ls_remote(scene, listener, contact)

    assert b"ermission denied" in done.stderr or b"not permitted" in done.stderr


def test_a_granted_port_is_reached(scene: Scene, listener: int) -> None:
    profile = scene.profile(Contact.REMOTE, ports=[listener])
    done = _ls_remote(scene, listener, Contact.REMOTE, profile=profile, deadline=0.5)

    assert done.timed_out  # connected, and waits for an answer that never comes


def _ls_remote(scene: Scene, port: int, contact: Contact, **rest: object):  # type: ignore[no-untyped-def]
    return scene.git(
        "ls-remote",
        f"git://127.0.0.1:{port}/x",
        contact=contact,
        config=[("protocol.git.allow", "always")],
        GIT_ALLOW_PROTOCOL="git",
        **rest,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize("name", [".gitattributes", ".gitignore", ".mailmap", "file.txt"])
def test_a_fifo_in_the_work_tree_does_not_hang_what_has_no_work_tree(scene: Scene, name: str) -> None:
    (scene.tree / name).unlink(missing_ok=True)
    os.mkfifo(scene.tree / name)
    for command in (
        ("log", "-p"),
        ("shortlog", "HEAD"),
        ("show", "HEAD"),
        ("branch", "-v"),
        ("diff", "HEAD", "HEAD"),
    ):
        scene.ok(*command, contact=Contact.NONE, deadline=20)


def test_a_fifo_in_the_work_tree_costs_a_reader_no_more_than_its_deadline(scene: Scene) -> None:
    os.mkfifo(scene.tree / ".gitattributes")
    (scene.tree / "file.txt").write_text("two\n")

    assert scene.git("diff", contact=Contact.READ, deadline=0.5).timed_out
    (scene.tree / ".gitattributes").unlink()
    scene.ok("diff", contact=Contact.READ)


def test_code_that_the_loader_is_talked_into_starts_inside_the_same_walls(scene: Scene) -> None:
    """The loader must be executable for git to start, so it can be made to run a file of the work tree."""
    folder = scene.tree / "bin"
    folder.mkdir()
    shutil.copy("/bin/cat", folder / "program")
    (folder / "program").chmod(0o644)
    loader = str(scene.runner.confinement.system.loader)
    run = {"env": {}, "cwd": scene.tree, "profile": scene.profile(Contact.READ), "deadline": 20.0}

    own = scene.runner.run((loader, "bin/program", "file.txt"), **run)  # type: ignore[arg-type]
    foreign = scene.runner.run((loader, "bin/program", str(scene.canary)), **run)  # type: ignore[arg-type]

    assert own.stdout == b"one\n"  # it does run: a noexec mount of the shared directory is what stops it
    assert foreign.stdout == b"" and b"ermission denied" in foreign.stderr
    with pytest.raises(Unavailable):
        scene.runner.run((str(folder / "program"), "file.txt"), **run)  # type: ignore[arg-type]
