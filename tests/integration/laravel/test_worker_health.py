"""The health check sees the workers of a real application, queue by queue."""

from __future__ import annotations

from pathlib import Path

import pytest
from laravel_app import LaravelApplication, laravel_app
from probing import probed
from repos import process_runner

from executor.health.report import Finding, Level
from executor.health.worker_probes import worker_probes
from executor.laravel.config import LaravelApp, LaravelConfig, SqlSource


def looked_at(app: LaravelApp, *queues: str) -> list[Finding]:
    """What the probe finds."""
    return probed(worker_probes(LaravelConfig(queues, SqlSource("sqlite://"), app), process_runner()))


@pytest.fixture
def shop(tmp_path: Path) -> LaravelApplication:
    return laravel_app(tmp_path / "shop")


@pytest.mark.needs("laravel")
def test_each_queue_is_as_well_as_it_is_worked_on(shop: LaravelApplication) -> None:
    with shop.workers("emails,reports", count=2):
        emails, reports, mail = looked_at(LaravelApp(shop.directory), "emails", "reports", "mail")

    assert [each.level for each in (emails, reports, mail)] == [Level.GOOD, Level.GOOD, Level.BAD]
    assert emails.facts["workers"] == 2
    assert "nobody works on this queue" in mail.what


@pytest.mark.needs("laravel")
def test_f03_workers_that_ended_and_did_not_come_back_are_seen(shop: LaravelApplication) -> None:
    with shop.workers("emails"):
        assert looked_at(LaravelApp(shop.directory), "emails")[0].level is Level.GOOD

    (found,) = looked_at(LaravelApp(shop.directory), "emails")
    assert (found.level, found.facts["workers"]) == (Level.BAD, 0)


def test_e09_workers_in_a_container_that_cannot_be_asked_about_are_unknown_and_not_gone(tmp_path: Path) -> None:
    docker = tmp_path / "docker"
    docker.write_text("#!/bin/sh\necho 'permission denied: unix:///var/run/docker.sock' >&2; exit 1\n")
    docker.chmod(0o755)

    (found,) = looked_at(LaravelApp(Path("/app"), "shop-app", docker=str(docker)), "emails", "reports")
    assert (found.level, found.subject) == (Level.UNKNOWN, "emails, reports")
    assert "docker.sock" in found.detail
    assert "docker.sock" not in found.what
