"""The executor as one piece: flags are taken, decided, run, recorded and answered. See docs/architecture.md.

Thread-safe as the host process uses it: one thread takes flags, one thread a repository runs them, one does the rest.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Set

from executor.aftermath import Aftermath
from executor.answers import Answers
from executor.asking import Asking
from executor.capability_report import capability_report
from executor.config import ExecutorConfig
from executor.errors import Refused, Unavailable
from executor.facts import FactFinder
from executor.health.checks import HealthChecks
from executor.host_lane import HostLane
from executor.host_operations import HOST_LANE, HOST_OPERATIONS, HostOperations
from executor.intake import Intake
from executor.opening import open_store
from executor.operations import Operations
from executor.policy.decide import decide
from executor.policy.model import Decision, Operation, Refuse, Request, RiskClass
from executor.policy.parameters import from_body
from executor.protocol.shared_dir import SharedDir
from executor.record import approvals, controls, requests
from executor.record.approvals import Approval
from executor.record.requests import RequestRow
from executor.record.transitions import recover_after_crash
from executor.repositories import Repositories
from executor.running import Running
from executor.sandbox.confinement import Confinement
from executor.sandbox.process import ProcessRunner
from executor.upkeep import Upkeep
from executor.withdrawals import Withdrawals

_PUBLISHED_AGAIN = 200  # newest results written anew at start


class Dispatcher:
    """Given the configuration, serve it. One per process; raises ConfigError or Unavailable where it cannot begin."""

    def __init__(self, config: ExecutorConfig) -> None:
        self.config = config
        self._stopping = threading.Event()
        self._taking = threading.Lock()
        config.state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.store = open_store(config)
        self.confinement = Confinement(unsafe=config.run_without_confinement)
        self.runner = ProcessRunner(self.confinement)
        self.repositories = Repositories(config, self.runner, self._stopping)
        self.health_checks = HealthChecks(config, self.store, self.repositories, self.runner)
        self.host_operations = HostOperations(config, self.runner, self._stopping)
        self.host_operations.register(Operation.HEALTH_CHECK, self.health_checks.operation())
        self._shared = SharedDir(config.shared_dir)
        self._answers = Answers(self._shared, self.store, self.repositories.full_name(""))
        self._facts = FactFinder(config, self.store, self.repositories)
        self._intake = Intake(config, self._shared, self.store, self.repositories, self._facts, self._answers)
        self._withdrawals = Withdrawals(self._shared, self.store, self._answers)
        self._asking = asking = Asking(config, self.store, self._answers)
        operations = Operations(self.store, config.limits)
        self._running = Running(config, self.store, self.repositories, self._facts, asking, operations, self._answers)
        self._host_lane = HostLane(config, self.store, self._facts, asking, self.host_operations, self._answers)
        self._aftermath = Aftermath(config, self.store, self.repositories, self._answers)
        self._upkeep = Upkeep(config, self.store, self._shared, self.repositories, self._stopping)
        self._troubles: dict[str, str] = {}  # what does not work now -> in words

    def tell_queued(self, told: Callable[[Set[str]], None]) -> None:
        """Let `told` be called by `take`, with the repositories that have something to run, as soon as that is so."""
        self._intake.queued = told

    def ask_only_if(self, fits: Callable[[RequestRow, Approval], bool]) -> None:
        """Refuse, from now on, to ask what does not fit where operators are shown it, instead of showing a part."""
        self._asking.fits = fits

    def take(self, names: Iterable[bytes] | None = None, *, settle: bool = True) -> int:
        """Take the flags of these names, or with None sweep once, then what the agent takes back by `ID.withdraw`.

        Return how many became requests.

        A sweep leaves flags that changed within the last second, unless `settle` is False. Raises Unavailable when
        nothing can be recorded; what was claimed is then recorded by a later call.
        """
        names = None if names is None else list(names)
        with self._taking:
            try:
                taken = self._intake.take_named(names) if names is not None else self._intake.sweep(settle=settle)
                self._withdrawals.take(names)
            except Unavailable as problem:
                self._troubles["taking flags"] = problem.message
                raise
            self._troubles.pop("taking flags", None)
            if names is None:
                self._answers.pay()
            return taken

    def more_waiting(self) -> bool:
        """Return whether the last sweep left flags behind that were ready to be taken."""
        return self._intake.more_waiting

    @property
    def lanes(self) -> tuple[str, ...]:
        """What `run_next` is called for: the repositories, and "" for what is run for the host itself."""
        return (*self.repositories.names, HOST_LANE)

    def lane(self, operation: Operation, repo: str) -> str:
        """Return where a request of `operation` waits; `repo` "" is the default repository. Raises Refused."""
        return HOST_LANE if operation in HOST_OPERATIONS else self.repositories.paths(repo).name

    def queued_repositories(self) -> list[str]:
        """Return the lanes in which something is to be run, put to operators or looked into."""
        with self.store.reading() as view:
            return sorted({*requests.due_repositories(view), *self._aftermath.waiting()})

    def run_next(self, repo: str) -> bool:
        """Run what comes next in the lane `repo`, or put it to operators; return False when there is nothing.

        After a start it is first looked into what was interrupted there.

        Raises Unavailable when that cannot be recorded, or somebody else is at work in the repository.
        """
        where = f"running in {repo}" if repo != HOST_LANE else "running for the host"
        try:
            self._aftermath.look(repo)
            worked = self._running.run_next(repo) if repo != HOST_LANE else self._host_lane.run_next()
        except Unavailable as problem:
            self._troubles[where] = problem.message
            raise
        self._troubles.pop(where, None)
        return worked

    def publish_rest(self) -> None:
        """Write what `take` and `run_next` leave for a moment later: that a reading request waits, and commands.log.

        No answer waits for these. A request that only reads has mostly been answered when this is called.
        """
        try:
            self._answers.catch_up()
            self._answers.log()
        except Unavailable as problem:
            self._troubles["publishing"] = problem.message

    def recover(self, *, after_order: bool = False) -> None:
        """At start, before anything else: find out what an earlier process left, and answer for it.

        What was running is interrupted (what only reads is queued again; `run_next` looks what became of the rest),
        what was claimed is taken up, and the newest results are written anew; without the shared directory when it
        is back. `after_order`: the earlier process ended in order, a minute ago by cron: nothing is to be found.
        """
        if after_order:
            return
        with self.store.transaction() as tx:
            found = recover_after_crash(tx, _changes_nothing)
            tx.append("gateway.started", data=self._start_report())
        self._aftermath.gather(found.interrupted)
        self._upkeep.clear_unfinished()
        try:
            self._intake.take_leftovers()
        except Unavailable as problem:
            self._troubles["taking flags"] = problem.message
        self._answers.publish_again(_PUBLISHED_AGAIN)
        self._answers.log()
        self.publish_capabilities()

    def expire(self) -> int:
        """End the approvals that nobody gave in time; return how many."""
        with self.store.reading() as view:
            if not approvals.any_due(view):
                return 0
        with self.store.transaction() as tx:
            due = approvals.expire_due(tx)
        for approval in due:
            self._answers.publish(approval.request_id)
        self._answers.log()
        return len(due)

    def retention(self) -> None:
        """Remove what is older than it is to be kept: outputs, requests, result files, rescues."""
        self._upkeep.remove_old()

    def maintain(self) -> None:
        """Keep up the repositories, in place of git's automatic gc. May take minutes: give it a thread of its own."""
        self._upkeep.keep_up()

    def watch_health(self) -> None:
        """Look at containers, workers, disks and memory; what is bad, and stays so, is a trouble until it is well."""
        self.health_checks.watch(self._stopping)

    def publish_capabilities(self) -> None:
        """Write gateway.json: what the agent may ask for, and that the gateway is alive."""
        try:
            self._shared.publish("gateway.json", self.capabilities())
        except Unavailable as problem:
            self._troubles["publishing"] = problem.message
        else:
            self._troubles.pop("publishing", None)

    def capabilities(self) -> str:
        """Return the content of gateway.json."""
        return capability_report(self.config, self.store, self.troubles())

    def answer(self, request_id: str) -> None:
        """Write a request's result anew, after a decision about it was made elsewhere."""
        self._answers.publish(request_id)

    def cancel_running(self) -> None:
        """End what runs; it is recorded as interrupted. Nothing is started any more."""
        self._stopping.set()

    def troubles(self) -> dict[str, str]:
        """Return what does not work now, in words; empty when all is well."""
        found = self._troubles | self._upkeep.troubles | self.health_checks.troubles()
        if self.store.anchor_problem is not None:
            found["audit anchor"] = self.store.anchor_problem
        if self._answers.problem is not None:
            found["answering"] = self._answers.problem
        return found

    def health(self) -> dict[str, object]:
        """Return how the executor is, for status and the doctor."""
        with self.store.reading() as view:
            freeze = controls.frozen(view)
            waiting = len(approvals.pending(view))
            opened = requests.count_open(view)
        return {
            "degraded": self.troubles(),
            "confinement": self.confinement.report().summary,
            "confined": self.confinement.report().confined,
            "frozen": freeze.reason if freeze else None,
            "awaiting_approval": waiting,
            "open": opened,
        }

    def explain(self, operation: str, body: str, repo: str = "") -> Decision:
        """Return what would be decided about a request, without recording or running anything."""
        try:
            kind = Operation(operation)
            request = Request(kind, from_body(kind, body), repo, dry_run=True)
            return decide(request, self.config.policy, self._facts.for_batch().facts(request))
        except Refused as refused:
            return Refuse.of(refused)

    def close(self) -> None:
        """Let go of the database, the shared directory and the confined threads."""
        self.store.close()
        self._answers.close()
        self._shared.close()
        self.confinement.close()

    def _start_report(self) -> dict[str, object]:
        return {
            "pid": os.getpid(),
            "uid": os.getuid(),
            "confinement": self.confinement.report().summary,
            "run_without_confinement": self.config.run_without_confinement,
            "repositories": list(self.repositories.names),
        }


def _changes_nothing(row: RequestRow) -> bool:
    return row.risk is RiskClass.READ
