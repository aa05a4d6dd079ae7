"""Git LFS where the owner of the host allows it: large files work, and nothing in the tree decides about it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from remotes import HttpRemote, bare_repository, http_remote, silent_listener
from repos import Adopted, adopted_repository, plain_git

from executor.errors import Failed, Refused
from executor.git.command_dir import command_dir
from executor.git.grammar import judge
from executor.git.lexer import split
from executor.git.pushing import push_branch
from executor.git.repository import Git, RemoteAccess
from executor.git.run_command import run_command
from executor.git.staging import add
from executor.git.taking_over import take_over
from executor.git.transfer import fetch
from executor.outcome import Outcome, State
from executor.sandbox.confinement import Confinement, Support
from executor.sandbox.process import ProcessRunner

pytestmark = pytest.mark.needs("git", "git-lfs", "landlock", "http-backend")

CREDENTIALS = ("agent", "secret")
CONTENT = b"large, as these things go\n" * 400
NAME = sha256(CONTENT).hexdigest()
MARKED = "*.bin filter=lfs diff=lfs merge=lfs -text\n"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[HttpRemote]:
    bare_repository(tmp_path / "served/project.git")
    with http_remote(tmp_path / "served", credentials=CREDENTIALS, tls=tmp_path / "tls") as remote:
        yield remote


def served(where: Path, server: HttpRemote) -> Adopted:
    adopted = adopted_repository(where, pushed=False)
    plain_git(adopted.paths.transfer, "config", "remote.origin.url", server.url("project.git"))
    return replace(adopted, remote=server.repositories / "project.git")


@pytest.fixture
def repository(tmp_path: Path, server: HttpRemote) -> Adopted:
    return served(tmp_path, server)


def opened(repository: Adopted, server: HttpRemote) -> Git:
    credentials = repository.paths.root / "credentials"
    credentials.write_text(f"https://agent:secret@localhost:{server.port}\n")
    return repository.open(RemoteAccess(credential_file=credentials, ca_file=server.authority), lfs=True)


def run(git: Git, line: str) -> Outcome:
    return run_command(git, judge(split(line.removeprefix("git "))))


def committed(repository: Adopted, git: Git) -> None:
    repository.write(".gitattributes", MARKED)
    repository.write("film.bin", CONTENT)
    assert "Warning" not in add(git, ["."]).output
    assert run(git, "git commit -m film").state is State.SUCCEEDED


def test_a_large_file_is_staged_as_a_pointer_and_its_content_is_kept_beside(
    repository: Adopted, server: HttpRemote
) -> None:
    git = opened(repository, server)

    committed(repository, git)

    assert f"oid sha256:{NAME}" in repository.plain("cat-file", "-p", "HEAD:film.bin")
    assert (repository.paths.lfs / "objects" / NAME[:2] / NAME[2:4] / NAME).read_bytes() == CONTENT


def test_commands_on_the_work_tree_bring_the_content_and_keep_it(repository: Adopted, server: HttpRemote) -> None:
    git = opened(repository, server)
    committed(repository, git)
    film = repository.tree / "film.bin"

    away = run(git, "git checkout HEAD~1")
    gone = film.exists()
    back = run(git, "git checkout main")
    brought = film.read_bytes()
    film.write_bytes(b"another cut\n")
    stashed = run(git, "git stash")
    popped = run(git, "git stash pop")

    assert [end.state for end in (away, back, stashed, popped)] == [State.SUCCEEDED] * 4
    assert (gone, brought, film.read_bytes()) == (False, CONTENT, b"another cut\n")


def test_a_push_brings_the_content_to_the_server_and_a_fetch_brings_it_back(
    tmp_path: Path, repository: Adopted, server: HttpRemote
) -> None:
    git = opened(repository, server)
    committed(repository, git)

    push_branch(git, "main")
    assert server.large == {NAME: CONTENT}
    other = served(tmp_path / "other", server)
    there = opened(other, server)
    fetch(there, "origin")
    taken = run(there, "git reset --hard origin/main")

    assert taken.state is State.SUCCEEDED
    assert (other.tree / "film.bin").read_bytes() == CONTENT


def test_a_push_whose_large_files_cannot_be_stored_publishes_nothing(repository: Adopted, server: HttpRemote) -> None:
    git = opened(repository, server)
    committed(repository, git)
    (repository.paths.lfs / "objects" / NAME[:2] / NAME[2:4] / NAME).unlink()

    with pytest.raises(Failed) as found:
        push_branch(git, "main")

    assert found.value.code == "lfs_transfer"
    assert repository.remote_ref("refs/heads/main") is None


def test_the_tree_does_not_say_where_large_files_go(repository: Adopted, server: HttpRemote) -> None:
    git = opened(repository, server)
    with silent_listener() as elsewhere:
        evil = f"http://localhost:{elsewhere.port}/"
        repository.write(
            ".lfsconfig", f'[lfs]\n\turl = {evil}\n\tpushurl = {evil}\n[remote "origin"]\n\tlfsurl = {evil}\n'
        )
        committed(repository, git)
        push_branch(git, "main")
        fetch(git, "origin")

    assert server.large == {NAME: CONTENT}
    assert elsewhere.connections == 0


def test_content_that_is_nowhere_stays_a_pointer_and_stops_nobody(repository: Adopted, server: HttpRemote) -> None:
    git = opened(repository, server)
    committed(repository, git)
    run(git, "git checkout HEAD~1")
    (repository.paths.lfs / "objects" / NAME[:2] / NAME[2:4] / NAME).unlink()

    back = run(git, "git checkout main")

    assert back.state is State.SUCCEEDED
    assert f"oid sha256:{NAME}".encode() in (repository.tree / "film.bin").read_bytes()
    assert run(git, "git status --short").output == ""


def test_content_under_a_false_name_is_not_taken_over(repository: Adopted, server: HttpRemote) -> None:
    git, paths = opened(repository, server), repository.paths
    false = f"lfs/objects/{NAME[:2]}/{NAME[2:4]}/{NAME}"

    with pytest.raises(Failed, match="led from the work tree"), command_dir(paths, []) as made:
        (made.git_dir / false).parent.mkdir(parents=True)
        (made.git_dir / false).write_bytes(b"something else\n")
        take_over(made, paths.local, [], lambda words, fed: git.local(words, stdin=fed), lfs=True)

    assert not (paths.local / false).exists()


def test_a_filter_of_another_name_does_not_run(repository: Adopted, server: HttpRemote) -> None:
    git = opened(repository, server)
    repository.write(".gitattributes", "*.bin filter=evil\n")
    repository.write("a.bin", CONTENT)

    add(git, ["."])

    assert repository.plain("cat-file", "-s", ":a.bin") == str(len(CONTENT))


def test_where_the_kernel_cannot_confine_it_lfs_is_refused_whatever_else_is_allowed(repository: Adopted) -> None:
    off = ProcessRunner(Confinement(Support(0, False, "switched off by the test"), unsafe=True))

    with pytest.raises(Refused) as found:
        repository.open(runner=off, lfs=True)

    assert found.value.code == "lfs_unconfined"


def test_where_it_is_not_allowed_a_large_file_is_stored_whole_and_that_is_said(repository: Adopted) -> None:
    repository.write(".gitattributes", MARKED)
    repository.write("film.bin", CONTENT)

    assert "marked for Git LFS" in add(repository.open(), ["."]).output
    assert repository.plain("cat-file", "-s", ":film.bin") == str(len(CONTENT))
