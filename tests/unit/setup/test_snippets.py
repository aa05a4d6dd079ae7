"""What is printed for other programs' files can stand in them as it is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePath

from gateway.setup.snippets import Places, compose, cron_line, drop_in


def places(root: str, *, found: bool = False) -> Places:
    base = PurePath(root)
    return Places(
        shared=base / "shared",
        repositories=((base / "shop", base / "local.git"),),
        group=990,
        settings_file=base / ".env",
        named_in="GATEWAY_ENV_FILE",
        found_by_itself=found,
        program=PurePath("/opt/ops-gateway/bin/ops-gateway"),
        home=base,
    )


def test_the_container_sees_three_directories_one_of_them_read_only_and_no_network() -> None:
    text = compose(places("/srv/agent"))

    assert text.count("type: bind") == 3
    assert "source: /srv/agent/local.git, target: /srv/agent/local.git, read_only: true" in text
    assert "source: /srv/agent/shop, target: /srv/agent/shop, read_only: false" in text
    assert "network_mode: none" in text
    assert ":990" in text


def test_every_repository_is_shown_to_the_container_and_made_writable_for_the_unit() -> None:
    two = replace(
        places("/srv/agent"),
        repositories=(
            (PurePath("/srv/agent/shop"), PurePath("/var/lib/x/shop.git")),
            (PurePath("/srv/blog"), PurePath("/var/lib/x/blog.git")),
        ),
    )

    assert "source: /srv/blog, target: /srv/blog, read_only: false" in compose(two)
    assert "source: /var/lib/x/blog.git, target: /var/lib/x/blog.git, read_only: true" in compose(two)
    assert "ReadWritePaths=/srv/blog\n" in drop_in(two)


def test_what_lies_in_a_home_is_bound_into_the_empty_one_that_the_unit_sees() -> None:
    text = drop_in(places("/home/ann"))

    assert "BindPaths=/home/ann/shared\nBindPaths=/home/ann/shop\n" in text
    assert "ReadWritePaths" not in text


def test_what_only_the_environment_says_is_said_to_whatever_starts_the_gateway() -> None:
    told = replace(places("/srv/agent"), environment={"GATEWAY_STATE_DIR": "/srv/my state"})

    assert 'Environment="GATEWAY_STATE_DIR=/srv/my state"' in drop_in(told)
    assert "GATEWAY_STATE_DIR='/srv/my state' /opt/ops-gateway/bin/ops-gateway tick" in cron_line(told)


def test_odd_paths_are_written_as_each_reader_needs_them() -> None:
    odd = places("/srv/my %agent's")

    assert "source: '/srv/my %agent''s/shared'" in compose(odd)
    assert 'ReadWritePaths="/srv/my %%agent\'s/shared"' in drop_in(odd)
    assert "cd '/srv/my \\%agent'\\''s' && " in cron_line(odd)


def test_the_unit_is_told_of_the_settings_and_cron_only_where_they_are_not_found() -> None:
    assert "Environment=GATEWAY_ENV_FILE=/srv/agent/.env" in drop_in(places("/srv/agent", found=True))
    assert "GATEWAY_ENV_FILE" not in cron_line(places("/srv/agent", found=True))
    assert cron_line(places("/srv/agent")).startswith(
        "* * * * * cd /srv/agent && GATEWAY_ENV_FILE=/srv/agent/.env /opt/ops-gateway/bin/ops-gateway tick"
    )
