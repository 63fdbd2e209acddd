"""The morning: why jobs run twice, the race fixed in one statement, leases. Ends with the first compaction."""

from __future__ import annotations

import random

from tests.data.demo_recorder import Recorder, bash, edit, git_diff, grep, pytest_run, read, write

# -- texts of files ------------------------------------------------------------------------------------------------

TEST_CLAIM = '''\
"""Many workers, one file: nobody gets a job that somebody else has."""

from __future__ import annotations

import threading
from collections import Counter

from hopper.store import Store

JOBS, WORKERS = 400, 8


def test_no_job_is_claimed_twice(tmp_path):
    store = Store(tmp_path / "jobs.db")
    store.enqueue_many([("echo", {"n": n}) for n in range(JOBS)])
    claimed: list[int] = []
    start = threading.Barrier(WORKERS)

    def drain(name: str) -> None:
        start.wait()
        while (job := store.claim(name)) is not None:
            claimed.append(job.id)
        store.close()

    threads = [threading.Thread(target=drain, args=(f"w{n}",)) for n in range(WORKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    twice = [job for job, count in Counter(claimed).items() if count > 1]
    assert twice == [], f"{len(twice)} of {JOBS} jobs were claimed more than once"
    assert len(claimed) == JOBS
'''

RACE_REPORT = """\
tmp_path = PosixPath('/tmp/pytest-of-ada/pytest-311/test_no_job_is_claimed_twice0')

    def test_no_job_is_claimed_twice(tmp_path):
        store = Store(tmp_path / "jobs.db")
        store.enqueue_many([("echo", {"n": n}) for n in range(JOBS)])
        claimed: list[int] = []
        start = threading.Barrier(WORKERS)
    ...
        twice = [job for job, count in Counter(claimed).items() if count > 1]
>       assert twice == [], f"{len(twice)} of {JOBS} jobs were claimed more than once"
E       AssertionError: 23 of 400 jobs were claimed more than once
E       assert [9, 31, 32, 58, 77, 104, ...] == []
E
E         Left contains 23 more items, first extra item: 9
E         Use -v to get more diff

tests/test_claim.py:32: AssertionError
"""

CLAIM_OLD = """\
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
"""

SCHEMA_FIRST = '''\
"""The tables, and how an older file becomes a current one.

`PRAGMA user_version` counts the migrations that a file has had. hopper 0.4 and older never set it, so 0
means either a new file or one of theirs; the first migration suits both.
"""

from __future__ import annotations

import sqlite3

MIGRATIONS = [
    # 1: what hopper 0.4 made.
    """
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
    """,
    # 2: leases. A job that is running during the upgrade gets a lease that is over: its worker knows no leases.
    """
    ALTER TABLE jobs ADD COLUMN lease_until REAL;
    UPDATE jobs SET lease_until = 0 WHERE state = 'running';
    CREATE INDEX jobs_by_lease ON jobs (lease_until) WHERE state = 'running';
    """,
]


def migrate(db: sqlite3.Connection) -> None:
    """Bring a file up to date. Safe when several processes open it at once."""
    for number, script in enumerate(MIGRATIONS, 1):
        db.execute("BEGIN IMMEDIATE")
        try:
            # Read under the lock: another process may have been faster.
            if db.execute("PRAGMA user_version").fetchone()[0] < number:
                db.executescript(script)
                db.execute(f"PRAGMA user_version = {number}")
        except BaseException:
            db.execute("ROLLBACK")
            raise
        db.execute("COMMIT")
'''

MIGRATE_TRACE = """\
Traceback (most recent call last):
  File "<string>", line 1, in <module>
  File "/home/ada/work/hopper/src/hopper/store.py", line @{src/hopper/store.py|migrate(self._db())}, in __init__
    migrate(self._db())
  File "/home/ada/work/hopper/src/hopper/schema.py", line @{src/hopper/schema.py|db.execute("COMMIT")}, in migrate
    db.execute("COMMIT")
sqlite3.OperationalError: cannot commit - no transaction is active
"""

TEST_LEASE = '''\
"""Leases: a job whose worker is gone comes back, and only then."""

from __future__ import annotations

import sqlite3
import threading

from hopper.jobs import State
from hopper.store import Store

OLD_FILE = """
CREATE TABLE jobs (id INTEGER PRIMARY KEY, queue TEXT NOT NULL DEFAULT 'default',
    kind TEXT NOT NULL, payload TEXT NOT NULL, state TEXT NOT NULL DEFAULT 'ready',
    attempts INTEGER NOT NULL DEFAULT 0, created_at REAL NOT NULL, run_at REAL NOT NULL,
    worker TEXT, error TEXT);
CREATE INDEX jobs_by_state ON jobs (queue, state, run_at);
INSERT INTO jobs (kind, payload, state, attempts, created_at, run_at, worker)
    VALUES ('mail', '{"to": "ada"}', 'running', 1, 1, 1, 'box:1'), ('mail', '{}', 'ready', 0, 2, 2, NULL);
"""


def test_a_job_of_a_dead_worker_comes_back(store, clock):
    job_id = store.enqueue("echo", {})
    store.claim("w1", lease=30)
    clock.advance(29)
    assert store.reclaim() == 0
    clock.advance(2)
    assert store.reclaim() == 1
    job = store.claim("w2")
    assert (job.id, job.attempts, job.worker) == (job_id, 2, "w2")


def test_a_heartbeat_keeps_the_lease(store, clock):
    job_id = store.enqueue("echo", {})
    store.claim("w1", lease=30)
    for _ in range(5):
        clock.advance(20)
        assert store.heartbeat(job_id, "w1", lease=30)
    assert store.reclaim() == 0


def test_who_lost_the_lease_cannot_ack_or_fail(store, clock):
    job_id = store.enqueue("echo", {})
    store.claim("w1", lease=30)
    clock.advance(31)
    store.reclaim()
    store.claim("w2", lease=30)
    assert not store.heartbeat(job_id, "w1")
    assert not store.ack(job_id, "w1")
    assert not store.fail(job_id, "w1", "too late")
    assert store.get(job_id).state == State.RUNNING
    assert store.ack(job_id, "w2")


def test_a_file_of_0_4_is_upgraded_in_place(tmp_path, clock):
    with sqlite3.connect(tmp_path / "jobs.db") as db:
        db.executescript(OLD_FILE)
    db.close()
    store = Store(tmp_path / "jobs.db", clock)
    assert store.stats()[State.READY] == 1
    assert store.reclaim() == 1
    assert store.claim("w1").payload == {"to": "ada"}
    store.close()


def test_two_workers_may_upgrade_at_once(tmp_path, clock):
    with sqlite3.connect(tmp_path / "jobs.db") as db:
        db.executescript(OLD_FILE)
    db.close()
    errors = []

    def upgrade():
        try:
            Store(tmp_path / "jobs.db", clock).close()
        except sqlite3.Error as error:
            errors.append(error)

    threads = [threading.Thread(target=upgrade) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
'''


