"""What stands in the place of a session's older messages once they no longer fit: the base of the views that follow.

A base is made once and repeated: the memory page, the files as they were read, the words around them. All of it is
redacted, because it is kept. Making one looks at the whole session again, so that a newer checkpoint is found.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from worker.adapters.sessions import FileArtifacts, FileCheckpoints
from worker.adapters.view_file import ViewFile
from worker.core.checkpoint import Checkpoint, Cursor
from worker.core.decisions import Base, HeadBlock, Lane
from worker.core.handover import (
    OPENING,
    FileShown,
    LeftOut,
    archive_note,
    boundary,
    facts_block,
    files_block,
    memory_block,
    window_note,
)
from worker.core.material import shown
from worker.core.messages import Message, Role
from worker.core.offloading import Offload
from worker.core.pairing import opens_turn
from worker.core.secrets import redact
from worker.core.sending import message_tokens
from worker.core.tokens import estimate_tokens
from worker.core.touched import newest_touched, seen_whole
from worker.core.view_page import memory_page
from worker.core.viewing import AROUND_TOKENS, Budget, Step, Stretch, newest_kept, stretch_of
from worker.errors import StorageUnavailable, StoreError
from worker.restoring import restore_files
from worker.transcripts import Reading, Transcript, cursor_behind
from worker.wiring import joined

Strategy = Literal["summarize", "truncate", "archive"]

SMALLEST_ROOM_SHARE = 0.2
FILL_SHARE = 0.75
"""Of the budget, how much a new base and the messages behind it take: the rest is for the requests to come."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewedSession:
    """root: the workspace. newest: its newest checkpoint, None for none; damage: why its chain cannot be used."""

    transcript: Transcript
    root: Path
    key: str
    newest: Checkpoint | None
    damage: str | None = None

    @property
    def cwd(self) -> str | None:
        return self.transcript.info.cwd


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebased:
    """The lane with its new base and the messages that it shows. notes: what is to be told about it."""

    lane: Lane
    messages: list[Message]
    notes: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """The session as it is looked at anew.

    messages: with the indexes of the checkpoint, which are those of the file unless it was rewritten; then they begin
    behind it, and `ahead` are the file's messages before. covered: the position behind what the checkpoint tells.
    """

    checkpoint: Checkpoint | None
    stretch: Stretch
    covered: int = 0
    ahead: tuple[Message, ...] = ()

    @property
    def messages(self) -> tuple[Message, ...]:
        return self.stretch.messages

    @property
    def redacted(self) -> tuple[Message, ...]:
        return self.stretch.redacted

    @property
    def is_behind_the_file(self) -> bool:
        """Whether the checkpoint tells of messages that are not among these."""
        return self.checkpoint is not None and self.covered == 0

    def untold(self, start: int) -> tuple[Message, ...]:
        """What neither the checkpoint nor the messages from `start` on tell."""
        return self.redacted[min(self.covered, start) : start] if start > self.covered else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Baser:
    """Makes a base. file: the session's record. keep: whether anything may be written."""

    session: ViewedSession
    file: ViewFile
    strategy: Strategy
    keep: bool
    notes: list[str] = field(default_factory=list)

    def rebase(self, lane: Lane, budget: Budget) -> Rebased:
        """The lane with older messages replaced, as many as have to be."""
        known = self._known()
        step = self._step(known, budget)
        before = known.messages[: step.start]
        if not before and not known.is_behind_the_file:
            whole = Lane(replaced=step.replaced, share=lane.share, forced_at=lane.forced_at)
            return Rebased(lane=whole, messages=list(known.messages), notes=self.notes)
        files = self._files(known, step.start, budget)
        base = Base(
            kind=self._kind(known),
            start=self._cursor(known, before),
            head=self._head(known, step.start, budget, files),
            system_rows=_system_rows([*known.ahead, *before]),
            checkpoint=known.checkpoint.number if known.checkpoint else None,
            left_out_tokens=sum(map(message_tokens, known.ahead)) + sum(known.stretch.sizes[: step.start]),
        )
        self._tell(known, before)
        new = Lane(
            base=base,
            replaced=step.replaced,
            files={file.path: file.sha256 for file in files if file.text is not None},
            share=lane.share,
            forced_at=lane.forced_at,
        )
        # As every later view will read them: a reader that goes on may know less of what came before.
        behind = messages_of(self.session.transcript.read(base.start))
        return Rebased(lane=new, messages=behind, notes=self.notes)

    def store(self, offloads: Sequence[Offload]) -> bool:
        """False when an output could not be kept; then nothing may refer to it."""
        if not self.keep:
            return True
        artifacts = FileArtifacts(self.session.root)
        try:
            for one in offloads:
                artifacts.put(self.session.key, one.text, one.artifact)
        except (StorageUnavailable, StoreError) as exc:
            self.notes.append(f"outputs could not be stored: {exc}")
            return False
        return True

    # What is known.

    def _known(self) -> _Known:
        whole = messages_of(self.session.transcript.read())
        checkpoint = self._checkpoint()
        if checkpoint is not None:
            anchors = checkpoint.cursor.anchors
            if checkpoint.covered <= len(whole) and anchors and whole[checkpoint.covered - 1].digest == anchors[-1]:
                return _known_from(whole, checkpoint=checkpoint, covered=checkpoint.covered)
            reading = self.session.transcript.read(checkpoint.cursor)
            if reading.restarted is None:
                behind = messages_of(reading)
                return _known_from(behind, checkpoint=checkpoint, ahead=tuple(whole[: len(whole) - len(behind)]))
            self.notes.append(f"checkpoint {checkpoint.number} was not used: {reading.restarted}")
        return _known_from(whole)

    def _checkpoint(self) -> Checkpoint | None:
        """The newest one, joined with its chain; None when there is none, or none that can be read."""
        session = self.session
        if self.strategy != "summarize":
            return None
        if session.damage:
            self.notes.append(f"no checkpoint was used: {session.damage}")
        if session.newest is None:
            return None
        try:
            return joined(FileCheckpoints(session.root).chain(session.key))
        except StoreError as exc:
            self.notes.append(f"no checkpoint was used: {exc}")
            return None

    # What stays.

    def _step(self, known: _Known, budget: Budget) -> Step:
        system = [one for one in [*known.ahead, *known.messages] if one.role is Role.SYSTEM and not one.sidechain]
        request = _newest_request(known.messages)
        told = budget.page + (budget.files if self._has_files() else 0) if self.strategy == "summarize" else 0
        beside = sum(map(message_tokens, system)) + told + AROUND_TOKENS
        beside += estimate_tokens(request.text) if request else 0
        room = max(int(budget.total * FILL_SHARE) - beside, int(budget.total * SMALLEST_ROOM_SHARE))
        step = self._newest_kept(known.stretch, known, room, budget)
        if not self.store(step.offloads):
            step = self._newest_kept(replace(known.stretch, keeps=False), known, room, budget)
        return step

    def _newest_kept(self, stretch: Stretch, known: _Known, room: int, budget: Budget) -> Step:
        moves_old = self.strategy == "summarize"
        earliest = known.covered if known.checkpoint else 0
        return newest_kept(stretch, earliest=earliest, room=room, recent=min(budget.recent, room), moves_old=moves_old)

    def _has_files(self) -> bool:
        return self.session.cwd is not None and Path(self.session.cwd).is_dir()

    # What stands in the place of the rest.

    def _kind(self, known: _Known) -> str:
        if known.checkpoint is not None:
            return "checkpoint"
        return "archive" if self.strategy == "archive" else "window"

    def _cursor(self, known: _Known, before: Sequence[Message]) -> Cursor | None:
        """Where the shown messages begin, with what a reader has to know to go on there."""
        if not before:
            return known.checkpoint.cursor if known.checkpoint else None
        reading = self.session.transcript.read()
        deque(zip(range(len(known.ahead) + len(before)), reading, strict=False), maxlen=0)
        return cursor_behind(before, self.session.transcript.info, reading.point)

    def _head(self, known: _Known, start: int, budget: Budget, files: Sequence[FileShown]) -> tuple[HeadBlock, ...]:
        request = self._request(known, start)
        left_out = _left_out(known, start)
        if self.strategy == "truncate":
            return (HeadBlock(kind="note", text=window_note(left_out, request)),)
        if self.strategy == "archive":
            return (HeadBlock(kind="note", text=self._archived(known, start, left_out, request)),)
        page = memory_page(
            known.checkpoint,
            known.untold(start),
            session=self.session.key,
            cwd=self.session.cwd,
            budget_tokens=budget.page,
        )
        blocks = (
            HeadBlock(kind="note", text=OPENING),
            HeadBlock(kind="memory", text=memory_block(page, self.session.key)),
            HeadBlock(kind="memory", text=redact(facts_block(known.redacted))),
            HeadBlock(kind="files", text=files_block(files)),
            HeadBlock(kind="note", text=boundary(covered=left_out.last, request=request)),
        )
        return tuple(block for block in blocks if block.text)

    def _request(self, known: _Known, start: int) -> str | None:
        """The newest request, when the messages that are shown do not hold it."""
        newest = _newest_request(known.messages)
        if newest is not None:
            is_shown = any(message is newest for message in known.messages[start:])
            return None if is_shown else redact(newest.text)
        said = known.checkpoint.summary.user_messages if known.checkpoint else ()
        return said[-1].text if said else None

    def _files(self, known: _Known, start: int, budget: Budget) -> list[FileShown]:
        """The files that the older messages worked on last, unless the messages that are shown hold them whole."""
        cwd = self.session.cwd
        if cwd is None or self.strategy != "summarize":
            return []
        held = seen_whole(known.messages[start:], cwd)
        touched = [one for one in newest_touched(known.messages[:start], cwd) if one.path not in held]
        return restore_files(Path(cwd), touched, budget_tokens=budget.files)

    def _archived(self, known: _Known, start: int, left_out: LeftOut, request: str | None) -> str:
        pages = [text for message in known.redacted[:start] if (text := shown(message))]
        name, text = f"{left_out.first}-{left_out.last}", "\n\n".join(pages) + "\n"
        try:
            path = self.file.archive(name, text) if self.keep else self.file.archive_path(name, text)
        except (StorageUnavailable, StoreError) as exc:
            self.notes.append(f"older messages could not be written to a file: {exc}")
            return window_note(left_out, request)
        return archive_note(left_out, str(path), request)

    def _tell(self, known: _Known, before: Sequence[Message]) -> None:
        if known.checkpoint is not None:
            self.notes.append(f"checkpoint {known.checkpoint.number} stands in the place of older messages")
        elif self.strategy == "archive":
            self.notes.append(f"{len(before):,} older messages stand in a file")
        elif self.strategy == "truncate":
            self.notes.append(f"{len(before):,} older messages were left out")
        else:
            self.notes.append(f"no checkpoint: {len(before):,} older messages are told by code alone")


