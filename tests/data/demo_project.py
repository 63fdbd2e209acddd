"""The project of the demo session as it lies on disk in the morning: hopper, a small job queue on SQLite."""

from __future__ import annotations

AGENTS = """\
# hopper: notes for agents

- Python 3.12, standard library only at run time. No new dependencies without asking.
- `make check` runs ruff and the tests. Run it before you say that something is done.
- Never delete or rewrite a user's database file. Schema changes are migrations.
- Tests use FakeClock, not sleep. A test that needs more than a second needs a reason.
- Public functions have docstrings; comments say why, not what.
"""

README = """\
# hopper

A job queue in one SQLite file. No server, no broker: producers and workers open the same file.

```python
from hopper import Store, Worker, handler

@handler("mail.welcome")
def welcome(payload):
    send(payload["to"])

store = Store("jobs.db")
store.enqueue("mail.welcome", {"to": "ada@example.org"})
Worker(store).run()
```

## Status
In use for thumbnails and mail at one shop. Up to about 200 jobs a second on a laptop disk.
"""

PYPROJECT = """\
[project]
name = "hopper"
version = "0.4.0"
requires-python = ">=3.12"
dependencies = []

[project.scripts]
hopper = "hopper.cli:main"

[tool.pytest.ini_options]
pythonpath = ["src"]
testpaths = ["tests"]

[tool.ruff]
line-length = 100
"""

MAKEFILE = """\
.PHONY: check test bench

check:
\truff check src tests
\tpython -m pytest -q

test:
\tpython -m pytest

bench:
\tpython bench/throughput.py
"""

DESIGN = """\
# hopper: design

## Goals
1. A job that was enqueued is run. It may run late; it is never lost.
2. One file. Backup is `cp`, inspection is `sqlite3 jobs.db`.
3. Small enough to read in an hour. When it is outgrown, people move to a real broker, and that is fine.

Non-goals: exactly-once delivery, more than one machine, more than a few hundred jobs a second.

## Delivery
At least once. A handler must be idempotent, or must not mind running twice **after a crash**. Running twice while
everything is healthy is a bug.

## States

```
enqueue -> ready -> running -> done
             ^         |
             |         +-----> failed
             +--- (by hand: hopper requeue)
```

- `ready`: waits for `run_at`.
- `running`: a worker has it. There is no lease yet: when a worker is killed, its job stays `running` until somebody
  notices. This is known, see Open questions.
- `done`, `failed`: final. `purge` removes them after a while.

## Storage
One table, `jobs`. The payload is JSON text, so that a person can read it with the sqlite3 shell. Times are seconds
since the epoch as REAL: good enough for delays, and comparable in SQL.

Every thread has its own connection, because sqlite3 connections must not be shared between threads that write. All
connections run in autocommit mode; each public method of `Store` is meant to be one statement or one explicit
transaction.

## Workers
A worker is a loop in a process: claim, run the handler, ack or fail, and sleep `poll` seconds when there was nothing.
Handlers are plain functions found by the `kind` of a job. A handler that raises marks its job `failed`, with the last
line of the traceback in `error`.

Several workers may run against the same file. We start one for each core on the shop's machine.

## Ordering
By `run_at`, then by id. No priorities. Two workers can finish jobs in another order than they were claimed.

## Numbers we were asked for
| what | target | where it is measured |
|---|---|---|
| enqueue | 2000 / s in batches of 100 | bench/throughput.py |
| claim + ack, 1 worker | 200 / s | bench/throughput.py |
| claim + ack, 8 workers | not slower than 1 worker | nobody has tried |
| time from enqueue to start, idle queue | < 0.5 s | poll = 0.2 s |

## Open questions
- Leases: how long, who renews them, what happens to the first worker when it wakes up again?
- Retries: today a failed job stays failed. The shop requeues by hand every Monday.
- Poison jobs: with retries, something has to stop a job that kills its worker each time.
- Schema changes: `CREATE TABLE IF NOT EXISTS` was fine for one version. There are databases out there now.
"""