def mail_log(rows: int) -> str:
    """A worker log of one bad hour: four processes, and some mails sent by two of them."""
    dice = random.Random(4117)
    lines: list[str] = []
    job, at = 80_377, 21 * 3600 + 4 * 60 + 11.2
    while len(lines) < rows:
        job += 1
        at += dice.uniform(0.004, 0.05)
        first, second = dice.sample((4117, 4119, 4121, 4123), 2)
        twice = dice.random() < 0.055
        for pid, lag in ((first, 0.0), (second, dice.uniform(0.001, 0.004)))[: 2 if twice else 1]:
            start = at + lag
            stamp = f"{int(start // 3600):02}:{int(start // 60 % 60):02}:{start % 60:06.3f}"
            kind = dice.choice(("mail.order", "mail.order", "mail.invoice", "thumb.small"))
            lines.append(f"{stamp} INFO box1:{pid} job {job} ({kind}) done in {dice.uniform(0.09, 0.4):.3f}s")
    return "\n".join(lines[:rows]) + "\n"


LOCKS = {  # the byte ranges that SQLite locks, and what it calls them
    "PENDING": "l_start=1073741824, l_len=1",
    "RESERVED": "l_start=1073741825, l_len=1",
    "SHARED": "l_start=1073741826, l_len=510",
}


def strace(claims: int, at: float) -> str:
    """System calls of two workers that claim from one file, in the order in which the kernel saw them."""
    dice = random.Random(80412)
    lines = []

    def call(pid: int, text: str) -> None:
        nonlocal at
        at += dice.uniform(0.00002, 0.00021)
        lines.append(f"[pid {pid}] {int(at // 3600)}:{int(at // 60 % 60):02}:{at % 60:09.6f} {text}")

    def lock(pid: int, kind: str, name: str) -> None:
        call(pid, f"fcntl(3, F_SETLK, {{l_type={kind}, l_whence=SEEK_SET, {LOCKS[name]}}}) = 0")

    def select(pid: int, page: int) -> None:
        lock(pid, "F_RDLCK", "PENDING")
        lock(pid, "F_RDLCK", "SHARED")
        lock(pid, "F_UNLCK", "PENDING")
        call(pid, 'pread64(3, "\\0\\0\\5\\311\\0\\0\\0\\26", 16, 24) = 16')
        call(pid, f'pread64(3, "\\r\\0\\0\\0\\37"..., 4096, {page * 4096}) = 4096')
        lock(pid, "F_UNLCK", "SHARED")

    def update(pid: int, page: int) -> None:
        lock(pid, "F_RDLCK", "SHARED")
        lock(pid, "F_WRLCK", "RESERVED")
        call(pid, 'openat(AT_FDCWD, "/tmp/race/jobs.db-journal", O_RDWR|O_CREAT|O_CLOEXEC, 0644) = 4')
        call(pid, f'pwrite64(3, "\\r\\0\\0\\0\\37"..., 4096, {page * 4096}) = 4096')
        call(pid, "fdatasync(3) = 0")
        call(pid, 'unlink("/tmp/race/jobs.db-journal") = 0')
        lock(pid, "F_UNLCK", "SHARED")

    for number in range(claims):
        first, second = (5501, 5502) if number % 2 else (5502, 5501)
        page = 3 + number // 4
        select(first, page)
        if number == claims // 2:
            select(second, page)
            update(first, page)
            update(second, page)
        else:
            update(first, page)
    return "\n".join(lines) + "\n"


# -- scenes --------------------------------------------------------------------------------------------------------


def play(rec: Recorder) -> None:
    why(rec)
    options = reproduce(rec)
    lock_file(rec, options)
    one_statement(rec)
    leases(rec)
    heartbeats(rec)
    first_compaction(rec)


def why(rec: Recorder) -> None:
    rec.user(
        "read docs/design.md, store.py and worker.py. the shop says 61 customers got their order mail twice last "
        "night. I want to know WHY before we touch anything",
        after=41,
    )
    rec.ai(
        "I'll read the three files first.",
        read("docs/design.md"),
        read("src/hopper/store.py"),
        read("src/hopper/worker.py"),
        think="Three files named. Read them together, then look at how claim() is written: a queue that delivers twice "
        "under load usually has a gap between choosing a row and marking it.",
    )
    rec.ai(
        grep(r"\.(claim|ack|fail|requeue)\(", "src/hopper"),
        grep("BEGIN|isolation_level|_transaction", "src/hopper", "*.py"),
        think="claim() does SELECT, then UPDATE ... WHERE id = ?, in autocommit. Nothing holds the lock in between, and "
        "the UPDATE does not check that the state is still 'ready'. Two workers can both read the same id. Check that "
        "nobody wraps it in a transaction.",
    )
    rec.say(
        """\
`Store.claim` is two statements with nothing holding them together:

1. `SELECT id … WHERE state = 'ready' ORDER BY run_at, id LIMIT 1`
2. `UPDATE … SET state = 'running' … WHERE id = ?`

The connection is in autocommit (`isolation_level=None`), so the lock is released between the two. A second worker \
that selects in that gap gets the **same id**. Its `UPDATE` then succeeds as well, because it does not ask whether the \
row is still `ready`.

| t | worker A | worker B |
|---|---|---|
| 0 | select → 17 | |
| 1 | | select → 17 |
| 2 | update 17 | |
| 3 | | update 17, `attempts = 2` |
| 4 | sends the mail | sends the mail |

`_transaction()` exists and takes the lock at once, but only `enqueue_many` uses it. The design doc promises "each \
public method is one statement or one explicit transaction"; `claim` never did that.

That would make the duplicates milliseconds apart and grow with the number of workers. Is there a log to check it against?"""
    )
    rec.user("logs/mail-2026-11-16.log, the bad hour starts 21:04", after=95)
    rec.ai(
        bash(
            "wc -l logs/mail-2026-11-16.log && awk '{print $5}' logs/mail-2026-11-16.log | sort | uniq -d | wc -l",
            "  4118 logs/mail-2026-11-16.log\n61\n",
        ),
        bash(
            "grep -n '^21:04:11' logs/mail-2026-11-16.log | head -1; sed -n '2032,2570p' logs/mail-2026-11-16.log",
            "2031:21:04:11.221 INFO box1:4121 job 80377 (mail.order) done in 0.204s\n" + mail_log(539),
        ),
        think="Duplicates: the job number twice. 61 matches the complaint exactly. Look at the distance in time.",
    )
    rec.say(
        """\
The log agrees with the theory:

- 61 job ids appear twice in 4118 lines, which is the number the shop counted.
- Every pair is on the same box, from **two different pids**, 1 to 4 ms apart.
- No job appears three times, and none is minutes apart, so this is not a requeue and not a crash.

So it is the gap in `claim()`. Nothing else in `worker.py` can run a job twice while everything is healthy."""
    )


