"""What the grammar understands of a command: its canonical form, what it touches, what it says when it refuses."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from executor.errors import Refused
from executor.git.command_specs import NUMBER_OPTION, Takes
from executor.git.grammar import judge
from executor.git.lexer import split
from executor.git.table import load
from executor.policy.model import Command, Contact, RiskClass


def judged(line: str) -> Command:
    return judge(split(line))


@pytest.mark.parametrize(
    ("line", "argv"),
    [
        ("log --oneline -5", "git log --oneline -5"),
        ("log -n 5 --since yesterday", "git log -n 5 --since=yesterday"),
        ("status -sb", "git status -s -b"),
        ("commit -am x", "git commit -a -m x"),
        ("grep foo -n", "git grep -n foo"),
        ("blame HEAD README.md", "git blame HEAD -- README.md"),
        ("add src README.md", "git add -- src README.md"),
        ("diff main dev -- src", "git diff main dev -- src"),
        ("log main --not dev", "git log main --not dev"),
        ("checkout main", "git checkout main --"),
        ("checkout README.md", "git checkout -- README.md"),
        ("checkout HEAD README.md", "git checkout HEAD -- README.md"),
        ("stash", "git stash push"),
        ("stash -u", "git stash push -u"),
        ("reflog -3", "git reflog show -3"),
        ("--no-pager log", "git log"),
        ("--version", "git version"),
    ],
)
def test_command_is_written_anew_in_its_canonical_form(line: str, argv: str) -> None:
    command = judged(line)
    assert command.argv == tuple(argv.split())
    assert command.argv[1 : 1 + len(command.subcommand.split())] == tuple(command.subcommand.split())


def test_the_value_of_a_long_option_can_never_become_a_word_of_its_own() -> None:
    assert judge(("log", "--author", "x y")).argv == ("git", "log", "--author=x y")
    assert judge(("commit", "--message", "-F/etc/passwd")).argv == ("git", "commit", "--message=-F/etc/passwd")


def test_a_judged_command_is_taken_apart_for_its_runner() -> None:
    command = judged("push --force-with-lease=dev origin +dev :old")
    assert command.runner == "push"
    assert command.options == (("--force-with-lease", "dev"),)
    assert command.operands == ("origin", "+dev", ":old")
    command = judged("log -20 -n3 main -- src")
    assert command.options == ((NUMBER_OPTION, "20"), ("-n", "3"))
    assert (command.operands, command.paths) == (("main",), ("src",))


@pytest.mark.parametrize(
    ("line", "contact"),
    [
        ("log", Contact.NONE),
        ("log -- src", Contact.NONE),
        ("log HEAD~2..", Contact.NONE),
        ("log main -- src", Contact.NONE),
        ("log src/app.py", Contact.READ),
        ("log main", Contact.READ),
        ("show HEAD:README.md", Contact.NONE),
        ("diff", Contact.READ),
        ("diff HEAD", Contact.READ),
        ("diff HEAD~1 HEAD", Contact.NONE),
        ("diff main..dev", Contact.NONE),
        ("diff main dev", Contact.READ),
        ("diff main dev -- src", Contact.NONE),
        ("blame README.md", Contact.READ),
        ("blame HEAD README.md", Contact.NONE),
        ("blame main -- README.md", Contact.NONE),
        ("grep foo", Contact.READ),
        ("grep foo HEAD", Contact.NONE),
        ("grep foo main -- src", Contact.NONE),
        ("describe --tags", Contact.NONE),
        ("describe --dirty", Contact.READ),
        ("status", Contact.READ),
        ("branch", Contact.NONE),
        ("checkout main", Contact.WRITE),
        ("stash pop", Contact.WRITE),
        ("stash drop", Contact.NONE),
        ("reset --soft HEAD~1", Contact.NONE),
        ("commit -m x", Contact.READ),
        ("pull", Contact.WRITE),
        ("push", Contact.REMOTE),
        ("fetch", Contact.REMOTE),
    ],
)
def test_a_command_touches_no_more_than_it_needs(line: str, contact: Contact) -> None:
    assert judged(line).contact is contact


@pytest.mark.parametrize("line", ["diff", "log -p", "show", "stash show -p", "diff-tree HEAD", "range-diff a b c"])
def test_no_program_and_no_submodule_is_entered_for_a_difference(line: str) -> None:
    injected = judged(line).inject
    assert {"--no-ext-diff", "--no-textconv", "--ignore-submodules=all"} <= set(injected)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("checkout -- src/app.py", "discards uncommitted changes in src/app.py"),
        ("restore .", "discards uncommitted changes in ."),
        ("reset --hard", "discards all uncommitted changes"),
        ("commit --amend --no-edit", "replaces the last commit"),
        ("push origin :old", "deletes old on the remote"),
        ("push origin +dev", "overwrites dev on the remote, whatever is there"),
        ("push origin refs/tags/v1", "pushes the tag v1, which others keep"),
        ("push origin main:production", "pushes main under another name, production"),
        ("fetch origin +main:main", "overwrites the local main"),
        ("clean -fdx", "deletes ignored files too, such as .env and installed packages"),
        ("fetch", "uses the host's credentials to ask a remote"),
        ("log", "only reads"),
    ],
)
def test_the_reason_says_what_would_happen(line: str, reason: str) -> None:
    assert reason in judged(line).reasons


def test_a_path_that_looks_like_a_placeholder_is_not_filled_in() -> None:
    assert judge(("checkout", "--", "{operands}")).reasons == ("discards uncommitted changes in {operands}",)


@pytest.mark.parametrize(
    ("line", "code", "hint"),
    [
        ("log --on", "unknown_option", "write options in full: --oneline"),
        ("log --output=x", "unknown_option", "the output is in the result anyway"),
        ("add -p", "unknown_option", "name whole files"),
        ("commit -a", "missing_option", "add one of them"),
        ("lgo", "unknown_command", "did you mean log"),
        ("stash poop", "unknown_command", "pop"),
        ("submodule update", "not_allowed", "submodules"),
        ("-c x=y log", "global_option", "begin with the command"),
        ("config pull.rebase false", "setting_of_the_host", "the host's"),
        ("fetch https://example.com/x", "bad_remote_name", "configured remotes"),
        ("push --mirror", "unknown_option", "by name"),
        ("branch a b c", "operands", "quote blanks"),
        ("log --format=%G?", "signature_check", "leave them out"),
        ("status --ignore-submodules=none", "bad_value", "allowed are: all"),
    ],
)
def test_a_refusal_teaches(line: str, code: str, hint: str) -> None:
    with pytest.raises(Refused) as caught:
        judged(line)
    assert caught.value.code == code
    assert hint in caught.value.hint


@pytest.mark.parametrize("name", ["stash foo", "reflog expire", "reflog delete x", "notes edit", "worktree add x"])
def test_an_unknown_second_word_is_never_taken_for_an_operand_of_the_default(name: str) -> None:
    with pytest.raises(Refused) as caught:
        judged(name)
    assert caught.value.code in {"unknown_command", "not_allowed"}


COMMANDS = load().commands
TRICKY = """
- -- -O -nO : +x :x x:y 1 HEAD main..dev src/app.py origin stash@{0} --output=/x --exec --upload-pack=x --no-index
../x /etc/passwd .git user.name %G? https://h/p
"""
PIECES = sorted(
    {word for name in COMMANDS for word in name.split()}
    | {option for spec in COMMANDS.values() for option in spec.options}
    | {"a b", *TRICKY.split()}
)


def is_known(words: tuple[str, ...], command: Command) -> bool:
    """Whether each word before `--` that git could read as an option is one of the table, or the value of one."""
    options = COMMANDS[command.subcommand].options
    rest = list(words)
    while rest and rest[0] != "--":
        word = rest.pop(0)
        if not word.startswith("-") or word == "-":
            continue
        name = word.partition("=")[0] if word.startswith("--") else word[:2]
        if NUMBER_OPTION in options and word[1:].isdigit():
            continue
        if name not in options:
            return False
        takes = options[name].takes
        if not word.startswith("--") and len(word) == 2 and (takes is Takes.VALUE or (takes is Takes.NEXT and rest)):
            rest.pop(0)
    return True


@given(
    st.sampled_from(sorted(COMMANDS)),
    st.lists(st.one_of(st.sampled_from(PIECES), st.text(alphabet="-=abOxGit./: ", max_size=6)), max_size=6),
)
def test_no_accepted_command_holds_an_option_that_the_table_does_not(name: str, words: list[str]) -> None:
    with contextlib.suppress(Refused):
        command = judge((*name.split(), *words))
        own = command.argv[1 + len(command.subcommand.split()) :]
        assert is_known(own, command)
        assert "--end-of-options" not in own
        # What is canonical stays as it is: judging it again changes nothing.
        again = judge(command.argv[1:])
        assert again.argv == command.argv
        assert again.risk is command.risk


@given(st.lists(st.text(max_size=30), max_size=8))
def test_judging_any_words_raises_nothing_but_a_refusal(words: list[str]) -> None:
    with contextlib.suppress(Refused):
        judge(tuple(words))


def test_classes_are_ordered_by_how_much_can_go_wrong() -> None:
    assert judged("push --tags origin main:x").risk is RiskClass.FORCE
    assert judged("fetch origin main:main").risk is RiskClass.CHANGE
