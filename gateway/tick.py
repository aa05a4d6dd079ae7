"""One round and out: for a host where cron starts the gateway every minute and nothing stays resident."""

from __future__ import annotations

from gateway import wiring
from gateway.schedule.pickup import act_on_word
from gateway.settings_model import Settings
from gateway.single import alone


def tick(settings: Settings, wait_seconds: float) -> None:
    """Take every flag that is there, run what is queued, expire, tidy up, and say how things are.

    Raise Busy if another process serves this state directory (a `run`, or a `tick` that does not end in time).
    """
    with alone(settings.state_dir, "tick", wait_seconds):
        dispatcher = wiring.dispatcher(settings)
        try:
            dispatcher.recover()
            act_on_word(dispatcher, settings.state_dir)
            dispatcher.expire()
            going = True
            while going:
                going = dispatcher.take() > 0
                for repository in dispatcher.queued_repositories():
                    while dispatcher.run_next(repository):
                        going = True
                going = going and dispatcher.more_waiting()
            dispatcher.retention()
            dispatcher.publish_capabilities()
        finally:
            dispatcher.close()