def reproduce(rec: Recorder) -> str:
    rec.user("good. reproduce it in a test first, no fix yet", after=52)
    rec.ai(read("tests/conftest.py"), read("tests/test_store.py"))
    rec.ai(
        "Threads are enough: every thread has its own connection, so SQLite sees them as separate clients.",
        write("tests/test_claim.py", TEST_CLAIM),
    )
    rec.ai(
        bash(
            "python -m pytest tests/test_claim.py",
            pytest_run(
                "test_claim.py",
                seconds=1.31,
                failures={
                    "test_no_job_is_claimed_twice": (
                        RACE_REPORT,
                        "AssertionError: 23 of 400 jobs were claimed more than once",
                    )
                },
            ),
            code=1,
            seconds=2.2,
        )
    )
    done = rec.ai(
        "for i in 1..5, to see how reliable it is:",
        bash(
            "for i in 1 2 3 4 5; do python -m pytest -q tests/test_claim.py 2>&1 | grep -o '[0-9]* of 400'; done",
            "19 of 400\n26 of 400\n23 of 400\n17 of 400\n31 of 400\n",
            seconds=9.4,
        ),
    )
    done = rec.say(
        "Reproduced, five times out of five: 17 to 31 of 400 jobs are claimed twice by 8 threads. "
        "`tests/test_claim.py` uses the real clock and a real file and takes about a second."
    )
    rec.label(done, "race reproduced")
    rec.user(
        "can we SEE the gap? strace two workers, I want to be sure it's the lock and not our logging",
        after=44,
    )
    rec.ai(
        bash(
            "strace -f -tt -e trace=fcntl,pread64,pwrite64,fdatasync,openat,unlink -p 5501,5502 2>&1 | tail -n 130",
            lambda r: strace(9, r.seconds_of_day()),
            seconds=4.1,
        ),
        think="In rollback mode SQLite takes SHARED for the read, drops it, and takes SHARED + RESERVED for the update. "
        "Between the two there has to be an F_UNLCK on the shared range. Look for two reads in a row by different pids.",
    )
    rec.say(
        """\
There it is. A normal claim by one pid looks like this:

```
F_RDLCK shared → pread64 page → F_UNLCK shared      the SELECT
F_RDLCK shared → F_WRLCK reserved → pwrite64 → F_UNLCK   the UPDATE
```

In the middle of the trace 5502 and 5501 both do the first line **on the same page** before either does the second. \
Then both write it. The lock is dropped between the two statements, exactly as the code says."""
    )
    rec.user("what are the options? table pls, no edits", after=33)
    return rec.say(
        """\
| | how | good | bad |
|---|---|---|---|
| **A** lock file | `flock` around `claim` | five lines | one more file; serialises all queues; Unix only |
| **B** transaction | `BEGIN IMMEDIATE`, select, update, commit | works on any SQLite | lock held over two round trips through Python |
| **C** one statement | `UPDATE … WHERE id = (SELECT …) RETURNING *` | atomic by itself, one round trip | needs SQLite ≥ 3.35 (2021) |
| **D** optimistic | keep the select, add `AND state = 'ready'`, retry when 0 rows changed | no lock in between | retries pile up with many workers |

I would take **C**, and fall back to **B** if a machine has an SQLite older than 3.35. **A** protects only callers that \
remember to take the lock; `requeue` and the sqlite3 shell do not.""",
        think="Four real options. The invariant should live in the database. Say which one and what would change my mind.",
    )


def lock_file(rec: Recorder, options: str) -> None:
    """Branch 1: the lock file, with a nested try."""
    rec.user("let me see A anyway, it's the smallest diff", after=48)
    rec.ai(
        edit(
            "src/hopper/store.py",
            ("import json\nimport sqlite3\n", "import fcntl\nimport json\nimport sqlite3\n"),
            (
                (
                    '        """Take the next due job for `worker`, or None when there is nothing to do."""\n'
                    "        db = self._db()\n"
                ),
                (
                    '        """Take the next due job for `worker`, or None when there is nothing to do."""\n'
                    "        with self._claim_lock():\n"
                    "            return self._claim(worker, queue)\n\n"
                    "    def _claim(self, worker: str, queue: str) -> Job | None:\n"
                    "        db = self._db()\n"
                ),
            ),
            (
                "    def close(self) -> None:\n",
                (
                    "    @contextmanager\n"
                    "    def _claim_lock(self) -> Iterator[None]:\n"
                    '        """One claim at a time on this machine."""\n'
                    '        with open(f"{self.path}.lock", "w") as lock:\n'
                    "            fcntl.flock(lock, fcntl.LOCK_EX)\n"
                    "            yield\n\n"
                    "    def close(self) -> None:\n"
                ),
            ),
        )
    )
    rec.ai(bash("python -m pytest -q", pytest_run(seconds=3.86, quiet=True), seconds=4.6))
    locked = rec.say(
        "Green: `claim` takes `jobs.db.lock` first, 18 lines. The race is gone **for code that goes through `claim`**."
    )
    rec.user("and what does it cost? bench it", after=20)
    rec.ai(
        bash(
            "make bench",
            "python bench/throughput.py\nworkers   jobs/s   p50 ms   p99 ms  twice\n"
            "      1      288     3.41     5.02      0\n      2      241     7.90    19.77      0\n"
            "      4      197    18.62    71.40      0\n      8      141    44.05   388.12      0\n",
            seconds=96,
        ),
        bash(
            "git stash -q && make bench; git stash pop -q",
            "python bench/throughput.py\nworkers   jobs/s   p50 ms   p99 ms  twice\n"
            "      1      396     2.45     3.09      0\n      2      371     2.49     3.40     11\n"
            "      4      346     2.55     3.53     37\n      8      346     2.51     6.70     94\n",
            seconds=71,
        ),
    )
    rec.say(
        """\
| workers | before | with lock file | p99 |
|---:|---:|---:|---|
| 1 | 396 /s | 288 /s | 3.1 → 5.0 ms |
| 8 | 346 /s (94 twice) | 141 /s | 6.7 → **388 ms** |

`flock` is not fair: with 8 workers the unlucky one waits for a third of a second."""
    )
    rec.user("one lock per queue? mail and thumbs don't have to wait for each other", after=64)
    rec.ai(
        edit(
            "src/hopper/store.py",
            ("        with self._claim_lock():\n", "        with self._claim_lock(queue):\n"),
            (
                (
                    "    def _claim_lock(self) -> Iterator[None]:\n"
                    '        """One claim at a time on this machine."""\n'
                    '        with open(f"{self.path}.lock", "w") as lock:\n'
                ),
                (
                    "    def _claim_lock(self, queue: str) -> Iterator[None]:\n"
                    '        """One claim at a time for a queue on this machine."""\n'
                    '        with open(f"{self.path}.{queue}.lock", "w") as lock:\n'
                ),
            ),
        )
    )
    rec.ai(
        bash(
            "python -m pytest -q -x && python bench/throughput.py --workers 8",
            lambda r: (
                pytest_run(seconds=3.90, quiet=True)(r)
                + "workers   jobs/s   p50 ms   p99 ms  twice\n      8      139    45.31   402.77      0\n"
            ),
            seconds=41,
        )
    )
    rec.abort(
        "The number does not move, because the bench has a single queue. To see a difference I would spread the jobs "
        "over several queues, and then the database's own write lock becomes the next",
        think="139 vs 141 jobs/s: same. The benchmark uses one queue so this cannot show. Extending the bench first.",
    )
    # nested: back to the plain lock file, another kind of lock
    rec.go(locked)
    rec.user("stop, wrong direction. is lockf any fairer than flock? same file", after=38)
    rec.ai(
        edit(
            "src/hopper/store.py",
            (
                "            fcntl.flock(lock, fcntl.LOCK_EX)\n",
                "            fcntl.lockf(lock, fcntl.LOCK_EX)\n",
            ),
        ),
        bash(
            "python -m pytest -q -x tests/test_claim.py",
            pytest_run(
                "test_claim.py",
                seconds=1.44,
                quiet=True,
                stop=True,
                failures={
                    "test_no_job_is_claimed_twice": (
                        RACE_REPORT.replace("23 of 400", "21 of 400").replace("23 more", "21 more"),
                        "AssertionError: 21 of 400 jobs were claimed more than once",
                    )
                },
            ),
            code=1,
            seconds=2.1,
        ),
    )
    rec.say(
        """\
Worse: the race is **back**. `lockf` locks belong to the process, not to the open file, so two threads of one process \
never block each other, and closing any descriptor of the file drops the lock.

I would stop here with lock files. Every variant is either slow, unfair or wrong, and none protects the table from \
anybody who does not take the lock.""",
        think="POSIX record locks are per process. Eight threads in one process: no exclusion at all. That is the reason, "
        "not fairness.",
    )
    rec.go_with_summary(
        options,
        """\
## Goal
Close the double-claim race in `Store.claim` with a lock file (option A), because it looked like the smallest diff.

## Constraints & Preferences
- `tests/test_claim.py` must pass with 8 threads.
- Throughput with 8 workers should not be lower than with 1.

## Progress
### Done
- [x] `flock` on `jobs.db.lock` around `claim`: test green, 18 lines
- [x] Benchmarked: 8 workers 346 → 141 jobs/s, p99 6.7 → 388 ms
- [x] One lock per queue: no change, 139 jobs/s (the bench has one queue)
- [x] `lockf` instead of `flock`: the race is back, 21 of 400 claimed twice

### In Progress
- (none)

### Blocked
- (none)

## Key Decisions
- **Lock files rejected**: slow and unfair with `flock`, wrong with `lockf` (locks belong to the process), and they \
protect only callers that take them.

## Next Steps
1. Put the invariant into the database: option C, `UPDATE … RETURNING`.""",
    )


