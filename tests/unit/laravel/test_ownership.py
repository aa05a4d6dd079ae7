"""PHP is run on the host only where nobody else could have written it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from executor.errors import Refused
from executor.laravel.ownership import require_own, why_foreign

ROOT = Path(__file__).parents[3]


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


# --- other ways to be the agent's -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["artisan", "vendor/acme", "app/Jobs", ".env"])
def test_code_that_is_a_link_into_the_agents_directory_is_the_agents(app: Path, tmp_path: Path, name: str) -> None:
    theirs = tmp_path / "work"
    (theirs / "code").mkdir(parents=True)
    (theirs / "artisan").write_text("<?php")
    (app / "app").mkdir()
    (app / name).unlink(missing_ok=True)
    (app / name).symlink_to(theirs / ("artisan" if name == "artisan" else "code"))
    assert f"lies in {theirs}, which the agent can write" in str(why_foreign(app, (theirs,)))


def test_code_that_the_agent_could_still_make_is_the_agents(app: Path, tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (app / "bootstrap/extra.php").symlink_to(tmp_path / "work/not-there-yet.php")
    assert "which the agent can write" in str(why_foreign(app, (tmp_path / "work",)))


def test_each_link_of_a_chain_counts_and_not_only_its_two_ends(app: Path, tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work/release").symlink_to(app)
    (tmp_path / "current").symlink_to(tmp_path / "work/release")
    assert "which the agent can write" in str(why_foreign(tmp_path / "current", (tmp_path / "work",)))
    (tmp_path / "work").chmod(0o777)
    assert "work can be written by everybody" in str(why_foreign(tmp_path / "current", ()))


def test_links_that_lead_in_a_circle_end(app: Path) -> None:
    (app / "vendor/a").symlink_to(app / "vendor/b")
    (app / "vendor/b").symlink_to(app / "vendor/a")
    (app / "vendor/up").symlink_to("../..")
    assert "cannot be looked at" in str(why_foreign(app, ()))


def test_code_that_lies_deep_is_looked_at_and_what_visitors_upload_is_not(app: Path) -> None:
    deep = app / "vendor/acme/pay/src"
    deep.mkdir(parents=True)
    (app / "storage/logs").mkdir(parents=True)
    (app / "storage/logs").chmod(0o777)
    assert why_foreign(app, ()) is None
    (deep / "Pay.php").write_text("")
    (deep / "Pay.php").chmod(0o666)
    assert "Pay.php can be written by everybody" in str(why_foreign(app, ()))


@pytest.mark.needs("acl")
@pytest.mark.parametrize(
    ("entry", "who"), [("u:65534:rwX", "nobody"), ("g:65534:rwX", "the group nogroup"), ("u:4711:rwx", "uid 4711")]
)
def test_whom_an_access_list_lets_write_is_found_behind_the_mode(app: Path, entry: str, who: str) -> None:
    subprocess.run(["setfacl", "-m", entry, str(app / "vendor")], check=True)
    assert f"vendor can be written by {who} (setfacl)" in str(why_foreign(app, ()))
    subprocess.run(["setfacl", "-m", "m::r-x", str(app / "vendor")], check=True)
    assert why_foreign(app, ()) is None


@pytest.mark.needs("root")
def test_what_belongs_to_the_one_whom_the_agents_directories_belong_to_is_the_agents(
    app: Path, tmp_path: Path
) -> None:
    (tmp_path / "work").mkdir()
    os.chown(tmp_path / "work", 4711, 4711)
    os.chown(app / "vendor/autoload.php", 4711, 4711)
    assert "belongs to uid 4711, to whom directories of the agent belong" in str(
        why_foreign(app, (tmp_path / "work",))
    )
    assert why_foreign(app, ()) is None  # a deployment's user, as far as is known


@pytest.mark.needs("root")
def test_in_a_directory_like_tmp_only_what_the_hosts_own_users_put_there_is_the_hosts(app: Path) -> None:
    app.parent.chmod(0o1777)
    (app.parent / "current").symlink_to(app)
    os.chown(app.parent / "current", 4711, 4711, follow_symlinks=False)
    assert "lies where others may put things" in str(why_foreign(app.parent / "current", ()))


@pytest.mark.needs("root")
@pytest.mark.parametrize(
    ("theirs", "ours", "read_only", "found"),
    [
        ("work/inner", "www/shop", False, True),  # the agent's directory, mounted as the application
        ("work/inner", "www/shop/vendor", False, True),  # or as a part of it
        ("www/shop", "work/inner", False, True),  # the application, given to the agent
        ("www/shop", "work/inner", True, False),  # to read
    ],
)
def test_a_directory_that_is_mounted_twice_is_known_again(
    app: Path, tmp_path: Path, theirs: str, ours: str, read_only: bool, found: bool
) -> None:
    (tmp_path / "work/inner").mkdir(parents=True)
    for name in ("artisan", "autoload.php"):
        (tmp_path / "work/inner" / name).write_text("")
    looks = (
        "import sys; from pathlib import Path; from executor.laravel.ownership import why_foreign; "
        "print(why_foreign(Path(sys.argv[1]), (Path(sys.argv[2]),)))"
    )
    mount = f"mount --bind {tmp_path / theirs} {tmp_path / ours}"
    mount += f" && mount -o remount,bind,ro {tmp_path / ours}" if read_only else ""
    line = f'{mount} && exec {sys.executable} -c "$0" "$@"'
    argv = ["unshare", "--mount", "/bin/sh", "-c", line, looks, str(app), str(tmp_path / "work")]
    told = subprocess.run(argv, check=True, capture_output=True, text=True, cwd=ROOT).stdout
    assert ("mounted at both places" in told) is found
    assert found or told == "None\n"
