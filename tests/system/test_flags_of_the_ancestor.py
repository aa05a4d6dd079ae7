"""Flags as their users have always written them, through a real shell, and what the protocol has added to them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from programs import until
from served_host import LAST_STATES, ServedHost, served_host

pytestmark = pytest.mark.needs("git", "landlock", "http-backend")


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedHost]:
    """A host with the repositories `shop` and `blog`, served for as long as the module's tests run."""
    with served_host(tmp_path_factory.mktemp("ancestor"), "shop", "blog") as host, host.running() as gateway:
        yield host
        assert "Traceback" not in gateway.log
        assert "whole" in host.ok("audit", "verify")


def succeeded(host: ServedHost, operation: str, line: str) -> dict[str, Any]:
    """The result of a flag that must succeed, having seen that the published log tells of it."""
    found = host.flagged(operation, line)
    assert found["state"] == "succeeded", found["error"]
    until(lambda: "request.succeeded" in host.told(found["id"]), "its end in commands.log")
    return found


def test_a_day_of_work_by_the_ancestors_eight_flags(host: ServedHost) -> None:
    before = host.commits()
    (host.tree() / "new.txt").write_text("new\n")
    succeeded(host, "git_set_config", 'echo "Ada Lovelace | ada@example.org" > git_set_config.flag')
    succeeded(host, "git_status", "touch git_status.flag")
    assert "new.txt" in (host.shared / "git_status.txt").read_text()
    succeeded(host, "git_add", 'echo "." > git_add.flag')
    succeeded(host, "git_commit", 'echo "Fix the login form" > git_commit.flag')
    assert host.git("log", "-1", "--format=%s|%an|%ae") == "Fix the login form|Ada Lovelace|ada@example.org"
    pushed = succeeded(host, "git_push", 'echo "main" > git_push.flag')
    assert pushed["verified"]["effect"] is True
    assert host.tip() == host.git("rev-parse", "main")
    succeeded(host, "git_check", "touch git_check.flag")
    told = (host.shared / "git_check.txt").read_text()
    assert "ada@example.org" in told
    assert "origin" in told
    listed = succeeded(host, "git_cmd", 'echo "git log --oneline" > git_cmd.flag')
    assert "Fix the login form" in listed["output"]
    queue = host.flagged("restart_queue", "touch restart_queue.flag")
    assert (queue["state"], queue["error"]["code"]) == ("refused", "not_configured")
    assert host.commits() == before + 1


PYTHON = 'python3 -c \'from pathlib import Path; Path("git_commit.flag").write_text("By Python")\''


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('echo "By echo" > git_commit.flag', "By echo"),
        ("printf 'By printf' > git_commit.flag", "By printf"),
        (PYTHON, "By Python"),
        ("echo 'By rename' > draft && mv draft git_commit.flag", "By rename"),
        ("printf '\\357\\273\\277By PowerShell\\r\\n' > git_commit.flag", "By PowerShell"),
        ("cat > git_commit.flag <<'END'\nSubject\n\nA body; with `marks` and $signs.\nEND", "Subject"),
    ],
    ids=["echo", "printf", "python", "rename", "powershell", "here-document"],
)
def test_a_message_arrives_as_it_was_meant_however_it_was_written(host: ServedHost, line: str, message: str) -> None:
    (host.tree() / "file.txt").write_text(f"{message}\n")
    host.git("add", "file.txt")
    succeeded(host, "git_commit", line)
    assert host.git("log", "-1", "--format=%s") == message


def test_the_body_of_a_commit_message_is_kept_verbatim(host: ServedHost) -> None:
    (host.tree() / "file.txt").write_text("verbatim\n")
    host.git("add", "file.txt")
    succeeded(host, "git_commit", "cat > git_commit.flag <<'END'\nSubject\n\n`marks`, $signs and\n  blanks\nEND")
    assert host.git("log", "-1", "--format=%B").rstrip() == "Subject\n\n`marks`, $signs and\n  blanks"


@pytest.mark.parametrize(
    "line", ["touch git_push.flag", "echo main > x && mv x git_push.flag", "printf main > git_push.flag"]
)
def test_a_push_names_its_branch_or_means_the_default_one(host: ServedHost, line: str) -> None:
    host.commit(f"{line}\n")
    succeeded(host, "git_push", line)
    assert host.tip() == host.git("rev-parse", "main")


