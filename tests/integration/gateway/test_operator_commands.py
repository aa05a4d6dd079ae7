"""What an operator does on the host: adopt, release, recover, undo, doctor; on real repositories."""

from __future__ import annotations

import json
import os
import pty
import sqlite3
from pathlib import Path

import pytest
from gateway_process import ConfiguredHost, running
from repos import bare_remote, clone, commit_file, plain_git, work_tree

from gateway import cli

pytestmark = pytest.mark.needs("git", "landlock")


def test_adopting_asks_first_and_plans_without_touching_anything(tmp_path: Path) -> None:
    host = ConfiguredHost(tmp_path, work_tree(tmp_path / "shop"))
    planned = host.cli("adopt", "--plan")
    assert planned.returncode == 0
    assert f"Adopt {host.work_tree}" in planned.stdout
    asked = host.cli("adopt")
    assert asked.returncode == 1
    assert "nobody can be asked here" in asked.stderr
    assert (host.work_tree / ".git").is_dir()


FORGED = ("Remotes (the gateway will talk to these", "  run:    $ curl", "  Run it: curl")


def test_no_name_that_the_agent_chose_becomes_a_line_of_its_own_in_what_an_operator_reads(tmp_path: Path) -> None:
    """The plan of an adoption, by init too; a refusal with its hint; and what the doctor says of files of others."""
    host = ConfiguredHost(tmp_path, work_tree(tmp_path / "shop"))
    git_dir = host.work_tree / ".git"
    (git_dir / "hooks").mkdir(exist_ok=True)
    for forged in FORGED:
        (git_dir / "hooks" / f"x\n{forged}").write_text("x")
    settings = ["--shared-dir", str(host.shared), "--repo", str(host.work_tree), "--no-telegram", "--non-interactive"]
    seen = [host.cli("adopt", "--plan"), host.cli("init", "--env", str(tmp_path / "gateway.env"), *settings)]
    assert all(f"hooks/x⟨U+000A⟩{FORGED[0]}" in done.stdout for done in seen)
    linked = git_dir / "worktrees" / f"x\n{FORGED[2]}"
    linked.mkdir(parents=True)
    seen.append(host.cli("adopt", "--plan"))
    assert "Other work trees" in seen[-1].stderr
    (linked.rmdir(), linked.parent.rmdir())
    host.adopted()
    planted = host.state / "repos" / "shop" / "local.git" / f"x\n{FORGED[1]}"
    planted.write_text("x")
    planted.chmod(0o666)
    seen.append(host.cli("doctor"))
    assert "1 files in its git directory can be written by others" in " ".join(seen[-1].stdout.split())
    lines = [line for done in seen for line in (done.stdout + done.stderr).splitlines()]
    assert [line for line in lines if line.startswith(FORGED[1:])] == []
    assert sum(line.startswith(FORGED[0]) for line in lines) == 2, "the plans' own headings"


