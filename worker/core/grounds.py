"""What a summary is judged against: who wrote which message, what it says, and which strings exist at all.

Built once per judgement and asked often, so it reads each message at most once and only when somebody cites it.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime

from worker.core.asserting import grave_words
from worker.core.clauses import banned, contrasted, forbidden_actions, meaning_stems
from worker.core.deciding import decisions, memories
from worker.core.drafting import draft, draft_errors
from worker.core.failures import tells_failure
from worker.core.identifiers import contains_identifier
from worker.core.items import items_of, words_of
from worker.core.language import language_of
from worker.core.ledger import Ledger
from worker.core.looking import acting_messages
from worker.core.messages import Message, Origin, ToolResult
from worker.core.outcomes import Outcome, outcomes_of
from worker.core.rules import forbids
from worker.core.summary import Item, Memory, MemoryKind, Problem, Summary, with_id
from worker.core.toolkit import concepts_seen
from worker.core.turning import negates
from worker.core.wording import content_words, identifiers, sentences

_WORD = re.compile(r"[^\W_]+")

TOLD_SHARE = 1 / 3
"""Of a text's content words, that must stand somewhere in what it tells about; a true one has nearly all of them."""

OPENING_WORDS = 8
"""By so many first words a person's sentence is known, also where what was told of it was cut short."""

RUN_SHARE = 2 / 3
"""Of a command's words, that must stand in the call or the result that is cited for it."""

SHARED_WORDS = 2
"""Content words that an item and what it cites must share when they share no identifier; fewer in short items."""


SHOWN_SHARE = 0.6
"""Of a fact's words, that must stand in what it cites. True facts of a large model have 0.7 and more of them there."""

FEWEST_JUDGED = 4
FEWEST_DIGITS = 3
"""Of a number in running words that must stand somewhere: a smaller one may have been counted."""
_DATE = re.compile(r"\b(?:19|20)\d\d(?:-\d\d(?:-\d\d)?)?\b(?![.,]?\d)")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")
_DELETES = re.compile(
    r"(?<![a-z])(?:rm|rmdir|unlink|del|mv|trash|shred|clean)(?![a-z])|delet|remov|rename|move", re.IGNORECASE
)
_DENIES = re.compile(
    r"\W{0,3}(?:(?:no|nope|nah|not|wrong|nein|non)\b|don['’]t\b|[不没沒错錯]|いいえ|違)", re.IGNORECASE
)
"""What a person denies stands before their words as what they answer, and is not shown by them."""

_COMPOUND = re.compile(r"\b[A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)+\b")
_LONG_NUMBER = re.compile(r"(?<![\w.:-])\d[\d,.]*\d(?![\w:-])")
"""One that stands by itself: not in a name, a hash, a time or the mark of a secret."""