def test_an_empty_add_is_refused_and_says_what_to_write(host: ServedHost) -> None:
    refused = host.flagged("git_add", "touch git_add.flag")
    assert refused["error"]["code"] == "no_path"
    assert "." in refused["error"]["hint"]


def test_what_this_host_is_not_set_up_for_is_refused_at_once(host: ServedHost) -> None:
    assert host.flagged("restart_queue", "touch restart_queue.flag")["error"]["code"] == "not_configured"
    assert json.loads((host.shared / "gateway.json").read_text())["operations"]["restart_queue"]["needs"] == "refused"


def test_a_health_check_needs_no_set_up_and_finds_the_gateway_and_its_remotes_well(host: ServedHost) -> None:
    succeeded(host, "health_check", "touch health_check.flag")
    found = json.loads((host.shared / "health_check.json").read_text())["findings"]
    levels = {each["probe"]: each["level"] for each in found}
    assert (levels["gateway"], levels["remote"]) == ("good", "good")


def test_a_flag_for_another_repository_acts_there_and_nowhere_else(host: ServedHost) -> None:
    shop, blog = host.commits("shop"), host.commits("blog")
    (host.tree("blog") / "post.txt").write_text("post\n")
    assert host.ask("git_add@blog.b-add.flag", "post.txt")["repo"] == "blog"
    assert host.ask("git_commit@blog.b-commit.flag", "A post")["state"] == "succeeded"
    assert host.ask("git_push@blog.b-push.flag", "main")["state"] == "succeeded"
    assert (host.commits("shop"), host.commits("blog")) == (shop, blog + 1)
    assert host.tip(name="blog") == host.git("rev-parse", "main", name="blog")


def test_a_status_of_another_repository_leaves_the_plain_status_file_alone(host: ServedHost) -> None:
    succeeded(host, "git_status", "touch git_status.flag")
    before = (host.shared / "git_status.txt").read_text()
    (host.tree("blog") / "only-in-blog.txt").write_text("x\n")
    assert "only-in-blog" in host.ask("git_status@blog.b-status.flag")["output"]
    assert (host.shared / "git_status.txt").read_text() == before


def test_a_repository_that_is_not_there_is_refused_with_those_that_are(host: ServedHost) -> None:
    error = host.ask("git_status@wiki.w1.flag")["error"]
    assert error["code"] == "unknown_repository"
    assert "shop, blog" in error["hint"]


def typed(**fields: object) -> str:
    return json.dumps(fields)


def test_the_typed_form_asks_the_same_with_a_reason_and_strictly(host: ServedHost) -> None:
    (host.tree() / "typed.txt").write_text("typed\n")
    added = host.ask("t-add.request.json", typed(operation="git_add", params={"paths": ["typed.txt"]}))
    assert added["state"] == "succeeded", added["error"]
    body = typed(operation="git_commit", repo="shop", params={"message": "Typed"}, reason="It is done.")
    assert host.ask("t-commit.request.json", body)["state"] == "succeeded"
    assert host.git("log", "-1", "--format=%s") == "Typed"
    assert "It is done." in host.ok("why", "t-commit")
    refused = host.ask("t-odd.request.json", typed(operation="git_status", colour="red"))
    assert refused["error"]["code"] == "request_invalid"


def test_d02_a_typed_request_that_is_still_being_written_is_left_to_its_writer(host: ServedHost) -> None:
    host.shell('printf \'{"operation": "git_st\' > slow.request.json')
    assert host.ask("git_status.between.flag")["state"] == "succeeded"  # so the half has been seen by now
    assert (host.shared / "slow.request.json").exists()
    host.shell("printf 'atus\"}' >> slow.request.json")
    assert host.in_state("slow", *LAST_STATES)["state"] == "succeeded"
    until(lambda: "request.succeeded" in host.told("slow"), "its end in commands.log")
    assert host.told("slow").count("request.queued") == 1


