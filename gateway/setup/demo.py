"""`ops-gateway demo`: the whole job on a throw-away repository, seen by the agent, the operator and the audit log."""

from __future__ import annotations

import json
import re
import textwrap
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from executor.errors import Problem
from executor.record.display import visible
from gateway.commands.terminal import WIDTH, heading
from gateway.setup.demo_world import World, throw_away_world

_LINES = 12  # of an output; the rest is counted
_INDENT, _SCREEN = " " * 12, "    "  # below who acts; below a command, whose output is as wide as a terminal
_DIGIT = r"[0-9a-f](?:\n +)?"  # what met the edge of an operator's screen goes on below
_FULL_ID = re.compile(rf"\b(?:(?:{_DIGIT}){{64}}|(?:{_DIGIT}){{40}})(?<![\n ])\b")  # of an object, or a digest


@dataclass(frozen=True, slots=True)
class Step:
    """One request of the agent, what the operator does about it, and how it must end."""

    title: str
    flag: str
    body: str = ""
    ends: str = "succeeded"
    operator: tuple[str, ...] = ()  # a command of the operator's, the request's id goes after its first word
    shows: str = ""  # what the output (or the error's message) must hold


FLAGS = (
    Step("who commits", "git_set_config.flag", "Agent Smith | agent@example.com\n"),
    Step("what is there", "git_status.flag", shows="src/discount.py"),
    Step("stage everything", "git_add.flag", ".\n"),
    Step("commit", "git_commit.flag", "Add a discount\n\nTen percent on Mondays.\n"),
    Step("publish: fast-forward, one branch", "git_push.flag", "main\n", shows="Pushed main"),
    Step("how is the repository set up", "git_check.flag", shows="origin/main"),
    Step("a git command that only reads runs", "git_cmd.flag", "git log --oneline -3\n", shows="Add a discount"),
    Step("not set up here: said, not guessed", "restart_queue.flag", ends="refused", shows="not set up"),
)
TYPED = (
    Step(
        "the typed form, with a reason; a tag asks an operator",
        "tag-1.request.json",
        json.dumps(
            {
                "operation": "git_cmd",
                "params": {"command": 'git tag -a v1.0 -m "First release"'},
                "reason": "the release notes refer to it",
            }
        ),
        operator=("approve",),
    ),
    Step(
        "an operator can say no, and why",
        "git_cmd.force-1.flag",
        "git push --force origin HEAD~1:refs/heads/main\n",
        ends="denied",
        operator=("deny", "--reason", "main is never rewritten here"),
        shows="never rewritten",
    ),
    Step(
        "what is never safe is refused, with a hint",
        "git_cmd.flag",
        "git log --output=/etc/cron.d/evil\n",
        ends="refused",
        shows="--output",
    ),
)
DETACHED = (
    Step("the agent looks: HEAD is on no branch", "git_status.flag", shows="HEAD detached"),
    Step("back to the branch", "git_cmd.back-1.flag", "git checkout main\n", operator=("approve",)),
    Step(
        "follow the remote again",
        "git_cmd.follow-1.flag",
        "git branch --set-upstream-to=origin/main main\n",
        operator=("approve",),
    ),
    Step("all is well again", "git_status.flag", shows="up to date with 'origin/main'"),
)


