"""The reading side: the messages of an agent's next request, from its transcript and from what is remembered of it.

    repair pairs → estimate → unchanged → old outputs moved out → checkpoint and tail → window

Nothing is asked of a model and the transcript is only read. What a view replaces it repeats in every later one, byte
for byte (`core.decisions`), so that a provider's prompt cache keeps hitting; `View.prefix_kept` says whether it does.

What the session said goes out as it was said, secrets included: the provider has seen it, and an agent that is handed
a placeholder writes the placeholder into a file. What is stored or comes from a store (the memory page, moved outputs,
archives, restored files) is redacted.
"""

import hashlib
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args

import orjson

from worker.adapters.sessions import FileCheckpoints
from worker.adapters.view_file import Kept, ViewFile
from worker.config import Settings
from worker.consolidate import find_chain
from worker.core.decisions import Lane, Notice, Sent, lane_name
from worker.core.dialects import anthropic_messages, as_text, openai_messages, units, with_cache_marks
from worker.core.handover import BEGINS_INSIDE, changed_notice
from worker.core.material import shorten
from worker.core.messages import Message, Origin, Role, range_sha256
from worker.core.sending import Row, rows_of, settled, system_row
from worker.core.session_key import session_key
from worker.core.tokens import estimate_tokens
from worker.core.touched import newest_touched
from worker.core.viewing import Budget, budget_for, moved_out, stretch_of, with_replacements
from worker.errors import SessionBusy, StorageUnavailable, StoreError, UsageError
from worker.log import log_event
from worker.restoring import changed_since
from worker.transcripts import open_transcript
from worker.view_base import Baser, Strategy, ViewedSession, messages_of
from worker.wiring import find_session, ground_of, load_chain

FORCED_SHARE = 0.7
SMALLEST_BUDGET = 1_000
"""A forced view is no smaller than this: then it is not the length that the provider objects to."""

SMALLEST_WINDOW = 1_000
TRIES = 3
"""How often a view is made again because another process settled something in the meantime."""

SHOWN_HEAD_CHARS = 6_000
SHOWN_TAIL_CHARS = 1_000

Format = Literal["openai", "anthropic"]
Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """The next request.

    messages: in the provider's shape. system: Anthropic's system blocks; None for OpenAI, where they are messages.
    outcome: unchanged, micro_compacted (old outputs moved out), checkpoint, window, archive.
    tokens_before: of the whole session; tokens_after: of this view; budget: what it may have. over_budget: why it has
    more, None when it has not. prefix_kept: whether the last view of this kind is the beginning of this one.
    sources: tokens of the view by who wrote them (`core.usage`; "memory" and "files" are ours). savings: by step.
    """

    messages: list[Json]
    system: list[Json] | None
    outcome: str
    tokens_before: int
    tokens_after: int
    budget: int
    over_budget: str | None = None
    prefix_kept: bool = True
    sources: dict[str, int] = field(default_factory=dict)
    savings: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def as_object(self) -> Json:
        """The documented object of `afterturn view --json`."""
        return {name: getattr(self, name) for name in self.__slots__}

    def as_lines(self) -> list[str]:
        """What a person reads: the account of the view, then its messages, long ones with their middle left out."""
        told = f"{self.outcome.replace('_', ' ')}: {self.tokens_before:,} → {self.tokens_after:,} tokens"
        lines = [f"{told} of {self.budget:,}", *(f"  {note}" for note in self.notes)]
        lines += [f"  over the budget: {self.over_budget}"] if self.over_budget else []
        whole = [{"role": "system", "content": self.system}] if self.system else []
        texts = [as_text(message) for message in [*whole, *self.messages]]
        return [*lines, *("\n" + shorten(text, SHOWN_HEAD_CHARS, SHOWN_TAIL_CHARS) for text in texts)]


