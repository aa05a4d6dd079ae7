"""The answer to /health fits into a message whatever was found, and says the worst first."""

from __future__ import annotations

from golden_health import HEALTH_CARDS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from phone import read, text_of
from telegram_samples import NOW, PLACE

from executor.health.report import Finding, Level, report
from gateway.telegram.health_card import health
from gateway.telegram.text_budget import LIMIT

texts = st.text(max_size=300)
findings = st.builds(Finding, texts, texts, st.sampled_from(Level), texts, texts, texts)


@settings(suppress_health_check=[HealthCheck.too_slow])  # machines are slow at times
@given(st.lists(findings, max_size=80))
def test_whatever_was_found_makes_a_message_that_telegram_takes(found: list[Finding]) -> None:
    card = health(PLACE, report("web-1", NOW, found))

    assert text_of(card.html) == card.plain
    assert len(card.plain.encode("utf-16-le", "surrogatepass")) // 2 <= LIMIT
    assert read(card.html).marked <= 100


def test_of_too_many_findings_the_bad_ones_are_shown() -> None:
    long = "x " * 90
    found = [Finding("disk", str(number), Level.GOOD, f"{number} {long}") for number in range(40)]
    found += [Finding("container", str(number), Level.BAD, f"{number} {long}") for number in range(10)]
    card = health(PLACE, report("web-1", NOW, found))

    assert all(f"container {number}:" in card.plain for number in range(10))
    assert "more" in card.plain


def test_a_phone_shows_in_the_first_lines_that_something_is_bad_and_where() -> None:
    first, second = HEALTH_CARDS["health-bad"]().plain.splitlines()[:2]

    assert first == "🔴 Not well"
    assert second.startswith("on web-1 · ")
    assert "bad" in second
