"""A Bash worker manager's paths and queues, under our names."""

from __future__ import annotations

from pathlib import Path

import pytest

from executor.errors import Refused
from gateway.setup.worker_manager_settings import NAMES, read_worker_manager, translated

SCRIPT = """\
#!/bin/bash
PROJECT_ROOT="$(cd "$(dirname "$0")/.." && pwd)"
SHARED_DIR="${SHARED_DIR:-/srv/agent/shared}"
REPO_DIR=/srv/agent/shop
START_HOUR=9
END_HOUR=18
TIMEZONE="America/Sao_Paulo"
CHECK_INTERVAL=300
while true; do
  docker exec app php artisan queue:monitor emails --max=50
  [ -f "$SHARED_DIR/restart_queue.flag" ] && touch done
done
"""


def test_paths_are_taken_and_what_a_shell_works_out_is_named() -> None:
    found = translated(SCRIPT)

    assert found.settings == {"shared_dir": "/srv/agent/shared", "repo_dir": "/srv/agent/shop"}
    assert "  SHARED_DIR -> GATEWAY_SHARED_DIR=/srv/agent/shared" in found.told
    assert any("PROJECT_ROOT is not understood" in line for line in found.told)
    assert any("--set queue_app_dir" in line for line in found.told), "queues need to know where artisan lies"


def test_queues_come_too_where_it_is_known_where_artisan_lies() -> None:
    found = translated(SCRIPT, "/var/www/html")

    assert found.settings == {
        "shared_dir": "/srv/agent/shared",
        "repo_dir": "/srv/agent/shop",
        "queue_names": "emails",
        "queue_container": "app",
        "queue_app_dir": "/var/www/html",
        "queue_source": "artisan",
        "queue_max_pending": "50",
        "queue_interval_seconds": "300",
        "queue_time_zone": "America/Sao_Paulo",
        "queue_hours": "Mon-Fri 09:00-18:00",
    }


def test_a_value_that_no_setting_can_have_is_left_out_and_said() -> None:
    found = translated("SHARED_DIR=relative/path\nREPO_DIR=/srv/shop\n")

    assert found.settings == {"repo_dir": "/srv/shop"}
    assert any("SHARED_DIR is left out" in line for line in found.told)


def test_a_prefix_of_its_own_is_understood() -> None:
    assert translated("WORKER_MANAGER_SHARED_DIR=/s\n").settings == {"shared_dir": "/s"}


def test_what_is_no_script_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="cannot be read"):
        read_worker_manager(tmp_path / "nothing")
    (tmp_path / "huge").write_bytes(b"x" * 300_000)
    with pytest.raises(Refused, match="longer"):
        read_worker_manager(tmp_path / "huge")


def test_the_page_names_every_variable_that_is_understood() -> None:
    page = (Path(__file__).resolve().parents[3] / "docs" / "from-bash-scripts.md").read_text()

    assert [name for names in NAMES.values() for name in names if f"`{name}`" not in page] == []
