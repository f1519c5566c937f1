"""Is what a sentence asserts founded in the session: leave by a person, work by what was done, results by what was run?

Running text cites nothing, so it is judged by the sentence against the whole range. The cues are in `asserting`, what
items cite is judged in `sourcing`.
"""

import re
from collections.abc import Iterable, Iterator

from worker.core.asserting import (
    asserts_done,
    asserts_leave,
    grave_words,
    names_in,
    people_in,
    proposes,
    who_gave_leave,
    without_done,
    without_leave,
)
from worker.core.clauses import is_careful, meaning_stems
from worker.core.grounds import Grounds
from worker.core.items import is_written_id, newest_evidence
from worker.core.ledger import still_running
from worker.core.messages import Message, Origin, ToolCall, message_index
from worker.core.rules import done_in, forbids, is_hard
from worker.core.summary import CheckResult, Task
from worker.core.wording import identifiers, sentences

SHARED_STEMS = 2
TOLD_BY_TOOLS = 0.6
"""Of an order's words, that stand in tool output, when people's own words hold less than half of them."""

_GRANTS = re.compile(
    r"\b(?:you (?:can|may)|go ahead|do (?:it|that|so)|please do|feel free|i (?:approve|agree|accept)|"
    r"(?:ok|okay|fine|happy|good) (?:to|for|with|by)|lgtm|approved?|agreed|ship it|sign(?:ed)? off)\b"
    r"|可以|同意|批准|允许|承認|許可|いいよ|お願い|どうぞ|進めて",
    re.IGNORECASE,
)
_ACCEPTS = re.compile(
    r"(?i)\W*(?:yes|yep|yeah|yup|y|ok(?:ay)?|sure|fine|good|great|nice|agreed?|correct|exactly|perfect|approved?|lgtm|"
    r"go|do it|please do|sounds|looks|both|all|ja|oui|sí|sim|да|是的?|对|好的?|可以|行|はい|うん|お願い|いいね)(?!\w)"
)
_REFUSES = re.compile(r"(?i)\W*(?:no|nope|nah|nein|non|not|don['’]t|不|不要|不用|别|いいえ|нет)(?!\w)")
_SPEAKS_OF_LEAVE = re.compile(r"(?i)\b(?:approv|authori|permi|consent|agree|sign)|批准|同意|授权|许可|承認|許可|了承")
_SAYS_NO = re.compile(r"(?i)\b(?:not|never|no)\b|n['’]t\b|[不没沒未]|ない|なく|ません")
_OF_PEOPLE = re.compile(
    r"(?i)\b(?:user|human|person|they|he|she|we|client|customer|it|by|also|already|now)\b|用户|ユーザー"
)
_MATTERS = re.compile(r"(?i)\b(?:plans?|approach\w*|proposals?|designs?|options?|chang\w*|steps?|list|fix\w*|items?)\b")
"""What nearly every leave is given for: to share none of these words with the exchange shows nothing."""

_TEST = re.compile(
    r"(?i)\b(?:tests?|test suite|suite|checks?|build|lint|ci|type ?check)\b|测试|构建|テスト|ビルド|検査"
)
_RUNS_TEST = re.compile(r"(?i)(?:test|check|build|lint|clippy|vet|jest|tox|mypy|ruff|spec)")
_ORDERS = re.compile(
    r"(?i)\b(?:has to|have to|needs? to|must|always|never|at once|immediately|right away|from now on)\b"
    r"|必须|务必|必ず|直ちに"
)


def unfounded_leave(sentence: str, grounds: Grounds) -> str | None:
    """The clause that says that somebody gave leave which nobody gave, None when there is none."""
    return next((clause for clause in asserts_leave(sentence) if not _is_given(clause, grounds)), None)


def _is_given(clause: str, grounds: Grounds) -> bool:
    bare = _OF_PEOPLE.sub(" ", without_leave(clause))
    subject = set(meaning_stems(_MATTERS.sub(" ", bare)))
    names = set(who_gave_leave(clause))
    if _is_denied_leave(subject, grounds):
        return False
    exchanges = [exchange.casefold() for exchange in _exchanges(grounds)]
    if names:
        exchanges = [one for one in exchanges if all(name.casefold() in one for name in names)]
    if any(not subject or any(stem in exchange for stem in subject) for exchange in exchanges):
        return True
    return bool(names) and any(
        names <= set(names_in(told)) | set(told.split()) and len(subject & set(meaning_stems(told))) * 2 >= len(subject)
        for message in grounds.messages
        for told in sentences(_text_of(message))
        if asserts_leave(told)
    )


