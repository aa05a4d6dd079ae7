"""The table of commands: mistakes in it are found when it is loaded, and git agrees with what it says."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from command_lists import lines_of

from executor.errors import ConfigError
from executor.git.command_specs import NUMBER_OPTION, OptionSpec, Takes
from executor.git.grammar import judge
from executor.git.lexer import split
from executor.git.table import RUNNERS, TABLE_PATH, load, parse
from executor.policy.model import Contact, RiskClass

SMALL = """
[commands.log]
class = "read"
contact = "none"
runner = "local"
why = "only reads"
options = "--oneline -n=number"
"""


def test_a_small_table_is_read() -> None:
    assert set(parse(SMALL).commands["log"].options) == {"--oneline", "-n"}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('class = "read"', 'class = "harmless"'),
        ('class = "read"', 'klass = "read"'),
        ('class = "read"\n', ""),
        ('contact = "none"', 'contact = "all"'),
        ('runner = "local"', 'runner = "shell"'),
        ('why = "only reads"\n', ""),
        ("-n=number", "-n=nonsense"),
        ("-n=number", "-n=number -n"),
        ("--oneline", "--oneline=[number]"),
        ("--oneline", "GROUP"),
        ("--oneline", "oneline"),
        ('why = "only reads"', 'why = "only reads"\nneeds = "--all"'),
        ('why = "only reads"', 'why = "only reads"\nas = "nobody"'),
        ('why = "only reads"', 'why = "only reads"\noperands = "nonsense*"'),
        ('why = "only reads"', 'why = "only reads"\nraise = { "--all" = "rewrite: x" }'),
        ('why = "only reads"', 'why = "only reads"\nraise = { "--oneline" = "bad: x" }'),
        ("[commands.log]", "[command.log]"),
        ("[commands.log]", '[short_forms]\nl = "lg"\n[commands.log]'),
        ("[commands.log]", '[hints.commands]\nlog = "no"\n[commands.log]'),
        ("[commands.log]", "[commands.log"),
    ],
)
def test_a_mistake_in_the_table_is_an_error_when_it_is_loaded(before: str, after: str) -> None:
    assert before in SMALL
    with pytest.raises(ConfigError) as caught:
        parse(SMALL.replace(before, after))
    assert caught.value.code == "command_table"


def test_an_option_means_the_same_in_all_forms_of_a_command() -> None:
    form = '\n[[commands.log.form]]\noptions = "--x=text"\n[[commands.log.form]]\noptions = "--x"\n'
    with pytest.raises(ConfigError, match="means different things"):
        parse(SMALL + form)


def test_each_runner_of_the_table_is_explained_at_its_top_and_used() -> None:
    head = TABLE_PATH.read_text(encoding="utf-8").split("\n[groups]\n")[0]
    used = {form.runner for spec in load().commands.values() for form in spec.forms}
    assert used == RUNNERS
    for runner in RUNNERS:
        assert re.search(rf"\b{runner}\b", head), runner


def test_what_runs_by_itself_is_local_and_changes_no_file() -> None:
    for spec in load().commands.values():
        for form in spec.forms:
            if form.risk is RiskClass.READ:
                assert form.contact in {Contact.NONE, Contact.READ}
                assert form.runner in {"local", "remote_list", "config_get"}


def test_every_hint_for_an_option_is_for_one_that_is_not_allowed() -> None:
    table = load()
    names = {name.split()[0] for name in table.commands}
    for command, option in table.option_hints:
        assert not command or command in names, command
        if command:
            assert option not in table.commands.get(command, table.commands["version"]).options, (command, option)


# --- the table against git itself

_SAMPLE_WORDS = """
number/3 width/3 widths/3 percent/50 text/x format/%H date-format/iso word/all rev/HEAD commit/HEAD pattern/x
message/m line-range/1,1:f path/f branch/main new-branch/new sort/refname email/a@b.c lease/main strategy-option/ours
"""
SAMPLES = dict(pair.split("/", 1) for pair in _SAMPLE_WORDS.split())
_NOT_KNOWN = re.compile(
    r"unknown option|unknown switch|unrecognized argument|invalid option|takes no value|^usage: git rev-list",
    re.MULTILINE,
)
_WANTS_VALUE = re.compile(r"requires a value|requires an argument|needs a value")
_HANDS_ON = {"stash list"}  # to log, with more words behind
# git wants more than the option alone before it looks at it.
_NEEDS_COMMIT = {("diff", "--merge-base"), ("shortlog", "--group")}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with a commit, a stash and a tag, which every command of a test gets a copy of."""
    tree = tmp_path_factory.mktemp("table") / "tree"
    tree.mkdir()
    for line in (
        "init -q -b main",
        "config user.name T",
        "config user.email t@example.org",
        "add f",
        "commit -q -m first",
        "tag v1",
    ):
        (tree / "f").write_text("one\n")
        started(tree, *line.split())
    (tree / "f").write_text("two\n")
    started(tree, "stash", "-q")
    return tree


