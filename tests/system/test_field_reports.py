"""What went wrong for others who let a program act on what lies in a shared directory: each test names its report."""

from __future__ import annotations

import os

import pytest
from programs import until
from repos import BRANCH, plain_git, work_tree
from served_host import HURRIED, LAST_STATES, ServedHost
from telegram_chat import OpsChat

pytestmark = pytest.mark.needs("git", "landlock", "http-backend")

UNTRACKED = 50_000


def test_b03_operators_are_answered_and_can_decide_while_git_hangs(host: ServedHost, chat: OpsChat) -> None:
    with host.running(GATEWAY_DEADLINE_SECONDS="600"):
        host.raise_flag("git_cmd.tag-1.flag", "git tag v9")
        card = chat.settled_card("tag-1", "Approve?")
        os.mkfifo(host.tree() / ".gitignore")  # git waits for somebody to write into it
        host.raise_flag("git_add.hangs.flag", ".")
        host.in_state("hangs", "running")
        chat.ann.says(chat.group, "/status")
        chat.shows("1 running")
        assert chat.tap(chat.ann, card, "✅ Approve").answer
        host.in_state("tag-1", "queued")
        assert host.result("hangs")["state"] == "running"


def test_c06_a_git_directory_in_the_environment_of_the_gateway_is_not_the_one_that_is_worked_in(
    host: ServedHost,
) -> None:
    decoy = work_tree(host.root / "decoy")
    before = plain_git(decoy, "rev-parse", "HEAD"), (decoy / ".git" / "index").read_bytes()
    inherited = {
        "GIT_DIR": str(decoy / ".git"),
        "GIT_COMMON_DIR": str(decoy / ".git"),
        "GIT_WORK_TREE": str(decoy),
        "GIT_INDEX_FILE": str(decoy / ".git" / "index"),
        "GIT_OBJECT_DIRECTORY": str(decoy / ".git" / "objects"),
        "GIT_CONFIG_PARAMETERS": "'user.name=Decoy'",
    }
    (host.tree() / "new.txt").write_text("new\n")
    with host.running(**inherited):
        assert host.ask("git_add.a1.flag", "new.txt")["state"] == "succeeded"
        assert host.ask("git_commit.c1.flag", "Where it belongs")["state"] == "succeeded"
        assert host.ask("git_push.p1.flag", BRANCH)["state"] == "succeeded"
    assert host.git("log", "-1", "--format=%s|%an", "--name-only").split("\n")[0] == "Where it belongs|Agent Smith"
    assert host.tip() == host.git("rev-parse", BRANCH)
    assert (plain_git(decoy, "rev-parse", "HEAD"), (decoy / ".git" / "index").read_bytes()) == before


def test_c17_no_word_of_a_request_becomes_a_program_of_the_transport(host: ServedHost) -> None:
    planted = host.root / "planted"
    program = f"touch {planted};true"
    commands = [
        f"git fetch '--upload-pack={program}' origin",
        f"git fetch '--upload-pack={program}'",
        f"git fetch --upload-pack '{program}' origin",
        f"git fetch -- '--upload-pack={program}'",
        f"git pull '--upload-pack={program}' origin main",
        f"git ls-remote '--upload-pack={program}' origin",
        f"git ls-remote '--upload-pack={program}'",
        f"git push '--receive-pack={program}' origin main",
        f"git push '--exec={program}' origin main",
        f"git push origin '--receive-pack={program}'",
        f"git remote add '--upload-pack={program}' https://example.org/x.git",
        f"git fetch 'ext::sh -c \"{program}\"'",
    ]
    with host.running():
        for number, command in enumerate(commands):
            refused = host.asked(f"c{number}", command)
            assert (refused["state"], bool(refused["error"]["hint"])) == ("refused", True), command
        assert host.ask("git_push.branch.flag", f"--receive-pack={program}")["state"] == "refused"
        assert host.ask("git_add.path.flag", f"--pathspec-from-file={planted}")["state"] in ("refused", "failed")
        assert "Nothing awaits" in host.ok("pending")
    assert not planted.exists()


