"""What git says becomes a code; what it says new becomes the general one with its own words."""

from __future__ import annotations

import pytest

from executor.git.failures import failure


@pytest.mark.parametrize(
    ("stderr", "code"),
    [
        ("fatal: Could not read from remote repository.\nHost key verification failed.", "host_key_unknown"),
        ("git@host: Permission denied (publickey).", "auth_failed"),
        ("fatal: could not read Username for 'https://x': terminal prompts disabled", "auth_failed"),
        ("fatal: unable to access 'https://x/': The requested URL returned error: 403", "auth_failed"),
        ("ERROR: Repository not found.", "remote_not_found"),
        ("ssh: Could not resolve hostname x: Name or service not known", "remote_unreachable"),
        ("fatal: Unable to create '/x/index.lock': File exists.", "index_locked"),
        ("fatal: detected dubious ownership in repository at '/x'", "repo_ownership"),
        ("error: could not write: No space left on device", "disk_full"),
        ("fatal: Out of memory, malloc failed (tried to allocate 3000000001 bytes)", "out_of_memory"),
        ("fatal: Out of memory? mmap failed: Cannot allocate memory", "out_of_memory"),
        ("fatal: refusing to merge unrelated histories", "unrelated_histories"),
        ("fatal: 'main' is already checked out at '/x'", "branch_in_use"),
        ("fatal: bad revision 'nope'", "not_found_in_repository"),
    ],
)
def test_a_known_message_has_its_code_and_a_hint(stderr: str, code: str) -> None:
    found = failure(["fetch"], 128, stderr.encode())

    assert found.code == code
    assert found.hint
    assert stderr.splitlines()[0] in found.message


def test_an_unknown_message_is_quoted_with_the_exit_code() -> None:
    found = failure(["frobnicate"], 3, b"fatal: something new")

    assert found.code == "git_failed"
    assert "git frobnicate ended with exit code 3: fatal: something new" in found.message


def test_a_message_of_megabytes_is_cut() -> None:
    assert len(failure(["fetch"], 1, b"x" * 5_000_000).message) < 3000