def test_leaving_without_an_answer_is_a_no(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    host = ConfiguredHost(tmp_path, work_tree(tmp_path / "shop"))
    for name, value in host.environment().items():
        monkeypatch.setenv(name, value)
    person, terminal = pty.openpty()
    try:
        os.write(person, b"\x04")  # Ctrl-D
        with os.fdopen(terminal) as typed:
            monkeypatch.setattr("sys.stdin", typed)
            assert cli.main(["adopt"]) == 1
    finally:
        os.close(person)
    shown = capsys.readouterr()
    assert "Adopt it? [y/N]" in shown.out
    assert shown.err == ""
    assert (host.work_tree / ".git").is_dir()


def test_adopting_and_releasing_leave_a_repository_that_plain_git_works_with(host: ConfiguredHost) -> None:
    assert (host.work_tree / ".git").is_file()
    assert plain_git(host.work_tree, "log", "--format=%s") == "Commit 1"
    assert host.cli("adopt", str(host.work_tree), "--yes").returncode == 0
    assert host.cli("release", "shop").returncode == 0
    assert (host.work_tree / ".git").is_dir()
    assert plain_git(host.work_tree, "log", "--format=%s") == "Commit 1"
    told = host.cli("audit", "show").stdout
    for kind in ("operator.adopt ", "operator.adopt.done", "operator.release ", "operator.release.done"):
        assert kind in told


def test_what_is_not_configured_cannot_be_adopted(host: ConfiguredHost) -> None:
    done = host.cli("adopt", "/etc", "--yes")
    assert done.returncode == 1
    assert "configured are: shop" in done.stderr


def test_a_refused_operator_command_is_audited_with_its_reason(host: ConfiguredHost) -> None:
    done = host.cli("undo", "nothing")
    assert done.returncode == 1
    assert "Nothing was kept for request" in done.stderr
    assert "operator.undo.failed" in host.cli("audit", "show").stdout


def test_a_request_to_the_host_itself_is_not_undone_in_whichever_repository_is_the_default(
    host: ConfiguredHost,
) -> None:
    with running(host):
        host.raise_flag("health_check.h1.flag", "")
        host.in_state("h1", "succeeded")
        done = host.cli("undo", "h1")
    assert done.returncode == 1
    assert "h1 (health_check) concerned the host and no repository" in done.stderr


def test_undo_takes_back_what_a_request_committed(host: ConfiguredHost) -> None:
    before = plain_git(host.work_tree, "rev-parse", "HEAD")
    (host.work_tree / "new.txt").write_text("new\n")
    with running(host):
        flags = {"git_set_config.i1": "Agent | a@example.org", "git_add.a1": "new.txt", "git_commit.c1": "New"}
        for name, body in flags.items():
            host.raise_flag(f"{name}.flag", body)
            host.in_state(name.partition(".")[2], "succeeded")
        assert plain_git(host.work_tree, "rev-parse", "HEAD") != before
        assert host.cli("undo", "c1").returncode == 0
    assert plain_git(host.work_tree, "rev-parse", "HEAD") == before


def test_a_repository_with_submodules_takes_a_setting_of_its_own_and_what_that_widens_is_said(
    tmp_path: Path,
) -> None:
    library = work_tree(tmp_path / "library")
    tree = work_tree(tmp_path / "shop")
    plain_git(tree, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library), "lib")
    plain_git(tree, "commit", "-q", "-m", "Use a library")
    host = ConfiguredHost(tmp_path, tree)
    refused = host.cli("adopt", "--yes")
    assert refused.returncode == 1
    assert "GATEWAY_ALLOW_SUBMODULES" in refused.stderr

    host.settings["GATEWAY_ALLOW_SUBMODULES"] = "true"
    host.adopted()
    commit_file(tree / "lib", "more.txt", "more\n")
    with running(host) as gateway:
        host.raise_flag("git_status.s1.flag")
        assert "Submodules at another commit" in host.in_state("s1", "succeeded")["output"]
        host.raise_flag("git_add.a1.flag", ".")
        host.in_state("a1", "succeeded")
        assert "submodules in shop: git starts inside nested repositories" in gateway.log
        assert "only the kernel keeps that harmless" in host.cli("status").stdout

    assert plain_git(tree, "diff", "--cached", "--name-only") == "lib"
    assert any("submodules in shop" in check["what"] for check in checks(host).values())


def published(tmp_path: Path) -> tuple[ConfiguredHost, Path]:
    """A host whose remote is a directory, and that remote; the agent pushed a commit there as request `p1`."""
    tree, remote = work_tree(tmp_path / "shop"), bare_remote(tmp_path / "remote.git")
    plain_git(tree, "remote", "add", "origin", str(remote))
    plain_git(tree, "push", "-q", "-u", "origin", "main")
    host = ConfiguredHost(tmp_path, tree)
    host.settings["GATEWAY_UNSAFE_ALLOW_LOCAL_REMOTES"] = "true"
    host.adopted()
    plain_git(tree, "commit", "-q", "--allow-empty", "-m", "Published")
    with running(host):
        host.raise_flag("git_push.p1.flag", "main")
        host.in_state("p1", "succeeded")
    return host, remote


def test_undo_takes_a_published_push_back_after_asking_and_reads_that_back(tmp_path: Path) -> None:
    host, remote = published(tmp_path)
    new, old = (plain_git(host.work_tree, "rev-parse", rev) for rev in ("HEAD", "HEAD~1"))

    asked = host.cli("undo", "p1")
    assert asked.returncode == 1
    assert f"git push --force-with-lease=refs/heads/main:{new} origin {old}:refs/heads/main" in asked.stdout
    assert "add --yes" in asked.stderr
    assert plain_git(remote, "rev-parse", "main") == new
    done = host.cli("undo", "p1", "--yes")

    assert done.returncode == 0, done.stderr
    assert plain_git(remote, "rev-parse", "main") == old
    assert plain_git(host.work_tree, "rev-parse", "HEAD") == new
    assert "operator.undo.done" in host.cli("audit", "show").stdout
    assert "already" in host.cli("undo", "p1", "--yes").stdout


def test_undo_offers_a_revert_where_somebody_built_on_a_push_and_moves_nothing(tmp_path: Path) -> None:
    host, remote = published(tmp_path)
    colleague = clone(remote, tmp_path / "colleague")
    theirs = commit_file(colleague, "theirs.txt", "theirs\n")
    plain_git(colleague, "push", "-q", "origin", "main")

    done = host.cli("undo", "p1", "--yes")

    assert done.returncode == 1
    assert "git revert --no-edit" in done.stdout
    assert plain_git(remote, "rev-parse", "main") == theirs


