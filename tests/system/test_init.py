"""`ops-gateway init` as a person meets it: a real process on a terminal, and what it leaves behind."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from bot_api import BotApi
from programs import Gateway, end, until
from repos import plain_git, work_tree
from terminal import Terminal

pytestmark = pytest.mark.needs("git", "landlock")

INIT = (sys.executable, "-m", "gateway", "init")
Begin = Callable[..., Terminal]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """The environment of somebody who set nothing; their home holds a repository."""
    work_tree(tmp_path / "shop")
    return {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "LC_ALL": "C.UTF-8", "NO_COLOR": "1"}


@pytest.fixture
def begin(tmp_path: Path, environment: dict[str, str]) -> Iterator[Begin]:
    """Start `init` with these words on a terminal."""
    open_ones: list[Terminal] = []

    def start(*words: str) -> Terminal:
        open_ones.append(Terminal((*INIT, "--state-dir", f"{tmp_path}/state", *words), environment, tmp_path))
        return open_ones[-1]

    yield start
    for terminal in open_ones:
        terminal.close()


def directories(terminal: Terminal, root: Path, approve: str = "") -> None:
    """Answer the first three questions."""
    terminal.answers("shared with the agent's container", f"{root}/shared")
    terminal.answers("Repository that the agent works in", f"{root}/shop")
    terminal.answers("Ask an operator first", approve)


def untouched(root: Path) -> bool:
    there = {entry.name for entry in root.iterdir()} - {"gateway.log"}
    return there == {"shop"} and (root / "shop" / ".git").is_dir()


def test_from_questions_to_a_gateway_that_answers_its_operator(
    tmp_path: Path, environment: dict[str, str], begin: Begin
) -> None:
    with BotApi() as api:
        group, ann = api.group(-1001, forum=True), api.person(11, "Ann", "ann")
        terminal = begin("--api-url", api.url)
        directories(terminal, tmp_path, approve="git_push")
        terminal.answers("Bot token", api.token)
        terminal.sees("    /start ")
        terminal.sees("\n")
        code = terminal.shown.split("    /start ")[1].split()[0]
        ann.says(group, f"/start {code}", topic=5)
        terminal.sees("It came from @ann (user 11) in the supergroup -1001, topic 5.")
        terminal.answers("[Y/n]", "")
        terminal.sees("GATEWAY_TELEGRAM_BOT_TOKEN (not shown)")
        terminal.answers("Do it?", "y")
        terminal.sees("What the doctor says:")
        assert terminal.ends() == int(os.geteuid() == 0), terminal.shown
        assert "1 of" in terminal.shown or os.geteuid() != 0, "as root the doctor fails that, and nothing else"
        assert api.token not in terminal.shown

        settings = dict(
            line.split("=", 1) for line in (tmp_path / ".env").read_text().splitlines() if line[:1] == "G"
        )
        assert stat.S_IMODE((tmp_path / ".env").stat().st_mode) == 0o600
        assert settings == {
            "GATEWAY_SHARED_DIR": f"{tmp_path}/shared",
            "GATEWAY_REPO_DIR": f"{tmp_path}/shop",
            "GATEWAY_STATE_DIR": f"{tmp_path}/state",
            "GATEWAY_APPROVE": "git_push",
            "GATEWAY_TELEGRAM_BOT_TOKEN": api.token,
            "GATEWAY_TELEGRAM_CHAT_ID": "-1001",
            "GATEWAY_TELEGRAM_TOPIC_ID": "5",
            "GATEWAY_TELEGRAM_OPERATOR_IDS": "11",
            "GATEWAY_TELEGRAM_API_URL": api.url,
        }
        assert (tmp_path / "shop" / ".git").is_file(), "adopted"
        gateway = Gateway((sys.executable, "-m", "gateway", "run"), environment, tmp_path)
        try:
            gateway.says("READY")
            ann.says(group, "/status", topic=5)
            until(lambda: any(each.topic == 5 for each in group.from_bot()), "an answer to the operator")
        finally:
            end(gateway)


def test_doing_it_again_changes_nothing_and_asks_for_nothing_that_is_known(tmp_path: Path, begin: Begin) -> None:
    first = begin("--no-telegram")
    directories(first, tmp_path, approve="git_push,restart_queue")
    first.answers("Do it?", "y")
    first.ends()
    before = (tmp_path / ".env").read_bytes()

    again = begin("--no-telegram")
    for question in ("shared with the agent's container", "Repository that", "Ask an operator first"):
        again.answers(question, "")
    again.sees("nothing to change")

    again.sees("What the doctor says:")
    again.ends()
    assert (tmp_path / ".env").read_bytes() == before
    assert "Do it?" not in again.shown


def test_what_was_there_stays_and_a_changed_answer_changes_its_line_alone(tmp_path: Path, begin: Begin) -> None:
    (tmp_path / ".env").write_text(f"# Mine.\nGATEWAY_SHARED_DIR={tmp_path}/old\nGATEWAY_LOG_LEVEL=DEBUG\n")
    (tmp_path / ".env").chmod(0o600)

    terminal = begin("--no-telegram", "--repo", f"{tmp_path}/shop", "--approve", "git_push")
    terminal.answers(f"[{tmp_path}/old]", f"{tmp_path}/shared")
    terminal.answers("Do it?", "y")
    terminal.ends()

    text = (tmp_path / ".env").read_text()
    assert text.startswith(f"# Mine.\nGATEWAY_SHARED_DIR={tmp_path}/shared\nGATEWAY_LOG_LEVEL=DEBUG\n")


@pytest.mark.parametrize(
    ("typed", "code"), [("n\n", 1), ("\n", 1), ("\x04", 1), ("\x03", 130)], ids=["no", "nothing", "EOF", "Ctrl-C"]
)
def test_without_a_yes_nothing_is_written(tmp_path: Path, begin: Begin, typed: str, code: int) -> None:
    terminal = begin("--no-telegram")
    directories(terminal, tmp_path)
    terminal.answers("Do it?", typed, end="")

    terminal.sees("Nothing was written.")
    assert terminal.ends() == code
    assert untouched(tmp_path)


def test_leaving_at_the_token_writes_nothing_either_and_shows_none_of_it(tmp_path: Path, begin: Begin) -> None:
    terminal = begin()
    directories(terminal, tmp_path)
    terminal.answers("Bot token", "not a token")
    terminal.sees("That cannot be: is not what BotFather gives")
    terminal.answers("Bot token", "123456:half-typed\x03", end="")

    assert terminal.ends() == 130
    assert "half-typed" not in terminal.shown
    assert "not a token" not in terminal.shown
    assert untouched(tmp_path)


def test_an_answer_that_cannot_be_used_is_asked_for_again(tmp_path: Path, begin: Begin) -> None:
    terminal = begin("--no-telegram")
    terminal.answers("shared with the agent's container", "")
    terminal.sees("it is needed")
    terminal.answers("shared with the agent's container", "relative")
    terminal.sees("must be an absolute path")
    terminal.answers("shared with the agent's container", f"{tmp_path}/shared")
    terminal.answers("Repository that the agent works in", f"{tmp_path}/shop")
    terminal.answers("Ask an operator first", "git_psuh")
    terminal.sees("did you mean git_push?")
    terminal.answers("Ask an operator first", "\x04", end="")
    assert terminal.ends() == 1


@pytest.fixture
def automated(tmp_path: Path, environment: dict[str, str]) -> Callable[..., tuple[int, str]]:
    """Run `init` as a program would, with these words; return exit code and output."""

    def run(*words: str) -> tuple[int, str]:
        program = Gateway((*INIT, "--state-dir", f"{tmp_path}/state", *words), environment, tmp_path)
        code = program.ends()
        log = program.log
        for left in tmp_path.glob("gateway-*.log"):
            left.unlink()
        return code, log

    return run


def test_flags_do_it_without_a_person_and_without_yes_only_show_it(
    tmp_path: Path, automated: Callable[..., tuple[int, str]]
) -> None:
    words = ("--shared-dir", f"{tmp_path}/shared", "--repo", f"{tmp_path}/shop", "--approve", "*", "--no-telegram")

    code, told = automated(*words, "--non-interactive")
    assert code == 1
    assert "Adopt " in told and "add --yes" in told
    assert untouched(tmp_path)

    code, told = automated(*words, "--non-interactive", "--yes", "--toml", f"{tmp_path}/gateway.toml")
    assert code == int(os.geteuid() == 0), told
    assert f"export GATEWAY_CONFIG_FILE={tmp_path}/gateway.toml" in told
    assert f'shared_dir = "{tmp_path}/shared"' in (tmp_path / "gateway.toml").read_text()
    assert plain_git(tmp_path / "shop", "log", "--format=%s") == "Commit 1"


def test_flags_that_lack_something_or_show_a_secret_are_refused(
    tmp_path: Path, automated: Callable[..., tuple[int, str]]
) -> None:
    code, told = automated("--non-interactive", "--yes", "--shared-dir", f"{tmp_path}/shared")
    assert code == 1 and "--repo DIRECTORY" in told

    both = ("--shared-dir", f"{tmp_path}/shared", "--repo", f"{tmp_path}/shop", "--non-interactive", "--yes")
    assert "every user would see" in automated(*both, "--set", "telegram_bot_token=123:abc")[1]
    assert "GATEWAY_TELEGRAM_CHAT_ID: is not set" in automated(*both, "--token-file", str(token_file(tmp_path)))[1]
    assert "lies inside" in automated(*both, "--set", f"ssh_key={tmp_path}/shared/key")[1]
    token_file(tmp_path).unlink()
    assert untouched(tmp_path)


def token_file(root: Path) -> Path:
    path = root / "token"
    path.write_text("123456:" + "a" * 35)
    return path


def test_a_worker_managers_paths_are_taken_over_and_shown(
    tmp_path: Path, automated: Callable[..., tuple[int, str]]
) -> None:
    script = tmp_path / "shop" / "worker-manager.sh"
    script.write_text(
        f'SHARED_DIR="${{SHARED_DIR:-{tmp_path}/shared}}"\nREPO_DIR={tmp_path}/shop\ntouch {tmp_path}/it-was-run\n'
    )

    code, told = automated("--from-worker-manager", str(script), "--non-interactive", "--yes", "--no-telegram")

    assert code == int(os.geteuid() == 0), told
    assert f"SHARED_DIR -> GATEWAY_SHARED_DIR={tmp_path}/shared" in told
    assert f"GATEWAY_REPO_DIR={tmp_path}/shop" in (tmp_path / ".env").read_text()
    assert not (tmp_path / "it-was-run").exists()
