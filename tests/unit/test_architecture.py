"""The house keeps its shape: who may import whom, which rooms are pure, and where programs are started."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted([*(ROOT / "executor").rglob("*.py"), *(ROOT / "gateway").rglob("*.py")])

# Modules that decide: given values they return values. They may import only what is listed or pure themselves.
PURE = [
    "executor/errors.py",
    "executor/outcome.py",
    "executor/policy",
    "executor/protocol/names.py",
    "executor/protocol/bodies.py",
    "executor/protocol/results.py",
    "executor/protocol/sightings.py",
    "executor/protocol/capabilities.py",
    "executor/git/lexer.py",
    "executor/git/grammar.py",
    "executor/git/operands.py",
    "executor/git/recovery.py",
    "executor/git/risk_facts.py",
    "executor/git/config_scrub.py",
    "executor/record/redaction.py",
    "executor/sandbox/output.py",
    "executor/sandbox/seccomp.py",
    "executor/sandbox/landlock.py",
    "executor/record/forms.py",
    "executor/record/lifecycle.py",
    "executor/record/secret_forms.py",
    "executor/record/lookalikes.py",
    "executor/git/remote_address.py",
    "executor/git/failures.py",
    "executor/git/reports.py",
    "executor/git/push_report.py",
    "executor/git/push_plan.py",
    "executor/git/undo_push.py",
    "executor/git/drift.py",
    "executor/git/recovery_model.py",
    "executor/arrival.py",
    "executor/laravel/model.py",
    "executor/laravel/proof.py",
    "executor/laravel/queue_monitor_output.py",
    "executor/health/config.py",
    "executor/health/containers.py",
    "executor/health/gateway.py",
    "executor/health/host.py",
    "executor/health/report.py",
    "executor/spans.py",
    "executor/health/workers.py",
    "gateway/charts/series.py",
    "gateway/charts/terminal.py",
    "gateway/schedule/hours.py",
    "gateway/schedule/queue_limits.py",
    "gateway/schedule/queue_restarts.py",
    "gateway/schedule/queue_state.py",
    "gateway/schedule/thresholds.py",
    "gateway/telegram/queue_cards.py",
    "executor/record/display.py",
    "executor/git/added_lines.py",
    "executor/git/bringing_in.py",
    "executor/git/command_layout.py",
    "executor/git/command_line.py",
    "executor/git/command_specs.py",
    "executor/git/command_words.py",
    "executor/git/git_dir_layout.py",
    "executor/git/identity.py",
    "executor/git/pathspecs.py",
    "executor/git/refnames.py",
    "executor/git/refusals.py",
    "executor/git/remote_operands.py",
    "executor/git/rescue_record.py",
    "executor/git/revisions.py",
    "executor/git/risk_paths.py",
    "executor/git/scripts.py",
    "executor/git/secret_signs.py",
    "executor/git/text.py",
    "gateway/setup/shell_assignments.py",
    "gateway/setup/toml_text.py",
    "executor/git/transfer_plan.py",
    "executor/git/unshown_text.py",
]
IMPURE_MODULES = {
    "os", "io", "sys", "time", "socket", "subprocess", "shutil", "tempfile", "threading", "asyncio", "signal",
    "pathlib", "random", "secrets", "sqlalchemy", "loguru", "ctypes", "fcntl", "multiprocessing", "urllib.request",
}  # fmt: skip
MAX_LINES = 300
CODE = re.compile(r"\([A-G]\d\d\)|\(P\d\)")  # of a kind of failure: see CONTRIBUTING.md


def imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def is_pure(path: Path) -> bool:
    name = str(path.relative_to(ROOT))
    return any(name == entry or name.startswith(entry + "/") for entry in PURE)


def label(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", [m for m in MODULES if label(m).startswith("executor/")], ids=label)
def test_the_executor_knows_no_gateway_no_telegram_and_no_scheduler(path: Path) -> None:
    roots = {name.split(".")[0] for name in imports(path)}
    assert roots.isdisjoint({"gateway", "telegram", "apscheduler", "asyncio", "asyncinotify"})


@pytest.mark.parametrize("path", MODULES, ids=label)
def test_only_the_sandbox_starts_programs(path: Path) -> None:
    if label(path) == "executor/sandbox/process.py":
        return
    tree = ast.parse(path.read_text())
    calls = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    starters = {"os.system", "os.popen", "os.posix_spawn", "os.posix_spawnp", "os.fork", "os.forkpty"}
    starters |= {
        f"os.{kind}{form}" for kind in ("exec", "spawn") for form in ("v", "ve", "vp", "vpe", "l", "le", "lp")
    }
    assert "subprocess" not in {name.split(".")[0] for name in imports(path)}
    assert calls.isdisjoint(starters | {"asyncio.create_subprocess_exec", "asyncio.create_subprocess_shell"})


@pytest.mark.parametrize("path", [m for m in MODULES if is_pure(m)], ids=label)
def test_what_decides_does_no_input_output_and_reads_no_clock(path: Path) -> None:
    names = imports(path)
    assert names.isdisjoint(IMPURE_MODULES)
    calls = {ast.unparse(n.func) for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Call)}
    assert calls.isdisjoint({"open", "datetime.now", "datetime.utcnow", "input", "print"})


def words_of(path: Path) -> set[str]:
    """The strings of a module but for its docstrings: what may be shown to somebody."""
    tree = ast.parse(path.read_text())
    holders = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    told = {ast.get_docstring(node, clean=False) for node in ast.walk(tree) if isinstance(node, holders)}
    values = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    return {value for value in values if isinstance(value, str)} - told


@pytest.mark.parametrize("path", MODULES, ids=label)
def test_the_codes_that_comments_cite_are_in_no_text_for_people(path: Path) -> None:
    assert [words for words in words_of(path) if CODE.search(words)] == []


@pytest.mark.parametrize("path", [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")], ids=label)
def test_the_codes_that_comments_cite_are_on_no_page(path: Path) -> None:
    assert CODE.findall(path.read_text()) == []


def test_every_pure_module_named_here_exists() -> None:
    assert [entry for entry in PURE if not (ROOT / entry).exists()] == []


@pytest.mark.parametrize("path", MODULES, ids=label)
def test_a_module_stays_short_enough_to_have_one_job(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= MAX_LINES


def test_test_modules_have_names_of_their_own() -> None:
    """Without packages in between pytest takes two modules of one name for the same."""
    tests = [path for path in (ROOT / "tests").rglob("test_*.py") if not (path.parent / "__init__.py").exists()]
    names = [path.name for path in tests]
    assert sorted({name for name in names if names.count(name) > 1}) == []
