"""The work tree changes under git's hands: no check wins that race (nearly every try loses it), the kernel does."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest
from confined_scene import GIT, Scene, agent, build_scene

from executor.policy.model import Contact
from executor.sandbox.confinement import Support

pytestmark = pytest.mark.needs("landlock", "git")

FILES = 800
ATTEMPTS = 3

# Wait for the directory to appear, put a link to the outside in its place, begin again.
SWAP = """
import os, sys
tree, outside = sys.argv[1:]
print("ready", flush=True)
number = 0
while True:
    try:
        if len(os.listdir(f"{tree}/payload")) > 5 and not os.path.islink(f"{tree}/payload"):
            os.rename(f"{tree}/payload", f"{tree}/aside{number}")
            os.symlink(outside, f"{tree}/payload")
            number += 1
    except OSError:
        pass
"""

# Exchange a plain file and a link to the secret, as fast as it goes.
FLIP = """
import ctypes, os, sys
tree, secret = sys.argv[1:]
libc = ctypes.CDLL(None)
os.symlink(secret, f"{tree}/link")
first, second = f"{tree}/flip".encode(), f"{tree}/link".encode()
print("ready", flush=True)
while True:
    libc.renameat2(-100, first, -100, second, 2)
"""


def with_payload(scene: Scene) -> Scene:
    """Commit a large directory on a branch of its own, and leave it."""
    scene.ok("checkout", "-q", "-b", "evil")
    (scene.tree / "payload").mkdir()
    for number in range(FILES):
        (scene.tree / f"payload/authorized_keys{number}").write_text(f"ssh-ed25519 evil {number}\n")
    scene.ok("add", ".", contact=Contact.READ)
    scene.ok("commit", "-q", "-m", "Payload")
    scene.ok("checkout", "-q", "main")
    return scene


def a_checkout_escapes(scene: Scene) -> bool:
    """Return whether one of a few checkouts wrote something outside the work tree."""
    for _ in range(ATTEMPTS):
        attacker = agent(SWAP, scene.tree, scene.outside)
        try:
            scene.git("checkout", "-q", "-f", "evil", deadline=60)
        finally:
            attacker.kill()
            attacker.communicate()
        if [path.name for path in scene.outside.iterdir()] != ["secret"]:
            return True
        if (scene.tree / "payload").is_symlink():
            (scene.tree / "payload").unlink()
        scene.git("checkout", "-q", "-f", "main", deadline=60)
    return False


def test_a_checkout_into_a_directory_that_becomes_a_link_writes_nothing_outside(tmp_path: Path) -> None:
    assert not a_checkout_escapes(with_payload(build_scene(tmp_path)))


def test_the_same_checkout_escapes_where_confinement_is_off(tmp_path: Path) -> None:
    scene = with_payload(build_scene(tmp_path, support=Support(0, False, "switched off by the test"), unsafe=True))

    assert a_checkout_escapes(scene)


def test_adding_a_file_that_flips_to_a_link_stores_no_secret(tmp_path: Path) -> None:
    scene = build_scene(tmp_path)
    (scene.tree / "flip").write_text("innocent, as long\n")
    assert len("innocent, as long\n") == scene.canary.stat().st_size
    attacker = agent(FLIP, scene.tree, scene.canary)
    try:
        give_up = time.monotonic() + 3
        tries = 0
        while time.monotonic() < give_up:
            scene.git("add", "flip", contact=Contact.READ)
            tries += 1
    finally:
        attacker.kill()
        attacker.communicate()

    assert tries > 50
    secret = subprocess.run([GIT, "hash-object", scene.canary], capture_output=True, text=True, check=True).stdout
    assert scene.git("cat-file", "-e", secret.strip(), contact=Contact.NONE).exit_code != 0
