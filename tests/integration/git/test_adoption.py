"""Adopting moves a repository to the host with everything in it, and says what it leaves behind."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest
from adoption_scene import Scene, build_scene
from remotes import bare_repository, git_environment, ssh_remote
from repos import commit_file, plain_git, work_tree

from executor.errors import Failed, Problem, Refused, Unavailable
from executor.git.adoption import adopt, plan_adoption
from executor.git.gitfile import repository_lock
from executor.git.paths import RepositoryPaths
from executor.git.questions import head, local_branches, remotes
from executor.git.repository import RemoteAccess, open_repository
from executor.git.transfer import fetch, ls_remote
from executor.policy.model import Contact

LOCAL = RemoteAccess(allow_local_remote=True)


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return build_scene(tmp_path)


def refusal(scene: Scene, **options: object) -> Problem:
    before = scene.git_dir.lstat().st_ino
    with pytest.raises(Refused) as caught:
        scene.adopt(**options)
    assert scene.git_dir.lstat().st_ino == before
    assert scene.leftovers() == []
    assert not scene.paths.local.exists()
    assert caught.value.hint
    return caught.value


def test_commits_refs_stash_reflogs_index_and_files_survive_exactly(scene: Scene) -> None:
    before = scene.everything()

    scene.adopt()

    assert scene.everything() == before
    assert scene.git_dir.read_text() == f"gitdir: {scene.paths.local}\n"
    assert scene.leftovers() == []
    plain_git(scene.tree, "fsck", "--full", "--strict")


def test_the_product_opens_what_was_adopted_and_sees_the_same(scene: Scene) -> None:
    status = scene.plain("status", "--porcelain")
    branches = scene.plain("for-each-ref", "--format=%(refname:short)", "refs/heads").splitlines()

    scene.adopt()

    git = open_repository(scene.paths, scene.runner, LOCAL)
    assert head(git).branch == "main"
    assert sorted(local_branches(git)) == branches
    assert git.local(["status", "--porcelain"], contact=Contact.READ).stdout.decode().rstrip("\n") == status
    assert remotes(git) == {"origin": str(scene.remote)}
    assert git.local(["rev-parse", "--abbrev-ref", "main@{upstream}"]).stdout == b"origin/main\n"


def test_the_transfer_repository_remembers_nothing_that_an_agent_wrote_and_learns_from_the_remote(
    scene: Scene,
) -> None:
    tracking = scene.plain("rev-parse", "refs/remotes/origin/main")
    scene.plain("update-ref", "refs/remotes/origin/planted", "HEAD")
    scene.adopt()
    git = open_repository(scene.paths, scene.runner, LOCAL)
    assert git.transfer(["for-each-ref"]).stdout == b""
    assert ls_remote(git, "origin") == {"HEAD": tracking, "refs/heads/main": tracking}

    colleague = scene.remote.parent / "colleague"
    plain_git(scene.remote.parent, "clone", "-q", str(scene.remote), str(colleague))
    theirs = commit_file(colleague, "theirs.txt", "x")
    plain_git(colleague, "push", "-q")
    fetch(git, "origin")

    assert scene.plain("rev-parse", "origin/main") == theirs


@pytest.mark.needs("sshd")
def test_an_adopted_repository_fetches_over_ssh_with_the_hosts_key(scene: Scene, tmp_path: Path) -> None:
    bare_repository(tmp_path / "served" / "p.git")
    with ssh_remote(tmp_path / "ssh", tmp_path / "served") as remote:
        plain_git(scene.tree, "push", "-q", remote.url("p.git"), "main", env=git_environment(remote))
        scene.adopt(remotes={"origin": remote.url("p.git")})
        access = RemoteAccess(ssh_key=remote.key, known_hosts=remote.known_hosts)
        git = open_repository(scene.paths, scene.runner, access)

        fetch(git, "origin")

        assert scene.plain("rev-parse", "origin/main") == scene.plain("rev-parse", "main")


def test_planning_changes_nothing_and_shows_where_the_gateway_would_connect(scene: Scene) -> None:
    scene.plain("config", "core.fsmonitor", "/bin/false")
    before = {path: path.lstat().st_mtime_ns for path in scene.tree.rglob("*")}

    plan = plan_adoption(scene.paths, scene.runner, allow_local_remote=True)

    assert {path: path.lstat().st_mtime_ns for path in scene.tree.rglob("*")} == before
    assert not scene.paths.root.exists()
    lines = "\n".join(plan.lines())
    assert str(scene.remote) in lines
    assert "config core.fsmonitor: names a program" in lines
    assert "user.name = Agent Smith" in lines


def test_what_the_agent_writes_after_the_plan_does_not_count(scene: Scene) -> None:
    plan = plan_adoption(scene.paths, scene.runner, allow_local_remote=True)
    scene.plain("remote", "set-url", "origin", "ssh://git@elsewhere.example.org/x")
    scene.plain("config", "user.name", "Somebody Else")

    adopt(plan, scene.runner)

    git = open_repository(scene.paths, scene.runner, LOCAL)
    assert remotes(git) == {"origin": str(scene.remote)}
    assert scene.plain("config", "user.name") == "Agent Smith"


def test_the_remotes_address_is_not_in_the_local_repository(scene: Scene) -> None:
    scene.adopt(remotes={"origin": "ssh://git@host.example.org/x"})

    assert "host.example.org" in (scene.paths.transfer / "config").read_text()
    assert "host.example.org" not in (scene.paths.local / "config").read_text()
    assert ".invalid/" in scene.plain("remote", "get-url", "origin")


def test_a_path_on_this_host_is_no_remote_unless_it_is_allowed(scene: Scene) -> None:
    plan = plan_adoption(scene.paths, scene.runner)

    assert plan.remotes == ()
    assert any("GATEWAY_UNSAFE_ALLOW_LOCAL_REMOTES" in line for line in plan.lines())
    assert any("no remote is left" in line for line in plan.lines())


def test_c21_a_password_in_the_remotes_address_is_refused_and_not_shown(scene: Scene) -> None:
    scene.plain("remote", "set-url", "origin", "https://ana:hunter2@host.example.org/x")

    problem = refusal(scene)

    assert problem.code == "password_in_url"
    assert "hunter2" not in str(problem)


def test_c04_an_ssh_command_of_the_repository_is_refused_by_name_with_the_setting_that_takes_its_key(
    scene: Scene,
) -> None:
    scene.plain("config", "core.sshCommand", "ssh -i ~/.ssh/deploy -o IdentitiesOnly=yes")

    plan = plan_adoption(scene.paths, scene.runner, allow_local_remote=True)

    (line,) = [line for line in plan.lines() if "core.sshcommand" in line.lower()]
    assert "GATEWAY_SSH_KEY" in line


@pytest.mark.parametrize("name", ["--upload-pack=touch {};true", "-oProxyCommand=touch {}", "ext::touch {}"])
def test_c17_a_remote_whose_name_is_an_option_is_left_out_and_runs_nothing(scene: Scene, name: str) -> None:
    name = name.format(scene.paths.root.parent / "planted")
    with (scene.git_dir / "config").open("a") as config:
        config.write(f'[remote "{name}"]\n\turl = {scene.remote}\n\tfetch = +refs/heads/*:refs/remotes/evil/*\n')

    scene.adopt()

    git = open_repository(scene.paths, scene.runner, LOCAL)
    assert list(remotes(git)) == ["origin"]
    for operation in (fetch, ls_remote):
        with pytest.raises(Problem):
            operation(git, name)
    assert not (scene.paths.root.parent / "planted").exists()


def test_what_is_left_out_stays_readable_for_people(scene: Scene) -> None:
    hook = scene.git_dir / "hooks" / "pre-commit"
    hook.write_text("#!/bin/sh\nmake lint\n")

    scene.adopt()

    kept = scene.paths.root / "adoption" / "1"
    assert (kept / "hooks" / "pre-commit").read_text() == "#!/bin/sh\nmake lint\n"
    assert "hooks/pre-commit" in (kept / "left-out.txt").read_text()
    assert "[core]" in (kept / "config").read_text()
    assert list((scene.paths.local / "hooks").iterdir()) == []


def test_everything_in_the_state_directory_is_the_gateways_alone(scene: Scene) -> None:
    (scene.git_dir / "hooks" / "post-commit").write_text("x")

    scene.adopt()

    assert stat.S_IMODE(scene.paths.root.stat().st_mode) == 0o700
    for directory, names, files in os.walk(scene.paths.root):
        for path in (Path(directory, name) for name in (*names, *files)):
            found = path.lstat()
            assert found.st_uid == os.geteuid()
            assert stat.S_IMODE(found.st_mode) & 0o022 == 0, path
            assert stat.S_ISDIR(found.st_mode) or stat.S_ISREG(found.st_mode), path


def test_an_open_descriptor_or_a_second_name_does_not_reach_the_adopted_repository(scene: Scene) -> None:
    loose = scene.git_dir / "refs" / "heads" / "main"
    os.link(loose, scene.tree / "second-name")
    with loose.open("r+") as held:
        scene.adopt()
        held.write("0" * 40)
    (scene.tree / "second-name").write_text("0" * 40)

    assert head(open_repository(scene.paths, scene.runner)).commit == plain_git(scene.tree, "rev-parse", "main")
    plain_git(scene.tree, "rev-parse", "main^{commit}")


def test_adopting_again_changes_nothing(scene: Scene) -> None:
    scene.adopt()
    before = scene.everything()

    report = scene.adopt()

    assert "adopted already; nothing to do" in report.done
    assert scene.everything() == before


@pytest.mark.parametrize(
    ("harm", "moved"),
    [
        ("rm .git", False),
        ("rm .git; mkdir .git; echo 'ref: refs/heads/x' > .git/HEAD", True),
        ("rm .git; git init -q .; git config core.fsmonitor \"touch $CANARY/pwned\"", True),
        ("echo \"gitdir: $CANARY/otherrepo/.git\" > .git", True),
        ("rm .git; ln -s \"$CANARY/otherrepo/.git\" .git", True),
        ("rm .git; mkfifo .git", True),
    ],
)  # fmt: skip
def test_a_gitfile_that_the_agent_replaced_is_put_right_and_the_other_thing_only_renamed(
    scene: Scene, harm: str, moved: bool
) -> None:
    scene.adopt()
    before, canary = scene.everything(), scene.canary_digest()
    scene.script(harm)

    plan = plan_adoption(scene.paths, scene.runner)
    report = adopt(plan, scene.runner)

    planted = [path for path in scene.tree.iterdir() if path.name.startswith(".git.planted-")]
    assert len(planted) == moved
    assert len(report.notes) == moved
    after = scene.everything()
    assert after["refs"] == before["refs"]
    assert after["index"] == before["index"]
    assert scene.canary_digest() == canary


@pytest.mark.parametrize(
    ("setup", "code"),
    [
        ("git stash -q; git checkout -q -b side HEAD~1; echo x > file.txt; git commit -qam x; git checkout -q main; "
         "echo y > file.txt; git commit -qam y; git merge side || true", "in_progress"),
        ("mkdir .git/rebase-merge", "in_progress"),
        ("touch .git/index.lock", "index_locked"),
        ("git worktree add -q ../second feature/login", "linked_worktrees"),
        ("git init -q sub; git -C sub commit -q --allow-empty -m s; git add sub 2>/dev/null", "submodules"),
        ("git config core.bare true", "bare"),
        ("git config core.repositoryformatversion 1; git config extensions.refStorage reftable", "repository_format"),
        ("git config remote.origin.promisor true", "partial_clone"),
        ("touch .git/objects/pack/pack-$(git rev-parse HEAD).promisor", "partial_clone"),
        ("mv .git ../elsewhere; ln -s ../elsewhere .git", "git_dir_elsewhere"),
        ("mv .git ../elsewhere; echo 'gitdir: ../elsewhere' > .git", "git_dir_elsewhere"),
        ("rm -r .git/refs", "not_a_repository"),
        ("echo '[bad' >> .git/config", "config_unreadable"),
        ("echo junk > .git/index", "index_unreadable"),
        ("rm -f .git/objects/??/*; chmod -R u+w .git/objects", "git_dir_damaged"),
        ("f=$(ls .git/objects/pack/*.pack); chmod u+w $f; printf xx | dd of=$f bs=1 seek=40 conv=notrunc status=none",
         "git_dir_damaged"),
        ("f=$(ls .git/objects/??/* | head -1); g=$(ls .git/objects/??/* | tail -1); chmod u+w $f; cp $g $f",
         "git_dir_damaged"),
    ],
)  # fmt: skip
def test_what_cannot_be_adopted_as_it_is_is_refused_by_name_and_left_alone(
    scene: Scene, setup: str, code: str
) -> None:
    scene.script(setup)

    assert refusal(scene).code == code


def test_a_place_without_a_repository_is_refused(tmp_path: Path, scene: Scene) -> None:
    (tmp_path / "empty").mkdir()
    for place, code in (("empty", "not_a_repository"), ("missing", "work_tree_missing")):
        with pytest.raises(Refused) as caught:
            plan_adoption(RepositoryPaths("x", tmp_path / place, tmp_path / "state" / "x"), scene.runner)
        assert caught.value.code == code


def test_a_work_tree_behind_a_link_is_refused_with_its_real_path(tmp_path: Path, scene: Scene) -> None:
    (tmp_path / "link").symlink_to(scene.tree)

    with pytest.raises(Refused) as caught:
        plan_adoption(RepositoryPaths("x", tmp_path / "link", scene.paths.root), scene.runner)

    assert caught.value.code == "work_tree_link"
    assert str(scene.tree) in caught.value.hint


@pytest.mark.parametrize("where", ["tree/state", "shared/state"])
def test_a_state_directory_that_the_agent_can_write_is_refused(tmp_path: Path, scene: Scene, where: str) -> None:
    (tmp_path / "shared").mkdir()
    paths = RepositoryPaths("x", scene.tree, tmp_path / where)

    with pytest.raises(Refused) as caught:
        plan_adoption(paths, scene.runner, shared_dir=tmp_path / "shared")

    assert caught.value.code == "state_dir_place"


def test_a_change_while_it_is_copied_is_seen_and_everything_stays_as_it_was(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    from executor.git import adoption

    exchange = adoption.exchange

    def commit_then_exchange(tree: int, aside: str) -> None:
        scene.plain("commit", "-q", "-m", "just in time")
        exchange(tree, aside)

    plan = plan_adoption(scene.paths, scene.runner, allow_local_remote=True)
    monkeypatch.setattr(adoption, "exchange", commit_then_exchange)
    with pytest.raises(Refused) as caught:
        adopt(plan, scene.runner)

    assert caught.value.code == "git_dir_changed"
    assert scene.git_dir.is_dir()
    assert scene.plain("log", "-1", "--format=%s") == "just in time"
    assert scene.leftovers() == []
    monkeypatch.undo()
    scene.adopt()
    assert scene.plain("log", "-1", "--format=%s") == "just in time"


@pytest.mark.parametrize("before", [True, False])
def test_an_exchange_that_the_system_refuses_leaves_everything_as_it_was(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, before: bool
) -> None:
    from executor.git import adoption

    state, exchange = scene.everything(), adoption.exchange

    def busy(tree: int, aside: str) -> None:
        if not before:
            exchange(tree, aside)
            exchange(tree, aside)
        raise OSError(errno.EBUSY, "Device or resource busy", aside)

    monkeypatch.setattr(adoption, "exchange", busy)
    with pytest.raises(Failed) as caught:
        scene.adopt()

    assert caught.value.code == "adoption_failed"
    assert scene.git_dir.is_dir()
    assert scene.everything() == state
    assert scene.leftovers() == []
    monkeypatch.undo()
    scene.adopt()


def test_two_cannot_adopt_at_once(scene: Scene) -> None:
    plan = plan_adoption(scene.paths, scene.runner)
    scene.paths.root.mkdir(parents=True)

    with repository_lock(scene.paths), pytest.raises(Unavailable) as caught:
        adopt(plan, scene.runner)

    assert caught.value.code == "repository_busy"
    assert scene.git_dir.is_dir()


def test_an_empty_repository_is_adopted(tmp_path: Path, scene: Scene) -> None:
    tree = work_tree(tmp_path / "new", commits=0)
    paths = RepositoryPaths("new", tree, tmp_path / "state" / "repos" / "new")

    adopt(plan_adoption(paths, scene.runner), scene.runner)

    (tree / "a").write_text("a")
    plain_git(tree, "add", "a")
    plain_git(tree, "commit", "-q", "-m", "first")
    assert head(open_repository(paths, scene.runner)).branch == "main"


def test_a_sha256_repository_is_adopted(tmp_path: Path, scene: Scene) -> None:
    tree = tmp_path / "modern"
    plain_git(tmp_path, "init", "-q", "-b", "main", "--object-format=sha256", str(tree))
    commit = commit_file(tree, "a", "a")
    paths = RepositoryPaths("modern", tree, tmp_path / "state" / "repos" / "modern")

    adopt(plan_adoption(paths, scene.runner), scene.runner)

    assert len(commit) == 64
    git = open_repository(paths, scene.runner)
    assert head(git).commit == commit
    assert git.transfer(["rev-parse", "--show-object-format"]).stdout == b"sha256\n"


def test_c23_a_shallow_clone_stays_shallow_on_both_sides(tmp_path: Path, scene: Scene) -> None:
    tree = tmp_path / "shallow"
    plain_git(tmp_path, "clone", "-q", "--depth=1", f"file://{scene.remote}", str(tree))
    paths = RepositoryPaths("shallow", tree, tmp_path / "state" / "repos" / "shallow")

    adopt(plan_adoption(paths, scene.runner, allow_local_remote=True), scene.runner)

    assert plain_git(tree, "log", "--oneline").count("\n") == 0
    git = open_repository(paths, scene.runner, LOCAL)
    assert git.transfer(["rev-parse", "--is-shallow-repository"]).stdout == b"true\n"
    fetch(git, "origin")


def test_a_sparse_checkout_stays_sparse(scene: Scene) -> None:
    scene.plain("stash", "-q")
    scene.plain("sparse-checkout", "set", "--cone", "--sparse-index", "src")
    before = scene.plain("ls-files", "--stage", "-v")

    scene.adopt()

    assert scene.plain("ls-files", "--stage", "-v") == before
    assert scene.plain("status", "--porcelain") == "?? notes.txt"
    assert scene.plain("sparse-checkout", "list") == "src"


def test_a_file_marked_to_be_added_is_said_to_be_untracked_again(scene: Scene) -> None:
    (scene.tree / "later").write_text("content\n")
    (scene.tree / "empty").write_text("")
    scene.plain("add", "-N", "later")
    scene.plain("add", "empty")

    report = scene.adopt()

    status = scene.plain("status", "--porcelain").splitlines()
    assert "?? later" in status
    assert "A  empty" in status
    assert any("git add -N" in note for note in report.notes)


def test_the_first_status_finds_an_index_that_needs_no_second_look(scene: Scene) -> None:
    scene.adopt()

    assert scene.plain("ls-files", "--debug", "--", "src/app.py").count("size: 0") == 0


@pytest.mark.needs("unprivileged-user")
def test_c01_a_repository_of_another_user_is_adopted_and_it_is_said_for_whom_git_will_work(scene: Scene) -> None:
    for directory, names, files in os.walk(scene.tree):
        for name in (".", *names, *files):
            os.lchown(Path(directory, name), 4242, 4242)

    plan = plan_adoption(scene.paths, scene.runner, allow_local_remote=True)
    adopt(plan, scene.runner)

    assert any("4242" in note for note in plan.notes)
    assert head(open_repository(scene.paths, scene.runner)).branch == "main"
    assert all(path.lstat().st_uid == os.geteuid() for path in scene.paths.root.rglob("*"))