INIT = '''\
"""A job queue in one SQLite file."""

from __future__ import annotations

from hopper.jobs import Job, State
from hopper.store import Store
from hopper.worker import Worker, handler

__all__ = ["Job", "State", "Store", "Worker", "handler"]
'''

CLOCK = '''\
"""Time as a dependency, so that tests can move it."""

from __future__ import annotations

import threading
import time
from typing import Protocol


class Clock(Protocol):
    """What the store and the worker need to know about time."""

    def now(self) -> float:
        """Seconds since the epoch."""
        ...

    def sleep(self, seconds: float) -> None:
        """Wait; may return early."""
        ...


class SystemClock:
    """The real thing."""

    def now(self) -> float:
        return time.time()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


class FakeClock:
    """A clock that only moves when it is told to; sleeping moves it."""

    def __init__(self, start: float = 1_700_000_000.0) -> None:
        self._now = start
        self._lock = threading.Lock()
        self.slept: list[float] = []

    def now(self) -> float:
        with self._lock:
            return self._now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.advance(seconds)

    def advance(self, seconds: float) -> None:
        """Move time forward."""
        with self._lock:
            self._now += seconds
'''

JOBS = '''\
"""The job record and the states it goes through."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import sqlite3


class State(StrEnum):
    """Where a job is in its life; see docs/design.md."""

    READY = "ready"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Job:
    """One row of the jobs table, decoded."""

    id: int
    queue: str
    kind: str
    payload: dict[str, Any]
    state: State
    attempts: int
    created_at: float
    run_at: float
    worker: str | None
    error: str | None

    @classmethod
    def from_row(cls, row: sqlite3.Row) -> Job:
        """Decode a row that was selected with all columns."""
        return cls(
            id=row["id"],
            queue=row["queue"],
            kind=row["kind"],
            payload=json.loads(row["payload"]),
            state=State(row["state"]),
            attempts=row["attempts"],
            created_at=row["created_at"],
            run_at=row["run_at"],
            worker=row["worker"],
            error=row["error"],
        )
'''

