"""Measure the gateway and print one table: `python -m tests.benchmarks [ROW ...]`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from tests.benchmarks import answering, deciding, remembering, resident, tapping
from tests.benchmarks.rows import Row, machine, table

BENCHMARKS: dict[str, Callable[[], Row | list[Row]]] = {
    "small": answering.small,
    "large": answering.large,
    "burst": answering.burst,
    "junk": answering.junk,
    "start": resident.start,
    "decision": deciding.decision,
    "tap": tapping.tap,
    "record": remembering.record,
    "idle": resident.idle,
}


def main() -> None:
    """Run what was asked for, or everything, and say what each came to as soon as it is known."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("rows", nargs="*", choices=[*BENCHMARKS, []], metavar="ROW", help=", ".join(BENCHMARKS))
    chosen = parser.parse_args().rows or list(BENCHMARKS)
    print(machine())
    rows: list[Row] = []
    for name in chosen:
        found = BENCHMARKS[name]()
        rows += found if isinstance(found, list) else [found]
        print(f"{name} measured", file=sys.stderr)
    print(machine())
    print(table(rows))


if __name__ == "__main__":
    main()
