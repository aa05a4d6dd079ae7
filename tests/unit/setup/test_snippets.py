"""What is printed for other programs' files can stand in them as it is."""

from __future__ import annotations

from pathlib import PurePath

from gateway.setup.snippets import Places, compose, cron_line, drop_in


def places(root: str, *, found: bool = False) -> Places:
    base = PurePath(root)
    return Places(
        shared=base / "shared",
        work_tree=base / "shop",
        git_directory=base / "local.git",
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
