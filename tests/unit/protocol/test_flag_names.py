"""Which file names are flags, and which only look like one."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from executor.arrival import read_arrival
from executor.decided import unflagged
from executor.policy.model import Operation, RiskClass, Run
from executor.protocol.names import (
    FlagName,
    is_request_result,
    is_set_aside,
    is_temporary,
    parse_name,
    parse_private,
    private_name,
    refusal_for,
    result_file,
    set_aside_name,
    temporary_name,
)
from executor.record.forms import Form

NAMES = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", fullmatch=True)
TOKEN = "0123456789abcdef"
UNTIMED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # machines are slow at times


@pytest.mark.parametrize("operation", Operation)
def test_each_operation_has_a_flag_by_its_own_name(operation: Operation) -> None:
    assert parse_name(f"{operation}.flag".encode()) == FlagName(operation)


@pytest.mark.parametrize(
    ("name", "meaning"),
    [
        (b"git_add.42.flag", FlagName(Operation.GIT_ADD, request_id="42")),
        (b"git_add@web.flag", FlagName(Operation.GIT_ADD, repo="web")),
        (b"git_add@web.42.flag", FlagName(Operation.GIT_ADD, repo="web", request_id="42")),
        (b"git_add.flag.flag", FlagName(Operation.GIT_ADD, request_id="flag")),
        (b"a_b-C9.request.json", FlagName(None, request_id="a_b-C9")),
        (b"request.request.json", FlagName(None, request_id="request")),
    ],
)
def test_repository_and_id_are_read_from_the_name(name: bytes, meaning: FlagName) -> None:
    assert parse_name(name) == meaning


@UNTIMED
@given(operation=st.sampled_from(Operation), repo=st.just("") | NAMES, request_id=st.just("") | NAMES)
def test_whatever_a_writer_composes_is_read_back_as_it_was_meant(
    operation: Operation, repo: str, request_id: str
) -> None:
    name = operation + (f"@{repo}" if repo else "") + (f".{request_id}" if request_id else "") + ".flag"

    assert parse_name(name.encode()) == FlagName(operation, repo, request_id)


@pytest.mark.parametrize(
    "name",
    [
        b"",
        b".flag",
        b"git_add",
        b"git_add.flag\n",
        b"git_add.flag ",
        b" git_add.flag",
        b"git_add.flag~",
        b".git_add.flag.swp",
        b"git_add.flag.tmp",
        b"GIT_ADD.flag",
        b"git_add.FLAG",
        b"git_add.\x1b[2J.flag",
        b"git_add.a.b.flag",
        b"git_add..flag",
        b"git_add@.flag",
        b"git_add@web@app.flag",
        b"git_add@web.app.1.flag",
        b"git_add.-x.flag",
        b"git_add._x.flag",
        b"git_add." + b"x" * 65 + b".flag",
        b"git_add/../x.flag",
        b"git_add\0.flag",
        b"git_rebase.flag",
        b".request.json",
        b"x.request.json\n",
        b"../x.request.json",
        "git_\u0441md.flag".encode(),
        "git_add.\uff11.flag".encode(),
        b"git_add.\xff.flag",
    ],
)
def test_a_name_that_only_looks_like_a_flag_is_none(name: bytes) -> None:
    assert parse_name(name) is None


@UNTIMED
@given(st.binary(max_size=300))
@example(b"git_add.flag\n")
def test_any_bytes_are_either_a_flag_of_plain_ascii_or_nothing(name: bytes) -> None:
    flag = parse_name(name)

    assert flag is None or (name.isascii() and b"/" not in name and name.decode().isprintable())


@pytest.mark.parametrize(
    "name", [b"git_add.git_status.flag", b"git_add.git_add.flag", b"git_push.request.json", b"unknown.request.json"]
)
def test_an_id_that_would_overwrite_the_latest_result_of_an_operation_is_refused_by_name(name: bytes) -> None:
    flag = parse_name(name)

    assert flag is not None
    refusal = refusal_for(flag)
    assert refusal is not None
    assert refusal.code == "reserved_id"
    assert flag.request_id in refusal.message


@pytest.mark.parametrize("form", [form for form in Form if not form.of_the_agent])
@pytest.mark.parametrize("name", ["git_status.{}.flag", "{}.request.json"])
def test_no_agent_takes_the_id_that_a_request_of_an_operator_or_the_monitor_would_get(form: Form, name: str) -> None:
    """What they are made of (the number of a message in the chat) can be worked out of an earlier one."""
    run = Run(RiskClass.CHANGE, ("git_recover",))
    theirs = unflagged(form, Operation.GIT_RECOVER, "shop", run, occasion="update 4711", reason="asked for").id
    flag = parse_name(name.format(theirs).encode())

    assert flag is not None
    refusal = refusal_for(flag)
    assert refusal is not None
    assert refusal.code == "reserved_id"
    assert read_arrival(flag, b"").request_id == "", "it gets an id of its own"


@pytest.mark.parametrize(
    "name", [b"git_add.flag", b"git_add.git_status1.flag", b"a.request.json", b"git_add.my-operator-1.flag"]
)
def test_other_ids_are_not_refused(name: bytes) -> None:
    flag = parse_name(name)

    assert flag is not None
    assert refusal_for(flag) is None


@UNTIMED
@given(operation=st.sampled_from(Operation), request_id=NAMES)
def test_a_claimed_flag_still_tells_its_own_name(operation: Operation, request_id: str) -> None:
    name = f"{operation}.{request_id}.flag".encode()

    assert parse_private(private_name(name, TOKEN)) == name


@pytest.mark.parametrize("name", [b".claim.0123.git_add.flag", b".claim.0123456789abcdef.x", b"git_add.flag", b""])
def test_other_hidden_files_are_not_claims(name: bytes) -> None:
    assert parse_private(name) is None


def test_the_names_the_gateway_makes_are_never_flags_and_never_mistaken_for_each_other() -> None:
    made = [private_name(b"git_add.flag", TOKEN), temporary_name(TOKEN), set_aside_name(b"git_add.flag", TOKEN)]

    assert [parse_name(name) for name in made] == [None, None, None]
    assert [parse_private(name) is not None for name in made] == [True, False, False]
    assert [is_temporary(name) for name in made] == [False, True, False]
    assert [is_set_aside(name) for name in made] == [False, False, True]


def test_the_longest_name_still_fits_a_file_name_once_claimed() -> None:
    longest = b"restart_queue@" + b"r" * 64 + b"." + b"i" * 64 + b".flag"

    assert parse_name(longest) is not None
    assert len(set_aside_name(private_name(longest, TOKEN), TOKEN)) <= 255


@pytest.mark.parametrize(
    ("published", "file"),
    [
        ("results/a-1.json", b"a-1.json"),
        ("results/git_add.json", b"git_add.json"),
        ("results/../x.json", None),
        ("results/a.json\n", None),
        ("results/.json", None),
        ("git_status.txt", None),
    ],
)
def test_only_a_plain_id_names_a_result(published: str, file: bytes | None) -> None:
    assert result_file(published) == file


def test_the_latest_result_of_an_operation_is_not_one_requests_result() -> None:
    assert is_request_result(b"a-1.json")
    assert not is_request_result(b"git_add.json")
    assert not is_request_result(b"unknown.json")
    assert not is_request_result(b"a-1.json.bak")