STORE = '''\
"""Jobs in a SQLite file.

One file, many processes. A connection belongs to one thread; each public method is one statement
or one explicit transaction, so a process that is killed leaves the file consistent.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hopper.clock import Clock, SystemClock
from hopper.jobs import Job, State

SCHEMA = """
CREATE TABLE IF NOT EXISTS jobs (
    id         INTEGER PRIMARY KEY,
    queue      TEXT    NOT NULL DEFAULT 'default',
    kind       TEXT    NOT NULL,
    payload    TEXT    NOT NULL,
    state      TEXT    NOT NULL DEFAULT 'ready',
    attempts   INTEGER NOT NULL DEFAULT 0,
    created_at REAL    NOT NULL,
    run_at     REAL    NOT NULL,
    worker     TEXT,
    error      TEXT
);
CREATE INDEX IF NOT EXISTS jobs_by_state ON jobs (queue, state, run_at);
"""


class Store:
    """A queue file. Safe to share between threads; every thread gets its own connection."""

    def __init__(self, path: str | Path, clock: Clock | None = None) -> None:
        self.path = str(path)
        self.clock = clock or SystemClock()
        self._local = threading.local()
        self._db().executescript(SCHEMA)

    # -- connections ---------------------------------------------------------------------------

    def _db(self) -> sqlite3.Connection:
        """The connection of this thread, opened on first use."""
        db = getattr(self._local, "db", None)
        if db is None:
            db = sqlite3.connect(self.path, isolation_level=None, timeout=5.0)
            db.row_factory = sqlite3.Row
            self._local.db = db
        return db

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """A write transaction that takes the lock at once, so that it cannot fail halfway."""
        db = self._db()
        db.execute("BEGIN IMMEDIATE")
        try:
            yield db
        except BaseException:
            db.execute("ROLLBACK")
            raise
        db.execute("COMMIT")

    def close(self) -> None:
        """Close the connection of the calling thread."""
        db = getattr(self._local, "db", None)
        if db is not None:
            db.close()
            self._local.db = None

    # -- producers -----------------------------------------------------------------------------

    def enqueue(
        self, kind: str, payload: dict[str, Any], *, queue: str = "default", delay: float = 0.0
    ) -> int:
        """Add one job; it becomes due after `delay` seconds. Returns its id."""
        now = self.clock.now()
        cursor = self._db().execute(
            "INSERT INTO jobs (queue, kind, payload, created_at, run_at) VALUES (?, ?, ?, ?, ?)",
            (queue, kind, json.dumps(payload), now, now + delay),
        )
        return int(cursor.lastrowid or 0)

    def enqueue_many(
        self, jobs: Iterable[tuple[str, dict[str, Any]]], *, queue: str = "default"
    ) -> int:
        """Add many jobs in one transaction. Returns how many."""
        now = self.clock.now()
        rows = [(queue, kind, json.dumps(payload), now, now) for kind, payload in jobs]
        with self._transaction() as db:
            db.executemany(
                "INSERT INTO jobs (queue, kind, payload, created_at, run_at)"
                " VALUES (?, ?, ?, ?, ?)",
                rows,
            )
        return len(rows)

    # -- workers -------------------------------------------------------------------------------

    def claim(self, worker: str, *, queue: str = "default") -> Job | None:
        """Take the next due job for `worker`, or None when there is nothing to do."""
        db = self._db()
        row = db.execute(
            "SELECT id FROM jobs WHERE queue = ? AND state = 'ready' AND run_at <= ?"
            " ORDER BY run_at, id LIMIT 1",
            (queue, self.clock.now()),
        ).fetchone()
        if row is None:
            return None
        db.execute(
            "UPDATE jobs SET state = 'running', worker = ?, attempts = attempts + 1 WHERE id = ?",
            (worker, row["id"]),
        )
        return self.get(row["id"])

    def ack(self, job_id: int) -> None:
        """Mark a job as done."""
        self._db().execute("UPDATE jobs SET state = 'done' WHERE id = ?", (job_id,))

    def fail(self, job_id: int, error: str) -> None:
        """Mark a job as failed, with the reason."""
        self._db().execute(
            "UPDATE jobs SET state = 'failed', error = ? WHERE id = ?", (error, job_id)
        )

    # -- people --------------------------------------------------------------------------------

    def get(self, job_id: int) -> Job:
        """One job by id. Raises KeyError when there is none."""
        row = self._db().execute("SELECT * FROM jobs WHERE id = ?", (job_id,)).fetchone()
        if row is None:
            raise KeyError(job_id)
        return Job.from_row(row)

    def list(self, state: State, *, queue: str = "default", limit: int = 50) -> list[Job]:
        """The newest jobs in a state."""
        rows = self._db().execute(
            "SELECT * FROM jobs WHERE queue = ? AND state = ? ORDER BY id DESC LIMIT ?",
            (queue, state, limit),
        )
        return [Job.from_row(row) for row in rows]

    def stats(self, *, queue: str = "default") -> dict[State, int]:
        """How many jobs are in each state."""
        counts = dict.fromkeys(State, 0)
        rows = self._db().execute(
            "SELECT state, count(*) AS n FROM jobs WHERE queue = ? GROUP BY state", (queue,)
        )
        for row in rows:
            counts[State(row["state"])] = row["n"]
        return counts

    def requeue(self, job_id: int) -> None:
        """Put a job back to the start, whatever state it is in."""
        self._db().execute(
            "UPDATE jobs SET state = 'ready', worker = NULL, error = NULL, run_at = ? WHERE id = ?",
            (self.clock.now(), job_id),
        )

    def purge(self, older_than: float) -> int:
        """Remove final jobs that were created more than `older_than` seconds ago."""
        cursor = self._db().execute(
            "DELETE FROM jobs WHERE state IN ('done', 'failed') AND created_at < ?",
            (self.clock.now() - older_than,),
        )
        return cursor.rowcount
'''

