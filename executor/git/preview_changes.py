"""What commands that work locally would lose, take up or record, as lines for the operators who are asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from executor.git.push_facts import commit_facts
from executor.git.questions import HEADS, head, index_tree, resolve, split_z, text
from executor.git.repository import Git
from executor.git.risk_facts import ChangedPath, CommitFact, risks_of_paths
from executor.git.tree_changes import tree_changes
from executor.policy.model import AddParams, Command, Contact, Operation, Request

FILES_SHOWN = 50
COMMITS_SHOWN = 20


def lost_lines(git: Git, command: Command) -> tuple[str, ...]:
    return ()


def involved_lines(git: Git, command: Command) -> tuple[str, ...]:
    return ()


def staged_lines(git: Git, request: Request, command: Command | None) -> tuple[str, ...]:
    return ()
