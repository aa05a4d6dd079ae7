"""The pages for operators name only what is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gateway.cli import VERBS
from gateway.settings_model import Settings
from gateway.settings_sources import variable

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "deploy").rglob("*.md")])
ELSEWHERE = {"GATEWAY_ENV_FILE", "GATEWAY_CONFIG_FILE"}  # they say where settings are, and are none themselves


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_names_only_settings_and_verbs_that_exist(page: Path) -> None:
    text = page.read_text()
    settings = {variable(name) for name in Settings.model_fields} | ELSEWHERE
    named = set(re.findall(r"\bGATEWAY_[A-Z][A-Z_]*[A-Z]\b", text))
    # "ops-gateway VERB" in code is a command; in prose the same two words may be a sentence
    verbs = set(re.findall(r"(?:^|[`$ ])(?:[./\w]*/)?ops-gateway ([a-z]+)", "\n".join(_code(text)), re.M))

    assert named - settings == set()
    assert verbs - set(VERBS) == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_link_to_a_file_of_the_project_leads_to_one(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text())
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_command_that_is_to_be_pasted_believes_a_file_of_the_agents_or_races_with_it_as_root(page: Path) -> None:
    """What `.git` in the work tree says is the agent's word: root would open to it, or mount, whatever it names."""
    blocks = "\n".join(re.findall(r"```.*?\n(.*?)```", page.read_text(), re.S))
    assert re.findall(r"\$\([^)]*/srv/agent/[^)]*\)", blocks) == []
    assert re.findall(r"^.*\b(?:chmod|setfacl) -R.* /srv/agent/.*$", blocks, re.M) == []


def test_the_list_of_decisions_names_each_by_its_number_and_title() -> None:
    decisions = ROOT / "docs" / "decisions"
    listed = re.findall(r"^\| (\d+) \| \[(.+)\]\((.+)\) \|$", (decisions / "README.md").read_text(), re.M)
    pages = sorted(decisions.glob("[0-9]*.md"))

    assert [name for _, _, name in listed] == [page.name for page in pages]
    for (number, title, _), page in zip(listed, pages, strict=True):
        assert page.name.startswith(f"{int(number):04}-")
        assert page.read_text().startswith(f"# {number}. {title}\n")


def _code(text: str) -> list[str]:
    blocks = re.findall(r"```.*?\n(.*?)```", text, re.S)
    return [*blocks, *re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.S))]
