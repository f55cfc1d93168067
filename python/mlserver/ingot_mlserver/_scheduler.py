"""Runs requests on a few threads.

Requests wait in one queue, which holds so many and no more: a further one is refused at once, so that a server with too much to do answers with errors, and neither
with silence nor by its death. Where batches are formed, a run takes requests from the front of the queue whose inputs are alike but for their first axis, until it
has `rows` of them or the first one has waited for `seconds`. Their arrays are joined, cut into the sizes for which the model has code, and the results dealt out. If
such a run fails, each request runs alone, since the data of one must not be the error of another."""

import asyncio
import collections
import concurrent.futures
import dataclasses
import typing

import numpy as np
from mlserver.errors import MLServerError

from ._engine import Arrays


class Overloaded(MLServerError):
    def __init__(self, waiting: int) -> None:
        super().__init__(f"{waiting} requests wait already (max_waiting)", 503)


@dataclasses.dataclass
class Batching:
    rows: int  # of the requests of one run, unless one has more
    seconds: float
    most: typing.Optional[int] = None  # rows that the model's code takes
    variants: typing.Sequence[int] = ()  # for which alone there is code


@dataclasses.dataclass
class Work:
    arrays: Arrays
    answer: "asyncio.Future[typing.List[np.ndarray]]"
    since: float

    @property
    def rows(self) -> int:
        return next((array.shape[0] for array in self.arrays if array is not None), 0)

    @property
    def kind(self) -> typing.Any:
        """What requests have in common that one run may take."""
        return [None if array is None else array.shape[1:] for array in self.arrays]


def cut(rows: int, most: typing.Optional[int], variants: typing.Sequence[int]) -> typing.Iterator[typing.Tuple[int, int]]:
    """How so many rows run: (rows of a run, rows of the code for it). A variant is used where it is filled at least by half, the smallest one for what is left."""
    while rows > 0:
        size = max((each for each in variants if 2 * rows >= each), default=min(variants)) if variants else min(rows, most or rows)
        taken = min(rows, size)
        yield taken, size
        rows -= taken


def padded(array: np.ndarray, rows: int) -> np.ndarray:
    """More rows that are copies of the last one, whose values the model can bear."""
    return array if len(array) == rows else np.concatenate([array, np.repeat(array[-1:], rows - len(array), axis=0)])


class Scheduler:
    """`run` is called by `runs` threads; `observe` is told how many rows, or requests, each of their calls answers."""

    def __init__(
        self,
        run: typing.Callable[[Arrays], typing.List[np.ndarray]],
        runs: int,
        max_waiting: int,
        batching: typing.Optional[Batching] = None,
        observe: typing.Callable[[int], None] = lambda rows: None,
    ) -> None:
        self._run, self._free, self._max_waiting, self._batching, self._observe = run, runs, max_waiting, batching, observe
        self._threads = concurrent.futures.ThreadPoolExecutor(runs, "ingot")
        self._queue: typing.Deque[Work] = collections.deque()
        self._tasks: typing.Set["asyncio.Task[None]"] = set()
        self._timer: typing.Optional[asyncio.TimerHandle] = None

    @property
    def waiting(self) -> int:
        return len(self._queue)

    async def submit(self, arrays: Arrays) -> typing.List[np.ndarray]:
        """The outputs, when it is their turn. Raises Overloaded, or what the run raises."""
        if len(self._queue) >= self._max_waiting:
            raise Overloaded(len(self._queue))
        loop = asyncio.get_running_loop()
        work = Work(arrays, loop.create_future(), loop.time())
        self._queue.append(work)
        self._start()
        return await work.answer

    async def drain(self) -> None:
        """Returns when everything that was submitted has been answered."""
        while self._queue or self._tasks:
            self._start(hurry=True)
            if self._tasks:
                await asyncio.wait(list(self._tasks))

    def close(self) -> None:
        self._threads.shutdown(wait=False)

    def _start(self, hurry: bool = False) -> None:
        """Starts as many runs as there are free threads and requests that need not wait for others."""
        if self._timer:
            self._timer.cancel()
            self._timer = None
        while self._free and (works := self._next(hurry)):
            self._free -= 1
            task = asyncio.get_running_loop().create_task(self._answer(works))
            self._tasks.add(task)
            task.add_done_callback(self._done)

    def _done(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        self._free += 1
        self._start()

    def _next(self, hurry: bool) -> typing.List[Work]:
        """Takes the requests of the next run out of the queue; none while the first one may still get company."""
        while self._queue and self._queue[0].answer.done():  # who asked is gone
            self._queue.popleft()
        if not self._queue or not self._batching:
            return [self._queue.popleft()] if self._queue else []
        first, rows = self._queue[0], 0
        works: typing.List[Work] = []
        kind = first.kind
        for work in self._queue:
            if work.kind == kind and not work.answer.done() and (not works or rows + work.rows <= self._batching.rows):
                works.append(work)
                rows += work.rows
        loop = asyncio.get_running_loop()
        left = first.since + self._batching.seconds - loop.time()
        if rows < self._batching.rows and left > 0 and not hurry:
            self._timer = loop.call_later(left, self._start)
            return []
        taken = set(map(id, works))
        self._queue = collections.deque(work for work in self._queue if id(work) not in taken)
        return works

    async def _answer(self, works: typing.List[Work]) -> None:
        self._observe(sum(work.rows for work in works) if self._batching else 1)
        answers = await asyncio.get_running_loop().run_in_executor(self._threads, self._results, works)
        for work, answer in zip(works, answers):
            if work.answer.done():
                continue
            if isinstance(answer, BaseException):
                work.answer.set_exception(answer)
            else:
                work.answer.set_result(answer)

    def _results(self, works: typing.List[Work]) -> typing.List[typing.Union[typing.List[np.ndarray], BaseException]]:
        """For each request its outputs, or what the run has raised. In a thread."""
        try:
            return list(self._together(works)) if self._batching else [self._run(works[0].arrays)]
        except Exception as error:
            if len(works) == 1:
                return [error]
            return [answer for work in works for answer in self._results([work])]

    def _together(self, works: typing.List[Work]) -> typing.Iterator[typing.List[np.ndarray]]:
        assert self._batching
        first, rows = works[0].arrays, sum(work.rows for work in works)
        joined = [None if array is None else np.concatenate([work.arrays[number] for work in works]) if len(works) > 1 else array for number, array in enumerate(first)]
        parts, at = [], 0
        for taken, size in cut(rows, self._batching.most, self._batching.variants):
            part = [None if array is None else padded(array[at : at + taken], size) for array in joined]
            parts.append([output[:taken] for output in self._run(part)])
            at += taken
        outputs = [np.concatenate(each) if len(each) > 1 else each[0] for each in zip(*parts)] if parts else self._run(first)
        at = 0
        for work in works:
            yield [output[at : at + work.rows] for output in outputs]
            at += work.rows