def _is_denied_leave(subject: set[str], grounds: Grounds) -> bool:
    """True when a person says of the same that nobody gave leave for it."""
    return any(
        _SPEAKS_OF_LEAVE.search(words) and _SAYS_NO.search(words) and subject & set(meaning_stems(words))
        for text in grounds.human.values()
        if _SPEAKS_OF_LEAVE.search(text)
        for words in sentences(text)
    )


def _exchanges(grounds: Grounds) -> Iterator[str]:
    """What people gave leave to: their own words of leave, and what the assistant said before they agreed."""
    for one, text in grounds.human.items():
        if _ACCEPTS.match(text) and not _REFUSES.match(text):
            yield "\n".join([text, grounds.answered_by(one) or "", grounds.said_before(one)])
        yield from (words for words in sentences(text) if _GRANTS.search(words) and not _SAYS_NO.search(words))


def _text_of(message: Message) -> str:
    return f"{message.text}\n{message.tool_result.text if message.tool_result else ''}"


def denied_success(sentence: str, grounds: Grounds, *, until: int | None = None) -> str | None:
    """What speaks against a sentence that calls something done, passed or sent; None when nothing does.

    until: index of the message up to which the sentence speaks, None for the end of the range.
    """
    if not asserts_done(sentence):
        return None
    return (
        _open_task(sentence, grounds)
        or _running(sentence, grounds)
        or _failed_check(sentence, grounds, until)
        or _grave_deed_unseen(sentence, grounds)
    )


def _open_task(sentence: str, grounds: Grounds) -> str | None:
    known = {task.id: task for task in (*grounds.previous.tasks, *grounds.ledger.tasks) if is_written_id(task)}
    named = [task for value in identifiers(sentence) if (task := known.get(value)) and task.status.is_open]
    return next((f"{task.id} is {task.status}" for task in named if not _was_done(task, grounds)), None)


def _was_done(task: Task, grounds: Grounds) -> bool:
    """A person says so, or calls that did something speak of it: what code cannot know is left to the reader."""
    if any(task.id in words for text in grounds.human.values() for words in done_in(text)):
        return True
    own = set(meaning_stems(task.text.replace(task.id, " ")))
    for message in grounds.messages:
        for act in grounds.acted(message.id):
            text = grounds.folded(act)
            if task.id.casefold() in text or sum(stem in text for stem in own) >= min(SHARED_STEMS, len(own)):
                return True
    return False


def _running(sentence: str, grounds: Grounds) -> str | None:
    said = set(meaning_stems(sentence))
    for process in still_running(grounds.ledger.background):
        if process.id in sentence or len(said & set(meaning_stems(process.text))) >= SHARED_STEMS:
            return f"{process.text or process.id} still runs"
    return None


def _failed_check(sentence: str, grounds: Grounds, until: int | None) -> str | None:
    """The newest run of the tests that the sentence speaks of, where it failed."""
    if not _TEST.search(sentence):
        return None
    runs = [run for run in _runs(grounds) if until is None or run[0] <= until]
    about = [run for run in runs if _is_about(sentence, run[1])]
    specific = set(meaning_stems(_TEST.sub(" ", without_done(sentence)))) - _GENERAL
    newest = max(about or ([] if specific else runs), default=None)
    return f"`{newest[1][:80]}` failed" if newest and not newest[2] else None


_GENERAL = frozenset({"all", "every", "whole", "full", "全部", "所有", "部通", "有测", "now", "again"})

Run = tuple[int, str, bool]
"""Index of the message that shows it, command, whether it passed."""


def _runs(grounds: Grounds) -> list[Run]:
    checks = [one for one in grounds.ledger.checks if one.result is not CheckResult.UNKNOWN]
    runs = [(newest_evidence(one), one.command, one.result is CheckResult.PASSED) for one in checks]
    known = {command for _, command, _ in runs}
    for failure in grounds.ledger.failures:
        if failure.command and failure.command not in known and _RUNS_TEST.search(failure.command):
            shown = [index for one in failure.evidence if (index := message_index(one)) is not None]
            resolved = message_index(failure.resolved_by) if failure.resolved_by else None
            runs.append((resolved or max(shown, default=-1), failure.command, resolved is not None))
    return runs


def _is_about(sentence: str, command: str) -> bool:
    """By the two words that the command begins with, by an identifier of it, else by a word that says which tests."""
    folded, words = sentence.casefold(), command.casefold().split()
    if len(words) > 1 and " ".join(words[:2]) in folded:
        return True
    shared = set(identifiers(sentence)) & {*identifiers(command), *command.split()}
    own = set(meaning_stems(_TEST.sub(" ", without_done(sentence)))) - _GENERAL
    return bool(shared or own & set(meaning_stems(_TEST.sub(" ", command))) - {words[0] if words else ""})