@pytest.mark.parametrize(
    ("request_id", "fields", "answer"),
    [
        ("dry-run", {"operation": "git_commit", "params": {"message": "Not really"}}, "run"),
        ("dry-ask", {"operation": "git_cmd", "params": {"command": "git tag dry"}}, "ask"),
        ("dry-refuse", {"operation": "git_cmd", "params": {"command": "git daemon"}}, "refuse"),
    ],
)
def test_a_dry_run_says_what_would_happen_and_does_nothing(
    host: ServedHost, request_id: str, fields: dict[str, object], answer: str
) -> None:
    (host.tree() / "file.txt").write_text(f"{request_id}\n")
    host.git("add", "file.txt")
    before = host.commits()
    found = host.ask(f"{request_id}.request.json", typed(**fields, dry_run=True))
    assert found["decision"]["answer"] == answer
    assert (host.commits(), host.git("tag", "--list", "dry")) == (before, "")
    assert request_id not in host.ok("pending")


def test_an_id_that_comes_again_with_the_same_content_gets_the_same_answer_and_runs_nothing(
    host: ServedHost,
) -> None:
    (host.tree() / "file.txt").write_text("once\n")
    host.git("add", "file.txt")
    first = host.ask("git_commit.once.flag", "Once")
    after = host.commits()
    (host.shared / "results" / "once.json").unlink()
    (host.tree() / "file.txt").write_text("twice\n")
    host.git("add", "file.txt")
    host.raise_flag("git_commit.once.flag", "Once")
    assert host.in_state("once", *LAST_STATES) == first
    assert host.commits() == after


def test_an_id_that_comes_again_with_other_content_keeps_its_first_answer_and_says_so(host: ServedHost) -> None:
    """See docs/decisions/0007."""
    (host.tree() / "file.txt").write_text("first\n")
    host.git("add", "file.txt")
    host.ask("git_commit.again.flag", "First")
    after = host.commits()
    host.raise_flag("git_commit.again.flag", "Second")
    kept = until(lambda: (found := host.result("again")).get("conflict") and found, "the conflict")
    assert kept["state"] == "succeeded"
    assert kept["conflict"]["code"] == "id_reused"
    latest = until(lambda: (found := host.result("git_commit"))["state"] == "refused" and found, "the refusal")
    assert latest["error"]["code"] == "id_reused"
    assert host.commits() == after


def test_the_name_of_an_operation_is_no_id(host: ServedHost) -> None:
    found = host.flagged("git_status", "touch git_status.git_commit.flag")
    assert found["error"]["code"] == "reserved_id"
    assert found["id"] != "git_commit"


def test_what_only_looks_like_a_flag_is_left_alone(host: ServedHost) -> None:
    names = ["Git_status.flag", "git_status.flag.txt", "git_status..flag", "git_stash.flag", "README"]
    for name in names:
        (host.shared / name).write_text("")
    host.ask("git_status.after.flag")
    assert all((host.shared / name).exists() for name in names)


def ticked(host: ServedHost, operation: str, line: str) -> dict[str, Any]:
    """Raise a flag with no gateway there, and tick (as cron does) until it is answered: a tick leaves what is newer
    than a second to the next."""
    before = host.result(operation).get("id")
    host.shell(line)

    def answered() -> bool:
        host.ok("tick")
        return bool(host.result(operation).get("id") != before)

    until(answered, f"a tick that answers {line!r}")
    return host.result(operation)


def test_ticks_alone_do_the_same_as_a_running_gateway(tmp_path_factory: pytest.TempPathFactory) -> None:
    with served_host(tmp_path_factory.mktemp("ticked")) as host:
        (host.tree() / "new.txt").write_text("new\n")
        host.shell('echo "Ada | ada@example.org" > git_set_config.flag; echo . > git_add.flag')
        host.shell("echo 'By cron' > git_commit.flag; touch git_push.flag")
        status = ticked(host, "git_status", "touch git_status.flag")
        assert status["state"] == "succeeded"
        for operation in ("git_set_config", "git_add", "git_commit", "git_push"):
            assert host.result(operation)["state"] == "succeeded", host.result(operation)["error"]
        assert host.tip() == host.git("rev-parse", "main")
        assert host.git("log", "-1", "--format=%s|%ae") == "By cron|ada@example.org"
        host.shell("echo 'git tag by-tick' > git_cmd.t1.flag")
        until(lambda: host.ok("tick") == "" and host.result("t1"), "a tick that asks")
        host.ok("approve", "t1")
        host.ok("tick")
        assert host.result("t1")["state"] == "succeeded"
        assert (host.shared / "git_status.txt").exists()
        assert (host.shared / "gateway.json").exists()
        assert "whole" in host.ok("audit", "verify")