def one_statement(rec: Recorder) -> None:
    rec.user("C then. which sqlite do CI and the shop have?", after=30)
    rec.ai(
        bash("python -c 'import sqlite3; print(sqlite3.sqlite_version)'", "3.45.1\n"),
        bash(
            "grep -rn 'runs-on\\|python-version' .github/workflows/ci.yml",
            "11:    runs-on: ${{ matrix.os }}\n14:        os: [ubuntu-24.04, macos-14]\n19:          python-version: '3.12'\n",
        ),
        bash(
            "ssh shop-box1 \"python3.12 -c 'import sqlite3; print(sqlite3.sqlite_version)'\"",
            "3.40.1\n",
            seconds=1.4,
        ),
    )
    rec.say(
        "Here 3.45.1, CI brings the one of Ubuntu 24.04 (3.45) and macOS 14 (3.43), the shop has 3.40.1. "
        "`RETURNING` needs 3.35, so C works everywhere."
    )
    rec.user("do it", after=12)
    rec.ai(
        edit(
            "src/hopper/store.py",
            (
                CLAIM_OLD,
                """\
        row = self._db().execute(
            CLAIM, {"worker": worker, "queue": queue, "now": self.clock.now()}
        ).fetchone()
        return None if row is None else Job.from_row(row)
""",
            ),
            (
                'CREATE INDEX IF NOT EXISTS jobs_by_state ON jobs (queue, state, run_at);\n"""\n',
                '''\
CREATE INDEX IF NOT EXISTS jobs_by_state ON jobs (queue, state, run_at);
"""

# One statement, so that nobody can claim between the choice and the mark.
CLAIM = """
UPDATE jobs
   SET state = 'running', worker = :worker, attempts = attempts + 1
 WHERE id = (
       SELECT id FROM jobs
        WHERE queue = :queue AND state = 'ready' AND run_at <= :now
        ORDER BY run_at, id
        LIMIT 1)
RETURNING *
"""
''',
            ),
        )
    )
    rec.ai(
        bash("python -m pytest", pytest_run(seconds=2.74), seconds=3.4),
        bash(
            "python bench/throughput.py",
            "workers   jobs/s   p50 ms   p99 ms  twice\n      1      604     1.58     2.31      0\n"
            "      2      588     3.12     7.44      0\n      4      571     6.20    22.08      0\n"
            "      8      549    12.61    61.93      0\n",
            seconds=52,
        ),
    )
    done = rec.say(
        """\
Done, in `src/hopper/store.py` only:

- `claim` is one `UPDATE … RETURNING *`. SQLite runs the inner select and the update under one write lock.
- 14 tests pass, `test_claim.py` ten times in a row.
- It is also **faster**: one round trip less. 8 workers 346 → 549 jobs/s, none twice."""
    )
    rec.label(done, "race fixed")
    rec.shell(
        "git checkout -qb fix/double-claim && git commit -qam 'Claim a job in one statement' && git log --oneline -2",
        "8c41d07 (HEAD -> fix/double-claim) Claim a job in one statement\nb19e2aa (main) Purge: keep what is not final\n",
        commits=True,
    )
    rec.custom("git.snapshot", {"id": "8c41d07", "branch": "fix/double-claim", "dirty": False, "files": 2})
    rec.name("Stop jobs running twice")