class Show:
    """Plays the steps in a world and remembers what did not come out right."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.wrong: list[str] = []

    def play(self, step: Step) -> None:
        """Raise the flag, let the operator act, print what each of them sees, and compare the end."""
        print("\n" + heading(f"* {step.title}"))
        _tell("agent", f"writes {step.flag}: {step.body.strip()}" if step.body.strip() else f"touches {step.flag}")
        name = _result_name(step.flag)
        before = self._world.received_at(name)
        self._world.raise_flag(step.flag, step.body)
        result = self._world.result(name, before=before)
        if step.operator:
            self.expect(result["state"] == "awaiting_approval", f"{step.title}: it did not wait for the operator")
            verb, *rest = step.operator
            _tell("operator", "ops-gateway pending\n" + self._world.ops_gateway("pending", result["id"]), _SCREEN)
            self._world.ops_gateway(verb, result["id"], *rest)
            _tell("operator", f"ops-gateway {verb} {result['id']} {' '.join(rest)}".rstrip())
            result = self._world.result(
                name, before=before, still=("received", "queued", "running", "awaiting_approval")
            )
        _tell("agent", f"reads results/{name}.json: " + _told(result))
        seen = result["output"] + (result["error"] or {}).get("message", "")
        self.expect(result["state"] == step.ends, f"{step.title}: {result['state']} instead of {step.ends}")
        self.expect(step.shows in seen, f"{step.title}: {step.shows!r} is not in what the agent reads")

    def expect(self, right: bool, otherwise: str) -> None:
        """Remember `otherwise` unless it is right."""
        if not right:
            self.wrong.append(otherwise)
            print(heading(f"  WRONG: {otherwise}", "bad"))


def demo() -> int:
    """Play the whole show; return 0 when every step came out right."""
    started = time.monotonic()
    try:
        with throw_away_world() as world:
            show = Show(world)
            _prologue(world)
            for title, steps in _acts(world):
                print("\n" + heading(f"=== {title} " + "=" * (WIDTH - 5 - len(title))))
                for step in steps:
                    show.play(step)
            _epilogue(world, show)
    except Problem as problem:
        print("\n" + heading("The demo ended early.", "bad"))
        print(visible(str(problem), multiline=True))
        return 1
    seconds = time.monotonic() - started
    if show.wrong:
        print("\n" + heading(f"{len(show.wrong)} steps did not come out right ({seconds:.0f} s).", "bad"))
        return 1
    print("\n" + heading(f"Every step came out right ({seconds:.0f} s). Nothing is left behind.", "good"))
    return 0


def _acts(world: World) -> Iterator[tuple[str, tuple[Step, ...]]]:
    """The acts in order; what changes the scene between them happens when the next one is asked for."""
    world.write("src/discount.py", "MONDAY = 0.9\n")
    yield "The agent raises the eight flags", FLAGS
    yield "The typed form, and operators", TYPED
    world.git("checkout", "-q", "--detach", "HEAD~1")
    world.git("branch", "--unset-upstream", "main")
    yield "Somebody left the repository on a detached HEAD", DETACHED


def _prologue(world: World) -> None:
    print(heading("ops-gateway demo: everything happens in " + str(world.root)))
    _tell("operator", "ops-gateway adopt shop\n" + world.ops_gateway("adopt", "--yes", "shop"), _SCREEN)
    world.start()
    _tell("operator", "ops-gateway run   (the gateway is up, watching the shared directory)")


def _epilogue(world: World, show: Show) -> None:
    print("\n" + heading("=== What the audit log says " + "=" * (WIDTH - 28)))
    story = world.logged("tag-1", "request.succeeded")
    _tell("agent", "reads in commands.log what became of tag-1:\n" + "\n".join(story))
    _tell("operator", "ops-gateway audit verify\n" + world.ops_gateway("audit", "verify"))
    pushed = world.git("log", "-1", "--format=%s by %an", "main", at=world.remote).strip()
    show.expect(pushed == "Add a discount by Agent Smith", f"the remote's main is {pushed!r}")
    tag = world.git("tag", "--list", "v1.0").strip()
    show.expect(tag == "v1.0", "the tag that was approved is not there")
    show.expect(world.stop(), "the gateway did not stop in order")


def _tell(who: str, text: str, indent: str = _INDENT) -> None:
    shown = _FULL_ID.sub(_beginning, visible(text.rstrip("\n"), multiline=True).expandtabs())
    first, *rest = (part for line in shown.split("\n") for part in _wrapped(line, WIDTH - len(indent)))
    print(f"  {who:<9} {first}")
    for line in rest:
        print(f"{indent}{line}".rstrip())


def _beginning(full_id: re.Match[str]) -> str:
    """Of an id people need its beginning."""
    return "".join(full_id[0].split())[:10] + "…"


def _wrapped(line: str, width: int) -> list[str]:
    """A long line goes on below, a little further in than it began."""
    begins = len(line) - len(line.lstrip())
    return textwrap.wrap(line, width, subsequent_indent=" " * (begins + 2), break_on_hyphens=False) or [""]


def _told(result: dict[str, Any]) -> str:
    lines = [result["state"]]
    if result["error"]:
        lines[0] += f" ({result['error']['code']}): {result['error']['message']}"
        lines += [f"hint: {result['error']['hint']}"] if result["error"]["hint"] else []
    elif result["verified"]:
        facts = (f"{name}={value}" for name, value in result["verified"].items() if name != "effect")
        lines[0] += (", effect verified: " if result["verified"].get("effect") else ", verified: ") + " ".join(facts)
    output = result["output"].rstrip("\n").split("\n") if result["output"] and not result["error"] else []
    lines += [f"| {line}" for line in output[:_LINES]]
    lines += [f"| … and {len(output) - _LINES} more lines"] if len(output) > _LINES else []
    return "\n".join(lines)


def _result_name(flag: str) -> str:
    """Where the answer to a flag is: under its id if it has one, else under its operation."""
    first, *rest = flag.removesuffix(".flag").removesuffix(".request.json").split(".")
    return rest[0] if rest else first
