"""Coverage-guided fuzzing of everything that an agent's bytes go through before a decision. Run by hand:

    pip install atheris && python tests/fuzz/fuzz_requests.py -max_total_time=3600 CORPUS_DIRECTORY

The first byte of an input chooses the entrance, the others go through it. What may come out is a value or `Refused`;
anything else ends the run and leaves the input in a file. What a value promises is asserted.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).parents[2]))

with atheris.instrument_imports(include=["executor"]):
    from executor.arrival import read_arrival
    from executor.errors import Refused
    from executor.git.grammar import judge
    from executor.git.lexer import quote, split
    from executor.git.remote_address import mask_userinfo, parse_remote
    from executor.policy.model import Command, Operation
    from executor.policy.parameters import from_body
    from executor.protocol.bodies import decode_body, looks_cut_off, parse_request_json
    from executor.protocol.names import FlagName, parse_name, parse_private, private_name
    from executor.record.display import visible

_OPERATIONS = tuple(Operation)
_NO_LONG_ONES = ("--output", "--upload-pack", "--receive-pack", "--exec", "--ext-diff", "--textconv", "--no-index")


def lines(data: bytes) -> None:
    """A `git_cmd` line: its words are shown as a line that means the same, and judging what runs changes nothing."""
    words = split(data.decode("utf-8", "replace"))
    assert split(quote(words)) == words
    _check(judge(words[1:] if words[0] == "git" else words))


def words(data: bytes) -> None:
    """The words of a typed `git_cmd`, which no lexer has seen."""
    _check(judge(tuple(data.decode("utf-8", "replace").split("\0"))))


def _check(command: Command) -> None:
    again = judge(command.argv[1:])
    assert again.argv == command.argv
    assert again.risk is command.risk
    until_paths = command.argv[: command.argv.index("--")] if "--" in command.argv else command.argv
    for word in until_paths:
        assert not word.startswith(_NO_LONG_ONES), word
    assert not any("\0" in word for word in command.argv)


def names(data: bytes) -> None:
    """A file name in the shared directory: one meaning, also while it is claimed."""
    name = data.replace(b"/", b"").replace(b"\0", b"")
    if parse_name(name) is not None:
        assert parse_private(private_name(name, "0" * 16)) == name
        assert parse_private(name) is None
    parse_private(name)


def bodies(data: bytes) -> None:
    """The body of a plain flag, for the operation that its first byte names."""
    if data:
        text = decode_body(data[1:])
        assert "\0" not in text
        assert "\r" not in text
        from_body(_OPERATIONS[data[0] % len(_OPERATIONS)], text)


def typed(data: bytes) -> None:
    """A typed request. Where it is cut off in the middle it says so, and a whole one is never said to be."""
    cut = looks_cut_off(data)
    parse_request_json(decode_body(data))
    assert not cut


def arrivals(data: bytes) -> None:
    """A whole flag, by its name and bytes: always an arrival, with either a request or a refusal."""
    name, _, content = data.partition(b"\0")
    flag = parse_name(name) or FlagName(None, request_id="fuzz")
    arrival = read_arrival(flag, content)
    assert (arrival.request is None) != (arrival.refusal is None)


def addresses(data: bytes) -> None:
    """A remote's address: what was understood has no words for a program in it."""
    url = data.decode("utf-8", "replace")
    mask_userinfo(url)
    address = parse_remote(url)
    assert address.scheme in ("ssh", "https")
    assert "::" not in url.partition("/")[0]


def shown(data: bytes) -> None:
    """What people are shown has no character that they cannot see, and showing it again changes nothing."""
    text = visible(data.decode("utf-8", "replace"))
    assert text.isprintable() or all(not ord(c) < 0x20 for c in text)


ENTRANCES: tuple[Callable[[bytes], None], ...] = (lines, words, names, bodies, typed, arrivals, addresses, shown)


def one_input(data: bytes) -> None:
    if data:
        try:
            ENTRANCES[data[0] % len(ENTRANCES)](data[1:])
        except Refused as refused:
            assert refused.code
            assert refused.message


if __name__ == "__main__":
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
