"""The threads of sync handlers: kept for the next call, given back when idle, never taken for what was given up."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import os
import subprocess
import sys
import threading
import weakref
from typing import Any

import pytest

from toolkit.tools.threads import WorkerThreads, in_thread


async def test_a_thread_is_kept_for_the_next_call() -> None:
    threads = WorkerThreads()

    seen = {await threads.submit(threading.get_ident).future for _ in range(500)}

    assert len(seen) == 1


async def test_calls_run_in_as_many_threads_as_there_are_calls() -> None:
    threads = WorkerThreads()
    together = threading.Barrier(10)

    calls = [threads.submit(lambda: (together.wait(), threading.get_ident())[1]) for _ in range(10)]

    assert len({await call.future for call in calls}) == 10


async def test_calls_over_the_limit_wait_for_a_thread_and_none_is_lost() -> None:
    threads = WorkerThreads(limit=2)

    calls = [threads.submit(lambda number=number: (number, threading.get_ident())) for number in range(50)]
    results = [await call.future for call in calls]

    assert [number for number, _ in results] == list(range(50))
    assert len({thread for _, thread in results}) <= 2


async def test_work_that_waits_for_a_thread_can_be_withdrawn_and_never_runs() -> None:
    threads = WorkerThreads(limit=1)
    entered, release, ran = threading.Event(), threading.Event(), list[str]()

    busy = threads.submit(lambda: (entered.set(), release.wait()))
    await asyncio.to_thread(entered.wait)
    waiting = threads.submit(lambda: ran.append("withdrawn"))
    last = threads.submit(lambda: ran.append("last"))

    assert waiting.withdraw()
    assert not busy.withdraw()
    release.set()
    await busy.future
    await last.future
    assert ran == ["last"]
    assert waiting.future.cancelled()


async def test_an_idle_thread_ends_and_another_is_started_when_needed() -> None:
    threads = WorkerThreads(idle_seconds=0.0)

    first = await threads.submit(threading.current_thread).future
    await asyncio.to_thread(first.join)
    second = await threads.submit(threading.current_thread).future

    assert not first.is_alive()
    assert first.daemon
    assert second is not first


@pytest.mark.parametrize("error", [ValueError("x"), KeyboardInterrupt(), StopIteration("x")], ids=repr)
async def test_what_the_work_raises_reaches_the_caller(error: BaseException) -> None:
    def work() -> None:
        raise error

    call = WorkerThreads().submit(work)
    await asyncio.wait((call.future,))

    found = call.future.exception()
    assert found is error or (isinstance(found, RuntimeError) and found.__cause__ is error)


async def test_a_thread_sees_the_context_of_its_caller_and_changes_a_copy() -> None:
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable")
    variable.set("of the caller")

    def work(*, prefix: str) -> str:
        found = variable.get()
        variable.set("of the thread")
        return prefix + found

    assert await in_thread(work, prefix="seen: ").future == "seen: of the caller"
    assert variable.get() == "of the caller"


async def test_an_idle_thread_keeps_nothing_of_its_last_call_alive() -> None:
    class Kept:
        pass

    kept = Kept()
    gone = weakref.ref(kept)
    threads = WorkerThreads()

    def work(thing: Any = kept) -> None:
        raise ValueError(str(thing))

    gc.disable()  # a circle of references would be a leak until the collector runs
    try:
        call = threads.submit(work)
        await asyncio.wait((call.future,))
        assert isinstance(call.future.exception(), ValueError)
        del kept, work, call
        for _ in range(10_000):  # until the thread is back at its queue
            if gone() is None:
                break
            await asyncio.sleep(0)
    finally:
        gc.enable()

    assert gone() is None


async def test_a_system_without_threads_is_an_error_of_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    threads = WorkerThreads()
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", start)
        with pytest.raises(RuntimeError, match="can't start new thread"):
            threads.submit(lambda: None)

    before = set(threading.enumerate())
    assert [await threads.submit(lambda: "works again").future for _ in range(5)] == ["works again"] * 5
    assert len(set(threading.enumerate()) - before) == 1


async def test_where_no_further_thread_can_be_started_the_others_do_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    threads = WorkerThreads()
    entered, release = threading.Event(), threading.Event()
    busy = threads.submit(lambda: (entered.set(), release.wait()))
    await asyncio.to_thread(entered.wait)
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", start)
        waiting = threads.submit(lambda: "done later")
    release.set()

    assert await waiting.future == "done later"
    assert busy.future.done()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_starts_threads_of_its_own() -> None:
    program = """
import asyncio, os, warnings
from toolkit.tools.threads import in_thread

warnings.simplefilter("ignore")  # of newer Pythons, about the fork itself

async def once():
    return await in_thread(lambda: "done").future

asyncio.run(once())
child = os.fork()
if child == 0:
    os._exit(0 if asyncio.run(asyncio.wait_for(once(), 30)) == "done" else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)

    assert done.stdout.strip() == "0"