def test_c22_fifty_thousand_untracked_files_are_one_bounded_answer_that_says_so(host: ServedHost) -> None:
    for number in range(UNTRACKED):
        (host.tree() / f"untracked-file-number-{number:05}.txt").touch()
    with host.running():
        answer = host.ask("git_status.many.flag")
        assert (answer["state"], answer["truncated"]) == ("succeeded", True)
        assert (host.shared / "results" / "many.json").stat().st_size < 1 << 20
        assert "left out" in answer["output"]
        until((host.shared / "git_status.txt").exists, "the status as text")
        assert (host.shared / "git_status.txt").stat().st_size < 1 << 20
        added = host.ask("git_add.one.flag", "untracked-file-number-49999.txt")
        assert (added["state"], added["verified"]["staged"]) == ("succeeded", 1)


MALFORMED = {
    "nothing in it": b"{}",
    "too large": b" " * 10_000_000,
    "too deep": b"[" * 60_000,
    "a number of 5,000 digits": b'{"operation": "git_status", "params": {"n": ' + b"9" * 5000 + b"}}",
    "not a number": b'{"operation": "git_status", "params": {"n": NaN}}',
    "half a character": b'{"operation": "git_status", "reason": "\\ud800"}',
    "one key twice": b'{"operation": "git_status", "operation": "git_push"}',
    "no text": b'{"operation": "git_status\xff"}',
    "not asked for": b'{"operation": "git_status", "shell": "id"}',
}


def test_d05_a_malformed_request_gets_one_answer_with_the_reason_is_taken_away_and_never_looked_at_again(
    host: ServedHost,
) -> None:
    requests = {f"bad-{number}": content for number, content in enumerate(MALFORMED.values())}
    with host.running(*HURRIED) as gateway:
        for request_id, content in requests.items():
            (host.shared / f"{request_id}.draft").write_bytes(content)
            (host.shared / f"{request_id}.draft").rename(host.shared / f"{request_id}.request.json")
        for request_id in requests:
            refused = host.in_state(request_id, *LAST_STATES)
            assert refused["state"] == "refused"
            assert refused["error"]["message"] and refused["error"]["hint"]
        for number in range(3):  # rounds that would see them again
            assert host.ask(f"git_status.round-{number}.flag")["state"] == "succeeded"
        until(lambda: host.told("round-2"), "the last round in commands.log")
        assert [host.told(request_id) for request_id in requests] == [["request.refused"]] * len(requests)
        assert list(host.shared.glob("*.request.json")) == []
        assert "Traceback" not in gateway.log


def test_d08_what_powershell_writes_is_understood_or_answered_with_what_to_write_instead(host: ServedHost) -> None:
    line = '{"operation": "git_status"}\r\n'
    with host.running():
        for number, name in enumerate(("bom.request.json", "git_status.plain-bom.flag")):
            body = b"\xef\xbb\xbf" + (line.encode() if number == 0 else b"\r\n")
            (host.shared / "draft").write_bytes(body)
            (host.shared / "draft").rename(host.shared / name)
        for request_id in ("bom", "plain-bom"):
            answer = host.in_state(request_id, *LAST_STATES)
            assert answer["state"] == "succeeded", answer["error"]
        for name, text in (("wide.request.json", line), ("git_cmd.wide-flag.flag", "git status\r\n")):
            (host.shared / "draft").write_bytes(text.encode("utf-16"))
            (host.shared / "draft").rename(host.shared / name)
        for request_id in ("wide", "wide-flag"):
            refused = host.in_state(request_id, *LAST_STATES)
            assert (refused["state"], refused["error"]["code"]) == ("refused", "body_utf16")
            assert "Set-Content -Encoding utf8" in refused["error"]["hint"]