def view(
    transcript: Path | str,
    *,
    window: int,
    format: Format = "openai",  # noqa: A002 - the word that everybody expects
    strategy: Strategy = "summarize",
    force: bool = False,
    cache_marks: bool = False,
    settings: Settings | None = None,
) -> View:
    """The messages of the next request of a session, within `window` tokens less the reserve for the answer.

    transcript: a transcript's path, or the name of a session that is kept. force: the provider said "prompt too long"
    to the last view: this one is smaller, and stays so; said twice of the same messages it changes nothing.
    cache_marks: Anthropic's, behind the static part and on the last message.
    The same session and the same record of decisions give the same bytes.

    Raises: TranscriptError, UsageError for a session that nobody knows. What cannot be stored is a note, no error.
    """
    settings = settings or Settings.from_env(os.environ)
    wish = Wish(window=window, format_name=format, strategy=strategy, force=force, cache_marks=cache_marks)
    return make_view(transcript, wish, settings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What is asked for, as `view` takes it. keep: False writes nothing, neither decisions nor moved outputs."""

    window: int
    format_name: Format = "openai"
    strategy: Strategy = "summarize"
    force: bool = False
    cache_marks: bool = False
    keep: bool = True

    def __post_init__(self) -> None:
        if self.window < SMALLEST_WINDOW:
            raise UsageError(f"window: {self.window:,} tokens; name the model's window, at least {SMALLEST_WINDOW:,}")
        if self.format_name not in get_args(Format) or self.strategy not in get_args(Strategy):
            raise UsageError(f"{self.format_name}, {self.strategy}: known are {get_args(Format)}, {get_args(Strategy)}")

    @property
    def lane(self) -> str:
        return lane_name(self.window, self.format_name, self.strategy)


def make_view(transcript: Path | str, wish: Wish, settings: Settings) -> View:
    """`view` for a wish."""
    session = find_viewed(settings, transcript)
    file = ViewFile(session.root, session.key)
    for _ in range(TRIES):
        kept = file.load()
        maker = _Maker(session, file, kept, wish, settings)
        made = maker.make()
        if not wish.keep or _stored(file, kept, wish.lane, maker):
            break
    else:
        maker.notes.append(f"{file.path}: other processes kept writing; what this view settled was not kept")
    return _marked(replace(made, notes=maker.notes), wish)


def find_viewed(settings: Settings, named: Path | str) -> ViewedSession:
    """The session of a transcript, or of a name under which one is kept.

    Raises: TranscriptError, UsageError when there is no such file and no such session.
    """
    path = Path(named)
    if not path.is_file():
        place, key = find_session(settings, str(named))
        newest = load_chain(place, key)[-1]
        transcript = open_transcript(Path(newest.session.source), max_row_bytes=settings.max_row_bytes)
        return ViewedSession(transcript=transcript, root=place.root, key=key, newest=newest)
    transcript = open_transcript(path, max_row_bytes=settings.max_row_bytes)
    root = ground_of(settings).place_of_transcript(path, transcript.info.cwd).root
    try:
        session, found = find_chain(transcript, FileCheckpoints(root))
    except StoreError as exc:
        key = session_key(transcript.info.agent, transcript.info.session_id)
        return ViewedSession(transcript=transcript, root=root, key=key, newest=None, damage=str(exc))
    return ViewedSession(transcript=transcript, root=root, key=session.key, newest=found)


def _stored(file: ViewFile, kept: Kept, name: str, maker: "_Maker") -> bool:
    """False when another process was faster. A disk that takes nothing costs a prompt cache, not the view."""
    try:
        return file.store(kept.decisions.with_lane(name, maker.lane), kept)
    except (StorageUnavailable, StoreError, SessionBusy) as exc:
        maker.notes.append(f"what this view settled was not kept: {exc}")
        return True


def _marked(made: View, wish: Wish) -> View:
    if not wish.cache_marks:
        return made
    if made.system is None:
        return replace(made, notes=[*made.notes, "cache marks are Anthropic's; OpenAI finds prefixes by itself"])
    system, messages = with_cache_marks(made.system, made.messages)
    return replace(made, system=system, messages=messages)


class _Maker:
    """One view in the making. lane: what is settled, as it is to be kept; notes: what is to be told about the view."""

    def __init__(self, session: ViewedSession, file: ViewFile, kept: Kept, wish: Wish, settings: Settings) -> None:
        self.lane = kept.decisions.lanes.get(wish.lane, Lane())
        self.notes: list[str] = [kept.problem] if kept.problem else []
        self._session = session
        self._wish = wish
        self._settings = settings
        self._baser = Baser(session=session, file=file, strategy=wish.strategy, keep=wish.keep, notes=self.notes)
        self._messages: list[Message] = []
        self._rows: list[Row] = []
        self._sizes: list[int] = []

    def make(self) -> View:
        last = self.lane.sent
        self._read()
        refused_again = self._shrink() if self._wish.force else None
        budget = self._budget(self.lane.share)
        if self._tokens > budget.total:
            self._make_room(budget)
        told = len(self.notes)
        is_anthropic = self._wish.format_name == "anthropic"
        system, messages = anthropic_messages(self._rows) if is_anthropic else (None, openai_messages(self._rows))
        pieces = [*(("system", block) for block in system or ()), *units(messages)]
        prefix_kept = last is None or _digest(pieces[: last.units]) == last.units_sha256
        if not prefix_kept:
            why = "" if told else "; messages that were sent are no longer part of the session"
            self.notes.append(f"the last view is not the beginning of this one: a prompt cache misses once{why}")
        self.lane = replace(self.lane, sent=_sent(self._messages, pieces))
        log_event("view_made", session=self._session.key, outcome=_outcome(self.lane), tokens=self._tokens)
        return View(
            messages=messages,
            system=system,
            outcome=_outcome(self.lane),
            tokens_before=self._tokens_before(),
            tokens_after=self._tokens,
            budget=budget.total,
            over_budget=refused_again or self._excess(budget),
            prefix_kept=prefix_kept,
            sources=self._sources(),
            savings=self.lane.savings,
        )

    @property
    def _tokens(self) -> int:
        return sum(self._sizes)

    def _budget(self, share: float) -> Budget:
        reserve, show = self._settings.reserve_tokens, self._settings.show_tokens
        return budget_for(self._wish.window, reserve_tokens=reserve, show_tokens=show, share=share)

    # Reading.

    def _read(self) -> None:
        """The messages that the record of decisions begins with; all of them when it does not fit the file."""
        lane = self.lane
        reading = self._session.transcript.read(lane.base.start)
        messages = messages_of(reading)
        reason = reading.restarted if lane.base.start else None
        if reason is None and lane.sent is not None and not _is_known(messages, lane.sent):
            reason = "what was sent before has been changed in the file"
        if reason is not None:
            self.notes.append(f"began anew: {reason}")
            self.lane = lane = Lane(share=lane.share)
            messages = messages_of(self._session.transcript.read())
        if lane.sent is not None:
            sealed = settled(messages, lane.sent.end, lane.sealed)
            self.lane = replace(lane, late=tuple(sorted(sealed.late)), breaks=tuple(sorted(sealed.breaks)))
        self._messages = messages
        self._look_at_files()
        self._line_up()

    def _look_at_files(self) -> None:
        """Files of the memory that somebody changed since: said once, behind the newest message, and there for good.

        What the session itself did to a file stands in the messages that are shown.
        """
        cwd = self._session.cwd
        if cwd is None or not self.lane.files or not self._messages:
            return
        changed = changed_since(Path(cwd), self.lane.files)
        if not changed:
            return
        own = {one.path for one in newest_touched(self._messages, cwd, most=len(self._messages))}
        told = [path for path in changed if path not in own]
        notice = Notice(after=self._messages[-1].index, text=changed_notice(told))
        notices = (*self.lane.notices, notice) if told else self.lane.notices
        self.lane = replace(self.lane, files={**self.lane.files, **changed}, notices=notices)

    def _with_notices(self) -> list[Message]:
        said: dict[int, list[Message]] = {}
        for notice in self.lane.notices:
            said.setdefault(notice.after, []).append(
                Message(index=notice.after, role=Role.USER, origin=Origin.HARNESS, text=notice.text)
            )
        return [each for message in self._messages for each in (message, *said.get(message.index, ()))]

    def _line_up(self) -> None:
        """System messages first, then what stands for older messages, then the newest ones."""
        before = [system_row(message) for message in self._system_before() if message.text.strip()]
        rows = rows_of(with_replacements(self._with_notices(), self.lane.replaced), self.lane.sealed)
        leading = next((at for at, row in enumerate(rows) if row.role is not Role.SYSTEM), len(rows))
        head = "\n\n".join(block.text for block in self.lane.base.head)
        if not head and leading < len(rows) and rows[leading].role is not Role.USER:
            head = BEGINS_INSIDE
        memory = [Row(role=Role.USER, text=head, source="memory")] if head else []
        self._rows = [*before, *rows[:leading], *memory, *rows[leading:]]
        self._sizes = [row.tokens for row in self._rows]

    def _system_before(self) -> list[Message]:
        """System messages are never left out, wherever the messages begin that are shown."""
        wanted = self.lane.base.system_rows
        if wanted == 0:
            return []
        read = zip(range(wanted), self._session.transcript.read(), strict=False)
        return [message for _, message in read if message.role is Role.SYSTEM and not message.sidechain]

    # Forcing.

    def _shrink(self) -> str | None:
        """A smaller budget, once per state of the session; the reason when there is no smaller one.

        A provider that refuses the smaller view too is not asked for ever.
        """
        end = self._messages[-1].index + 1 if self._messages else 0
        if self.lane.forced_at == end:
            return "a smaller view was made of these messages already; shorten the newest one or use a larger window"
        whole = self._budget(1.0).total
        wanted = int(min(whole * self.lane.share, self._tokens) * FORCED_SHARE)
        if wanted < SMALLEST_BUDGET:
            return f"{self._tokens:,} tokens are too few to be what the provider refused"
        self.lane = replace(self.lane, share=wanted / whole, forced_at=end)
        self.notes.append(f"forced: from now on views of this session have {wanted:,} tokens at most")
        return None

    # Making room.

    def _make_room(self, budget: Budget) -> None:
        if self._wish.strategy != "summarize" or not self._move_out(budget):
            rebased = self._baser.rebase(self.lane, budget)
            self.lane, self._messages = rebased.lane, rebased.messages
        self._line_up()

    def _move_out(self, budget: Budget) -> bool:
        """Whether moving old outputs out made room enough; nothing is changed when not."""
        stretch = stretch_of(self._messages, self.lane.replaced)
        others = self._tokens - sum(stretch.tokens())
        step = moved_out(stretch, others=others, budget=budget)
        if step is None:
            return False
        if not self._baser.store(step.offloads):
            step = moved_out(replace(stretch, keeps=False), others=others, budget=budget) or step
        count = len(step.replaced) - len(stretch.replaced)
        self.notes.append(f"{count} old tool output{'s' if count != 1 else ''} moved out at once to make room")
        self.lane = replace(self.lane, replaced=step.replaced)
        return True

    # What is told about it.

    def _tokens_before(self) -> int:
        moved = sum(one.saved for one in self.lane.replaced.values())
        shown = sum(size for row, size in zip(self._rows, self._sizes, strict=True) if row.source != "memory")
        return self.lane.base.left_out_tokens + shown + moved

    def _sources(self) -> dict[str, int]:
        """They add up to the view; of our own words the files are told apart."""
        counted: Counter[str] = Counter()
        for row, size in zip(self._rows, self._sizes, strict=True):
            counted[row.source] += size
        files = sum(estimate_tokens(block.text) for block in self.lane.base.head if block.kind == "files")
        counted.update({"files": files, "memory": -files})
        return {source: tokens for source, tokens in counted.most_common() if tokens > 0}

    def _excess(self, budget: Budget) -> str | None:
        if self._tokens <= budget.total:
            return None
        sized = [*zip(self._rows, self._sizes, strict=True)]
        system = sum(size for row, size in sized if row.role is Role.SYSTEM)
        row, size = max(((row, size) for row, size in sized if row.role is not Role.SYSTEM), key=lambda one: one[1])
        largest = {"people": "the newest message of the person", "memory": "the memory page"}
        what = largest.get(row.source, "the largest message of the newest call and its results")
        told = f"the system messages have {system:,}" if system > size else f"{what} has {size:,}"
        return f"{self._tokens:,} tokens where {budget.total:,} fit: {told}"


def _outcome(lane: Lane) -> str:
    if lane.base.kind != "whole":
        return lane.base.kind
    return "micro_compacted" if lane.replaced else "unchanged"


def _is_known(messages: Sequence[Message], sent: Sent) -> bool:
    return range_sha256(message for message in messages if message.index < sent.end) == sent.sha256


def _sent(messages: Sequence[Message], pieces: Sequence[object]) -> Sent:
    end = messages[-1].index + 1 if messages else 0
    return Sent(end=end, sha256=range_sha256(messages), units=len(pieces), units_sha256=_digest(pieces))


def _digest(pieces: Sequence[object]) -> str:
    return hashlib.sha256(orjson.dumps(list(pieces))).hexdigest()
