"""Before a push that nobody is asked about, every commit that it would publish is looked at."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from repos import Adopted, adopted_repository, plain_git

from executor.git import outgoing
from executor.git.outgoing import commit_secrets, outgoing_secret
from executor.git.repository import Git
from executor.git.secrets import INCOMPLETE
from executor.git.transfer import PushUpdate, push

# put together here, so that this file holds no secret itself
AWS_KEY = "AKIA" + "Q7Z3HT5K9WPLMNO2"


@pytest.fixture
def repository(tmp_path: Path) -> Adopted:
    return adopted_repository(tmp_path, commits=2)


@contextmanager
def counted(git: Git) -> Iterator[list[str]]:
    """Count the processes that are started; each is real."""
    started: list[str] = []
    real = git._runner.run

    def run(argv: tuple[str, ...], **how: object) -> object:
        started.extend(word for word in argv[1:] if word in ("diff-tree", "rev-list"))
        return real(argv, **how)  # type: ignore[arg-type]

    git._runner.run = run  # type: ignore[method-assign,assignment]
    try:
        yield started
    finally:
        git._runner.run = real  # type: ignore[method-assign]


def test_a_push_without_news_holds_no_secret_and_looks_at_no_change(repository: Adopted) -> None:
    git = repository.open()

    with counted(git) as started:
        assert outgoing_secret(git, "main") is None
    assert "diff-tree" not in started


def test_ordinary_commits_hold_no_secret(repository: Adopted) -> None:
    repository.commit("app.py", "import os\nKEY = os.environ['AWS_KEY']\n")
    git = repository.open()

    with counted(git) as started:
        assert outgoing_secret(git, "main") is None
    assert started.count("diff-tree") == 1


def test_a_secret_is_told_by_kind_and_place_and_never_by_value(repository: Adopted) -> None:
    repository.commit("config/app.py", f'import os\n\nKEY = "{AWS_KEY}"\n')

    assert outgoing_secret(repository.open(), "main") == "an AWS key in config/app.py (line 3)"


def test_a_secret_that_a_later_commit_takes_away_is_published_all_the_same(repository: Adopted) -> None:
    repository.commit("app.py", f'KEY = "{AWS_KEY}"\n')
    repository.commit("app.py", "KEY = None\n")

    assert outgoing_secret(repository.open(), "main") == "an AWS key in app.py (line 1)"


def test_what_the_remote_has_already_is_not_told_again(repository: Adopted) -> None:
    repository.commit("app.py", f'KEY = "{AWS_KEY}"\n')
    git = repository.open()
    push(git, "origin", [PushUpdate("refs/heads/main", repository.remote_ref("refs/heads/main"),
                                    repository.ref("refs/heads/main"))])  # fmt: skip
    repository.commit("other.py", "x = 1\n")

    assert outgoing_secret(repository.open(), "main") is None


@pytest.mark.parametrize("name", ["refs/remotes/origin/zz", "refs/remotes/origin/main", "refs/remotes/other/main"])
@pytest.mark.parametrize("how", ["update-ref", "symbolic-ref"])
def test_a_planted_tracking_branch_hides_no_commit(repository: Adopted, name: str, how: str) -> None:
    repository.commit("app.py", f'KEY = "{AWS_KEY}"\n')
    repository.plain(how, name, "refs/heads/main")

    assert outgoing_secret(repository.open(), "main") == "an AWS key in app.py (line 1)"


def test_what_another_remote_has_is_published_all_the_same(repository: Adopted) -> None:
    commit = repository.commit("app.py", f'KEY = "{AWS_KEY}"\n')
    plain_git(repository.paths.transfer, "config", "remote.other.url", "https://example.org/other.git")
    plain_git(repository.paths.transfer, "update-ref", "refs/remotes/other/main", commit)

    assert outgoing_secret(repository.open(), "main") == "an AWS key in app.py (line 1)"


def test_a_commit_of_the_remote_that_is_not_here_is_no_obstacle(repository: Adopted) -> None:
    repository.commit("app.py", f'KEY = "{AWS_KEY}"\n')
    missing = f"{'1' * 40} refs/remotes/origin/gone\n"
    (repository.paths.transfer / "packed-refs").write_text(missing)

    assert outgoing_secret(repository.open(), "main") == "an AWS key in app.py (line 1)"


def test_a_secret_that_only_the_merge_itself_adds_is_found(repository: Adopted) -> None:
    repository.plain("switch", "-q", "-c", "side", "HEAD~1")
    repository.commit("side.txt", "x\n")
    repository.plain("switch", "-q", "main")
    repository.plain("merge", "-q", "--no-commit", "--no-ff", "-X", "ours", "side")
    repository.write("side.txt", f"{AWS_KEY}\n")
    repository.plain("add", "side.txt")
    repository.plain("commit", "-q", "-m", "Merge")
    repository.commit("side.txt", "clean\n")

    assert outgoing_secret(repository.open(), "main") == "an AWS key in side.txt (line 1)"


def test_a_secret_in_a_message_is_found(repository: Adopted) -> None:
    commit = repository.commit("a.txt", "x\n", f"Rotate the key\n\nThe old one was {AWS_KEY}.")

    assert outgoing_secret(repository.open(), "main") == f"an AWS key in the message of commit {commit[:10]} (line 3)"


def test_attributes_do_not_hide_a_file(repository: Adopted) -> None:
    repository.commit(".gitattributes", "* -diff binary\n")
    repository.commit("app.py", f'KEY = "{AWS_KEY}"\n')

    assert outgoing_secret(repository.open(), "main") == "an AWS key in app.py (line 1)"


def test_further_findings_are_counted(repository: Adopted) -> None:
    repository.commit("a.py", f'KEY = "{AWS_KEY}"\n' * 3)

    assert outgoing_secret(repository.open(), "main") == "an AWS key in a.py (line 1) and 2 more"


def test_no_branch_and_an_unknown_branch_hold_nothing(repository: Adopted, tmp_path: Path) -> None:
    assert outgoing_secret(repository.open(), None) is None
    assert outgoing_secret(repository.open(), "no-such-branch") is None
    assert outgoing_secret(adopted_repository(tmp_path / "new", commits=0).open(), "main") is None


def test_c11_a_tag_of_the_branch_s_name_is_not_looked_at_in_its_place(repository: Adopted) -> None:
    clean = repository.plain("rev-parse", "HEAD")
    repository.commit("app.py", f'KEY = "{AWS_KEY}"\n')
    repository.plain("tag", "main", clean)

    assert outgoing_secret(repository.open(), "main") == "an AWS key in app.py (line 1)"


def test_more_commits_than_are_looked_at_is_said(repository: Adopted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outgoing, "COMMITS_LIMIT", 2)
    for number in range(3):
        repository.commit("a.txt", f"{number}\n")

    assert outgoing_secret(repository.open(), "main") == INCOMPLETE


def test_a_first_push_too_large_to_be_looked_at_is_said(tmp_path: Path) -> None:
    repository = adopted_repository(tmp_path, pushed=False)
    line = "an ordinary line of words without anything of interest in it\n"
    repository.commit("big.txt", line * (70 * 1024 * 1024 // len(line)))

    assert outgoing_secret(repository.open(), "main") == INCOMPLETE


def test_a_cut_history_can_be_looked_at(tmp_path: Path) -> None:
    from repos import bare_remote, clone, take_over, work_tree

    bare = bare_remote(tmp_path / "remotes" / "project.git")
    plain_git(work_tree(tmp_path / "origin", commits=3), "push", "-q", str(bare), "main")
    tree = clone(f"file://{bare}", tmp_path / "tree", "--depth", "1")
    repository = Adopted(take_over(tmp_path / "state" / "repos" / "project", tree, str(bare)), bare)
    repository.commit("app.py", f'KEY = "{AWS_KEY}"\n')

    assert outgoing_secret(repository.open(), "main") == "an AWS key in app.py (line 1)"


def test_the_commits_of_any_range_can_be_looked_at(repository: Adopted) -> None:
    before = repository.plain("rev-parse", "HEAD")
    tip = repository.commit("app.py", f'KEY = "{AWS_KEY}"\n')

    assert [found.path for found in commit_secrets(repository.open(), tip, [before])] == ["app.py"]
    assert commit_secrets(repository.open(), tip, [tip]) == ()


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_text_in_another_encoding_is_read_as_the_text_it_is(repository: Adopted, encoding: str) -> None:
    repository.commit("settings.ini", f"[aws]\nkey = {AWS_KEY}\n".encode(encoding))

    (found,) = commit_secrets(repository.open(), "main", [str(repository.remote_ref("refs/heads/main"))])

    assert (found.path, found.line) == ("settings.ini", 2)


def test_a_nul_in_a_file_does_not_hide_what_is_readable_in_it(repository: Adopted) -> None:
    repository.commit("notes.txt", f"\0\x01 key: {AWS_KEY}\n")

    (found,) = commit_secrets(repository.open(), "main", [str(repository.remote_ref("refs/heads/main"))])

    assert (found.path, found.line) == ("notes.txt", 0)


def test_an_ordinary_picture_holds_no_secret(repository: Adopted) -> None:
    repository.commit("logo.png", b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40)

    assert commit_secrets(repository.open(), "main", [str(repository.remote_ref("refs/heads/main"))]) == ()


@pytest.mark.parametrize("name", ["Zugänge.ini", 'odd "name".ini', "dir é/a b.ini"])
def test_a_name_that_git_puts_in_quotes_hides_no_content(repository: Adopted, name: str) -> None:
    repository.commit(name, f"key = {AWS_KEY}\n".encode("utf-16"))

    (found,) = commit_secrets(repository.open(), "main", [str(repository.remote_ref("refs/heads/main"))])

    assert (found.path, found.line) == (name, 1)


@pytest.mark.parametrize("name", [f"backup-{AWS_KEY}.txt", f"Zugänge {AWS_KEY}.txt", f"two\nlines {AWS_KEY}"])
@pytest.mark.parametrize("content", ["nothing\n", "", "\0"])
def test_a_secret_in_the_name_of_a_file_is_found_and_not_repeated(
    repository: Adopted, name: str, content: str
) -> None:
    repository.commit(name, content)

    (found,) = commit_secrets(repository.open(), "main", [str(repository.remote_ref("refs/heads/main"))])

    assert AWS_KEY not in found.words()
    assert "the name of a file" in found.words()


def test_a_secret_in_the_name_of_an_author_is_found(repository: Adopted) -> None:
    repository.plain("-c", f"user.name={AWS_KEY}", "commit", "-q", "--allow-empty", "-m", "x",
                     f"--author={AWS_KEY} <a@example.org>")  # fmt: skip

    (found,) = commit_secrets(repository.open(), "main", [str(repository.remote_ref("refs/heads/main"))])

    assert "the name of an author" in found.words()
