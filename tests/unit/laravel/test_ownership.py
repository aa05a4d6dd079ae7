"""PHP is run on the host only where nobody else could have written it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from executor.errors import Refused
from executor.laravel.ownership import require_own, why_foreign


@pytest.fixture
def app(tmp_path: Path) -> Path:
    directory = tmp_path / "www/shop"
    (directory / "bootstrap/cache").mkdir(parents=True)
    (directory / "vendor").mkdir()
    for name in ("artisan", "vendor/autoload.php", "bootstrap/app.php", ".env"):
        (directory / name).write_text("")
    return directory


def test_an_application_that_only_the_host_writes_is_its_own(app: Path, tmp_path: Path) -> None:
    assert why_foreign(app, (tmp_path / "shared", tmp_path / "www/shopping")) is None


@pytest.mark.parametrize("place", [".", "..", "../.."])
def test_an_application_in_a_directory_of_the_agent_is_the_agents(app: Path, place: str) -> None:
    assert "which the agent can write" in str(why_foreign(app, (app / place,)))


def test_an_application_around_a_directory_of_the_agent_is_the_agents(app: Path) -> None:
    assert "the agent can write" in str(why_foreign(app, (app / "storage/shared",)))


def test_a_link_does_not_hide_where_the_application_lies(app: Path, tmp_path: Path) -> None:
    (tmp_path / "current").symlink_to(app)
    assert "which the agent can write" in str(why_foreign(tmp_path / "current", (app,)))


def test_a_link_to_the_agents_directory_is_found_as_well(app: Path, tmp_path: Path) -> None:
    (tmp_path / "agent").symlink_to(app.parent)
    assert "which the agent can write" in str(why_foreign(app, (tmp_path / "agent",)))


@pytest.mark.parametrize(
    "name", [".", "..", "artisan", "vendor", "vendor/autoload.php", "bootstrap/app.php", "bootstrap/cache", ".env"]
)
def test_whatever_others_can_write_on_the_way_or_in_the_code_is_found(app: Path, name: str) -> None:
    (app / name).chmod(0o777)
    assert "can be written by everybody" in str(why_foreign(app, ()))


def test_what_a_group_with_others_in_it_can_write_is_found(app: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs to be root, to give a file to another group")
    os.chown(app / "artisan", 0, 65_534)
    (app / "artisan").chmod(0o664)
    assert "can be written by the group" in str(why_foreign(app, ()))


def test_what_only_the_gateways_own_group_can_write_is_its_own(app: Path) -> None:
    (app / "artisan").chmod(0o664)
    assert why_foreign(app, ()) is None


def test_code_that_is_a_link_is_followed_to_where_it_lies(app: Path, tmp_path: Path) -> None:
    (tmp_path / "open").mkdir(mode=0o700)
    (tmp_path / "open/vendor").mkdir()
    (app / "vendor/autoload.php").unlink()
    (app / "vendor").rmdir()
    (app / "vendor").symlink_to(tmp_path / "open/vendor")
    assert why_foreign(app, ()) is None
    (tmp_path / "open").chmod(0o777)
    assert "open can be written by everybody" in str(why_foreign(app, ()))


def test_a_sticky_directory_on_the_way_is_no_danger(app: Path) -> None:
    app.parent.chmod(0o1777)
    assert why_foreign(app, ()) is None


def test_a_directory_without_artisan_or_that_is_not_there_is_said_to_be_so(app: Path, tmp_path: Path) -> None:
    (app / "artisan").unlink()
    assert "there is no artisan" in str(why_foreign(app, ()))
    assert "cannot be looked at" in str(why_foreign(tmp_path / "gone", ()))


def test_the_refusal_names_the_reason_and_the_ways_out(app: Path) -> None:
    with pytest.raises(Refused) as refused:
        require_own(app, (app,))
    assert refused.value.code == "app_not_ours"
    assert "that PHP is the agent's" in refused.value.message
    assert "supervisorctl:GROUP" in refused.value.hint
