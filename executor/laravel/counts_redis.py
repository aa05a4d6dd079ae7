"""Count queues in Redis. The layout of the keys is Laravel's (`RedisQueue`, 8 to 13).

`PREFIXqueues:NAME` is a list of what is pending; the job that is next, which is the oldest, is its first entry.
`…:delayed` and `…:reserved` are sorted sets by the second in which a job becomes pending: delayed ones when their
time has come, reserved ones when their worker has had them for too long. Only a worker moves them to the list, so
with no worker what is due stands in the sets; it is counted as pending all the same.

A queue on which nothing is leaves no key. So a wrong prefix looks like queues that are empty (F08). As long as no key
at all was seen under the prefix, others are looked for that end in the name of a queue; where there are some, the
count is unknown. (Applications can share a Redis: once anything was seen under the prefix, others do not matter.)
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import isfinite
from typing import TYPE_CHECKING, Any

from executor.errors import ConfigError, Problem, Unavailable
from executor.laravel.config import RedisSource
from executor.laravel.model import QueueCount
from executor.record.display import visible

if TYPE_CHECKING:
    from redis import Redis

SECONDS = 3.0  # for connecting, and for each answer
_SCANNED = 10  # calls of 1,000 keys each, when keys under other prefixes are looked for
_PROVEN: set[RedisSource] = set()  # where this process has seen a key under the prefix
_PAYLOAD_MOST = 1 << 20  # bytes of a job that is read for its age; whoever can push jobs decides how large they are
# What is asked by a script, for it is to come without the rest of what it lies in: the first job, unless it is too
# large, and the times of the first ones in the two sorted sets.
_FIRST = """
local job = redis.call('LINDEX', KEYS[1], 0)
local told = {job and #job <= tonumber(ARGV[1]) and job or ''}
for place = 2, 3 do
    told[place] = redis.call('ZRANGE', KEYS[place], 0, 0, 'WITHSCORES')[2] or ''
end
return told
"""
_CREATED = ("pushedAt", "createdAt")  # in a job's payload: by Horizon, by Laravel 12 and newer


def count_in_redis(source: RedisSource, queues: tuple[str, ...], now: float) -> Mapping[str, QueueCount]:
    """Return the counts by queue. Raises Unavailable where Redis does not answer, ConfigError without its client."""
    redis = _library()
    try:
        client: Redis = redis.Redis.from_url(
            source.url, socket_timeout=SECONDS, socket_connect_timeout=SECONDS, retry=None, client_name="ops-gateway"
        )
    except ValueError as error:
        raise ConfigError("queue_source", f"that is no address of a Redis server: {_said(error)}") from None
    try:
        with client:
            found = {queue: _count(client, f"{source.prefix}queues:{queue}", queue, now) for queue in queues}
            if any(count.existed for count in found.values()):
                _PROVEN.add(source)
            others = {} if source in _PROVEN else _other_prefixes(client, source, queues)
    except (redis.RedisError, OSError) as error:
        raise Unavailable(
            "redis_unavailable", f"Redis did not answer: {_said(error)}", "look whether it runs, and at its address"
        ) from None
    return found | {queue: _elsewhere(found[queue], source.prefix, prefix) for queue, prefix in others.items()}


def _library() -> Any:
    try:
        import redis
    except ImportError:
        raise ConfigError(
            "extra_missing",
            "counting queues in Redis needs the Python client for it",
            "pip install 'ops-gateway[redis]'",
        ) from None
    return redis


def _count(client: Redis, key: str, queue: str, now: float) -> QueueCount:
    sets = (f"{key}:delayed", f"{key}:reserved")
    with client.pipeline(transaction=False) as pipe:
        pipe.llen(key)
        for each in sets:
            pipe.zcard(each)
            pipe.zcount(each, "-inf", now)
        pipe.exists(f"{key}:notify")
        waiting, delayed, due, reserved, lost, notify = pipe.execute()
    return QueueCount(
        queue,
        pending=waiting + due + lost,
        delayed=delayed - due,
        reserved=reserved - lost,
        oldest_seconds=_oldest(client, (key, *sets), now) if waiting + due + lost else None,
        existed=bool(waiting or delayed or reserved or notify),
    )


def _oldest(client: Redis, keys: Sequence[str], now: float) -> float | None:
    """Return the age of the oldest pending job; None where its payload does not tell, or no script may be run."""
    from redis import ResponseError

    try:
        job, *times = client.eval(_FIRST, len(keys), *keys, str(_PAYLOAD_MOST))
    except ResponseError:
        return None
    created = created_at(job) if job else None
    if created is None and client.llen(keys[0]):
        return None
    known = [moment for moment in (created, *map(float, filter(None, times))) if moment is not None]
    ages = [now - moment for moment in known if isfinite(moment) and moment <= now]
    return max(ages, default=None)


def created_at(payload: bytes) -> float | None:
    """Return when a job was put on its queue, in seconds since the epoch, or None where its payload does not tell.

    Laravel 8 to 11 write no time, unless Horizon is there.
    """
    try:
        job = json.loads(payload)
        told = next((job[name] for name in _CREATED if job.get(name) is not None), None)
        created = float(told) if told is not None else None
    except (ValueError, TypeError, AttributeError, OverflowError, RecursionError):
        return None
    return created if created is not None and 0 < created < 1e11 else None


def _other_prefixes(client: Redis, source: RedisSource, queues: tuple[str, ...]) -> dict[str, str]:
    """Return another prefix for each queue of which keys stand under one; none if any key has the right prefix."""
    endings = {
        f"queues:{queue}{kind}".encode(): queue
        for queue in queues
        for kind in ("", ":delayed", ":reserved", ":notify")
    }
    found: dict[str, str] = {}
    prefix = source.prefix.encode()
    for key in _some_keys(client):
        if prefix and key.startswith(prefix):
            _PROVEN.add(source)
            return {}
        at = key.rfind(b"queues:")
        queue = endings.get(key[at:])
        if queue is not None:
            found.setdefault(queue, key[:at].decode("utf-8", "replace"))
    return found


def _some_keys(client: Redis) -> Iterator[bytes]:
    cursor, keys = 0, list[Any]()
    for _ in range(_SCANNED):
        cursor, keys = client.scan(cursor, count=1000)
        yield from (key if isinstance(key, bytes) else key.encode() for key in keys)
        if cursor == 0:
            return


def _elsewhere(count: QueueCount, prefix: str, other: str) -> QueueCount:
    problem = (
        f"Redis holds jobs of {count.queue} under the prefix {visible(other)!r} and nothing under {prefix!r}: "
        "GATEWAY_QUEUE_REDIS_PREFIX is wrong, or they are another application's and this one has had none yet"
    )
    return replace(QueueCount(count.queue, problem=problem), existed=False)


def _said(error: Exception) -> str:
    """What went wrong, without what a message might repeat of the address."""
    text = str(error) if not isinstance(error, Problem) else error.message
    return visible(text[:200]) or type(error).__name__