def leases(rec: Recorder) -> None:
    rec.user(
        "next one: when a worker gets OOM-killed its job stays `running` forever. leases. think about it first, short answer",
        after=130,
    )
    rec.say(
        """\
A claim becomes a promise with a date: `lease_until`. Whoever finds a lease that is over may take the job.

1. **Claim** sets `lease_until = now + lease`.
2. The worker **renews** it while the handler runs.
3. **Reclaim** puts `running` jobs with an old lease back to `ready`.
4. **Ack and fail name the worker**: `… WHERE id = ? AND worker = ? AND state = 'running'`. A worker that was only slow \
finds out that it lost the job, instead of overwriting the result of the second one.

Number 4 is the part that people forget.

To decide: how long is a lease, who renews, and how do existing files get the column?""",
        think="Lease, renew, reclaim, fencing by worker name. attempts could serve as a fencing token as well: worker name "
        "is enough as long as names are unique per process, host:pid is. A recycled pid on the same host within 30 s... "
        "unlikely, mention later in review.",
    )
    rec.user(
        "30s, heartbeat thread in the worker every lease/3. migrations with user_version, NEVER drop or rewrite their "
        "files, shops have live dbs. store first, worker after",
        after=85,
    )
    rec.ai(
        "Looking at the store as it is after the last edit, then the schema gets its own module.",
        read("src/hopper/store.py"),
        write("src/hopper/schema.py", SCHEMA_FIRST),
        read("src/hopper/jobs.py"),
        think="user_version is 0 for their files and for new ones. Migration 1 = IF NOT EXISTS, fits both. Migration 2 = "
        "add the column. Jobs running during the upgrade belong to workers of 0.4 which do not renew: give them an expired lease.",
    )
    rec.ai(
        edit(
            "src/hopper/jobs.py",
            ("    error: str | None\n\n", "    error: str | None\n    lease_until: float | None\n\n"),
            (
                '            error=row["error"],\n',
                '            error=row["error"],\n            lease_until=row["lease_until"],\n',
            ),
        ),
        edit(
            "src/hopper/store.py",
            ("        self._db().executescript(SCHEMA)\n", "        migrate(self._db())\n"),
            (
                "from hopper.jobs import Job, State\n",
                "from hopper.jobs import Job, State\nfrom hopper.schema import migrate\n",
            ),
            (
                '''\
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

''',
                "",
            ),
            (
                "   SET state = 'running', worker = :worker, attempts = attempts + 1\n",
                "   SET state = 'running', worker = :worker, attempts = attempts + 1, lease_until = :until\n",
            ),
        ),
    )
    rec.ai(
        "Now `claim`, `heartbeat`, `ack`, `fail` and `reclaim`.",
        edit(
            "src/hopper/store.py",
            (
                '    def ack(self, job_id: int) -> None:\n        """Mark the job as done."""\n',
                '    def ack(self, job_id: int, worker: str) -> bool:\n        """Mark the job as done."""\n',
            ),
        ),
    )
    rec.ai(
        "I misremembered the docstring. Reading that part again, and the bench, which calls `ack` too.",
        read("src/hopper/store.py", offset=88, limit=42),
        read("bench/throughput.py"),
    )
    rec.ai(
        edit(
            "src/hopper/store.py",
            (
                '''\
    def claim(self, worker: str, *, queue: str = "default") -> Job | None:
        """Take the next due job for `worker`, or None when there is nothing to do."""
        row = self._db().execute(
            CLAIM, {"worker": worker, "queue": queue, "now": self.clock.now()}
        ).fetchone()
        return None if row is None else Job.from_row(row)

    def ack(self, job_id: int) -> None:
        """Mark a job as done."""
        self._db().execute("UPDATE jobs SET state = 'done' WHERE id = ?", (job_id,))

    def fail(self, job_id: int, error: str) -> None:
        """Mark a job as failed, with the reason."""
        self._db().execute(
            "UPDATE jobs SET state = 'failed', error = ? WHERE id = ?", (error, job_id)
        )
''',
                '''\
    def claim(self, worker: str, *, queue: str = "default", lease: float = LEASE) -> Job | None:
        """Take the next due job for `worker`, or None when there is nothing to do.

        The job is the worker's for `lease` seconds, longer if it calls `heartbeat`.
        """
        now = self.clock.now()
        row = self._db().execute(
            CLAIM, {"worker": worker, "queue": queue, "now": now, "until": now + lease}
        ).fetchone()
        return None if row is None else Job.from_row(row)

    def heartbeat(self, job_id: int, worker: str, *, lease: float = LEASE) -> bool:
        """Renew a lease. False when the job is not this worker's any more."""
        return self._owned("lease_until = :value", job_id, worker, self.clock.now() + lease)

    def ack(self, job_id: int, worker: str) -> bool:
        """Mark a job as done. False when the job is not this worker's any more."""
        return self._owned("state = 'done', lease_until = :value", job_id, worker, None)

    def fail(self, job_id: int, worker: str, error: str) -> bool:
        """Mark a job as failed, with the reason. False when it is not this worker's any more."""
        return self._owned(
            "state = 'failed', lease_until = NULL, error = :value", job_id, worker, error
        )

    def _owned(self, change: str, job_id: int, worker: str, value: float | str | None) -> bool:
        """Change a job if, and only if, `worker` still has it."""
        cursor = self._db().execute(
            f"UPDATE jobs SET {change} WHERE id = :id AND worker = :worker AND state = 'running'",
            {"id": job_id, "worker": worker, "value": value},
        )
        return cursor.rowcount == 1

    def reclaim(self, *, queue: str = "default") -> int:
        """Put jobs whose lease is over back to the start. Returns how many."""
        cursor = self._db().execute(
            "UPDATE jobs SET state = 'ready', worker = NULL, lease_until = NULL"
            " WHERE queue = ? AND state = 'running' AND lease_until < ?",
            (queue, self.clock.now()),
        )
        return cursor.rowcount
''',
            ),
            (
                "# One statement, so that nobody can claim between the choice and the mark.\n",
                "LEASE = 30.0\n\n# One statement, so that nobody can claim between the choice and the mark.\n",
            ),
        )
    )
    rec.ai(
        "A smoke test before I touch the tests:",
        bash(
            "cd /tmp && rm -f smoke.db && PYTHONPATH=~/work/hopper/src python -c \"from hopper import Store; Store('smoke.db')\"",
            MIGRATE_TRACE,
            code=1,
        ),
    )
    rec.ai(
        "`executescript` commits whatever transaction is open before it starts. So a migration has to be a list of "
        "single statements, or it is not atomic at all. Good that this failed loudly.",
        edit(
            "src/hopper/schema.py",
            (
                '    # 1: what hopper 0.4 made.\n    """\n    CREATE TABLE IF NOT EXISTS jobs (\n',
                '    # 1: what hopper 0.4 made.\n    (\n        """\n    CREATE TABLE IF NOT EXISTS jobs (\n',
            ),
            (
                '        error      TEXT\n    );\n    CREATE INDEX IF NOT EXISTS jobs_by_state ON jobs (queue, state, run_at);\n    """,\n',
                (
                    '        error      TEXT\n    )\n    """,\n'
                    '        "CREATE INDEX IF NOT EXISTS jobs_by_state ON jobs (queue, state, run_at)",\n    ),\n'
                ),
            ),
            (
                (
                    '    """\n    ALTER TABLE jobs ADD COLUMN lease_until REAL;\n'
                    "    UPDATE jobs SET lease_until = 0 WHERE state = 'running';\n"
                    '    CREATE INDEX jobs_by_lease ON jobs (lease_until) WHERE state = \'running\';\n    """,\n'
                ),
                (
                    '    (\n        "ALTER TABLE jobs ADD COLUMN lease_until REAL",\n'
                    "        \"UPDATE jobs SET lease_until = 0 WHERE state = 'running'\",\n"
                    "        \"CREATE INDEX jobs_by_lease ON jobs (lease_until) WHERE state = 'running'\",\n    ),\n"
                ),
            ),
            (
                "    for number, script in enumerate(MIGRATIONS, 1):\n",
                "    for number, statements in enumerate(MIGRATIONS, 1):\n",
            ),
            (
                "                db.executescript(script)\n",
                (
                    "                # Not executescript: it would commit first.\n"
                    "                for statement in statements:\n                    db.execute(statement)\n"
                ),
            ),
        ),
        bash(
            "cd /tmp && rm -f smoke.db && PYTHONPATH=~/work/hopper/src python -c \"from hopper import Store; Store('smoke.db')\""
            " && sqlite3 smoke.db 'pragma user_version'",
            "2\n",
        ),
    )
    rec.ai(
        write("tests/test_lease.py", TEST_LEASE),
        edit(
            "tests/test_store.py",
            (
                '    store.fail(job.id, "ValueError: no")\n',
                '    assert store.fail(job.id, "w1", "ValueError: no")\n',
            ),
        ),
        edit(
            "bench/throughput.py",
            ("        store.ack(job.id)\n", "        store.ack(job.id, str(os.getpid()))\n"),
        ),
        bash(
            "python -m pytest -q",
            pytest_run(
                seconds=3.02,
                quiet=True,
                failures={
                    "test_drain_runs_everything_that_is_due": (
                        (
                            "    def _run(self, job: Job) -> None:\n    ...\n>       self.store.ack(job.id)\n"
                            "E       TypeError: Store.ack() missing 1 required positional argument: 'worker'\n\n"
                            "src/hopper/worker.py:@{src/hopper/worker.py|self.store.ack(}: TypeError"
                        ),
                        "TypeError: Store.ack() missing 1 required positional argum...",
                    ),
                    "test_a_handler_that_raises_fails_its_job": (
                        (
                            "    def _run(self, job: Job) -> None:\n    ...\n>           self.store.fail(job.id, last)\n"
                            "E           TypeError: Store.fail() missing 1 required positional argument: 'error'\n\n"
                            "src/hopper/worker.py:@{src/hopper/worker.py|self.store.fail(job.id, last)}: TypeError"
                        ),
                        "TypeError: Store.fail() missing 1 required positional argu...",
                    ),
                    "test_an_unknown_kind_fails_its_job": (
                        (
                            "    def _run(self, job: Job) -> None:\n    ...\n"
                            '>           self.store.fail(job.id, f"no handler for {job.kind!r}")\n'
                            "E           TypeError: Store.fail() missing 1 required positional argument: 'error'\n\n"
                            "src/hopper/worker.py:@{src/hopper/worker.py|no handler for}: TypeError"
                        ),
                        "TypeError: Store.fail() missing 1 required positional argu...",
                    ),
                    "test_run_sleeps_when_there_is_nothing_to_do": (
                        (
                            "    def _run(self, job: Job) -> None:\n    ...\n>       self.store.ack(job.id)\n"
                            "E       TypeError: Store.ack() missing 1 required positional argument: 'worker'\n\n"
                            "src/hopper/worker.py:@{src/hopper/worker.py|self.store.ack(}: TypeError"
                        ),
                        "TypeError: Store.ack() missing 1 required positional argum...",
                    ),
                },
            ),
            code=1,
            seconds=3.7,
        ),
    )
    rec.say(
        """\
The store is done; the four failures are the worker, which still calls `ack` and `fail` without its name.

- `schema.py`: two migrations, each one transaction under `BEGIN IMMEDIATE`, checked again under the lock
- `store.py`: `claim(lease=)`, `heartbeat`, `reclaim`; `ack` and `fail` need the worker and return whether it still had the job
- `test_lease.py`: five tests, among them a file written by 0.4 and six threads that upgrade it at once

A job that is `running` at the moment of the upgrade comes back on the first `reclaim`. Its 0.4 worker may still finish \
it, so **stop the old workers before the upgrade**; I'll put that in the changelog."""
    )


