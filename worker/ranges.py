"""Reading and sealing: the ranges of a transcript, one after the other, each small enough to be held in memory."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import dropwhile, takewhile

from worker.core.checkpoint import Checkpoint, Outcome
from worker.core.material import shown_tokens
from worker.core.messages import Message
from worker.core.pairing import Pairing, pair
from worker.core.planning import Circumstances, GateDecision, Limits, gate
from worker.core.sealing import Seal, seal
from worker.core.secrets import redact_messages
from worker.core.tidying import Tidied, tidy
from worker.transcripts import Reading, ResumePoint, Transcript, TranscriptInfo

CHARS_PER_TOKEN = 4
"""How many characters are read for each token of a range; fewer tokens than that only mean a smaller range."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedRange:
    """The next range. start: index of its first message. messages: redacted, otherwise as they were read.

    point: from where a later reading goes on behind the range, None in a document.
    """

    start: int
    messages: tuple[Message, ...]
    seal: Seal
    tidied: Tidied
    info: TranscriptInfo
    skipped: dict[str, int]
    restarted: str | None
    chain: int
    point: ResumePoint | None = None


class Window:
    """The part of the transcript that is in memory: read on as ranges are taken from its front."""

    def __init__(
        self,
        transcript: Transcript,
        parent: Checkpoint | None,
        limits: Limits,
        *,
        manual: bool,
        batch_tokens: int = 0,
        writer_is_gone: bool = False,
        only: tuple[int, int] | None = None,
    ) -> None:
        """only: message indexes [start, end) behind the parent; the rest of the file is not looked at."""
        self.info = transcript.info
        self.reading: Reading = transcript.read(parent.cursor if parent else None)
        self.covered = parent.covered if parent else 0
        self.decision = GateDecision(outcome=Outcome.NOTHING_TO_DO, reason="nothing_new")
        self._chain = (parent.range.chain if parent else 1) + (self.reading.restarted is not None)
        self._restarted = self.reading.restarted
        self._source = iter(self.reading) if only is None else messages_between(self.reading, *only)
        self._waiting: list[Message] = []
        self._points: deque[ResumePoint | None] = deque()
        self._more_follows = True
        self.limits = limits
        self._manual = manual
        self._batch_tokens = batch_tokens
        self._writer_is_gone = writer_is_gone
        self._fill_chars = CHARS_PER_TOKEN * (limits.range_tokens + (limits.keep_recent_tokens or 0))

    @property
    def is_written_to(self) -> bool:
        """True while the last row is half there and somebody is left to finish it."""
        return self.reading.still_writing and not self._writer_is_gone

    @property
    def known_end(self) -> int:
        """Index behind the last message that was read."""
        return self._waiting[-1].index + 1 if self._waiting else self.covered

    def next_range(self) -> SealedRange | None:
        """The next sealed range; None when the gate stops here, and then `decision` says why."""
        while True:
            self._fill()
            pairing = pair(self._waiting)
            tokens = shown_tokens(self._waiting, pairing)
            found = self._seal(pairing, tokens)
            if found.end or not self._more_follows:
                break
            self._fill_chars *= 2  # one turn is larger than all that is here
        decision = gate(
            Circumstances(
                manual=self._manual,
                new_messages=len(self._waiting),
                seal=found,
                still_writing=self.is_written_to,
                batch_tokens=self._batch_tokens,
            )
        )
        if decision is None:
            return self._take(found, tokens[: found.end])
        self.decision = decision
        return None

    def _fill(self) -> None:
        chars = sum(map(_chars, self._waiting))
        new: list[Message] = []
        while self._more_follows and chars < self._fill_chars:
            message = next(self._source, None)
            if message is None:
                self._more_follows = False
                break
            new.append(message)
            self._points.append(self.reading.point)
            chars += _chars(message)
        # The last message that was here is looked at again: a secret can be split over two.
        beside = self._waiting[-1:]
        redacted, _ = redact_messages([*beside, *new])
        self._waiting[len(self._waiting) - len(beside) :] = redacted
        self._mark_rewound()

    def _mark_rewound(self) -> None:
        """What the person went back behind stays in the file, and out of the main line."""
        for start, end in self.reading.rewound:
            for at, message in enumerate(self._waiting):
                if start <= message.index < end and not message.sidechain:
                    self._waiting[at] = replace(message, sidechain=True)

    def _seal(self, pairing: Pairing, tokens: Sequence[int]) -> Seal:
        return seal(
            self._waiting,
            tokens,
            pairing,
            keep_recent_tokens=self.limits.keep_recent_tokens,
            max_tokens=self.limits.range_tokens,
            turn_tokens=self.limits.usable_tokens,
            more_follows=self._more_follows,
            still_writing=self.is_written_to,
        )

    def _take(self, found: Seal, tokens: Sequence[int]) -> SealedRange:
        messages = tuple(self._waiting[: found.end])
        del self._waiting[: found.end]
        points = [self._points.popleft() for _ in messages]
        start, self.covered = messages[0].index, messages[-1].index + 1
        restarted, self._restarted = self._restarted, None
        return SealedRange(
            start=start,
            messages=messages,
            seal=found,
            tidied=tidy(messages, pair(messages), tokens),
            info=self.info,
            skipped=self.reading.skipped,
            restarted=restarted,
            chain=self._chain,
            point=points[-1],
        )


def messages_between(messages: Iterable[Message], start: int, end: int) -> Iterator[Message]:
    """Those with the indexes [start, end), of messages in file order."""
    behind_start = dropwhile(lambda message: message.index < start, messages)
    return takewhile(lambda message: message.index < end, behind_start)


def _chars(message: Message) -> int:
    result = len(message.tool_result.text) if message.tool_result else 0
    return len(message.text) + result + sum(len(call.arguments) for call in message.tool_calls)