class Grounds:
    """The messages of a range, its ledger, and what the chain knew before.

    of_part: the messages are a part of the range. A part need not repeat what was known before: the join keeps that,
    and a part that did would bring back what an earlier part ended.
    """

    def __init__(
        self, messages: Sequence[Message], ledger: Ledger, previous: Summary | None, *, of_part: bool = False
    ) -> None:
        self.of_part = of_part
        self.messages = messages
        self.ledger = ledger
        self.previous = previous or Summary()
        self._by_id = {message.id: message for message in messages}
        self._folded: dict[str, str] = {}
        self._supported: dict[str, bool] = {}
        self._sought_of: dict[str, tuple[list[str], list[str]]] = {}
        self._everything: str | None = None
        self._old_words: str | None = None
        self._words: str | None = None
        self._printed: str | None = None
        self._decided: tuple[Problem, ...] | None = None
        self._put_right: tuple[Memory, ...] | None = None
        self._acting: dict[str, tuple[str, ...]] | None = None
        self._outcomes: list[Outcome] | None = None
        self.before = {item.id: item for _, item in items_of(self.previous)}
        self.human = {message.id: message.text for message in messages if message.is_human and message.text}
        for said in (*self.previous.user_messages, *ledger.user_messages):
            self.human.setdefault(said.id, said.text)
        self._answers = {
            said.id: said.answers for said in (*self.previous.user_messages, *ledger.user_messages) if said.answers
        }
        results = [message.tool_result for message in messages if message.tool_result]
        self._results = {result.call_id: result for result in results}
        self._calls = {call.id: call for message in messages for call in message.tool_calls}
        self.tools = frozenset(call.name for call in self._calls.values())
        self._all_shown: str | None = None
        self._language: str | None = None
        self._spoken: str | None = None
        self._packed: str | None = None
        self._said: str | None = None
        self._bans: list[tuple[str, ...]] | None = None
        self._contrasts: list[tuple[str, frozenset[str], frozenset[str]]] | None = None
        self._forbidden: list[tuple[str, ...]] | None = None
        self._grave: dict[str, list[tuple[Origin, str]]] | None = None
        self._plain: str | None = None
        self._succeeded = {result.call_id for result in results if not result.is_error and not result.exit_code}
        self._written_by_code = {words_of(item) for item in _items_of_ledger(ledger)}
        self._known = self._by_id.keys() | self.human.keys() | self._cited_before()

    def _cited_before(self) -> set[str]:
        return {one for item in self.before.values() for one in item.evidence}

    def knows(self, message_id: str) -> bool:
        return message_id in self._known

    def has(self, message_id: str) -> bool:
        """True when the message itself is at hand, not only known to exist."""
        return message_id in self._by_id

    def is_of(self, message_id: str, *origins: Origin) -> bool:
        message = self._by_id.get(message_id)
        if message is None:
            return Origin.HUMAN in origins and message_id in self.human
        return message.origin in origins

    def shows(self, message_id: str) -> bool:
        """True for more than the assistant's word: a person's, a tool's, or a call that came back without an error."""
        if self.is_of(message_id, Origin.HUMAN, Origin.TOOL):
            return True
        message = self._by_id.get(message_id)
        return message is not None and any(call.id in self._succeeded for call in message.tool_calls)

    def results(self, message_id: str) -> list[ToolResult]:
        """What a message shows of tools: its own result, or the results of its calls."""
        message = self._by_id.get(message_id)
        if message is None:
            return []
        of_calls = [self._results[call.id] for call in message.tool_calls if call.id in self._results]
        return [message.tool_result] if message.tool_result else of_calls

    def shown(self, message_id: str) -> str:
        """What a message shows beyond the assistant's word, in one case: a person's text, calls and their results."""
        message = self._by_id.get(message_id)
        if message is None or message.is_human:
            text = self.human.get(message_id, "")
            return text.casefold() if _DENIES.match(text) else self.folded(message_id)
        asked = message.tool_result and self._calls.get(message.tool_result.call_id)
        calls = [asked] if asked else message.tool_calls
        said = [f"{call.name} {call.arguments}" for call in calls]
        return _unescaped("\n".join([*said, *(result.text for result in self.results(message_id))])).casefold()

    def shows_enough(self, text: str, cited: Sequence[str]) -> bool:
        """False when most words of a statement, or one of its numbers, stand in nothing that it cites.

        True for one that is too short to be judged, or in another language than what tools print. In Chinese, Japanese
        and the like most of its pairs of signs must stand there; where all that is shown is Latin, a name or a number.
        """
        names = _names_in(text)
        shown = "\n".join(map(self.shown, cited))
        plain = without_commas(shown)
        if any(number not in plain for number in numbers_of(text)):
            return False
        if not _is_latin(text):
            return _shows_abroad(text, shown)
        if len(names) < FEWEST_JUDGED or not _is_latin(shown) or self._is_foreign_talk():
            return True
        return sum(name in shown for name in names) >= len(names) * SHOWN_SHARE

    def is_judged(self, text: str) -> bool:
        """True for a text that `shows_enough` can say no to by its words."""
        if not _is_latin(text):
            return len(meaning_stems(text)) >= FEWEST_JUDGED
        return len(_names_in(text)) >= FEWEST_JUDGED and not self._is_foreign_talk()

    def _is_foreign_talk(self) -> bool:
        if self._language is None:
            self._language = language_of(self.human.values()) or "English"
        return self._language != "English"

    def _shown_range(self) -> str:
        if self._all_shown is None:
            self._all_shown = "\n".join(self.shown(message.id) for message in self.messages)
        return self._all_shown

    def said_at(self, message_id: str) -> datetime | None:
        message = self._by_id.get(message_id)
        return message.timestamp if message else None

    def answered_by(self, message_id: str) -> str | None:
        """The lines that a short human message points at."""
        answers = self._answers.get(message_id)
        return answers.excerpt if answers else None

    def is_settled(self, item: Item) -> bool:
        """True for what code wrote from the ledger, and for what was judged when an earlier checkpoint was made."""
        return self.is_unchanged(item) or words_of(item) in self._written_by_code

    def is_unchanged(self, item: Item) -> bool:
        """True for an item that stands as it stood in the state."""
        old = self.before.get(item.id)
        return old is not None and words_of(old) == words_of(item) and set(item.evidence) <= set(old.evidence)

    def folded(self, message_id: str) -> str:
        """Everything that a message says, calls and results included, in one case; "" for one not at hand."""
        if message_id not in self._folded:
            message = self._by_id.get(message_id)
            said = "\n".join(_said(message)) if message else self.human.get(message_id, "")
            self._folded[message_id] = f"{_unescaped(said)}\n{self.answered_by(message_id) or ''}".casefold()
        return self._folded[message_id]

    def holds(self, value: str, cited: Sequence[str]) -> bool:
        """True when the exact string stands in the cited messages, the range, or what was known before.

        Of "call/", which may be half of "call/function", the name is asked for.
        """
        folded = value.casefold().rstrip("/") or value
        if any(_stands_in(self.folded(one), folded) for one in cited):
            return True
        return _stands_in(self._known_words(), folded) or _stands_in(self._whole_range(), folded)

    def _known_words(self) -> str:
        if self._old_words is None:
            known = [words_of(item) for item in self.before.values()]
            known += [self.previous.request, self.previous.current_work, *self.human.values()]
            known += [one.value for one in self.ledger.identifiers]
            known += [words_of(item) for item in (*self.ledger.tasks, *self.ledger.files, *self.ledger.constraints)]
            self._old_words = "\n".join(known).casefold()
        return self._old_words

    def _whole_range(self) -> str:
        if self._everything is None:
            self._everything = "\n".join(self.folded(message.id) for message in self.messages)
        return self._everything

    @property
    def chars(self) -> int:
        """How much the range says."""
        return sum(len(piece) for message in self.messages for piece in _said(message))

    def said_before(self, message_id: str) -> str:
        """The assistant's last text before a message, "" when there is none in that turn, or no message."""
        at = next((at for at, message in enumerate(self.messages) if message.id == message_id), 0)
        for message in reversed(self.messages[:at]):
            if message.is_human:
                return ""
            if message.origin is Origin.ASSISTANT and message.text.strip():
                return message.text
        return ""

    def spoken_in(self, message_id: str) -> str:
        """What a person or the assistant says in a message, with the lines that a short answer points at."""
        message = self._by_id.get(message_id)
        text = message.text if message else self.human.get(message_id, "")
        return f"{text}\n{self.answered_by(message_id) or ''}"

    def spoken(self) -> str:
        """Everything that people and the assistant say, or that was known before, in one case: no calls, no output."""
        if self._spoken is None:
            said = [one.text for one in self.messages if one.origin in (Origin.ASSISTANT, Origin.SUMMARY)]
            self._spoken = "\n".join([*said, *self.human.values(), self._known_words()]).casefold()
        return self._spoken

    def sentences_with(self, grave: str) -> list[tuple[Origin, str]]:
        """What people and the assistant say with one of `asserting.grave_words`: sentences, and who says each."""
        if self._grave is None:
            self._grave = {}
            for origin, text in self._spoken_texts():
                for words in sentences(text):
                    for found in grave_words(words):
                        self._grave.setdefault(found, []).append((origin, words))
        return self._grave.get(grave, [])

    def _spoken_texts(self) -> Iterator[tuple[Origin, str]]:
        yield from ((one.origin, one.text) for one in self.messages if one.origin in (Origin.ASSISTANT, Origin.SUMMARY))
        yield from ((Origin.HUMAN, text) for text in self.human.values())
        yield from ((Origin.SUMMARY, words_of(item)) for item in self.before.values())

    def forbidden(self) -> list[tuple[str, ...]]:
        """What people forbid, as `clauses.forbidden_actions` gives it."""
        if self._forbidden is None:
            said = (words for text in self.human.values() for words in sentences(text) if forbids(words))
            self._forbidden = list(dict.fromkeys(action for words in said for action in forbidden_actions(words)))
        return self._forbidden

    def bans(self) -> list[tuple[str, ...]]:
        """What people forbid to do, as `clauses.banned` gives it."""
        if self._bans is None:
            said = (words for text in self.human.values() for words in sentences(text) if forbids(words))
            self._bans = list(dict.fromkeys(ban for words in said for ban in banned(words)))
        return self._bans

    def contrasts(self) -> list[tuple[str, frozenset[str], frozenset[str]]]:
        """The sentences in which people say what is so and what is not, as `clauses.contrasted` gives it."""
        if self._contrasts is None:
            said = (words for text in self.human.values() for words in sentences(text) if negates(words))
            self._contrasts = [(words, *found) for words in said if (found := contrasted(words)) is not None]
        return self._contrasts

    def has_said(self, words: str) -> bool:
        """True for words of a person, of the draft, or of a text that was judged for an earlier checkpoint."""
        if self._said is None:
            told = draft(self.ledger, self.messages)
            known = (self.previous.request, self.previous.current_work, told.request, told.current_work)
            self._said = _in_words("\n".join([*known, *self.human.values()]))
        return _in_words(words) in self._said

    def packed(self) -> str:
        """The range without white space, for what was copied with other line breaks."""
        if self._packed is None:
            self._packed = "".join(self._whole_range().split())
        return self._packed

    def next_words_of_person(self, index: int) -> str | None:
        """What a person says next behind a message; None when nobody does."""
        return next((one.text for one in self.messages if one.index > index and one.is_human and one.text), None)

    def numbers_a_ticket(self, value: str) -> bool:
        """True for "#112" where the range speaks of ".../pull/112" or "PR 112"."""
        number = value.rpartition("#")[2]
        if "#" not in value or not number.isdigit():
            return False
        named = rf"(?:#|pulls?/|issues?/|merge_requests/|\b(?:prs?|mrs?|pull request|issue|ticket)[ -]#?){number}\b"
        return any(re.search(named, text) for text in (self._whole_range(), self._known_words()))

    def is_in_script_of_people(self, text: str) -> bool:
        return _is_latin(text) is _is_latin("\n".join(self.human.values()) or self.spoken())

    def is_in_script_of_range(self, text: str) -> bool:
        return _is_latin(text) is _is_latin(self._whole_range())

    def holds_words(self, words: str) -> bool:
        """True when the words stand in the range or in what was known before, in whatever case."""
        folded = words.casefold()
        return folded in self._known_words() or folded in self._whole_range()

    def says(self, words: str) -> bool:
        """True when these words stand in the range in this order, whatever is between them but other words."""
        if self._words is None:
            self._words = " ".join(_WORD.findall(self._whole_range()))
        return " ".join(_WORD.findall(words.casefold())) in self._words

    def supports(self, text: str) -> bool:
        """False when hardly a content word of the text stands in the range or in what was known before.

        True for a text that is too short to be judged, or in another script than the range.
        """
        if text not in self._supported:
            self._supported[text] = self._is_told(text)
        return self._supported[text]

    def _is_told(self, text: str) -> bool:
        # Asked in the order in which most is found soon: in what people said, then from the newest message backwards.
        known, said = self._known_words(), self._whole_range()
        is_latin = _is_latin(text)
        stems = [stem for stem in _stems(text) if stem.isascii() is is_latin]
        if len(stems) <= SHARED_WORDS or is_latin is not _is_latin(said or known):
            return True
        return sum(stem in known or said.rfind(stem) >= 0 for stem in stems) >= len(stems) * TOLD_SHARE

    def invented_numbers(self, text: str) -> list[str]:
        """The numbers of a text that stand nowhere in the range, and were not known before."""
        told = [number for number in numbers_of(text) if len(number) >= FEWEST_DIGITS]
        return [number for number in told if not (self._is_known(number) or self._is_in_range(number))]

    def _is_known(self, number: str) -> bool:
        known = self._known_words()
        return number in known or number in without_commas(known)

    def _is_in_range(self, number: str) -> bool:
        """Looked for as it stands first: the range without commas is a second copy of it."""
        if number in self._whole_range():
            return True
        if self._plain is None:
            self._plain = without_commas(self._whole_range())
        return number in self._plain

    def foreign(self, text: str, *, of_person: bool = False) -> list[str]:
        """The content words of a text that nothing shows: no person, no tool, not what was known before.

        A text in another script than the range (of_person: than what people said) may be a translation: then only the
        Latin words inside a text of Chinese, Japanese or the like are judged, which are names and terms.
        """
        known, said = self._known_words(), self._shown_range()
        read = "\n".join(self.human.values()) if of_person else said
        is_latin, range_is_latin = _is_latin(text), _is_latin(read or said or known)
        return [
            stem
            for stem in meaning_stems(text)
            if (not is_latin if stem.isascii() is not range_is_latin else True)
            and (stem.isascii() or not range_is_latin)
            and stem not in known
            and stem not in said
        ]

    def decided(self) -> tuple[Problem, ...]:
        """What people decided in the range, as code reads it."""
        if self._decided is None:
            self._decided = decisions(self.ledger.user_messages)
        return self._decided

    def put_right(self) -> tuple[Memory, ...]:
        """What people put right in the range, as code reads it."""
        if self._put_right is None:
            said = memories(self.ledger.user_messages)
            self._put_right = tuple(one for one in said if one.kind is MemoryKind.CORRECTION)
        return self._put_right

    def turn_up_to(self, message_id: str) -> list[str]:
        """The messages from the person's last one up to this one; none for a message that is not at hand."""
        at = next((at for at, message in enumerate(self.messages) if message.id == message_id), -1)
        begin = next((start for start in range(at, -1, -1) if self.messages[start].is_human), 0)
        return [message.id for message in self.messages[begin : at + 1]]

    def holds_most(self, command: str, message_id: str) -> bool:
        """True when most words of a command stand in a message: a description of a run, and not another run."""
        text, stems = self.folded(message_id), _stems(command)
        return sum(stem in text for stem in stems) >= len(stems) * RUN_SHARE

    def acted(self, message_id: str) -> tuple[str, ...]:
        """The messages of the calls that did something there and succeeded; none for what only looked."""
        if self._acting is None:
            acting = acting_messages(self.messages)
            self._acting = {one: acts for one, acts in acting.items() if not self._tells_failure(acts)}
        return self._acting.get(message_id, ())

    def outcomes(self) -> list[Outcome]:
        """The calls of the range with what they came to, in order."""
        if self._outcomes is None:
            self._outcomes = outcomes_of(self.messages)
        return self._outcomes

    def _tells_failure(self, acts: Sequence[str]) -> bool:
        return any(tells_failure(result) for one in acts for result in self.results(one))

    def is_deletion(self, name: str) -> bool:
        """True when a call of the range speaks of deleting or moving and names the file."""
        asked = (f"{call.name} {call.arguments}" for call in self._calls.values())
        return any(name in words and _DELETES.search(words) for words in asked)

    def is_named_by_act(self, name: str) -> bool:
        """True when a call that did something, or what came of it, names the file; and in a range without calls."""
        if not self._calls:
            return True
        folded = name.casefold()
        return any(folded in self.folded(act) for one in self.messages for act in self.acted(one.id))

    def is_only_printed(self, words: str) -> bool:
        """True for words that stand in tool output in this order, and that neither a person nor the assistant wrote."""
        wanted = _in_words(words)
        opening = " ".join(wanted.split()[:OPENING_WORDS])
        if not wanted or any(opening in _in_words(text) for text in self.human.values()):
            return False
        if self._printed is None:
            self._printed = _in_words("\n".join(one.tool_result.text for one in self.messages if one.tool_result))
        said = (message.text for message in self.messages if message.origin is Origin.ASSISTANT)
        return wanted in self._printed and not any(wanted in _in_words(text) for text in said)

    def support(self, item: Item, message_id: str) -> int:
        """How much a message speaks of an item: 10 for each shared identifier, 1 for each shared content word."""
        text, (values, stems) = self.folded(message_id), self._sought(words_of(item))
        named = sum(10 for value in values if _stands_in(text, value))
        return named + sum(1 for stem in stems if stem in text)

    def _sought(self, words: str) -> tuple[list[str], list[str]]:
        """The identifiers and the stems of an item's words; every message of a range may be asked for them."""
        if words not in self._sought_of:
            self._sought_of[words] = [value.casefold() for value in identifiers(words)], _stems(words)
        return self._sought_of[words]

    def needed(self, item: Item) -> int:
        """The support from which a citation counts; 0 for an item too short to be judged by its words."""
        return min(SHARED_WORDS, len(_stems(words_of(item))) // 2)

    def can_judge(self, item: Item, cited: Sequence[str]) -> bool:
        """False when a cited message is not at hand, or the item is in another script than everything it cites."""
        if not cited or not all(self.has(one) for one in cited):
            return False
        item_is_latin = _is_latin(words_of(item))
        return any(_is_latin(self.folded(one)) is item_is_latin for one in cited)


SHOWN_ABROAD = 0.6
"""Of the pairs of signs of a fact; the endings of two ways to say the same share fewer pairs than words."""


def _shows_abroad(text: str, shown: str) -> bool:
    stems = meaning_stems(text)
    signs = [stem for stem in stems if not stem.isascii()]
    if len(signs) < SHARED_WORDS:
        return True
    if not any(not _is_latin(line) for line in shown.splitlines()):
        marks = [stem for stem in stems if stem.isascii() and len(stem) > 1]
        return any(mark in shown for mark in marks)
    return sum(stem in shown for stem in signs) >= len(signs) * SHOWN_ABROAD


def _names_in(text: str) -> list[str]:
    """What a text names, each once: words by their stems, and a name of several words ("billing-wal-eu") whole."""
    compounds = _COMPOUND.findall(text.casefold())
    return list(dict.fromkeys([*compounds, *_stems(_COMPOUND.sub(" ", text))]))


def numbers_of(text: str) -> list[str]:
    """The numbers of two digits and more without their commas; no dates and years, which may have been written out."""
    return _LONG_NUMBER.findall(without_commas(_DATE.sub(" ", text)))


def without_commas(text: str) -> str:
    """The text with "1,190" as "1190"."""
    return _THOUSANDS.sub("", text)


def _in_words(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))