WORKER_SLEEPY = '''\
class Heartbeat:
    """Renews the lease of one job in a thread of its own while the handler runs."""

    def __init__(self, store: Store, job: Job, worker: str, lease: float) -> None:
        self.lost = False
        self._store, self._job, self._worker, self._lease = store, job, worker, lease
        self._done = False
        self._thread = threading.Thread(target=self._beat, name=f"heartbeat-{job.id}", daemon=True)

    def __enter__(self) -> Heartbeat:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done = True
        self._thread.join()

    def _beat(self) -> None:
        while not self._done:
            time.sleep(self._lease / 3)
            if not self._done and not self._store.heartbeat(
                self._job.id, self._worker, lease=self._lease
            ):
                self.lost = True
                break
        self._store.close()


class Worker:
'''

RUN_NEW = """\
        started = self.store.clock.now()
        with Heartbeat(self.store, job, self.name, self.lease) as heartbeat:
            try:
                function(job.payload)
            except Exception as error:
                last = traceback.format_exception_only(error)[-1].strip()
            else:
                last = None
        if last is None:
            kept = self.store.ack(job.id, self.name)
        else:
            kept = self.store.fail(job.id, self.name, last)
        took = self.store.clock.now() - started
        if heartbeat.lost or not kept:
            log.error("job %d (%s): the lease was lost after %.3fs", job.id, job.kind, took)
        elif last is None:
            log.info("job %d (%s) done in %.3fs", job.id, job.kind, took)
        else:
            log.warning("job %d (%s) failed: %s", job.id, job.kind, last)
"""

RUN_OLD = """\
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
"""

