"""What did not go on and why, what was found wrong and what was done about it, what was kept beside."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from worker.core.checkpoint import Checkpoint, Finding
from worker.core.items import items_of
from worker.core.summary import Artifact, Item
from worker.reporting.citing import Citing
from worker.reporting.counting import file_size
from worker.reporting.page import Checked, Entry, Kept, LeftOut
from worker.reporting.quoting import cut

MAX_PLACES = 8
PREVIEW_CHARS = 1_200
"""As `afterturn show` writes them, and enough for `afterturn artifact`."""

_SKIPPED = {
    "harness_block": "reminders, IDE context and command output that stood inside messages: no person wrote them",
    "progress": "progress rows of running tools; their results are messages of their own",
    "file-history-snapshot": "backups of files that the agent's program took",
    "queue-operation": "the program's own queue of prompts",
    "system": "notes of the agent's program about itself",
    "duplicate_row": "rows that stand in the file twice",
    "repeated_message": "messages that a later request repeated",
    "queued_prompt_again": "prompts that waited in a queue and stand in the file again as messages",
    "malformed_message": "rows that claim to be messages and hold none",
    "malformed_attachment": "attachment rows that hold none",
    "attachment": "rows about hooks and the IDE",
    "unknown_role": "rows whose role no format knows",
    "unknown_row": "rows of a kind that is not known",
    "unknown_block": "blocks of a kind that is not known",
    "not_a_message": "rows that are no messages",
    "not_json": "lines that are no JSON",
    "not_an_object": "lines that hold no object",
    "row_too_long": "lines longer than AFTERTURN_MAX_ROW_BYTES",
    "unfinished_last_row": "a last line that its writer never finished",
    "mended_row": "lines that were damaged and could be read all the same",
}
_SAVED = {
    "offloaded": ("Large tool outputs", "kept whole as artifacts; the summary saw a preview"),
    "superseded": ("Outdated reads and searches", "a later read of the same file, or a later search, says it newer"),
    "progress": ("Repeated progress lines", "folded into one line each"),
    "harness": ("The agent program's own notes", "true for one request only"),
    "sidechains": ("Sub-agents and branches taken back", "no part of the main line"),
}
FINDINGS = {
    "section_missing": ("A text was missing", "told from the ledger"),
    "section_blank": ("A text said nothing", "told from the ledger"),
    "constraint_miscited": ("A rule that cites another message than the person's", "the person's message is cited"),
    "constraint_doubled": ("A rule that another one tells with more", "told once"),
    "text_foreign": ("A text in a language that the people do not use", "told from the ledger"),
    "request_unspoken": ("A request about something that nobody spoke of", "told from the ledger"),
    "work_unfinished": ("Work was called finished while something was open", "told from the ledger"),
    "task_missing": ("A task of the ledger was missing", "put back"),
    "task_invented": ("A task id that nobody wrote", "the id was taken away"),
    "task_promoted": ("A task was called done without evidence", "set back"),
    "constraint_missing": ("A rule of the ledger was missing", "put back"),
    "constraint_weakened": ("A rule was turned into background", "written as the person said it"),
    "constraint_unsourced": ("A rule that no person said", "not made a rule"),
    "constraint_lifted_unsourced": ("A rule was to end without a person's words", "it stays in force"),
    "evidence_unknown": ("Cites a message that does not exist", "the citation was taken away"),
    "evidence_runs_on": ("Cites a whole stretch of messages", "those that say it are cited"),
    "evidence_unsupported": ("Cites messages that say nothing of it", "cited better, or taken out"),
    "fact_without_evidence": ("A fact that no tool and no person showed", "made an unverified claim"),
    "statement_turned": ("A statement that turns round what it cites", "told in the person's words, or as a claim"),
    "decision_unsourced": ("A person's decision that no person made", "made an unverified claim"),
    "leave_unsourced": ("Leave that nobody gave", "taken out"),
    "success_denied": ("Called done, passed or sent, and the session shows otherwise", "taken out"),
    "order_of_tool": ("An order that only tool output gives", "taken out"),
    "value_denied": ("What a person said is not so", "taken out"),
    "request_unasked": ("A request that nobody made", "taken out"),
    "name_unsaid": ("A person whom nobody names", "taken out"),
    "number_unseen": ("A number, version or name that stands nowhere", "made a claim that says so, or taken out"),
    "task_unasked": ("A task that nobody asked for", "made an unverified claim"),
    "task_reworded": ("A known task in words of another one", "told as it was known"),
    "task_doubled": ("A task that is known under its id", "told once, as it is known"),
    "order_mistaken": (
        "A person's order or correction told as a task or an error",
        "taken out; it stands as it was said",
    ),
    "error_doubled": ("A failure of the ledger in other words", "told once"),
    "error_miscited": ("An error that another message shows than the cited one", "the message that shows it is cited"),
    "error_unseen": ("An error that nothing shows", "made an unverified claim"),
    "note_unseen": ("A note or a snippet of what stands nowhere", "taken out"),
    "said_too_often": ("More made of a message than it says", "what is too much was taken out"),
    "change_unknown_id": ("A change to an item that is not there", "not made"),
    "change_invalid": ("A change that does not hold together", "not made"),
    "change_mixes_kinds": ("A change that mixes kinds of items", "not made"),
    "next_step_unasked": ("A next step that nobody asked for", "taken out"),
    "task_reopened": ("A task that a person ended was open again", "ended as they said"),
    "reference_unusable": ("A sentence or a tool's name where a link, commit or path belongs", "taken out"),
    "quote_not_verbatim": ("A quotation that nobody said so", "quoted as it was said, or left out"),
    "identifier_invented": ("A name, hash or path that the transcript does not hold", "taken out"),
    "identifier_lost": ("Exact names, hashes or links were missing", "put back"),
    "file_missing": ("Files that were written were missing", "put back"),
    "file_change_unseen": ("A file change that no call made", "set to what was seen"),
    "fix_unseen": ("An error was called fixed without evidence", "unresolved again"),
    "check_unseen": ("A check was called passed against its result", "told as the result says"),
    "order_against_rule": ("An order that a rule in force forbids", "the rule is told with it"),
    "quote_cut_short": ("A quotation that stops before it forbids", "quoted whole"),
    "error_missing": ("A failure of the ledger was missing", "put back"),
    "decision_missing": ("A person's decision was missing", "put back"),
    "correction_missing": ("A person's correction was missing", "put back"),
    "memory_unsourced": ("A memory that no person said so", "told in the person's words, or not remembered"),
    "template_echo": ("The answer repeated the question's example", "not used"),
    "reference_unresolved": ("Points at a list without saying what is meant", "kept, named here"),
    "reference_of_tool": ("The name of a tool, told as a reference", "taken out"),
    "relative_date": ("A day named from where the speaker stood", "kept, named here"),
    "instruction_in_summary": ("Text that gives orders to its reader", "disarmed"),
    "secret": ("A secret", "replaced by a placeholder"),
    "inflated": ("Longer than what it summarizes", ""),
    "over_budget": ("More than the state may hold", "the least useful items moved to HISTORY.md"),
    "part_degraded": ("A part without a usable answer", "told by the ledger alone"),
    "no_usable_answer": ("No usable answer came", "told by the ledger alone"),
    "model_unavailable": ("The model could not be reached", "told by the ledger alone"),
    "merge_unavailable": ("The model did not merge", "joined by code"),
    "prompt_too_long": ("The question did not fit the model's window", "asked in smaller shares"),
    "source_restarted": ("The transcript began anew", "a new chain was begun; what was known is kept"),
}
"""What each code means to a reader, and what became of it."""

DEGRADED_CODES = frozenset({"part_degraded", "no_usable_answer", "model_unavailable", "prompt_too_long"})


def saved_entries(savings: Mapping[str, int]) -> Iterator[LeftOut]:
    """One per step that saved tokens before anything was summarized, most first."""
    for step, tokens in sorted(savings.items(), key=lambda each: -each[1]):
        what, why = _SAVED.get(step, (step.replace("_", " ").capitalize(), "not shown to the model"))
        if tokens > 0:
            yield LeftOut(what=what, amount=f"{tokens:,} tokens", why=why, code=step)


def skipped_entries(skipped: Mapping[str, int], *, is_exact: bool) -> Iterator[LeftOut]:
    """One per reason, most first. is_exact: False when the transcript cannot be counted again."""
    for reason, count in sorted(skipped.items(), key=lambda each: -each[1]):
        about = _SKIPPED.get(reason, "rows that are no messages of the session")
        amount = f"{'' if is_exact else 'at least '}{count:,}"
        yield LeftOut(
            what=reason.replace("_", " ").replace("-", " ").capitalize(), amount=amount, why=about, code=reason
        )


def skipped_in(chain: Sequence[Checkpoint]) -> dict[str, int]:
    """What the checkpoints know of skipped rows: each counts from where its run began, so the most is the least."""
    most: dict[str, int] = {}
    for checkpoint in chain:
        for reason, count in checkpoint.skipped.items():
            most[reason] = max(count, most.get(reason, 0))
    return most


def moved_entry(chain: Sequence[Checkpoint], made: Callable[[Item], Entry]) -> LeftOut | None:
    """The items that outgrew the state."""
    moved = [made(item) for one in chain for _, item in items_of(one.moved)]
    if not moved:
        return None
    return LeftOut(
        what="Items that outgrew the state",
        amount=f"{len(moved):,} {'item' if len(moved) == 1 else 'items'}",
        why="the least useful and oldest; they stand in HISTORY.md",
        code="moved",
        entries=tuple(moved),
    )


def unshown_entry(left_out: Mapping[str, int], budget_tokens: int) -> LeftOut | None:
    """What a rendering within the budget does not show; the checkpoint and this page do."""
    if not left_out:
        return None
    named = ", ".join(f"{count:,} {kind}" for kind, count in sorted(left_out.items()))
    return LeftOut(
        what="Not in the short form",
        amount=named,
        why=f"'afterturn show' keeps within {budget_tokens:,} tokens; the checkpoint and this page have all of it",
        code="budget",
    )


def checked(chain: Sequence[Checkpoint]) -> tuple[Checked, ...]:
    """The findings of all checkpoints by code: those that still stand first, then the most frequent."""
    found: dict[str, list[tuple[int, Finding]]] = {}
    for checkpoint in chain:
        for finding in checkpoint.validation.findings:
            found.setdefault(finding.code, []).append((checkpoint.number, finding))
    rows = [_checked(code, places, several=len(chain) > 1) for code, places in found.items()]
    return tuple(sorted(rows, key=lambda row: (-row.standing, -row.settled, row.code)))


def _checked(code: str, places: Sequence[tuple[int, Finding]], *, several: bool) -> Checked:
    meaning, done = FINDINGS.get(code, (code.replace("_", " ").capitalize(), ""))
    settled = sum(finding.mended for _, finding in places)
    named = [_place(number, finding, several=several) for number, finding in places]
    more = len(named) - MAX_PLACES
    return Checked(
        code=code,
        meaning=meaning,
        settled=settled,
        standing=len(places) - settled,
        places=(*named[:MAX_PLACES], *([f"and {more:,} more"] if more > 0 else [])),
        done=done,
    )


def _place(number: int, finding: Finding, *, several: bool) -> str:
    pieces = [
        f"checkpoint {number}" if several else "",
        finding.where.replace("_", " "),
        ", ".join(finding.ids[:6]) + ("…" if len(finding.ids) > 6 else ""),
        cut(finding.detail, 240)[0],
    ]
    return " · ".join(filter(None, pieces))


def degraded_parts(chain: Sequence[Checkpoint]) -> int:
    """How many parts or whole checkpoints were told by the ledger for want of an answer."""
    codes = Counter(finding.code for one in chain for finding in one.validation.findings)
    return codes["part_degraded"] or sum(codes[code] > 0 for code in DEGRADED_CODES)


def kept(artifacts: Sequence[Artifact], citing: Citing) -> tuple[Kept, ...]:
    """The artifacts, in the order of the transcript."""
    return tuple(
        Kept(
            handle=artifact.name,
            what=" ".join(filter(None, [artifact.tool, artifact.call])) or "tool output",
            size=file_size(artifact.size),
            lines=artifact.lines,
            cites=citing.cites([artifact.message]),
            preview=cut(artifact.preview.partition("\n")[2], PREVIEW_CHARS)[0],
        )
        for artifact in artifacts
    )