def _items_of_ledger(ledger: Ledger) -> Iterator[Item]:
    yield from draft_errors(ledger.failures)
    yield from concepts_seen(ledger)
    yield from (with_id(one) for one in (*ledger.tasks, *ledger.constraints))
    yield from (with_id(one) for one in (*ledger.files, *ledger.references, *ledger.checks))


def _said(message: Message) -> Iterator[str]:
    yield message.text
    for call in message.tool_calls:
        yield f"{call.id} {call.name} {call.arguments}"
    if message.tool_result is not None:
        yield message.tool_result.text
    for attachment in message.attachments:
        yield f"{attachment.kind} {attachment.name or ''}"


def _unescaped(text: str) -> str:
    """The text, and behind it the text without JSON escapes: in "\\nsrc/a.py" the path would else begin with an n."""
    if "\\" not in text:
        return text
    plain = text.replace("\\\\", "\\").replace('\\"', '"').replace("\\n", "\n").replace("\\t", "\t").replace("\\/", "/")
    return f"{text}\n{plain}"


def _stands_in(text: str, value: str) -> bool:
    """A git hash may be shortened from the right; anything else stands there whole."""
    if value not in text:
        return False
    return contains_identifier(text, value) or (len(value) >= 7 and _is_hash(value) and _starts_a_hash(text, value))


def _is_hash(value: str) -> bool:
    return all(sign in "0123456789abcdef" for sign in value)


def _starts_a_hash(text: str, value: str) -> bool:
    """True when a longer run of hex digits begins with the value; the first group of a UUID is no such run."""
    at = text.find(value)
    while at >= 0:
        end = at + len(value)
        while end < len(text) and end - at < 64 and _is_hash(text[end]):
            end += 1
        if not (at and text[at - 1].isalnum()) and text[end : end + 1] != "-" and end - at > len(value):
            return True
        at = text.find(value, at + 1)
    return False


def _stems(text: str) -> list[str]:
    return list(dict.fromkeys(word[:5] if word.isascii() else word for word in content_words(text)))


def _is_latin(text: str) -> bool:
    sample = text[:2_000]
    if sample.isascii():
        return True
    return sum(1 for sign in sample if sign.isalpha() and ord(sign) < 0x250) * 2 >= sum(map(str.isalpha, sample))