ASYNC_WORKER = '''\
"""The loop that runs jobs, on asyncio."""

from __future__ import annotations

import asyncio
import inspect
import logging
import os
import socket
import traceback
from collections.abc import Awaitable, Callable
from typing import Any

from hopper.jobs import Job
from hopper.store import LEASE, Store

log = logging.getLogger("hopper.worker")

Handler = Callable[[dict[str, Any]], Awaitable[None] | None]

HANDLERS: dict[str, Handler] = {}


def handler(kind: str) -> Callable[[Handler], Handler]:
    """Register a function, plain or async, for a kind of job."""

    def register(function: Handler) -> Handler:
        if kind in HANDLERS:
            raise ValueError(f"there is a handler for {kind!r} already")
        HANDLERS[kind] = function
        return function

    return register


class Worker:
    """Claims jobs from a store and runs up to `slots` handlers at a time."""

    def __init__(
        self,
        store: Store,
        *,
        queue: str = "default",
        name: str | None = None,
        poll: float = 0.2,
        lease: float = LEASE,
        slots: int = 4,
        handlers: dict[str, Handler] | None = None,
    ) -> None:
        self.store = store
        self.queue = queue
        self.name = name or f"{socket.gethostname()}:{os.getpid()}"
        self.poll = poll
        self.lease = lease
        self.slots = asyncio.Semaphore(slots)
        self.handlers = HANDLERS if handlers is None else handlers
        self._stopping = asyncio.Event()

    def run(self, *, limit: int | None = None) -> int:
        """Work until `stop` is called, or until `limit` jobs were run."""
        return asyncio.run(self._loop(limit))

    def drain(self) -> int:
        """Work until nothing is due."""
        return asyncio.run(self._loop())

    async def _loop(self, limit: int | None = None) -> int:
        count = 0
        async with asyncio.TaskGroup() as tasks:
            while not self._stopping.is_set() and count != limit:
                await self.slots.acquire()
                job = await asyncio.to_thread(self.store.claim, self.name, queue=self.queue)
                if job is None:
                    self.slots.release()
                    await asyncio.sleep(self.poll)
                else:
                    tasks.create_task(self._run(job))
                    count += 1
        return count

    async def _run(self, job: Job) -> None:
        beat = asyncio.create_task(self._beat(job))
        try:
            result = self.handlers[job.kind](job.payload)
            if inspect.isawaitable(result):
                await result
        except Exception as error:
            last = traceback.format_exception_only(error)[-1].strip()
            await asyncio.to_thread(self.store.fail, job.id, self.name, last)
        else:
            await asyncio.to_thread(self.store.ack, job.id, self.name)
        finally:
            beat.cancel()
            self.slots.release()

    async def _beat(self, job: Job) -> None:
        while True:
            await asyncio.sleep(self.lease / 3)
            await asyncio.to_thread(self.store.heartbeat, job.id, self.name, lease=self.lease)
'''


def heartbeats(rec: Recorder) -> None:
    rec.user("let me read store.py once in full before we go on", after=31)
    rec.ai(read("src/hopper/store.py"))
    rec.say(
        "No surprises: 186 lines, every public method is one statement. `requeue` is the one that still ignores leases: "
        "it would take a job from a healthy worker. Not in scope now, I'll bring it up with the CLI."
    )
    rec.user("now the worker", after=22)
    looked = rec.ai(
        read("src/hopper/worker.py"),
        read("tests/test_worker.py"),
        think="Heartbeat needs its own connection: Store already gives each thread one, but then the thread must close it.",
    )
    # branch 2, from the middle of the turn
    rec.user(
        "wait. before you start a thread: would asyncio be cleaner? one loop, heartbeat is a task", after=75
    )
    rec.ai(
        "It can be. Handlers are plain functions today, so the loop has to take both kinds. A sketch:",
        write("src/hopper/worker.py", ASYNC_WORKER),
        think="Plain handlers block the loop: the heartbeat task does not run while they run. That defeats the purpose. "
        "Would need to_thread for handlers, i.e. threads again. Write it and let the test show it.",
    )
    rec.ai(
        bash(
            "python -m pytest -q -x tests/test_worker.py",
            "",
            code=124,
            timeout=60,
            seconds=60,
        )
    )
    rec.say(
        """\
The tests hang, and for a reason that no tweak removes:

- `drain()` has to know that nothing is due **and** nothing is running; the sketch does not, so it never returns.
- A **plain** handler blocks the loop, so the heartbeat does not run exactly when it is needed. The handler would have to \
go to `to_thread`, and then we have the thread back, plus a loop.
- `FakeClock.sleep` does not advance `asyncio.sleep`; every worker test has to be rewritten."""
    )
    rec.user("ok convinced. thread it is", after=40)
    rec.say(
        "Going back to the thread. `git checkout src/hopper/worker.py` drops the sketch; nothing else was touched."
    )
    # back to the middle of the turn; the branch is left without a summary
    rec.go(looked)
    rec.shell(
        "git checkout -q src/hopper/worker.py && git status --short",
        " M bench/throughput.py\n M src/hopper/jobs.py\n M src/hopper/store.py\n M tests/test_store.py\n"
        "?? src/hopper/schema.py\n?? tests/test_lease.py\n",
        after=18,
    )
    rec.user("thread. one per running job, it must be gone when the handler returns", after=30)
    rec.error('529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}')
    rec.ai(
        edit(
            "src/hopper/worker.py",
            (
                "import socket\nimport traceback\n",
                "import socket\nimport threading\nimport time\nimport traceback\n",
            ),
            ("from hopper.store import Store\n", "from hopper.store import LEASE, Store\n"),
            ("class Worker:\n", WORKER_SLEEPY),
            ("        poll: float = 0.2,\n", "        poll: float = 0.2,\n        lease: float = LEASE,\n"),
            ("        self.poll = poll\n", "        self.poll = poll\n        self.lease = lease\n"),
            (
                "        self._stopping = False\n\n",
                "        self._stopping = False\n        self._next_reclaim = 0.0\n\n",
            ),
            (
                "        job = self.store.claim(self.name, queue=self.queue)\n",
                """\
        now = self.store.clock.now()
        if now >= self._next_reclaim:
            self._next_reclaim = now + self.lease / 3
            if back := self.store.reclaim(queue=self.queue):
                log.warning("took back %d job(s) whose lease was over", back)
        job = self.store.claim(self.name, queue=self.queue, lease=self.lease)
""",
            ),
            (
                '            self.store.fail(job.id, f"no handler for {job.kind!r}")\n',
                '            self.store.fail(job.id, self.name, f"no handler for {job.kind!r}")\n',
            ),
            (RUN_OLD, RUN_NEW),
        )
    )
    rec.ai(bash("python -m pytest -q", pytest_run(seconds=53.18, quiet=True), seconds=54))
    rec.say(
        "All 19 pass. The worker renews every `lease / 3`, takes back old leases at the same pace, and logs an error when it lost a job."
    )
    rec.user("19 tests in 53 SECONDS?", after=9)
    rec.ai(
        bash(
            "python -m pytest -q --durations=5 | tail -8",
            "============================= slowest 5 durations ==============================\n"
            "30.04s call     tests/test_worker.py::test_drain_runs_everything_that_is_due\n"
            "10.01s call     tests/test_worker.py::test_a_handler_that_raises_fails_its_job\n"
            "10.01s call     tests/test_worker.py::test_run_sleeps_when_there_is_nothing_to_do\n"
            "1.12s call     tests/test_claim.py::test_no_job_is_claimed_twice\n"
            "0.31s call     tests/test_lease.py::test_two_workers_may_upgrade_at_once\n19 passed in 53.22s\n",
            seconds=54,
        )
    )
    rec.ai(
        "Ten seconds a job: `join` waits for a thread that is inside `time.sleep(lease / 3)`. In production that would be "
        "10 s of nothing **after every job**. An `Event` can be waited on and set:",
        edit(
            "src/hopper/worker.py",
            ("import threading\nimport time\nimport traceback\n", "import threading\nimport traceback\n"),
            ("        self._done = False\n", "        self._done = threading.Event()\n"),
            ("        self._done = True\n", "        self._done.set()\n"),
            (
                """\
        while not self._done:
            time.sleep(self._lease / 3)
            if not self._done and not self._store.heartbeat(
                self._job.id, self._worker, lease=self._lease
            ):
                self.lost = True
                break
""",
                """\
        while not self._done.wait(self._lease / 3):
            if not self._store.heartbeat(self._job.id, self._worker, lease=self._lease):
                self.lost = True
                break
""",
            ),
        ),
        bash("python -m pytest -q", pytest_run(seconds=3.11, quiet=True), seconds=3.8),
    )
    rec.say(
        "53 s → 3.1 s. My mistake; a test that needs more than a second was the hint, and AGENTS.md even says so."
    )
    rec.user(
        "add a test that kills a real worker process with -9 and sees its job finish elsewhere", after=66
    )
    rec.ai(
        edit(
            "tests/test_worker.py",
            (
                "from __future__ import annotations\n\nfrom hopper.jobs import State\n",
                (
                    "from __future__ import annotations\n\nimport os\nimport signal\nimport subprocess\nimport sys\n\n"
                    "from hopper.jobs import State\nfrom hopper.store import Store\n"
                ),
            ),
            (
                "def test_run_sleeps_when_there_is_nothing_to_do(store, clock):\n",
                '''\
STUCK = """
import sys, time
from hopper import Store, Worker

def stuck(payload):
    print("started", flush=True)
    time.sleep(60)

Worker(Store(sys.argv[1]), lease=0.3, handlers={"slow": stuck}).run()
"""


def test_a_killed_worker_gives_its_job_back(tmp_path):
    store = Store(tmp_path / "jobs.db")
    job_id = store.enqueue("slow", {})
    process = subprocess.Popen(
        [sys.executable, "-c", STUCK, store.path],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": "src"},
    )
    assert process.stdout.readline() == b"started\\n"
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    done = []
    Worker(store, poll=0.05, lease=0.3, handlers={"slow": done.append}).run(limit=1)
    assert done == [{}]
    assert store.get(job_id).attempts == 2
    store.close()


def test_run_sleeps_when_there_is_nothing_to_do(store, clock):
''',
            ),
        ),
        bash(
            "python -m pytest -q tests/test_worker.py",
            pytest_run("test_worker.py", seconds=0.94, quiet=True),
            seconds=1.6,
        ),
    )
    rec.say(
        "In: a subprocess claims the job, is killed while the handler runs, and a second worker finishes it on attempt 2. "
        "It takes 0.6 s, because the lease in that test is 0.3 s."
    )
    rec.user("show me the diff of the worker once more", after=25)
    rec.ai(bash("git diff src/hopper/worker.py", git_diff("src/hopper/worker.py")))
    rec.say(
        """\
What to look at:

1. `Heartbeat` closes the connection of its own thread (`self._store.close()`), or we would leak one descriptor a job.
2. `ack` and `fail` run **after** the heartbeat thread is joined, so a renewal can never follow the ack.
3. `lost` is only logged. The handler is not interrupted: Python cannot do that safely in a thread."""
    )
    rec.shell(
        "git add -A && git commit -qm 'Leases: a killed worker gives its job back' && git log --oneline -1",
        "e7720b5 (HEAD -> fix/double-claim) Leases: a killed worker gives its job back\n",
        commits=True,
    )
    rec.custom("git.snapshot", {"id": "e7720b5", "branch": "fix/double-claim", "dirty": False, "files": 7})


