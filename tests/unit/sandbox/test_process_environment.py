"""A child's environment is built from nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from executor.sandbox.environment import HARDENING, base_environment, git_environment, ssh_config_program

BASE = base_environment(Path("/state/home"), Path("/state/tmp"))


def git(**rest: object) -> dict[str, str]:
    arguments: dict[str, object] = {
        "git_dir": Path("/state/local.git"),
        "work_tree": None,
        "empty_config": Path("/state/empty"),
    }
    return git_environment(BASE, **{**arguments, **rest})  # type: ignore[arg-type]


def config_of(environment: dict[str, str]) -> list[tuple[str, str]]:
    count = int(environment["GIT_CONFIG_COUNT"])
    return [(environment[f"GIT_CONFIG_KEY_{n}"], environment[f"GIT_CONFIG_VALUE_{n}"]) for n in range(count)]


def test_the_base_is_five_variables_and_none_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", "/decoy")

    assert set(BASE) == {"PATH", "HOME", "TMPDIR", "LC_ALL", "LANGUAGE"}


def test_c07_messages_are_in_one_language() -> None:
    assert (BASE["LC_ALL"], BASE["LANGUAGE"]) == ("C.UTF-8", "")


def test_c03_git_can_ask_nobody() -> None:
    environment = git()

    assert environment["GIT_TERMINAL_PROMPT"] == "0"
    assert environment["GIT_ASKPASS"] == "/bin/false"
    assert environment["SSH_ASKPASS_REQUIRE"] == "never"


def test_a_work_tree_is_named_only_where_there_is_one() -> None:
    assert "GIT_WORK_TREE" not in git()
    assert git(work_tree=Path("/srv/tree"))["GIT_WORK_TREE"] == "/srv/tree"


def test_configuration_of_the_user_and_the_system_is_an_empty_file_and_never_the_null_device() -> None:
    environment = git()

    assert environment["GIT_CONFIG_GLOBAL"] == environment["GIT_CONFIG_SYSTEM"] == "/state/empty"


def test_the_hardening_comes_first_so_that_a_caller_can_lift_one_rule_by_name() -> None:
    config = config_of(git(config=[("protocol.file.allow", "always"), ("gc.auto", "100")]))

    assert config[: len(HARDENING)] == list(HARDENING)
    assert config[-1] == ("gc.auto", "100")


def test_the_hardening_names_each_key_once_and_leaves_external_diff_alone() -> None:
    keys = [key.lower() for key, _value in HARDENING]

    assert len(keys) == len(set(keys))
    assert "diff.external" not in keys  # an empty one makes git 2.39 run "" on every diff


@pytest.mark.parametrize(
    "name",
    ["GIT_TRACE", "GIT_TRACE2_EVENT", "GIT_SSH_COMMAND", "GIT_EXEC_PATH", "LD_PRELOAD", "GIT_CONFIG_PARAMETERS"],
)
def test_no_caller_can_add_a_variable_that_runs_or_writes_something(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        git(extra={name: "/tmp/x"})


def test_a_caller_can_add_what_redirects_git_to_the_hosts_own_files() -> None:
    assert git(extra={"GIT_INDEX_FILE": "/state/tmp/index"})["GIT_INDEX_FILE"] == "/state/tmp/index"


def test_an_ssh_configuration_that_is_a_program_starts_with_its_own_interpreter() -> None:
    text = ssh_config_program(Path("/usr/bin/ssh"), [("BatchMode", "yes"), ("IdentityFile", "/a key")])

    assert text == '#!/usr/bin/ssh -F\nBatchMode "yes"\nIdentityFile "/a key"\n'


@pytest.mark.parametrize(
    ("key", "value"), [("Proxy Command", "x"), ("IdentityFile", 'a"\nProxyCommand x'), ("A", "\r")]
)
def test_an_ssh_option_cannot_bring_another_one_with_it(key: str, value: str) -> None:
    with pytest.raises(ValueError, match="not an ssh option"):
        ssh_config_program(Path("/usr/bin/ssh"), [(key, value)])