WORKER = '''\
"""The loop that runs jobs."""

from __future__ import annotations

import logging
import os
import socket
import traceback
from collections.abc import Callable
from typing import Any

from hopper.jobs import Job
from hopper.store import Store

log = logging.getLogger("hopper.worker")

Handler = Callable[[dict[str, Any]], None]

HANDLERS: dict[str, Handler] = {}


def handler(kind: str) -> Callable[[Handler], Handler]:
    """Register a function for a kind of job."""

    def register(function: Handler) -> Handler:
        if kind in HANDLERS:
            raise ValueError(f"there is a handler for {kind!r} already")
        HANDLERS[kind] = function
        return function

    return register


def default_name() -> str:
    """A name that tells a person which process on which machine has a job."""
    return f"{socket.gethostname()}:{os.getpid()}"


class Worker:
    """Claims jobs from a store and runs their handlers, one at a time."""

    def __init__(
        self,
        store: Store,
        *,
        queue: str = "default",
        name: str | None = None,
        poll: float = 0.2,
        handlers: dict[str, Handler] | None = None,
    ) -> None:
        self.store = store
        self.queue = queue
        self.name = name or default_name()
        self.poll = poll
        self.handlers = HANDLERS if handlers is None else handlers
        self._stopping = False

    def run(self, *, limit: int | None = None) -> int:
        """Work until `stop` is called, or until `limit` jobs were run. Returns how many were run."""
        count = 0
        while not self._stopping and (limit is None or count < limit):
            if self.run_once():
                count += 1
            else:
                self.store.clock.sleep(self.poll)
        return count

    def drain(self) -> int:
        """Work until nothing is due. Returns how many jobs were run."""
        count = 0
        while not self._stopping and self.run_once():
            count += 1
        return count

    def run_once(self) -> bool:
        """Run one job, if one is due."""
        job = self.store.claim(self.name, queue=self.queue)
        if job is None:
            return False
        self._run(job)
        return True

    def stop(self) -> None:
        """Finish the job at hand, then return from `run`."""
        self._stopping = True

    def _run(self, job: Job) -> None:
        function = self.handlers.get(job.kind)
        if function is None:
            self.store.fail(job.id, f"no handler for {job.kind!r}")
            log.error("job %d: no handler for %r", job.id, job.kind)
            return
        started = self.store.clock.now()
        try:
            function(job.payload)
        except Exception as error:
            last = traceback.format_exception_only(error)[-1].strip()
            self.store.fail(job.id, last)
            log.warning("job %d (%s) failed: %s", job.id, job.kind, last)
            return
        self.store.ack(job.id)
        log.info("job %d (%s) done in %.3fs", job.id, job.kind, self.store.clock.now() - started)
'''

