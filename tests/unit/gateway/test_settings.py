"""Settings: where they are read from, what may stand in them, and what is said when it may not."""

from __future__ import annotations

from pathlib import Path

import pytest

from executor.errors import ConfigError
from executor.policy.model import Operation, RiskClass
from gateway import settings


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A host with a shared directory, a work tree and a state directory, named by the environment."""
    for name, variable in (("shared", "SHARED_DIR"), ("shop", "REPO_DIR"), ("state", "STATE_DIR")):
        (tmp_path / name).mkdir()
        monkeypatch.setenv(f"GATEWAY_{variable}", str(tmp_path / name))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    return tmp_path


def refusal() -> str:
    with pytest.raises(ConfigError) as caught:
        settings.load()
    return str(caught.value)


@pytest.mark.usefixtures("places")
def test_three_directories_are_all_that_must_be_configured() -> None:
    loaded = settings.load()
    assert [repository.name for repository in loaded.served] == ["shop"]
    assert (loaded.approve, loaded.protected_branches, loaded.quorum) == ((), (), {})
    assert settings.unsafe_choices(loaded) == []


@pytest.mark.usefixtures("places")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("main,dev", ("main", "dev")),
        ("main dev", ("main", "dev")),
        ('["main", "dev"]', ("main", "dev")),
        ("7", ("7",)),
        ("[1,2]", ("1", "2")),
        ("main,,dev", ("main", "dev")),
        ("-1001234567890", ("-1001234567890",)),
        ("", ()),
    ],
)
def test_g06_a_list_is_read_with_commas_spaces_or_as_json(
    text: str, expected: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GATEWAY_PROTECTED_BRANCHES", text)
    assert settings.load().protected_branches == expected


@pytest.mark.usefixtures("places")
def test_g06_a_wrong_entry_is_answered_with_the_variable_and_an_example(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEWAY_APPROVE", "git_commit,git_psuh")
    said = refusal()
    assert "GATEWAY_APPROVE: entry 2 is not an operation; did you mean git_push?" in said
    assert "example: GATEWAY_APPROVE=" in said


@pytest.mark.usefixtures("places")
def test_a_star_puts_every_operation_behind_approval(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEWAY_APPROVE", "*")
    assert settings.load().approve == tuple(Operation)


@pytest.mark.usefixtures("places")
def test_a_number_by_class_is_for_all_classes_unless_a_class_has_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEWAY_QUORUM", "1,force:2")
    quorum = settings.load().quorum
    assert (quorum[RiskClass.FORCE], quorum[RiskClass.PUBLISH], RiskClass.NEVER in quorum) == (2, 1, False)


@pytest.mark.usefixtures("places")
@pytest.mark.parametrize("text", ["0", "-1", "force:", "force:0", "never:2", "forse:2", "1.5", "٢"])
def test_a_number_by_class_that_is_none_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEWAY_QUORUM", text)
    assert "GATEWAY_QUORUM: entry 1" in refusal()


def test_g07_a_value_never_appears_in_what_is_said_about_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    secret = "hunter2-hunter2"
    monkeypatch.chdir(tmp_path)
    for name in ("DATABASE_URL", "SHARED_DIR", "APPROVE", "QUORUM", "HOST_NAME", "LOG_LEVEL", "STOP_GRACE_SECONDS",
                 "CONFINE", "DEADLINE_SECONDS", "UNSAFE_RUN_WITHOUT_CONFINEMENT", "REPOSITORIES"):  # fmt: skip
        monkeypatch.setenv(f"GATEWAY_{name}", f"{secret} {name}")
    with pytest.raises(ConfigError) as caught:
        settings.load()
    assert secret not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


@pytest.mark.usefixtures("places")
def test_e07_quotes_that_docker_keeps_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEWAY_HOST_NAME", '"web-1"')
    said = refusal()
    assert "GATEWAY_HOST_NAME: the value is wrapped in quotes" in said
    assert "web-1" not in said.replace("example: GATEWAY_HOST_NAME=web-1", "")


@pytest.mark.usefixtures("places")
def test_e07_a_comment_that_docker_keeps_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEWAY_LOG_LEVEL", "INFO  # less noise")
    assert "GATEWAY_LOG_LEVEL: the value holds a comment" in refusal()


def test_what_is_missing_is_named_with_an_example(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert "GATEWAY_SHARED_DIR: is not set (example: GATEWAY_SHARED_DIR=/" in refusal()
    monkeypatch.setenv("GATEWAY_SHARED_DIR", str(tmp_path / "shared"))
    assert "GATEWAY_REPO_DIR: is not set" in refusal()


@pytest.mark.usefixtures("places")
def test_a_relative_path_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEWAY_SHARED_DIR", "shared")
    assert "GATEWAY_SHARED_DIR: must be an absolute path" in refusal()


@pytest.mark.parametrize("inside", ["shared", "shop"])
def test_g05_state_inside_what_the_agent_can_write_is_refused_through_links_too(
    inside: str, places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = places / "looks-harmless"
    link.symlink_to(places / inside)
    monkeypatch.setenv("GATEWAY_STATE_DIR", str(link / "state"))
    assert "GATEWAY_STATE_DIR lies inside" in refusal()


@pytest.mark.parametrize("variable", ["GATEWAY_SHARED_DIR", "GATEWAY_REPO_DIR"])
def test_g05_what_the_agent_can_write_inside_the_state_directory_is_refused(
    variable: str, places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, str(places / "state" / "in"))
    assert f"{variable} lies inside GATEWAY_STATE_DIR" in refusal()


def test_g05_a_database_in_the_shared_directory_is_refused(places: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEWAY_DATABASE_URL", f"sqlite:///{places}/shared/audit.db")
    assert "GATEWAY_DATABASE_URL lies inside GATEWAY_SHARED_DIR" in refusal()


@pytest.mark.parametrize("name", ["SSH_KEY", "KNOWN_HOSTS", "CREDENTIAL_FILE", "CA_FILE", "SSH_AGENT"])
def test_what_the_host_trusts_is_refused_in_the_work_tree(
    name: str, places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"GATEWAY_{name}", f"{places}/shop/file")
    assert f"GATEWAY_{name} lies inside GATEWAY_REPO_DIR" in refusal()


def test_a_work_tree_may_lie_inside_the_shared_directory(places: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEWAY_REPO_DIR", str(places / "shared" / "shop"))
    assert settings.load().served[0].name == "shop"


def test_a_directory_that_cannot_stand_in_a_flag_name_is_served_as_repo(
    places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GATEWAY_REPO_DIR", str(places / "my shop.git"))
    assert settings.load().served[0].name == "repo"


@pytest.mark.usefixtures("places")
def test_confining_cannot_be_switched_off_and_doing_without_it_is_an_unsafe_choice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GATEWAY_CONFINE", "off")
    assert "GATEWAY_CONFINE: " in refusal()
    monkeypatch.setenv("GATEWAY_CONFINE", "required")
    monkeypatch.setenv("GATEWAY_UNSAFE_RUN_WITHOUT_CONFINEMENT", "true")
    assert "GATEWAY_UNSAFE_RUN_WITHOUT_CONFINEMENT" in settings.unsafe_choices(settings.load())[0]


def test_submodules_are_allowed_to_one_repository_at_a_time_and_it_is_said_what_that_widens(
    places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toml = places / "gateway.toml"
    more = "".join(f'[[repositories]]\nname = "{name}"\npath = "{places / name}"\n' for name in ("blog", "wiki"))
    toml.write_text(f"{more}allow_submodules = true\n")
    monkeypatch.setenv("GATEWAY_CONFIG_FILE", str(toml))
    assert [each.allow_submodules for each in settings.load().served] == [False, False, True]
    monkeypatch.setenv("GATEWAY_ALLOW_SUBMODULES", "true")
    loaded = settings.load()
    assert [each.allow_submodules for each in loaded.served] == [True, False, True]
    assert [choice.partition(":")[0] for choice in settings.unsafe_choices(loaded)] == [
        "submodules in shop",
        "submodules in wiki",
    ]


def test_large_files_are_allowed_to_one_repository_at_a_time_and_it_is_said_what_that_widens(
    places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GATEWAY_ALLOW_LFS", "true")
    toml = places / "gateway.toml"
    toml.write_text(f'[[repositories]]\nname = "blog"\npath = "{places / "blog"}"\n')
    monkeypatch.setenv("GATEWAY_CONFIG_FILE", str(toml))
    loaded = settings.load()
    assert [each.allow_lfs for each in loaded.served] == [True, False]
    assert [choice.partition(":")[0] for choice in settings.unsafe_choices(loaded)] == ["Git LFS in shop"]


def test_the_environment_counts_before_a_credential_before_the_env_file_before_toml(
    places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toml = places / "gateway.toml"
    toml.write_text('host_name = "toml"\nlog_level = "DEBUG"\nstop_grace_seconds = 1\nretention_days = 1\n')
    env = places / "env"
    env.write_text("GATEWAY_HOST_NAME=env-file\nGATEWAY_LOG_LEVEL=WARNING\nGATEWAY_STOP_GRACE_SECONDS=2\n")
    (places / "credentials").mkdir()
    (places / "credentials" / "GATEWAY_HOST_NAME").write_text("credential\n")
    (places / "credentials" / "GATEWAY_LOG_LEVEL").write_text("ERROR\n")
    monkeypatch.setenv("GATEWAY_CONFIG_FILE", str(toml))
    monkeypatch.setenv("GATEWAY_ENV_FILE", str(env))
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(places / "credentials"))
    monkeypatch.setenv("GATEWAY_HOST_NAME", "environment")
    loaded = settings.load()
    assert (loaded.host_name, loaded.log_level, loaded.stop_grace_seconds, loaded.retention_days) == (
        "environment", "ERROR", 2, 1,
    )  # fmt: skip


def test_a_credential_that_a_setting_names_as_a_file_is_used_where_it_lies(
    places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (places / "GATEWAY_SSH_KEY").write_text("-----BEGIN")
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(places))
    assert settings.load().ssh_key == places / "GATEWAY_SSH_KEY"


def test_several_repositories_come_from_toml_the_default_one_first(
    places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toml = places / "gateway.toml"
    toml.write_text(f'quorum = {{ force = 2 }}\n[[repositories]]\nname = "blog"\npath = "{places}/blog"\n')
    monkeypatch.setenv("GATEWAY_CONFIG_FILE", str(toml))
    loaded = settings.load()
    served = {each.name: each.path for each in loaded.served}
    assert list(served.items()) == [("shop", places / "shop"), ("blog", places / "blog")]
    assert loaded.quorum == {RiskClass.FORCE: 2}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("approove = []\n", "approove is no setting"),
        ("approve = [\n", "not TOML"),
        ('[[repositories]]\nname = "a/b"\npath = "/x"\n', "repositories.0.name"),
        ('[[repositories]]\nname = "a"\npath = "/x"\nkey = "y"\n', "repositories.0.key"),
        ('[[repositories]]\nname = "shop"\npath = "/x"\n', "the name shop is given twice"),
        ('[[repositories]]\nname = "in"\npath = "SHOP/sub"\n', "lie one inside the other"),
    ],
)
def test_a_mistake_in_toml_is_named(text: str, said: str, places: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    toml = places / "gateway.toml"
    toml.write_text(text.replace("SHOP", str(places / "shop")))
    monkeypatch.setenv("GATEWAY_CONFIG_FILE", str(toml))
    assert said in refusal()


def test_a_mistyped_name_in_the_env_file_is_refused_with_the_right_one(
    places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (places / "env").write_text("GATEWAY_APROVE=git_push\n")
    monkeypatch.setenv("GATEWAY_ENV_FILE", str(places / "env"))
    assert "GATEWAY_APROVE is no setting; did you mean GATEWAY_APPROVE?" in refusal()


@pytest.mark.usefixtures("places")
def test_a_mistyped_name_in_the_environment_is_told_and_not_fatal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEWAY_APROVE", "git_push")
    monkeypatch.setenv("GATEWAY_SERVICE_PORT", "80")  # Kubernetes sets such names for a service called gateway
    settings.load()
    assert "GATEWAY_APROVE is no setting; GATEWAY_APPROVE is" in settings.stray_names()


@pytest.mark.parametrize("mode", [0o666, 0o602])
def test_an_env_file_that_others_can_write_is_not_read(
    mode: int, places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    env = places / "env"
    env.write_text("GATEWAY_LOG_LEVEL=DEBUG\n")
    env.chmod(mode)
    monkeypatch.setenv("GATEWAY_ENV_FILE", str(env))
    assert "could have been written by somebody else" in refusal()


def test_an_env_file_in_the_work_tree_is_refused_when_named_and_passed_over_when_not(
    places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (places / "shop" / ".git").write_text("gitdir: /elsewhere\n")
    (places / "shop" / ".env").write_text("GATEWAY_LOG_LEVEL=DEBUG\n")
    monkeypatch.chdir(places / "shop")
    assert settings.load().log_level == "INFO"
    monkeypatch.setenv("GATEWAY_ENV_FILE", str(places / "shop" / ".env"))
    assert "GATEWAY_ENV_FILE lies inside GATEWAY_REPO_DIR" in refusal()


def test_a_named_env_file_that_is_not_there_is_refused(places: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEWAY_ENV_FILE", str(places / "nothing"))
    assert "GATEWAY_ENV_FILE" in refusal()


@pytest.mark.parametrize("line", ["export", "GATEWAY_LOG_LEVEL", 'GATEWAY_LOG_LEVEL="open', "=x"])
def test_a_line_of_the_env_file_that_cannot_be_read_is_named_and_not_skipped(
    line: str, places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (places / "env").write_text(f"# comment\n\n{line}\n")
    monkeypatch.setenv("GATEWAY_ENV_FILE", str(places / "env"))
    assert "line 3 is no NAME=value" in refusal()


def test_a_dollar_in_the_env_file_stands_for_itself(places: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (places / "env").write_text("GATEWAY_PROTECTED_BRANCHES=${HOME}\n")
    monkeypatch.setenv("GATEWAY_ENV_FILE", str(places / "env"))
    assert settings.load().protected_branches == ("${HOME}",)


@pytest.mark.usefixtures("places")
def test_what_is_loaded_does_not_show_the_database_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEWAY_DATABASE_URL", "postgresql://gateway:hunter2@db/gateway")
    assert "hunter2" not in repr(settings.load())


def test_an_env_file_that_is_passed_over_in_a_work_tree_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".env").write_text("GATEWAY_SHARED_DIR=/srv/shared\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GATEWAY_SHARED_DIR", raising=False)

    with pytest.raises(ConfigError) as caught:
        settings.load()

    assert "lies in a git work tree and was not read" in caught.value.hint
