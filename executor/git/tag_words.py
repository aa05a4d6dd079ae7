"""What an annotated tag says: its message is published with it, and no commit and no patch shows it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from executor.git.added_lines import AddedLine
from executor.git.questions import text
from executor.git.repository import Git
from executor.git.secrets import INCOMPLETE, SecretFinding, secrets_in
from executor.spans import plural

_NESTED = 5  # tags of tags that are looked into; nobody makes more


@dataclass(frozen=True, slots=True)
class TagWords:
    """One tag object: the name that it gives itself, who made it, and its message."""

    name: str
    tagger: str
    message: str

    def note(self) -> str:
        """Return what it says in one line, as a commit's subject stands for its message."""
        first, *more = self.message.strip().splitlines() or [""]
        rest = f" (and {plural(len(more), 'more line')})" if more else ""
        return f"The tag {self.name} says: {first}{rest}"


def tag_words(git: Git, object_id: str) -> tuple[tuple[TagWords, ...], bool]:
    """Return the tag objects that lead from `object_id` to what is tagged, and whether these are all of them.

    There are none for a tag without a message, which is no object of its own. Raises Failed.
    """
    found: list[TagWords] = []
    while _kind(git, object_id) == "tag":
        if len(found) == _NESTED:
            return tuple(found), False
        said = text(git.local(["cat-file", "tag", object_id], exact=True).stdout)
        head, _, message = said.partition("\n\n")
        fields = dict(line.partition(" ")[::2] for line in head.splitlines())
        found.append(TagWords(fields.get("tag", ""), fields.get("tagger", ""), message))
        object_id = fields["object"]
    return tuple(found), True


def secrets_of_tags(tags: tuple[TagWords, ...], *, complete: bool) -> tuple[SecretFinding, ...]:
    """Return the findings in what tags say (pure)."""
    named = [AddedLine("the name of an author", 0, f"{tag.name} {tag.tagger}") for tag in tags]
    found = secrets_in(_lines(tags), pieces=named)
    return found if complete else (*found, SecretFinding("", 0, INCOMPLETE))


def _lines(tags: tuple[TagWords, ...]) -> Iterator[AddedLine]:
    for tag in tags:
        for number, line in enumerate(tag.message.splitlines(), 1):
            yield AddedLine("the message of the tag", number, line)


def _kind(git: Git, object_id: str) -> str:
    return text(git.local(["cat-file", "-t", object_id], exact=True).stdout).strip()
