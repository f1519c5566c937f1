"""A session's transcript read again for a report: what it weighs, what its cited messages say, whether it still holds.

Each range is compared with the hash that its checkpoint keeps. What reads otherwise today is not quoted: evidence must
open the message that it was taken from. Messages are redacted as they were for the checkpoint, and held in memory one
range at a time.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from itertools import chain as chained
from itertools import islice
from pathlib import Path

from worker.core.checkpoint import Checkpoint, Cursor, Status
from worker.core.material import shown_tokens
from worker.core.messages import Message, range_sha256
from worker.core.pairing import pair
from worker.core.planning import Limits
from worker.core.secrets import redact_messages
from worker.core.tidying import tidy
from worker.core.usage import tokens_by_source
from worker.errors import TranscriptError
from worker.reporting.quoting import Saying, saying_of
from worker.reporting.steps import TaskStep, task_steps
from worker.summarize import share_out
from worker.transcripts import Reading, Transcript, open_transcript

BLOCK_MESSAGES = 2_000
"""Of the tail, which has no limit, so many are in memory at once."""


class Standing(StrEnum):
    """How the transcript stands today."""

    READ = "read"
    GONE = "gone"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Weight:
    """What one message weighs, and who wrote it. index: in the session."""

    index: int
    origin: str
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Reread:
    """What a transcript gave. changed: numbers of the checkpoints whose range reads otherwise now, or is not there.

    sources, tail_sources: tokens by source, of all ranges that hold and of what lies behind them. parts: by checkpoint,
    the index at which each part begins. end: index behind the last message. steps: what happened to tasks, by id.
    """

    standing: Standing
    problem: str = ""
    changed: tuple[int, ...] = ()
    tail_known: bool = False
    end: int = 0
    sources: Mapping[str, int] = field(default_factory=dict)
    tail_sources: Mapping[str, int] = field(default_factory=dict)
    weights: tuple[Weight, ...] = ()
    sayings: Mapping[str, Saying] = field(default_factory=dict)
    skipped: Mapping[str, int] | None = None
    parts: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    steps: Mapping[int, tuple[TaskStep, ...]] = field(default_factory=dict)
    first_at: datetime | None = None
    last_at: datetime | None = None

    @property
    def covered_tokens(self) -> int:
        return sum(self.sources.values())

    @property
    def tail_tokens(self) -> int:
        return sum(self.tail_sources.values())


def reread(
    path: Path, chain: Sequence[Checkpoint], cited: Collection[str], limits: Limits, *, max_row_bytes: int
) -> Reread:
    """What the transcript of a chain says today. chain: oldest first, not empty. limits: parts are made by them."""
    try:
        pass_ = _Pass(open_transcript(path, max_row_bytes=max_row_bytes), chain, set(cited), limits)
        return pass_.run()
    except TranscriptError as exc:
        standing = Standing.UNREADABLE if path.exists() else Standing.GONE
        return Reread(standing=standing, problem=str(exc), changed=tuple(one.number for one in chain))


class _Pass:
    """One pass over a transcript, range by range. A range that does not hold is left behind by its own cursor."""

    def __init__(self, transcript: Transcript, chain: Sequence[Checkpoint], cited: set[str], limits: Limits) -> None:
        self._transcript = transcript
        self._ranges = [one for one in chain if not one.replaces]
        self._cited = cited
        self._limits = limits
        self._changed: list[int] = []
        self._sources: Counter[str] = Counter()
        self._tail: Counter[str] = Counter()
        self._weights: list[Weight] = []
        self._sayings: dict[str, Saying] = {}
        self._parts: dict[int, tuple[int, ...]] = {}
        self._steps: dict[int, tuple[TaskStep, ...]] = {}
        self._times: list[datetime] = []
        self._beside: list[Message] = []
        self._end = 0
        self._is_whole = True
        self._is_lost = False

    def run(self) -> Reread:
        present = self._in_the_file()
        rows = _Rows(self._transcript.read(self._cursor_before(present[0])))
        for checkpoint in present:
            messages = [] if self._is_lost else rows.take_until(checkpoint.range.end)
            if messages and range_sha256(messages) == checkpoint.range.sha256:
                self._take_range(checkpoint, self._redacted(messages, rows.reading))
                continue
            self._changed.append(checkpoint.number)
            rows = _Rows(self._transcript.read(checkpoint.cursor))
            self._is_whole, self._is_lost = False, rows.reading.restarted is not None
            self._beside = []
        return self._result(rows)

    def _in_the_file(self) -> list[Checkpoint]:
        """The checkpoints since the file was last restarted; what those before it covered is in no file any more."""
        newest = self._ranges[-1].range.chain
        self._changed = [one.number for one in self._ranges if one.range.chain != newest]
        return [one for one in self._ranges if one.range.chain == newest]

    def _cursor_before(self, checkpoint: Checkpoint) -> Cursor | None:
        before = [one for one in self._ranges if one.number < checkpoint.number]
        return before[-1].cursor if before else None

    def _take_range(self, checkpoint: Checkpoint, messages: Sequence[Message]) -> None:
        self._weigh(messages, self._sources)
        if checkpoint.status is not Status.DETERMINISTIC:
            pairing = pair(messages)
            tidied = tidy(messages, pairing, shown_tokens(messages, pairing))
            self._parts[checkpoint.number] = tuple(
                part.messages[0].index for part in share_out(tidied, self._limits) if part.messages
            )
        self._steps[checkpoint.number] = task_steps(messages, checkpoint.ledger.tasks)
        self._end = checkpoint.range.end

    def _redacted(self, messages: Sequence[Message], reading: Reading) -> list[Message]:
        """As they were for the checkpoint. The message before them is looked at again: secrets can be split."""
        redacted, _ = redact_messages([*self._beside, *messages])
        if self._beside:
            self._quote(redacted[:1])
        own = _without_rewound(redacted[len(self._beside) :], reading.rewound)
        self._quote(own)
        self._beside = own[-1:]
        return own

    def _quote(self, messages: Sequence[Message]) -> None:
        self._sayings.update((one.id, saying_of(one)) for one in messages if one.id in self._cited)

    def _weigh(self, messages: Sequence[Message], sources: Counter[str]) -> None:
        sources.update(tokens_by_source(messages))
        tokens = shown_tokens(messages, pair(messages))
        self._weights += [
            Weight(index=message.index, origin=message.origin.value, tokens=count)
            for message, count in zip(messages, tokens, strict=True)
        ]
        self._times += _ends([message.timestamp for message in messages if message.timestamp])

    def _result(self, rows: "_Rows") -> Reread:
        while not self._is_lost and (block := rows.take(BLOCK_MESSAGES)):
            self._weigh(self._redacted(block, rows.reading), self._tail)
            self._end = block[-1].index + 1
        return Reread(
            standing=Standing.READ,
            changed=tuple(self._changed),
            tail_known=not self._is_lost,
            end=self._end,
            sources=self._sources,
            tail_sources=self._tail,
            weights=tuple(self._weights),
            sayings=self._sayings,
            skipped=rows.reading.skipped if self._is_whole else None,
            parts=self._parts,
            steps=self._steps,
            first_at=min(self._times, default=None),
            last_at=max(self._times, default=None),
        )


class _Rows:
    """The messages of a reading, of which one that was read too far is given again."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self._messages: Iterator[Message] = iter(reading)

    def take_until(self, end: int) -> list[Message]:
        """Those with an index below `end`."""
        taken: list[Message] = []
        for message in self._messages:
            if message.index >= end:
                self._messages = chained([message], self._messages)
                break
            taken.append(message)
        return taken

    def take(self, count: int) -> list[Message]:
        return list(islice(self._messages, count))


def _without_rewound(messages: Sequence[Message], rewound: Sequence[tuple[int, int]]) -> list[Message]:
    marked = list(messages)
    for start, end in rewound:
        for at, message in enumerate(marked):
            if start <= message.index < end and not message.sidechain:
                marked[at] = replace(message, sidechain=True)
    return marked


def _ends(times: Sequence[datetime]) -> Sequence[datetime]:
    return (min(times), max(times)) if times else ()