def started(tree: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tree), "GIT_CONFIG_NOSYSTEM": "1", "GIT_EDITOR": ":"}
    return subprocess.run(
        ["git", *words], cwd=tree, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False,
        text=True, errors="replace", timeout=30,
    )  # fmt: skip


def sample(option: OptionSpec) -> str:
    return SAMPLES[option.kind] if option.kind in SAMPLES else load().choices[option.kind][0]


@pytest.mark.needs("git")
@pytest.mark.parametrize("name", sorted(load().commands))
def test_git_knows_every_option_and_takes_values_where_the_table_says(
    name: str, template: Path, tmp_path: Path
) -> None:
    tree = tmp_path / "tree"
    for option in load().commands[name].options.values():
        if name == "rev-parse" or (name, option.name) in _NEEDS_COMMIT:
            continue  # rev-parse prints what it does not know
        if not tree.exists():
            shutil.copytree(template, tree)
        end = ["HEAD"] if name == "rev-list" else []
        written = "-3" if option.name == NUMBER_OPTION else option.name
        if option.takes is not Takes.NOTHING:
            written += ("=" if written.startswith("--") else "") + sample(option)
        done = started(tree, *name.split(), written, *end)
        assert not _NOT_KNOWN.search(done.stderr), (written, done.stderr)
        if option.takes is Takes.VALUE and not option.name.startswith("--") and name not in _HANDS_ON:
            # The next word is its value for git too, so it is never read as an option.
            alone = started(tree, *name.split(), option.name)
            assert _WANTS_VALUE.search(alone.stderr), (option, alone.stderr)
        if option.takes is Takes.JOINED:
            # Without a value it takes none: the next word is an option or operand to git as it is to the table.
            alone = started(tree, *name.split(), option.name, *end)
            assert not _WANTS_VALUE.search(alone.stderr), (option, alone.stderr)
        if (tree / ".git" / "MERGE_HEAD").exists() or name in {"branch", "checkout", "switch", "clean", "reset"}:
            shutil.rmtree(tree)


@pytest.mark.needs("git")
def test_git_understands_every_everyday_command_in_its_canonical_form(template: Path, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    everyday = lines_of("everyday_reads.txt") + [line.split(" ", 1)[1] for line in lines_of("everyday_changes.txt")]
    for line in everyday:
        words = split(line)
        command = judge(words[1:] if words[0] == "git" else words)
        if command.runner not in {"local", "add", "commit", "set_upstream"}:
            continue
        if command.risk is not RiskClass.READ or not tree.exists():
            shutil.rmtree(tree, ignore_errors=True)
            shutil.copytree(template, tree)
        name = command.subcommand.split()
        done = started(tree, *name, *command.inject, *command.argv[1 + len(name) :])
        assert not _NOT_KNOWN.search(done.stderr), (line, done.stderr)
        assert not _WANTS_VALUE.search(done.stderr), (line, done.stderr)
