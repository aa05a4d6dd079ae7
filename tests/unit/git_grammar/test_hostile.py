"""What could run a program, leave the repository or deceive an operator is refused, however it is spelled."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest
from command_lists import decided, lines_of, unescaped

from executor.errors import Refused
from executor.git.command_specs import CommandSpec, Takes
from executor.git.grammar import judge
from executor.git.table import load
from executor.policy.model import Refuse

HOSTILE = lines_of("hostile_lines.txt")

# A word that each command takes as an operand, to put options before and after it.
SOME_OPERAND = {"config": "user.name", "check-attr": "text", "remote-add": "x"}


@pytest.mark.parametrize("line", HOSTILE)
def test_hostile_line_is_refused_with_a_reason_and_a_hint(line: str) -> None:
    decision = decided(unescaped(line))
    assert isinstance(decision, Refuse), decision
    assert decision.code
    assert decision.reason
    assert decision.hint


def unsafe_commands() -> Iterator[tuple[str, str]]:
    for line in lines_of("unsafe_options.txt"):
        names, options = line.split(": ")
        yield from itertools.product(names.split(), options.split())


def spellings(spec: CommandSpec, option: str, operand: str) -> Iterator[tuple[str, ...]]:
    """Return the ways in which git could be made to read `option`."""
    yield (option,)
    yield (option, "x")
    yield (f"{option}=x",)
    yield (operand, option)
    yield (operand, f"{option}=/tmp/x")
    yield (option, operand)
    if option.startswith("--"):
        for length in range(3, len(option)):
            prefix = option[:length]
            if prefix not in spec.options:
                yield (prefix,)
                yield (f"{prefix}=x", operand)
        return
    yield (f"{option}x",)
    for other in spec.options.values():
        if len(other.name) == 2 and other.takes is Takes.NOTHING:  # -nO: bundled behind an allowed one
            yield (f"{other.name}{option[1:]}",)
            yield (f"{other.name}{option[1:]}x", operand)


@pytest.mark.parametrize(("name", "option"), list(unsafe_commands()))
def test_c17_an_unsafe_option_is_refused_in_every_spelling(name: str, option: str) -> None:
    words = (name,) if name in load().commands else tuple(name.split("-", 1))
    spec = load().commands[" ".join(words)]
    operand = SOME_OPERAND.get(name, "HEAD")
    tried = 0
    for spelling in spellings(spec, option, operand):
        with pytest.raises(Refused) as caught:
            judge((*words, *spelling))
        assert caught.value.code != "empty_command"
        tried += 1
    assert tried >= 6


@pytest.mark.parametrize("name", sorted(load().commands))
def test_no_long_option_may_be_abbreviated(name: str) -> None:
    spec = load().commands[name]
    for option in spec.options.values():
        if not option.name.startswith("--"):
            continue
        for length in range(3, len(option.name)):
            prefix = option.name[:length]
            if prefix in spec.options:
                continue
            for word in (prefix, f"{prefix}=x"):
                with pytest.raises(Refused) as caught:
                    judge((*name.split(), word))
                assert caught.value.code == "unknown_option"
                assert option.name in caught.value.hint or caught.value.hint


@pytest.mark.parametrize("name", sorted(load().commands))
@pytest.mark.parametrize(
    "word",
    ["--end-of-options", "--output=/tmp/x", "--exec=id", "--upload-pack=id", "--git-dir=/", "--no-such", "-\u00e9"],
)
def test_c17_no_command_takes_an_option_that_is_not_its_own(name: str, word: str) -> None:
    for words in ((word,), ("HEAD", word), (word, "HEAD"), ("HEAD", "HEAD", word)):
        with pytest.raises(Refused):
            judge((*name.split(), *words))


# A path or pattern may be called ext::id, and a branch (top)x can be deleted: there they are names and nothing else.
HARMLESS = {("ext::id", kind) for kind in ("path", "file")} | {(":(top)x", "push-refspec")}
HOSTILE_VALUES = [
    "../x",
    "/etc/passwd",
    "~/x",
    ".git/config",
    "ext::id",
    "a\u202eb",
    "a\x1b[2Jb",
    "x\x00y",
    ":(top)x",
]
NAMING_KINDS = {
    *("path", "file", "likely-path", "rev", "commit", "rev-or-path", "branch", "new-branch", "tag", "ref", "pattern"),
    *("remote", "url", "push-refspec", "fetch-refspec", "lease", "stash", "number", "word", "sort", "readable-key"),
}


@pytest.mark.parametrize("kind", sorted(NAMING_KINDS))
@pytest.mark.parametrize("value", HOSTILE_VALUES)
def test_no_kind_of_name_takes_a_hostile_value(kind: str, value: str) -> None:
    if (value, kind) in HARMLESS:
        load().check(kind, value)
        return
    with pytest.raises(Refused):
        load().check(kind, value)


@pytest.mark.parametrize(
    "value",
    ["%G?", "%GS", "%+GG", "%-GK", "% GF", "%%%G?", "a%GPb", "%(signature)", "%(*signature:key)", "%<(99999)%h"],
)
def test_a_format_starts_no_signature_program_and_takes_no_huge_width(value: str) -> None:
    for words in (
        ("log", f"--format={value}"),
        ("log", f"--pretty=format:{value}"),
        ("for-each-ref", f"--format={value}"),
    ):
        with pytest.raises(Refused):
            judge(words)


@pytest.mark.parametrize("value", ["%%G", "100%%GOOD", "%h %s", "%(refname)", "%(trailers:key=X)", "%<(40,trunc)%s"])
def test_a_harmless_format_is_taken(value: str) -> None:
    judge(("log", f"--format={value}"))
