"""Of a configuration that an agent wrote only listed keys with listed values survive."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from executor.git.config_scrub import Scrubbed, Setting, parse_listing, render, scrub

EXECUTING = [
    "core.fsmonitor", "core.hookspath", "core.sshcommand", "core.editor", "core.pager", "core.gitproxy",
    "core.askpass", "core.alternaterefscommand", "filter.x.clean", "filter.x.smudge", "filter.x.process",
    "diff.x.textconv", "diff.x.command", "diff.external", "merge.x.driver", "gpg.program", "gpg.ssh.program",
    "alias.st", "hook.x.command", "credential.helper", "credential.https://h.helper", "include.path",
    "includeif.gitdir:/.path", "url.git://evil/.insteadof", "url.git://evil/.pushinsteadof", "core.worktree",
    "remote.origin.pushurl", "remote.origin.uploadpack", "remote.origin.receivepack", "remote.origin.vcs",
    "remote.origin.proxy", "http.proxy", "http.sslverify", "protocol.ext.allow", "core.excludesfile",
    "core.attributesfile", "commit.gpgsign", "log.showsignature", "submodule.recurse", "submodule.x.update",
    "core.symlinks ", "uploadpack.packobjectshook", "trailer.x.command", "pager.log", "sequence.editor",
    "interactive.difffilter", "commit.template", "mailmap.file", "push.gpgsign", "remote.pushdefault",
    "branch.main.pushremote", "branch.main.description", "a.key.of.tomorrow",
]  # fmt: skip


@pytest.mark.parametrize("key", EXECUTING)
def test_a_key_that_names_a_program_a_file_or_an_address_is_dropped_and_named(key: str) -> None:
    scrubbed = scrub([Setting(key, "value")])

    assert scrubbed.kept == ()
    assert [entry.what for entry in scrubbed.dropped] == [f"config {key}"]
    assert scrubbed.dropped[0].why


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("user.name", "Ana María"),
        ("user.email", "ana@example.org"),
        ("core.autocrlf", "input"),
        ("core.filemode", "false"),
        ("branch.feature/a.b.remote", "origin"),
        ("branch.feature/a.b.merge", "refs/heads/feature/a.b"),
        ("branch.main.rebase", "merges"),
        ("branch.local.remote", "."),
        ("pull.rebase", "true"),
        ("push.default", "simple"),
        ("init.defaultbranch", "trunk"),
        ("merge.conflictstyle", "zdiff3"),
    ],
)
def test_an_ordinary_setting_is_kept(key: str, value: str) -> None:
    assert scrub([Setting(key, value)]).kept == (Setting(key, value),)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("user.name", "a\nb"),
        ("user.name", "  "),
        ("user.email", "a<b>"),
        ("user.name", "\u202egnp.exe"),
        ("core.autocrlf", "!sh"),
        ("branch.main.merge", "refs/tags/v1"),
        ("branch.main.merge", "refs/heads/../x"),
        ("branch.main.remote", "ext::sh -c x"),
        ("branch.main.remote", "--upload-pack=x"),
        ("branch.main.rebase", "interactive"),
        ("branch.-x.remote", "origin"),
        ("pull.rebase", "interactive"),
        ("user.name", "x" * 5000),
    ],
)
def test_a_value_that_is_not_allowed_is_dropped_with_its_key(key: str, value: str) -> None:
    scrubbed = scrub([Setting(key, value)])

    assert scrubbed.kept == ()
    assert len(scrubbed.dropped) == 1


def test_a_remote_keeps_its_first_address_and_the_refspecs_of_its_own_tracking_refs() -> None:
    scrubbed = scrub(
        [
            Setting("remote.origin.url", "ssh://git@host/a"),
            Setting("remote.origin.url", "ssh://git@other/a"),
            Setting("remote.origin.fetch", "+refs/heads/main:refs/remotes/origin/main"),
            Setting("remote.origin.fetch", "+refs/heads/*:refs/heads/*"),
            Setting("remote.origin.fetch", "+refs/heads/*:refs/remotes/upstream/*"),
        ]
    )

    (remote,) = scrubbed.remotes
    assert remote.url == "ssh://git@host/a"
    assert remote.fetch == ("+refs/heads/main:refs/remotes/origin/main",)
    assert [entry.what for entry in scrubbed.dropped] == [
        "config remote.origin.url",
        "config remote.origin.fetch",
        "config remote.origin.fetch",
    ]


@pytest.mark.parametrize("name", ["-x", "../x", "a/b", "", "a b", "x.lock"])
def test_a_remote_with_a_name_that_could_be_something_else_is_dropped(name: str) -> None:
    scrubbed = scrub([Setting(f"remote.{name}.url", "ssh://git@host/a")])

    assert scrubbed.remotes == ()
    assert len(scrubbed.dropped) == 1


@pytest.mark.parametrize(
    ("settings", "field", "value"),
    [
        ({"core.bare": "true"}, "bare", True),
        ({"core.bare": None}, "bare", True),
        ({"core.bare": "false"}, "bare", False),
        ({"extensions.partialclone": "origin"}, "partial", True),
        ({"remote.origin.promisor": "true"}, "partial", True),
        ({"filter.lfs.clean": "git-lfs clean"}, "lfs", True),
        ({"extensions.objectformat": "sha256"}, "object_format", "sha256"),
        ({"core.repositoryformatversion": "2"}, "unsupported", "core.repositoryFormatVersion 2"),
        ({"core.repositoryformatversion": "1", "extensions.refstorage": "reftable"}, "unsupported",
         "extensions.refstorage"),
    ],
)  # fmt: skip
def test_the_kind_of_repository_is_read_from_its_configuration(
    settings: dict[str, str | None], field: str, value: object
) -> None:
    scrubbed: Scrubbed = scrub([Setting(key, setting) for key, setting in settings.items()])

    assert getattr(scrubbed, field) == value


WORDS = st.text(st.characters(blacklist_characters="\0", blacklist_categories=("Cs",)), max_size=40)
NAMES = st.text(st.characters(blacklist_characters="\0\n", blacklist_categories=("Cs",)), min_size=1, max_size=20)


@given(st.lists(st.tuples(NAMES, st.none() | WORDS), max_size=5))
def test_git_reads_back_exactly_what_is_rendered(entries: list[tuple[str, str | None]]) -> None:
    settings = tuple(Setting(f"branch.{name}.some-key", value) for name, value in entries)

    listing = subprocess.run(
        ["git", "config", "--file", "-", "--list", "-z"],
        input=render(settings).encode(),
        capture_output=True,
        check=True,
    ).stdout

    assert parse_listing(listing) == settings