CLI = '''\
"""The hopper command."""

from __future__ import annotations

import argparse
import importlib
import json
import signal
import sys
from collections.abc import Sequence

from hopper.jobs import State
from hopper.store import Store
from hopper.worker import Worker


def build_parser() -> argparse.ArgumentParser:
    """All verbs and their options."""
    parser = argparse.ArgumentParser(prog="hopper", description="A job queue in one SQLite file.")
    parser.add_argument("--db", default="jobs.db", help="the queue file (default: jobs.db)")
    parser.add_argument("--queue", default="default")
    verbs = parser.add_subparsers(dest="verb", required=True)

    enqueue = verbs.add_parser("enqueue", help="add a job")
    enqueue.add_argument("kind")
    enqueue.add_argument("payload", nargs="?", default="{}", help="a JSON object")
    enqueue.add_argument("--delay", type=float, default=0.0)

    work = verbs.add_parser("work", help="run jobs until interrupted")
    work.add_argument("module", help="the module whose import registers the handlers")
    work.add_argument("--drain", action="store_true", help="stop when nothing is due")

    verbs.add_parser("stats", help="jobs in each state")

    show = verbs.add_parser("show", help="one job")
    show.add_argument("id", type=int)

    ls = verbs.add_parser("ls", help="the newest jobs in a state")
    ls.add_argument("state", type=State, choices=list(State))
    ls.add_argument("--limit", type=int, default=20)

    requeue = verbs.add_parser("requeue", help="put jobs back to the start")
    requeue.add_argument("ids", type=int, nargs="+")

    purge = verbs.add_parser("purge", help="remove old final jobs")
    purge.add_argument("--days", type=float, default=14.0)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb. Returns the exit code."""
    args = build_parser().parse_args(argv)
    store = Store(args.db)
    match args.verb:
        case "enqueue":
            print(
                store.enqueue(
                    args.kind, json.loads(args.payload), queue=args.queue, delay=args.delay
                )
            )
        case "work":
            importlib.import_module(args.module)
            worker = Worker(store, queue=args.queue)
            signal.signal(signal.SIGTERM, lambda *_: worker.stop())
            if args.drain:
                worker.drain()
            else:
                worker.run()
        case "stats":
            for state, count in store.stats(queue=args.queue).items():
                print(f"{state:<8} {count:>8}")
        case "show":
            try:
                job = store.get(args.id)
            except KeyError:
                print(f"no job {args.id}", file=sys.stderr)
                return 1
            print(f"id       {job.id}\\nkind     {job.kind}\\nstate    {job.state}")
            print(f"attempts {job.attempts}\\nerror    {job.error or '-'}")
            print(f"payload  {json.dumps(job.payload)}")
        case "ls":
            for job in store.list(args.state, queue=args.queue, limit=args.limit):
                print(f"{job.id:>6}  {job.kind:<20}  {job.attempts:>2}  {job.error or ''}")
        case "requeue":
            for job_id in args.ids:
                store.requeue(job_id)
        case "purge":
            print(store.purge(args.days * 86400))
    return 0


if __name__ == "__main__":
    sys.exit(main())
'''

CONFTEST = """\
from __future__ import annotations

import pytest

from hopper.clock import FakeClock
from hopper.store import Store


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def store(tmp_path, clock) -> Store:
    store = Store(tmp_path / "jobs.db", clock)
    yield store
    store.close()
"""

TEST_STORE = """\
from __future__ import annotations

import pytest

from hopper.jobs import State


def test_enqueue_returns_growing_ids(store):
    first = store.enqueue("echo", {})
    assert store.enqueue("echo", {}) > first


def test_claim_takes_the_oldest_due_job(store, clock):
    late = store.enqueue("echo", {"n": 1}, delay=10)
    early = store.enqueue("echo", {"n": 2})
    assert store.claim("w1").id == early
    assert store.claim("w1") is None
    clock.advance(11)
    assert store.claim("w1").id == late


def test_claim_counts_the_attempt_and_names_the_worker(store):
    job_id = store.enqueue("echo", {})
    job = store.claim("w1")
    assert (job.id, job.attempts, job.worker, job.state) == (job_id, 1, "w1", State.RUNNING)


def test_queues_do_not_mix(store):
    store.enqueue("echo", {}, queue="mail")
    assert store.claim("w1") is None
    assert store.claim("w1", queue="mail") is not None


def test_payload_comes_back_as_it_went_in(store):
    payload = {"to": "ada@example.org", "tags": ["a", "b"], "depth": {"n": 1}}
    job_id = store.enqueue("echo", payload)
    assert store.get(job_id).payload == payload


def test_enqueue_many_is_one_transaction(store):
    def jobs():
        yield "echo", {"n": 1}
        raise RuntimeError("the producer died")

    with pytest.raises(RuntimeError):
        store.enqueue_many(jobs())
    assert store.stats()[State.READY] == 0


def test_stats_counts_every_state(store):
    store.enqueue_many([("echo", {})] * 3)
    job = store.claim("w1")
    store.fail(job.id, "ValueError: no")
    assert store.stats() == {
        State.READY: 2,
        State.RUNNING: 0,
        State.DONE: 0,
        State.FAILED: 1,
    }


def test_purge_keeps_what_is_not_final(store, clock):
    store.enqueue_many([("echo", {})] * 2)
    clock.advance(100)
    assert store.purge(older_than=50) == 0


def test_get_raises_for_an_unknown_id(store):
    with pytest.raises(KeyError):
        store.get(99)
"""

