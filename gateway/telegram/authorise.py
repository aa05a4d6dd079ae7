"""Who speaks: one pure function decides whether an update comes from an operator (A26).

Chat, topic and user must all be right, and the update must be of a kind that a person makes directly. Whatever is not
known to be right is not an operator's: nothing here has a default that lets anybody in.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from gateway.telegram.update_facts import UpdateFacts, topic_of


@dataclass(frozen=True)
class ChatPolicy:
    """Where operators speak, and who they are.

    `chat_id` is the one chat (a person's own id for a private chat), `topic_id` the one topic in it, if any.
    `general_too` accepts commands from the General topic as well: cards go there while the topic is gone (A22).
    No operators means that nobody is one.
    """

    chat_id: int
    topic_id: int | None
    operators: frozenset[int]
    general_too: bool = False

    def moved_to(self, chat_id: int) -> ChatPolicy:
        """Return the policy for the chat's new id, after Telegram said that it has one (A20)."""
        return replace(self, chat_id=chat_id)


@dataclass(frozen=True)
class Operator:
    """A listed person, speaking in the right place."""

    user_id: int
    name: str  # foreign text

    @property
    def voter(self) -> str:
        """The name under which this operator's decisions are recorded."""
        return f"telegram:{self.user_id}"


@dataclass(frozen=True)
class Stranger:
    """Somebody who tried to command or decide and may not: told no, and recorded at a bounded rate."""

    user_id: int | None
    name: str  # foreign text
    why: str


@dataclass(frozen=True)
class Ignored:
    """Nothing to answer: not meant for the gateway, or not from a person directly."""

    why: str


def authorise(facts: UpdateFacts, policy: ChatPolicy) -> Operator | Stranger | Ignored:
    """Given what an update says and who may speak where, return who speaks. Fails closed."""
    return _not_direct(facts) or _elsewhere(facts, policy) or _person(facts, policy)


def migration(facts: UpdateFacts, policy: ChatPolicy) -> int | None:
    """Return the new id of our chat if this is Telegram's own notice, in our chat, that it became a supergroup (A20).

    Nobody can write such a notice: it is a field of a service message, not text. What another chat says about
    itself, or about ours, does not count.
    """
    if facts.kind != "message" or facts.chat_id != policy.chat_id:
        return None
    return facts.migrated_to


def _not_direct(facts: UpdateFacts) -> Ignored | None:
    """Return why the update is not something that a person did directly, now and for the first time."""
    if facts.kind not in ("message", "callback_query"):
        return Ignored(f"not a message or a press: {facts.kind}")  # an edited message changes no decision
    if facts.redelivered:
        return Ignored("handled before")
    if facts.is_bot and facts.sender_chat_id is None:
        return Ignored("written by a bot")  # who writes as a chat is shown as a bot, too: told apart below
    if facts.is_forward:
        return Ignored("forwarded: somebody else's words")
    if facts.via_bot:
        return Ignored("made by an inline bot")
    if facts.chat_type == "channel":
        return Ignored("a channel, where nobody has a name")
    return None


def _elsewhere(facts: UpdateFacts, policy: ChatPolicy) -> Ignored | None:
    """Return why the update belongs to another place than ours."""
    if facts.chat_id is None:
        return Ignored("no chat")  # a button under an inline message, which the gateway never makes
    if facts.chat_id != policy.chat_id:
        return Ignored("another chat")
    if facts.kind == "callback_query":
        return None  # only our own messages carry our buttons, and a card may hang outside the topic (A22)
    topic = topic_of(policy.topic_id)
    if facts.topic == topic or (policy.general_too and facts.topic is None):
        return None
    return Ignored("another topic")


def _person(facts: UpdateFacts, policy: ChatPolicy) -> Operator | Stranger | Ignored:
    if facts.kind == "message" and not facts.text:
        return Ignored("no text")
    if facts.sender_chat_id is not None:
        return _turned_away(
            facts, "written as a group or channel: an anonymous administrator is nobody in particular"
        )
    if facts.user_id is None:
        return Ignored("no sender")
    if not policy.operators:
        return _turned_away(facts, "no operators are configured")
    if facts.user_id not in policy.operators:
        return _turned_away(facts, "not an operator")
    return Operator(facts.user_id, facts.user_name)


def _turned_away(facts: UpdateFacts, why: str) -> Stranger | Ignored:
    """Answer a press or a command; ordinary talk in the group is nobody's business."""
    if facts.kind == "callback_query" or facts.text.startswith("/"):
        return Stranger(facts.user_id, facts.user_name, why)
    return Ignored(f"talk: {why}")
