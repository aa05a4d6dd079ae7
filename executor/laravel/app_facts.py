"""What the application itself says about how restarts reach its workers: its cache, and the restart signal in it.

`queue:restart` writes the present second under `illuminate:queue:restart` in the application's cache, and each worker
ends when it finds another value there than when it began. Where that is (a file, Redis, a table, with which prefixes)
is the application's configuration, so the application is asked. It is read, and nothing is written.

It is read raw, and never through the cache's own `get`: that unserialises what it finds, so whoever can write the
application's cache (a shared Redis, perhaps the agent's) would choose which of its code runs, as the gateway's user.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from executor.errors import Failed
from executor.laravel.artisan import php_argv, run_in_app, said
from executor.laravel.config import LaravelApp
from executor.sandbox.process import ProcessRunner

# Of no use between processes: each has its own, or none.
PRIVATE_CACHES = frozenset({"array", "null"})

_SCRIPT = """
require 'vendor/autoload.php';
$app = require 'bootstrap/app.php';
$app->make(Illuminate\\Contracts\\Console\\Kernel::class)->bootstrap();
$name = $app['config']->get('cache.default');
$driver = $app['config']->get("cache.stores.$name.driver");
$store = $app['cache']->store()->getStore();
$key = $store->getPrefix().'illuminate:queue:restart';
$raw = null;
$read = true;
if ($driver === 'file') {
    $hash = sha1($key);
    $path = $store->getDirectory().'/'.substr($hash, 0, 2).'/'.substr($hash, 2, 2).'/'.$hash;
    $raw = is_file($path) ? file_get_contents($path, false, null, 0, 99) : null;
} elseif ($driver === 'database') {
    $table = $app['config']->get("cache.stores.$name.table");
    $raw = $store->getConnection()->table($table)->where('key', $key)->value('value');
} elseif ($driver === 'redis') {
    $client = $store->connection()->client();
    $read = !($client instanceof Redis) || $client->getOption(Redis::OPT_SERIALIZER) === Redis::SERIALIZER_NONE;
    $raw = $read ? $store->connection()->get($key) : null;
} else {
    $read = false;
}
$found = is_scalar($raw) && preg_match('/^(?:[0-9]{10}i:|i:)?([0-9]{1,12});?$/', (string) $raw, $match);
echo "\\n", json_encode([
    'cache' => $driver,
    'read' => $read,
    'signal' => $found ? (int) $match[1] : null,
]), "\\n";
"""


@dataclass(frozen=True, slots=True)
class AppFacts:
    """`cache` is the driver of the default cache, `signal` the second of the last restart, None if there was none.

    `read` says whether the signal could be looked for: not every driver's cache is read.
    """

    cache: str
    read: bool
    signal: int | None


def ask_app(app: LaravelApp, runner: ProcessRunner) -> AppFacts:
    """Return what the application says. Raises Failed where it does not start or answers otherwise, and Refused."""
    done = run_in_app(app, runner, php_argv(app, "-r", _SCRIPT))
    if done.exit_code != 0:
        raise _unreadable(said(done))
    return read_answer(done.stdout.decode("utf-8", "replace"))


def read_answer(text: str) -> AppFacts:
    """Read the answer: the last line that is a JSON object; PHP may print notices around it. Raises Failed (pure)."""
    for line in reversed(text.splitlines()):
        if not line.startswith("{"):
            continue
        try:
            told = json.loads(line)
            signal = told["signal"]
            return AppFacts(str(told["cache"]), bool(told["read"]), None if signal is None else int(signal))
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
            continue
    raise _unreadable("it gave no answer")


def _unreadable(why: str) -> Failed:
    return Failed("app_unreadable", f"the application could not be asked: {why}", "run php artisan about there")
