"""Which command restarts the workers, and what an operator who is asked is told of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from executor.errors import Failed
from executor.laravel.app_facts import AppFacts, read_answer
from executor.laravel.config import LaravelApp, LaravelConfig, RestartBy, SqlSource
from executor.laravel.restart_plan import horizon_state, restart_argv, what_restarts
from executor.laravel.workers import worker_of

ON_HOST = LaravelApp(Path("/srv/www/shop"))
IN_CONTAINER = LaravelApp(Path("/app"), container="shop-app-1", php="php")


def config(by: RestartBy, app: LaravelApp | None = ON_HOST, target: str = "") -> LaravelConfig:
    return LaravelConfig(("emails",), SqlSource("sqlite://"), app, by, target)


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (config(RestartBy.ARTISAN), "/usr/bin/php artisan queue:restart --no-interaction --no-ansi"),
        (config(RestartBy.HORIZON), "/usr/bin/php artisan horizon:terminate --no-interaction --no-ansi"),
        (
            config(RestartBy.ARTISAN, IN_CONTAINER),
            "/usr/bin/docker exec -w /app shop-app-1 php artisan queue:restart --no-interaction --no-ansi",
        ),
        (
            config(RestartBy.SYSTEMCTL, None, "shop@1.service"),
            "/usr/bin/systemctl --no-ask-password restart -- shop@1.service",
        ),
        (config(RestartBy.SUPERVISORCTL, None, "shop"), "/usr/bin/supervisorctl restart shop:*"),
        (config(RestartBy.SUPERVISORCTL, None, "shop:shop_00"), "/usr/bin/supervisorctl restart shop:shop_00"),
    ],
)
def test_the_command_is_the_hosts_and_holds_nothing_of_the_request(given: LaravelConfig, line: str) -> None:
    assert " ".join(restart_argv(given)) == line


def test_e08_docker_is_called_by_its_whole_path_and_asked_for_no_terminal() -> None:
    words = restart_argv(config(RestartBy.ARTISAN, IN_CONTAINER))
    assert Path(words[0]).is_absolute()
    assert [word for word in words[1 : words.index("php")] if word.startswith("-")] == ["-w"]


def test_an_approval_names_the_command_its_place_and_that_all_workers_restart() -> None:
    said = dict(what_restarts(config(RestartBy.ARTISAN), "emails"))
    assert said["runs"] == "php artisan queue:restart --no-interaction --no-ansi"
    assert said["in"] == "/srv/www/shop"
    assert "all workers" in str(said["concerns"])


def test_f06_an_approval_of_horizon_says_that_plain_workers_elsewhere_restart_too() -> None:
    said = dict(what_restarts(config(RestartBy.HORIZON), None))
    assert "shares the application's cache, on other hosts too" in str(said["also restarts"])


@pytest.mark.parametrize(
    ("exit_code", "said"), [(0, "Horizon runs"), (1, "paused"), (2, "inactive"), (255, "not known")]
)
def test_f05_horizon_is_judged_by_its_documented_exit_codes(exit_code: int, said: str) -> None:
    assert said in horizon_state(exit_code)


@pytest.mark.parametrize(
    ("argv", "found"),
    [
        (["php", "artisan", "queue:work"], ("queue:work", ())),
        (["/usr/bin/php8.2", "/srv/shop/artisan", "queue:work", "redis", "--queue=emails,default"],
         ("queue:work", ("emails", "default"))),
        (["php", "-d", "memory_limit=1G", "artisan", "queue:listen", "--queue", "emails"],
         ("queue:listen", ("emails",))),
        (["php", "artisan", "horizon"], ("horizon", ())),
        (["php", "artisan", "horizon:work", "redis", "--queue=emails"], ("horizon:work", ("emails",))),
        (["php", "artisan", "queue:restart"], None),
        (["php", "artisan"], None),
        (["sh", "-c", "php artisan queue:work"], None),
        (["python3", "respawn.py", "php", "artisan", "queue:work"], None),
        (["docker", "exec", "app", "php", "artisan", "queue:work"], None),
        (["php", "worker.php", "queue:work"], None),
        ([""], None),
        ([], None),
    ],
)  # fmt: skip
def test_a_worker_is_php_whose_artisan_was_told_to_work(
    argv: list[str], found: tuple[str, tuple[str, ...]] | None
) -> None:
    assert worker_of(argv) == found


def test_the_answer_of_the_application_is_found_among_notices() -> None:
    text = 'PHP Warning: x\n\n{"cache":"file","read":true,"signal":1800000000}\nDeprecated: y\n'
    assert read_answer(text) == AppFacts("file", True, 1_800_000_000)


@pytest.mark.parametrize("text", ["", "{", '{"cache":"file"}', '{"cache":"file","read":true,"signal":"soon"}'])
def test_an_answer_that_is_none_is_a_failure(text: str) -> None:
    with pytest.raises(Failed):
        read_answer(text)


def test_f09_the_page_for_operators_states_the_mechanism_with_its_source_and_what_a_long_job_needs() -> None:
    page = (Path(__file__).resolve().parents[3] / "docs/queues.md").read_text()
    for word in ("illuminate:queue:restart", "Illuminate/Queue/Worker.php", "stopwaitsecs", "retry_after"):
        assert word in page