def _grave_deed_unseen(sentence: str, grounds: Grounds) -> str | None:
    """Something sent, paid, deleted … that no call did and nobody reports."""
    own = {stem for stem in meaning_stems(without_done(sentence)) if not grave_words(stem)}
    unseen = [deed for deed in sorted(grave_words(sentence)) if not _is_seen(deed, own, grounds)]
    return f"no call and nobody shows it: {', '.join(unseen)}" if unseen else None


def _is_seen(deed: str, own: set[str], grounds: Grounds) -> bool:
    if any(_tells_of(own, words, origin) for origin, words in grounds.sentences_with(deed)):
        return True
    return any(
        _does(deed, own, call)
        for message in grounds.messages
        if message.tool_calls and grounds.acted(message.id)
        for call in message.tool_calls
    )


def _tells_of(own: set[str], words: str, origin: Origin) -> bool:
    """True for a report: no ban, no question, no proposal, and from a person no order."""
    if forbids(words) or words.endswith(("?", "？")) or proposes(words):
        return False
    is_about = not own or bool(own & set(meaning_stems(words)))
    return is_about and (origin is not Origin.HUMAN or _reports(words))


def _does(deed: str, own: set[str], call: ToolCall) -> bool:
    act = f"{call.name} {call.arguments}".casefold().replace("_", " ")
    if deed == "delet" and _EDITS.search(call.name):  # what is taken out of a file is taken out by an edit
        return not own or any(stem in act for stem in own)
    return deed in grave_words(act) and not _LOOKS.match(act) and (not own or any(stem in act for stem in own))


_EDITS = re.compile(r"(?i)edit|write|patch|replace|update|create")
_LOOKS = re.compile(r"(?:read|get|list|search|fetch|find|view|show|query|look)\b")


_REPORTS = re.compile(r"(?i)\b(?:was|were|has|have|had|i|we)\b|了|した|です")


def _reports(words: str) -> bool:
    """A person's order or question tells of no deed."""
    return _REPORTS.search(words) is not None and not words.endswith(("?", "？")) and not _SAYS_NO.search(words)


def breaks_a_ban(sentence: str, grounds: Grounds) -> str | None:
    """What a sentence tells as done although a person forbade it and no call did it; a breach that happened is told."""
    if is_careful(sentence) or asserts_leave(sentence):
        return None
    said = meaning_stems(sentence)
    for ban in grounds.bans():
        if set(ban) <= set(said) and _DEED.search(sentence) and not _is_done_by_call(ban, grounds):
            return " ".join(ban)
    return None


_DEED = re.compile(r"(?i)\b(?:was|were|has been|have been|got|is|are) (?:\w+ly )?\w+(?:ed|en|t)\b|了|した")


def _is_done_by_call(ban: tuple[str, ...], grounds: Grounds) -> bool:
    acts = (act for message in grounds.messages for act in grounds.acted(message.id))
    return any(all(stem in grounds.folded(act) for stem in ban) for act in acts)


def denied_value(text: str, grounds: Grounds) -> str | None:
    """The sentence in which a person denies a value that the text tells: "5 percent, not 50" and "the 50 percent".

    A text that tells both values says what was put right.
    """
    if _SAYS_NO.search(text):
        return None
    stems = set(meaning_stems(text))
    for sentence, right, wrong in grounds.contrasts():
        if wrong <= stems and right & stems and not right <= stems:
            return sentence
    return None


def ordered_by_tools(sentence: str, grounds: Grounds) -> bool:
    """True for an order whose words tools printed and people hardly said."""
    if not (is_hard(sentence) or _ORDERS.search(sentence) or grave_words(sentence)):
        return False
    if grounds.is_only_printed(sentence):
        return True
    stems = meaning_stems(sentence)
    if len(stems) < SHARED_STEMS + 1:
        return False
    people = "\n".join(grounds.human.values()).casefold()
    by_people = sum(stem in people for stem in stems)
    return by_people * 2 < len(stems) and share_printed(stems, grounds) >= TOLD_BY_TOOLS


def share_printed(stems: Iterable[str], grounds: Grounds) -> float:
    """Of the stems, the most that stand in one tool output."""
    wanted = list(stems)
    counts = (
        sum(stem in text for stem in wanted)
        for message in grounds.messages
        if message.tool_result and (text := message.tool_result.text.casefold())
    )
    return max(counts, default=0) / max(1, len(wanted))


def unsaid_names(text: str, grounds: Grounds) -> list[str]:
    """The people of a text that nobody in the range names and that were not known before."""
    return [name for name in people_in(text) if not grounds.holds_words(name)]