def test_recovering_brings_a_detached_head_back_to_its_branch_and_can_be_undone(host: ConfiguredHost) -> None:
    plain_git(host.work_tree, "checkout", "-q", "--detach")
    (host.work_tree / "lonely.txt").write_text("on no branch\n")
    plain_git(host.work_tree, "add", "lonely.txt")
    plain_git(host.work_tree, "commit", "-q", "-m", "Lonely")
    lonely = plain_git(host.work_tree, "rev-parse", "HEAD")
    planned = host.cli("recover", "--plan")
    assert planned.returncode == 0, planned.stderr
    assert "HEAD is detached" in planned.stdout
    done = host.cli("recover", "--yes")
    assert done.returncode == 0, done.stderr
    assert plain_git(host.work_tree, "symbolic-ref", "HEAD") == "refs/heads/main"
    assert lonely in plain_git(host.work_tree, "for-each-ref", "--format=%(objectname)")
    assert "nothing" in host.cli("recover").stdout.lower()
    undo = done.stdout.rpartition("ops-gateway undo ")[2].split()
    assert host.cli("undo", *undo).returncode == 0
    assert plain_git(host.work_tree, "rev-parse", "HEAD") == lonely


def checks(host: ConfiguredHost, **settings: str) -> dict[str, dict[str, str]]:
    done = host.cli("doctor", "--json", **settings)
    found = {check["name"]: check for check in json.loads(done.stdout)}
    failed = any(check["state"] == "fail" for check in found.values())
    assert done.returncode == int(failed)
    assert all(check["mend"] for check in found.values() if check["state"] != "ok")
    return found


def test_the_doctor_finds_a_good_set_up_good(host: ConfiguredHost) -> None:
    with running(host):
        found = checks(host)
    found.pop("user")  # the tests may be run by root
    found.pop("remote of shop")  # this repository has none
    assert {name: check for name, check in found.items() if check["state"] != "ok"} == {}
    assert {"state directory", "inotify", "confinement", "repository shop", "audit log", "gateway"} <= set(found)
    assert not list(host.shared.glob(".doctor*"))


@pytest.mark.needs("root")
def test_the_doctor_fails_root(host: ConfiguredHost) -> None:
    assert checks(host)["user"]["state"] == "fail"


def test_the_doctor_names_what_is_wrong_and_goes_on(host: ConfiguredHost) -> None:
    host.state.chmod(0o777)
    key = host.root / "key"
    key.write_text("-----BEGIN")
    key.chmod(0o644)
    assert host.cli("release").returncode == 0
    host.shared.rmdir()
    found = checks(host, GATEWAY_SSH_KEY=str(key), GATEWAY_APROVE="git_push")
    for name in ("state directory", "shared directory", "repository shop", "shop: ssh key"):
        assert found[name]["state"] == "fail"
    for name in ("shop: known hosts", "stray setting", "gateway"):
        assert found[name]["state"] == "warn"
    assert f"ops-gateway adopt {host.work_tree}" in found["repository shop"]["mend"]


def test_the_doctor_says_what_is_wrong_with_the_settings_and_nothing_else(host: ConfiguredHost) -> None:
    found = checks(host, GATEWAY_QUORUM="none")
    assert list(found) == ["settings"]
    assert "GATEWAY_QUORUM" in found["settings"]["what"]


def test_the_doctor_finds_an_audit_log_whose_end_was_cut_off(host: ConfiguredHost) -> None:
    with sqlite3.connect(host.state / "gateway.db") as database:
        database.execute("delete from events where seq = (select max(seq) from events)")
    database.close()
    assert checks(host)["audit log"]["state"] == "fail"


def test_after_a_restored_backup_an_operator_can_go_on_and_the_log_says_so(host: ConfiguredHost) -> None:
    with sqlite3.connect(host.state / "gateway.db") as database:
        database.execute("delete from events where seq = (select max(seq) from events)")
    database.close()
    assert host.cli("audit", "verify").returncode == 1

    assert host.cli("audit", "accept", "--reason", "backup of Sunday").returncode == 0

    assert host.cli("audit", "verify").returncode == 0
    told = host.cli("audit", "show").stdout
    assert "audit.accepted" in told
    assert "backup of Sunday" in told


def test_a_remote_is_not_ignored_where_the_repository_is_adopted_already(host: ConfiguredHost) -> None:
    done = host.cli("adopt", "--yes", "--remote", "origin=https://example.com/shop.git")

    assert done.returncode == 1
    assert "adopted already" in done.stderr
    assert "set-url" in done.stderr


def test_the_doctor_says_when_there_is_no_remote_to_push_to(host: ConfiguredHost) -> None:
    found = checks(host)["remote of shop"]

    assert found["state"] == "warn"
    assert "--remote origin=URL" in found["mend"]