def messages_of(reading: Reading) -> list[Message]:
    """All of them; those that the person went back behind are marked as no part of the main line."""
    messages = list(reading)
    rewound = [*reading.rewound]
    if not rewound:
        return messages
    return [
        replace(message, sidechain=True) if any(start <= message.index < end for start, end in rewound) else message
        for message in messages
    ]


def _known_from(
    messages: Sequence[Message],
    *,
    checkpoint: Checkpoint | None = None,
    covered: int = 0,
    ahead: tuple[Message, ...] = (),
) -> _Known:
    return _Known(checkpoint=checkpoint, stretch=stretch_of(messages), covered=covered, ahead=ahead)


def _newest_request(messages: Sequence[Message]) -> Message | None:
    return next((message for message in reversed(messages) if opens_turn(message)), None)


def _left_out(known: _Known, start: int) -> LeftOut:
    """The ids of the checkpoint's numbering, which is that of the messages."""
    before = known.messages[:start]
    covered = known.checkpoint.covered if known.checkpoint else 0
    last = before[-1].id if before else f"m{max(covered - 1, 0)}"
    first = "m0" if known.ahead or not before else before[0].id
    count = sum(not message.sidechain for message in [*known.ahead, *before])
    return LeftOut(count=count, first=first, last=last)


def _system_rows(messages: Sequence[Message]) -> int:
    """How many messages of the file have to be read to have met all of its system messages among these."""
    return max((at + 1 for at, message in enumerate(messages) if message.role is Role.SYSTEM), default=0)
