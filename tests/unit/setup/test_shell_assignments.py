"""Variables read out of a shell script: as bash has them, or said to be not understood; nothing is run."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.setup.shell_assignments import read_assignments

UNDERSTOOD = r"""
# A comment with X=1 in it
A=/srv/agent/shared
export B='single $A "quoted"'
readonly C="double $A and ${A}/more"
D=${MISSING:-/default/path}
E="${A:-/not/this}"
F=${EMPTY-x}
G=joined'to'"gether"
H=one; I=two   # and a comment
J="a \"quoted\" \$dollar \\ back"
K=back\ slashed
L=
M="${L:-filled}"
N="${NESTED:-${A}/sub}"
O=continued\
line
P=has#hash
declare -r Q="declared"
if true; then
  R=indented
fi
cat >/dev/null <<'TEXT'
A=/from/a/heredoc
TEXT
"""


def test_what_is_understood_is_what_bash_has(tmp_path: Path) -> None:
    found = read_assignments(UNDERSTOOD)
    script = tmp_path / "script"
    script.write_text(UNDERSTOOD + "".join(f'printf "%s\\0" "${name}"\n' for name in sorted(found.values)))

    done = subprocess.run(["/bin/bash", str(script)], env={}, capture_output=True, text=True, check=True)

    assert done.stdout.split("\0")[:-1] == [found.values[name] for name in sorted(found.values)]
    assert set(found.values) == set("ABCDEFGHIJKLMNOPQR")
    assert found.not_understood == {}


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('X="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"', "a command"),
        ("X=`pwd`", "a command"),
        ("X=$((1+2))", "a command"),
        ("X=(a b)", "array"),
        ("X=~/shared", "home"),
        ("X=${Y%/*}", "a shell"),
        ("X=$1", "a shell"),
        ("X=$HOME/x", "depends on $HOME"),
        ('X="over\nlines"', "another line"),
        ("X=${Y:-$(id)}", "a command"),
    ],
)
def test_what_a_shell_would_have_to_work_out_is_named(line: str, why: str) -> None:
    found = read_assignments(line)

    assert "X" not in found.values
    assert why in found.not_understood["X"]


def test_what_depends_on_what_was_not_understood_is_not_understood_either() -> None:
    found = read_assignments("ROOT=$(pwd)\nSHARED=$ROOT/shared\nSAFE=${ROOT:-/x}\n")

    assert set(found.not_understood) == {"ROOT", "SHARED", "SAFE"}


def test_a_variable_that_is_set_to_different_values_is_not_guessed() -> None:
    found = read_assignments("X=1\nif a; then\n  X=2\nfi\nY=1\nY=1\n")

    assert found.values == {"Y": "1"}
    assert "more than once" in found.not_understood["X"]


def test_an_assignment_for_one_command_alone_is_none() -> None:
    assert read_assignments("TZ=UTC date +%H\n").values == {}


@given(st.text(alphabet="AB=$'\"\\`{}():-#; \n\t~/x<E&|", max_size=200))
def test_no_text_breaks_the_reader_and_nothing_is_in_both_lists(text: str) -> None:
    found = read_assignments(text)

    assert set(found.values).isdisjoint(found.not_understood)


def test_a_bomb_of_expansions_stays_bounded() -> None:
    doubled = "".join(f"{after}=${name}${name}\n" for name, after in zip("ABCDEFGH", "BCDEFGHI", strict=True))
    found = read_assignments(f"A={'x' * 2_000}\n{doubled}Z={'$A' * 20_000}\n")

    assert set(found.values) == {"A", "B"}
    assert "too long" in found.not_understood["C"]
    assert "too long" in found.not_understood["Z"]
    with pytest.raises(ValueError, match="longer"):
        read_assignments("X=1\n" * 5_001)
