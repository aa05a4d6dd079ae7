"""`ops-gateway init`: set a host up, by questions at a terminal or by flags."""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import sys
from collections.abc import Iterable
from pathlib import Path

from executor.errors import Refused
from executor.record.display import visible
from executor.record.redaction import redact
from gateway.commands import check, repositories, terminal
from gateway.settings_model import Settings
from gateway.settings_sources import variable
from gateway.setup import answers, checks_systemd, mends, settings_file, snippets
from gateway.setup.init_plan import SECRETS, InitPlan, plan_init
from gateway.setup.settings_file import SettingsFile
from gateway.single import holder

_WAIT_SECONDS = 300.0


def arguments(_verb: str, parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes. What is given is not asked for."""
    place = parser.add_mutually_exclusive_group()
    place.add_argument("--env", metavar="FILE", help="the env file to write (default: $GATEWAY_ENV_FILE, or ./.env)")
    place.add_argument("--toml", metavar="FILE", help="write a gateway.toml in its stead")
    parser.add_argument("--shared-dir", metavar="DIR", help="the directory that the agent's container shares")
    parser.add_argument("--repo", metavar="DIR", help="the work tree of the repository")
    parser.add_argument("--state-dir", metavar="DIR", help="what the host keeps for itself")
    parser.add_argument("--approve", metavar="LIST", help="operations that ask an operator first")
    parser.add_argument("--remote", action="append", default=[], metavar="NAME=URL", help="as for adopt")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="any other setting")
    telegram = parser.add_argument_group("Telegram")
    telegram.add_argument("--token-file", metavar="FILE", help="its first line is the bot's token (- is stdin)")
    telegram.add_argument("--pair", action="store_true", help="find chat and operator by a code, whatever is known")
    telegram.add_argument("--wait", type=float, default=_WAIT_SECONDS, metavar="SECONDS", help="for that code")
    telegram.add_argument("--chat", metavar="ID", help="the chat, if you know its id")
    telegram.add_argument("--topic", metavar="ID", help="the topic in it")
    telegram.add_argument("--operators", metavar="IDS", help="who may decide")
    telegram.add_argument("--api-url", metavar="URL", help="a Bot API server of your own")
    telegram.add_argument("--no-telegram", action="store_true", help="neither ask about it nor use it")
    parser.add_argument("--from-worker-manager", metavar="FILE", help="take paths and queues from a shell script")
    parser.add_argument("--non-interactive", action="store_true", help="ask nothing")
    parser.add_argument("--yes", action="store_true", help="do it without asking; what is done is shown all the same")


def run(options: argparse.Namespace) -> int:
    """Ask, show, ask again, do. Return 1 when it was not done, or the doctor found something that fails."""
    file = settings_file.chosen(options.env, options.toml)
    told = answers.Answers(file.values(), environment=answers.environment())
    if os.geteuid() == 0:
        _show(
            ["You are root, and what is made will be root's: better run init as the user that the gateway gets.", ""]
        )
    try:
        answers.gather(options, told, _show)
        text = file.with_values(told.changes())
        settings = file.checked(text)
        plan = plan_init(file, text, settings, dict(answers.pairs(options.remote)), told.changes())
        _show(["", *plan.lines()] if not plan.nothing_to_do else ["", f"{file.path}: nothing to change."])
        agreed = plan.nothing_to_do or _agreed(options)
    except KeyboardInterrupt:
        _show(["", "Nothing was written."])
        raise
    except EOFError:
        agreed = False
    if not agreed:
        _show(["", "Nothing was written."])
        return 1
    _do(plan, options.remote)
    _tell(file, settings)
    _show(["", "What the doctor says:"])
    return check.run(argparse.Namespace(verb="doctor", json=False))


def _agreed(options: argparse.Namespace) -> bool:
    if options.yes:
        return True
    if options.non_interactive or not sys.stdin.isatty():
        what = "nothing was written: nobody can be asked"
        raise Refused("not_confirmed", what, "what it would do stands above; add --yes")
    return terminal.agreed("Do it?")


def _do(plan: InitPlan, remotes: list[str]) -> None:
    """Do what the plan says, each step said as it is done."""
    for path, mode in plan.directories:
        path.mkdir(mode=0o700, parents=True)
        path.chmod(mode)
        _show([f"Made {path}."])
    if plan.changes:
        plan.file.replace(plan.text)
        _show([f"Wrote {plan.file.path}."])
    if not plan.file.found_by_itself:
        os.environ[plan.file.named_in] = str(plan.file.path)
    for number, each in enumerate(plan.adoptions):
        if each.done or each.refused:
            continue
        chosen = argparse.Namespace(
            verb="adopt", repo=each.name, remote=remotes if number == 0 else [], plan=False, yes=True
        )
        with contextlib.redirect_stdout(io.StringIO()) as told:
            repositories.run(chosen)
        _show(line for line in told.getvalue().splitlines() if line not in each.lines)


def _tell(file: SettingsFile, settings: Settings) -> None:
    """Print what belongs into other programs' files, and how to go on."""
    written = (settings.shared_dir, *(each.path for each in settings.served))
    places = snippets.Places(
        shared=settings.shared_dir,
        repositories=tuple(
            (each.path, settings.state_dir / "repos" / each.name / "local.git") for each in settings.served
        ),
        group=settings.shared_dir.stat().st_gid,
        settings_file=file.path,
        named_in=file.named_in,
        found_by_itself=file.found_by_itself,
        program=Path(sys.argv[0]).absolute() if Path(sys.argv[0]).name == "ops-gateway" else Path("ops-gateway"),
        home=Path.cwd(),
        environment=_kept_in_the_environment(),
    )
    _show(["", "The agent's container (compose; deploy/docker-compose.yml is stricter still):", ""])
    _show(snippets.compose(places).splitlines())
    if checks_systemd.installed_for(file.named_in, file.path, written):
        enable = mends.as_root("systemctl", "enable", "--now", checks_systemd.UNIT)
        _show(["", f"The unit is installed, and knows these settings and directories: {enable}"])
    else:
        _tell_who_starts_it(file, places)
    if holder(settings.state_dir).startswith("run"):
        restart = mends.as_root("systemctl", "restart", checks_systemd.UNIT)
        _show([f"A gateway runs here with the settings of before: restart it ({restart})."])


def _tell_who_starts_it(file: SettingsFile, places: snippets.Places) -> None:
    edit, enable = (
        mends.as_root("systemctl", *verb, checks_systemd.UNIT) for verb in (("edit",), ("enable", "--now"))
    )
    _show(["", f"The unit, which deploy/install.sh puts in place ({edit}; {enable}):", ""])
    _show(snippets.drop_in(places).splitlines())
    _show(["", "Or, where nothing is to stay resident (crontab -e, as this user):", ""])
    _show([*snippets.cron_line(places).splitlines(), ""])
    if not file.found_by_itself:
        _show([f"On the command line: export {file.named_in}={file.path}"])


def _kept_in_the_environment() -> dict[str, str]:
    """What counts although no file says it: whatever starts the gateway must set it, too. No secrets."""
    kept = {name: value for name, value in answers.environment().items() if name not in SECRETS}
    return {variable(name): value for name, value in kept.items() if mends.CREDENTIALS not in Path(value).parents}


def _show(lines: Iterable[str]) -> None:
    """Print lines, each as one: a name with a line end in it must not pose as two of ours."""
    for line in lines:
        print(visible(redact(line)))
