"""A git directory that was prepared against the host is refused by name, or loses what was planted.

Whatever was planted: the host's files are unchanged, nothing of them is in the adopted repository, nothing ran.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from adoption_scene import Scene, build_scene
from remotes import silent_listener
from repos import plain_git

from executor.errors import Refused
from executor.git.repository import RemoteAccess, open_repository
from executor.policy.model import Contact

EVIL = """printf '#!/bin/sh\\ntouch "%s/pwned"\\n' "$CANARY" > evil.sh; chmod +x evil.sh; """
HOOKS = (
    "pre-commit", "commit-msg", "prepare-commit-msg", "post-commit", "post-index-change", "pre-push",
    "post-checkout", "post-merge", "post-rewrite", "pre-rebase", "reference-transaction", "pre-auto-gc",
    "fsmonitor-watchman", "post-update",
)  # fmt: skip
CONFIG = [
    'core.fsmonitor "$WORK/evil.sh"',
    'core.hooksPath "$WORK/h"',
    'core.sshCommand "$WORK/evil.sh"',
    'core.editor "$WORK/evil.sh"',
    'core.pager "$WORK/evil.sh"',
    'core.gitProxy "$WORK/evil.sh"',
    'core.worktree "$CANARY"',
    'core.excludesFile "$CANARY/secret.txt"',
    'core.attributesFile "$CANARY/secret.txt"',
    'core.alternateRefsCommand "$WORK/evil.sh"',
    'include.path "$WORK/inc"',
    'includeIf.gitdir:/.path "$WORK/inc"',
    'filter.x.process "$WORK/evil.sh"',
    'filter.x.clean "$WORK/evil.sh"',
    'filter.x.smudge "$WORK/evil.sh"',
    'diff.x.command "$WORK/evil.sh"',
    'diff.x.textconv "$WORK/evil.sh"',
    'diff.external "$WORK/evil.sh"',
    'merge.x.driver "$WORK/evil.sh"',
    'gpg.program "$WORK/evil.sh"',
    "commit.gpgSign true",
    "log.showSignature true",
    'alias.st "!$WORK/evil.sh"',
    'credential.helper "!$WORK/evil.sh"',
    'remote.origin.uploadpack "$WORK/evil.sh"',
    'remote.origin.receivepack "$WORK/evil.sh"',
    'remote.origin.pushurl "ext::sh -c touch% $CANARY/pwned"',
    'remote.origin.vcs "$WORK/evil.sh"',
    "url.git://127.0.0.1:1/.insteadOf file:///",
    "url.git://127.0.0.1:1/.pushInsteadOf file:///",
    "protocol.ext.allow always",
    'hook.x.command "$WORK/evil.sh"',
    'uploadpack.packObjectsHook "$WORK/evil.sh"',
    'mailmap.file "$CANARY/secret.txt"',
    'commit.template "$CANARY/secret.txt"',
]


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return build_scene(tmp_path)


def exercise(scene: Scene) -> None:
    """Do with the adopted repository what would set off whatever was carried over."""
    git = open_repository(scene.paths, scene.runner, RemoteAccess(allow_local_remote=True))
    for words, contact in (
        (["status"], Contact.READ),
        (["add", "-u"], Contact.READ),
        (["diff", "HEAD"], Contact.READ),
        (["log", "-1", "-p", "--all"], Contact.NONE),
        (["commit", "-q", "-m", "after"], Contact.READ),
        (["branch", "zz"], Contact.NONE),
        (["checkout", "-q", "zz"], Contact.WRITE),
        (["merge", "-q", "feature/login"], Contact.WRITE),
    ):
        git.local(words, contact=contact, check=False)
    plain_git(scene.tree, "status")
    plain_git(scene.tree, "log", "-p", "--all")
    plain_git(scene.tree, "commit", "-q", "--allow-empty", "-m", "by a person")


def hold(scene: Scene, canary: str) -> None:
    assert scene.canary_digest() == canary
    assert scene.leaks() == []
    assert scene.leftovers() == []


def test_c15_planted_settings_are_left_out_and_named(scene: Scene) -> None:
    scene.script(EVIL + 'printf "[core]\\nfsmonitor = $WORK/evil.sh\\n" > inc; mkdir h; cp evil.sh h/pre-commit')
    scene.script("echo '* filter=x diff=x merge=x' > .gitattributes")
    canary = scene.canary_digest()
    scene.script("".join(f"git config --file .git/config {setting}\n" for setting in CONFIG))

    scene.adopt()
    exercise(scene)

    hold(scene, canary)
    left_out = (scene.paths.root / "adoption" / "1" / "left-out.txt").read_text().lower()
    assert [s for s in CONFIG if f"config {s.split(' ')[0].lower()}" not in left_out] == []
    listed = scene.plain("config", "--list", "--local")
    assert "evil.sh" not in listed
    assert str(scene.canary) not in listed


def test_c15_planted_hooks_are_left_out_whatever_their_names(scene: Scene) -> None:
    canary = scene.canary_digest()
    for name in HOOKS:
        hook = scene.git_dir / "hooks" / name
        hook.write_text(f"#!/bin/sh\ntouch {scene.canary}/pwned\n")
        hook.chmod(0o755)

    report = scene.adopt()
    exercise(scene)

    hold(scene, canary)
    assert report.left_behind is None


REFUSED = [
    ('rm .git/HEAD; ln -s "$CANARY/secret.txt" .git/HEAD', "git_dir_special"),
    ("rm .git/HEAD; mkfifo .git/HEAD", "git_dir_special"),
    ("rm .git/config; mkfifo .git/config", "git_dir_special"),
    ("rm .git/index; mkfifo .git/index", "git_dir_special"),
    ('rm .git/packed-refs; ln -s "$CANARY/secret.txt" .git/packed-refs', "git_dir_special"),
    ('ln -s "$CANARY/secret.txt" .git/shallow', "git_dir_special"),
    ('mv .git/objects "$CANARY/../o2"; ln -s "$CANARY/../o2" .git/objects', "git_dir_special"),
    ('mv .git/refs/heads "$CANARY/../rh"; ln -s "$CANARY/../rh" .git/refs/heads', "git_dir_special"),
    ('rm .git/refs/heads/main; ln -s "$CANARY/secret.txt" .git/refs/heads/main', "git_dir_special"),
    ("mkfifo .git/refs/heads/pipe", "git_dir_special"),
    ('rm .git/HEAD; ln "$CANARY/secret.txt" .git/HEAD', "no_head"),
    ("echo 'ref: ../../canary/secret.txt' > .git/HEAD", "no_head"),
    ('rm -rf .git; echo "gitdir: $CANARY/otherrepo/.git" > .git', "git_dir_elsewhere"),
    ('rm -rf .git; ln -s "$CANARY/otherrepo/.git" .git', "git_dir_elsewhere"),
    ("mkfifo pipe; mv .git ../old; mv pipe .git", "git_dir_elsewhere"),
    ("git config core.worktree \"$WORK\"; mv .git/* .; rm -rf .git", "not_a_repository"),
    ('echo "$CANARY/otherrepo/.git/objects" > .git/objects/info/alternates; '
     'cp "$CANARY/otherrepo/.git/refs/heads/main" .git/refs/heads/stolen', "git_dir_damaged"),
    ('rm .git/objects/??/*; echo "$CANARY/otherrepo/.git" > .git/commondir', "git_dir_damaged"),
    ('rm .git/index; ln "$CANARY/secret.txt" .git/index', "index_unreadable"),
    ("mkdir .git/rebase-merge; echo 'exec touch $CANARY/pwned' > .git/rebase-merge/git-rebase-todo", "in_progress"),
]  # fmt: skip


@pytest.mark.parametrize(("harm", "code"), REFUSED)
def test_a_tampered_essential_part_is_refused_by_name(scene: Scene, harm: str, code: str) -> None:
    canary = scene.canary_digest()
    scene.script(harm)

    with pytest.raises(Refused) as caught:
        scene.adopt()

    assert caught.value.code == code
    hold(scene, canary)


DROPPED = [
    ('echo "$CANARY/otherrepo/.git" > .git/commondir', "commondir"),
    ('echo "$CANARY/otherrepo/.git/objects" > .git/objects/info/alternates', "objects/info/alternates"),
    ('mkdir -p .git/info; ln -s "$CANARY/secret.txt" .git/info/grafts', "info/grafts"),
    ("mkdir -p .git/info; rm -f .git/info/exclude; mkfifo .git/info/exclude", "info/exclude"),
    ('mkdir -p .git/info; rm -f .git/info/exclude; ln "$CANARY/secret.txt" .git/info/exclude', "info/exclude"),
    ('mkdir -p .git/info; ln -sf "$CANARY/secret.txt" .git/info/exclude', "info/exclude"),
    ('ln -sf "$CANARY/victim.txt" .git/FETCH_HEAD', "FETCH_HEAD"),
    ('ln -sf "$CANARY/victim.txt" .git/COMMIT_EDITMSG', "COMMIT_EDITMSG"),
    ('ln -sf "$CANARY/victim.txt" .git/logs/HEAD', "logs/HEAD"),
    ('rm .git/logs/HEAD; ln "$CANARY/secret.txt" .git/logs/HEAD', "logs/HEAD"),
    ('ln "$CANARY/secret.txt" .git/refs/heads/leak', "refs/heads/leak"),
    ('rm .git/packed-refs; ln "$CANARY/secret.txt" .git/packed-refs', "packed-refs"),
    ('rm -rf .git/hooks; ln -s "$CANARY" .git/hooks', "hooks"),
    ("echo '*.md merge=x' > .git/info/attributes", "info/attributes"),
    ('mkdir -p .git/modules/x; echo x > .git/modules/x/config', "modules/x/config"),
    ('echo junk > .git/hooks/pre-commit', "hooks/pre-commit"),
    ("git update-ref refs/replace/$(git rev-parse HEAD) HEAD~1", "refs/replace/"),
    ("git update-ref refs/rescue/r2/record HEAD", "refs/rescue/r2/record"),
    ("git update-ref refs/rescue/r2/record HEAD; git pack-refs --all", "refs/rescue/r2/record"),
    ("git update-ref refs/gateway/incoming HEAD", "refs/gateway/incoming"),
    ("git symbolic-ref refs/remotes/origin/zz refs/heads/main", "refs/remotes/origin/zz"),
    ("git symbolic-ref refs/remotes/origin/HEAD refs/heads/main", "refs/remotes/origin/HEAD"),
    ("git symbolic-ref refs/heads/alias refs/heads/main", "refs/heads/alias"),
]  # fmt: skip


@pytest.mark.parametrize(("harm", "named"), DROPPED)
def test_a_planted_file_that_nobody_needs_is_left_out_and_named(scene: Scene, harm: str, named: str) -> None:
    scene.plain("branch", "-D", "-q", "feature/login") if "packed-refs" in harm else None
    scene.plain("stash", "clear") if "packed-refs" in harm else None
    canary = scene.canary_digest()
    scene.script(harm)

    scene.adopt()
    exercise(scene)

    hold(scene, canary)
    assert named in (scene.paths.root / "adoption" / "1" / "left-out.txt").read_text()


def test_neither_side_has_an_alias_or_a_rescue_that_the_agent_planted(scene: Scene) -> None:
    scene.script(
        "git symbolic-ref refs/remotes/origin/zz refs/heads/main; git update-ref refs/rescue/r2/record HEAD;"
        " git pack-refs --all; git update-ref refs/rescue/r3/record HEAD"
    )

    scene.adopt()

    for git_dir in (scene.paths.local, scene.paths.transfer):
        there = plain_git(git_dir, "for-each-ref", "--format=%(refname)").splitlines()
        assert not [name for name in there if name.startswith("refs/rescue/") or name.endswith("/zz")]


def test_a_packs_index_that_lies_is_not_believed(scene: Scene) -> None:
    (index,) = (scene.git_dir / "objects" / "pack").glob("*.idx")
    index.chmod(0o600)
    content = bytearray(index.read_bytes())
    content[-60:-20] = bytes(40)
    index.write_bytes(content)

    scene.adopt()

    plain_git(scene.tree, "fsck", "--full")


def test_an_index_that_names_a_file_outside_the_work_tree_is_refused(scene: Scene) -> None:
    index = scene.git_dir / "index"
    content = index.read_bytes().replace(b"src/app.py", b"../../ap.y")[:-20]
    index.write_bytes(content + hashlib.sha1(content).digest())

    with pytest.raises(Refused) as caught:
        scene.adopt()

    assert caught.value.code == "index_path"


def test_nothing_is_connected_to_while_adopting(scene: Scene) -> None:
    with silent_listener() as listener:
        scene.plain("config", "remote.origin.pushurl", f"git://127.0.0.1:{listener.port}/x")
        scene.plain("config", "remote.evil.url", f"git://127.0.0.1:{listener.port}/x")
        scene.adopt()
        exercise(scene)

        assert listener.connections == 0


def test_junk_of_any_kind_and_depth_does_not_stop_an_adoption(scene: Scene) -> None:
    scene.script("mkfifo .git/p; ln -s .git .git/loop; d=.git; for i in $(seq 60); do d=$d/d; done; mkdir -p $d")
    scene.script("for i in $(seq 300); do echo x > .git/junk-$i; done")
    before = scene.everything()

    scene.adopt()

    assert scene.everything() == before
    assert scene.leftovers() == []