def first_compaction(rec: Recorder) -> None:
    rec.compact(
        """\
## Goal
Find out why jobs run twice under load in hopper (a job queue on one SQLite file), fix it, and make the queue survive killed workers.

## Constraints & Preferences
- Understand before touching: reproduce in a test first, options before edits
- Never drop or rewrite a user's database file; schema changes are migrations through `PRAGMA user_version`
- Standard library only, Python 3.12, SQLite ≥ 3.35 (shop has 3.40.1)
- Tests use `FakeClock`; a test over one second needs a reason
- Throughput with 8 workers must not be lower than with 1

## Progress
### Done
- [x] Cause: `Store.claim` was `SELECT` then `UPDATE` in autocommit; log of 2026-11-16 shows 61 pairs 1 to 4 ms apart
- [x] `tests/test_claim.py` reproduces it: 17 to 31 of 400 jobs claimed twice by 8 threads
- [x] `claim` is one `UPDATE … RETURNING *` (commit 8c41d07); 8 workers 346 → 549 jobs/s, none twice
- [x] `src/hopper/schema.py`: migrations 1 and 2 (`lease_until`), each in one `BEGIN IMMEDIATE`
- [x] `Store`: `claim(lease=)`, `heartbeat`, `reclaim`; `ack` and `fail` take the worker's name and return a bool
- [x] `Worker`: one heartbeat thread a job, renewing every `lease / 3`; kill -9 test green

### In Progress
- (none)

### Blocked
- (none)

## Key Decisions
- **Lock files rejected**: `flock` 141 jobs/s and p99 388 ms, `lockf` does not exclude threads of one process
- **asyncio worker rejected**: plain handlers block the loop, so the heartbeat stops when it is needed
- **Lease 30 s, `LEASE` in store.py**: renewed every 10 s; who lost it cannot ack
- **No `executescript` in migrations**: it commits the open transaction ("cannot commit - no transaction is active")

## Next Steps
1. Retries and poison jobs, the open questions that are left in `docs/design.md`
2. Changelog: stop 0.4 workers before the upgrade

## Critical Context
- Branch `fix/double-claim`, HEAD e7720b5 at the end of this part
- `make check` = ruff + pytest; `make bench` = bench/throughput.py
- A `Heartbeat` must close its thread's connection, or one descriptor leaks per job""",
        prefix="""\
## Original Request
Look at `logs/mail-2026-11-16.log`, the bad hour starts at 21:04: does it fit the theory that `claim` has a gap?

## Progress So Far
- 4118 lines; 61 job numbers appear twice, as many as the shop counted
- Read lines 2031 to 2570 (21:04:11 on): both lines of a pair are on box1 with different pids (4117, 4119, 4121, 4123)

## Context Needed to Continue
- Before this, `docs/design.md`, `store.py` and `worker.py` were read; `claim` selects and updates in two autocommit statements""",
    )
