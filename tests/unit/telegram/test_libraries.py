"""The chat's libraries are loaded without what only other uses of them need."""

from __future__ import annotations

import importlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gateway.telegram import libraries

ROOT = Path(__file__).resolve().parents[3]
NEEDLESS = (
    "cryptography click pygments rich h2 telegram.ext "  # what the two libraries would load if they find it
    "matplotlib redis psycopg pymysql detect_secrets requests mcp"  # what rare paths of our own load
)
RARE = "colorsys"  # a module that nothing here imports


@pytest.fixture(autouse=True)
def not_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, RARE, raising=False)


def test_a_gateway_with_a_chat_loads_nothing_that_it_has_no_use_for() -> None:
    program = (
        "import sys; import gateway.host, gateway.commands.serve, executor.dispatch;"
        "from gateway.telegram import libraries; libraries.load(); import gateway.telegram.service;"
        f"print([name for name in {NEEDLESS!r}.split() if name in sys.modules], 'telegram' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "[] True\n"


def test_no_request_looks_on_the_disk_for_a_package_that_is_not_there() -> None:
    program = (
        "import sys; from gateway.telegram import libraries; libraries.load(); import httpcore._synchronization;"
        "looked = type('Looked', (list,), {'find_spec': lambda self, name, *_: self.append(name)})();"
        "sys.meta_path.insert(0, looked); print(httpcore._synchronization.current_async_library(), [*looked])"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "asyncio []\n"


def test_what_is_left_out_is_missing_for_as_long_as_the_libraries_are_loaded() -> None:
    with libraries.without(frozenset({RARE})), pytest.raises(ModuleNotFoundError):
        importlib.import_module(RARE)
    assert importlib.import_module(RARE).__name__ == RARE


def test_another_thread_finds_meanwhile_what_is_left_out_here() -> None:
    with libraries.without(frozenset({RARE})), ThreadPoolExecutor(max_workers=1) as other:
        assert other.submit(importlib.import_module, RARE).result().__name__ == RARE
