"""`ops-gateway explain`: what would be decided about a request. Runs nothing, and needs no configuration."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable

from executor.errors import Problem, Refused, Unavailable
from executor.policy.decide import decide
from executor.policy.model import Ask, Decision, Facts, Operation, Policy, Refuse, Request
from executor.policy.parameters import from_body
from executor.protocol.bodies import decode_body
from executor.protocol.names import parse_name
from executor.record.display import visible
from executor.spans import span
from gateway import settings
from gateway.commands.terminal import exactly, heading, paragraph

Explain = Callable[[str, str, str], Decision]  # operation, body, repository


def arguments(_verb: str, parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    parser.add_argument("operation", nargs="?", help="an operation (git_cmd) or a flag's name (git_cmd@blog.flag)")
    parser.add_argument("body", nargs="?", default="", help="the flag's body; `-` reads it from standard input")
    parser.add_argument("--repo", default="", help="the repository, if not the default one")
    parser.add_argument("--json", action="store_true", help="answer as one JSON object")
    parser.add_argument("--jsonl", action="store_true", help='answer {"id", "operation", "body"} lines from stdin')


def run(options: argparse.Namespace) -> int:
    """Explain one request, or one a line of standard input. Return 1 when a single one would be refused."""
    explain = explainer()
    if options.jsonl:
        for answer in answers(sys.stdin.buffer, explain):
            sys.stdout.write(json.dumps(answer) + "\n")
        return 0
    if not options.operation:
        raise Refused("usage", "which operation?", f"one of {', '.join(Operation)}; or --jsonl")
    operation, repo = _named(options.operation)
    body = decode_body(sys.stdin.buffer.read()) if options.body == "-" else options.body
    decision = explain(operation, body, options.repo or repo)
    print(json.dumps(as_data(decision)) if options.json else as_text(decision))
    return int(isinstance(decision, Refuse))


def explainer() -> Explain:
    """Return what decides here: with this host's policy and repositories where it is configured, else without."""
    if not settings.configured():
        return without_facts(Policy())
    from gateway import wiring

    chosen = settings.load()
    if not chosen.state_dir.is_dir():  # looking must not be what makes it
        return without_facts(wiring.policy(chosen))
    try:
        return wiring.dispatcher(chosen).explain
    except (Refused, Unavailable, OSError) as error:
        sys.stderr.write(f"ops-gateway: without the repository's facts: {visible(str(error))}\n")
        return without_facts(wiring.policy(chosen))


def without_facts(policy: Policy) -> Explain:
    """Return what decides by `policy` alone, knowing nothing about any repository."""
    facts = Facts()

    def explain(operation: str, body: str, repo: str) -> Decision:
        try:
            kind = Operation(operation)
            return decide(Request(kind, from_body(kind, body), repo=repo), policy, facts)
        except Problem as problem:
            return Refuse.of(problem)

    return explain


def answers(lines: Iterable[bytes], explain: Explain) -> Iterable[dict[str, object]]:
    """Given lines of JSON, yield an answer to each that is not blank; to a bad line one that holds `error`."""
    for line in lines:
        if not line.strip():
            continue
        identity: object = None
        try:
            given = _object(line)
            identity = given.get("id")
            yield {"id": identity, **as_data(_explained(given, explain))}
        except Problem as problem:
            yield {"id": identity, "error": str(problem)}


def _object(line: bytes) -> dict[str, object]:
    try:
        given = json.loads(line)
    except (ValueError, RecursionError):
        raise Refused("not_json", "the line is not JSON") from None
    if not isinstance(given, dict):
        raise Refused("not_json", "the line is no JSON object")
    return given


def _explained(given: dict[str, object], explain: Explain) -> Decision:
    operation, body = given.get("operation"), given.get("body", "")
    if not isinstance(operation, str) or not isinstance(body, str):
        raise Refused("not_json", "operation and body must be strings")
    name, repo = _named(operation)
    try:
        text = decode_body(body.encode("utf-8", "surrogatepass"))
    except Refused as problem:  # as the host would refuse the flag that holds it
        return Refuse.of(problem)
    return explain(name, text, repo)


def _named(operation: str) -> tuple[str, str]:
    """Given an operation or the name of a flag, return operation and repository; raise Refused for anything else."""
    name = operation if operation.endswith(".flag") else f"{operation}.flag"
    parsed = parse_name(name.encode("utf-8", "surrogatepass"))
    if parsed is None or parsed.operation is None:
        raise Refused("unknown_operation", "there is no such operation", f"one of {', '.join(Operation)}")
    return parsed.operation, parsed.repo


def as_data(decision: Decision) -> dict[str, object]:
    """Given a decision, return it as JSON can hold it."""
    shown: dict[str, object] = {
        "decision": type(decision).__name__.lower(),
        "class": decision.risk.value,
        "argv": list(decision.argv),
    }
    if isinstance(decision, Refuse):
        return shown | {"reasons": [decision.reason], "code": decision.code, "hint": decision.hint}
    return shown | {"reasons": list(decision.reasons)}


def as_text(decision: Decision) -> str:
    """Given a decision, return it as a person reads it, with everything visible that hides."""
    words = {"run": "runs by itself", "ask": "asks an operator", "refuse": "is refused"}
    lines = [heading(words[type(decision).__name__.lower()])]
    if decision.argv:
        lines.append(exactly("command", decision.argv))
    lines.append(paragraph("class", decision.risk.value))
    if isinstance(decision, Refuse):
        lines.append(paragraph("why", f"{decision.reason} [{decision.code}]"))
        lines.extend([paragraph("instead", decision.hint)] if decision.hint else [])
    else:
        lines.extend(paragraph("why", reason) for reason in decision.reasons)
    if isinstance(decision, Ask):
        lines.append(paragraph("needs", f"{decision.quorum} yes within {span(decision.expiry_seconds)}"))
    return "\n".join(lines)