TEST_WORKER = """\
from __future__ import annotations

from hopper.jobs import State
from hopper.worker import Worker


def test_drain_runs_everything_that_is_due(store):
    seen = []
    store.enqueue_many([("echo", {"n": n}) for n in range(3)])
    worker = Worker(store, handlers={"echo": lambda payload: seen.append(payload["n"])})
    assert worker.drain() == 3
    assert seen == [0, 1, 2]
    assert store.stats()[State.DONE] == 3


def test_a_handler_that_raises_fails_its_job(store):
    def boom(payload):
        raise ValueError("no such address")

    job_id = store.enqueue("mail", {})
    Worker(store, handlers={"mail": boom}).drain()
    job = store.get(job_id)
    assert (job.state, job.error) == (State.FAILED, "ValueError: no such address")


def test_an_unknown_kind_fails_its_job(store):
    job_id = store.enqueue("nope", {})
    Worker(store, handlers={}).drain()
    assert store.get(job_id).error == "no handler for 'nope'"


def test_run_sleeps_when_there_is_nothing_to_do(store, clock):
    store.enqueue("echo", {}, delay=1.0)
    worker = Worker(store, poll=0.5, handlers={"echo": lambda payload: None})
    assert worker.run(limit=1) == 1
    assert clock.slept == [0.5, 0.5]
"""

BENCH = '''\
"""Jobs per second: enqueue in batches, then claim and ack with N workers."""

from __future__ import annotations

import argparse
import multiprocessing as mp
import os
import statistics
import tempfile
import time

from hopper.store import Store


def drain(path: str, start: mp.Barrier, out: mp.Queue) -> None:
    store = Store(path)
    times: list[float] = []
    seen: list[int] = []
    start.wait()
    while True:
        begin = time.perf_counter()
        job = store.claim(str(os.getpid()))
        if job is None:
            break
        store.ack(job.id)
        times.append(time.perf_counter() - begin)
        seen.append(job.id)
    out.put((times, seen))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=5000)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4, 8])
    args = parser.parse_args()
    print(f"{'workers':>7} {'jobs/s':>8} {'p50 ms':>8} {'p99 ms':>8} {'twice':>6}")
    for workers in args.workers:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "jobs.db")
            Store(path).enqueue_many([("echo", {"n": n}) for n in range(args.jobs)])
            start, out = mp.Barrier(workers + 1), mp.Queue()
            pool = [mp.Process(target=drain, args=(path, start, out)) for _ in range(workers)]
            for process in pool:
                process.start()
            start.wait()
            begin = time.perf_counter()
            results = [out.get() for _ in pool]
            wall = time.perf_counter() - begin
            times = sorted(t for part, _ in results for t in part)
            seen = [job for _, part in results for job in part]
            p50, p99 = statistics.median(times), times[int(len(times) * 0.99)]
            twice = len(seen) - len(set(seen))
            print(
                f"{workers:>7} {args.jobs / wall:>8.0f} {p50 * 1e3:>8.2f} {p99 * 1e3:>8.2f} {twice:>6}"
            )


if __name__ == "__main__":
    main()
'''

FILES = {
    "AGENTS.md": AGENTS,
    "Makefile": MAKEFILE,
    "README.md": README,
    "bench/throughput.py": BENCH,
    "docs/design.md": DESIGN,
    "pyproject.toml": PYPROJECT,
    "src/hopper/__init__.py": INIT,
    "src/hopper/cli.py": CLI,
    "src/hopper/clock.py": CLOCK,
    "src/hopper/jobs.py": JOBS,
    "src/hopper/store.py": STORE,
    "src/hopper/worker.py": WORKER,
    "tests/conftest.py": CONFTEST,
    "tests/test_store.py": TEST_STORE,
    "tests/test_worker.py": TEST_WORKER,
}
