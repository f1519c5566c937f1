"""What people decided, put right and stated: read from their own sentences, word by word, without a model.

A decision is a choice, an approval, a rejection or a reversal; an order that is simply carried out is a request and no
decision. A correction and a fact must say what is the case, or nobody can use them later. A question is none of these.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from worker.core.answering import is_proposal, labels_of
from worker.core.messages import message_index
from worker.core.prose import sentences
from worker.core.rule_guards import is_idle
from worker.core.summary import Answered, Constraint, Memory, MemoryKind, Problem, ProblemKind, UserMessage, with_id
from worker.core.wording import clip, content_words

DECISIONS = 30
FACTS = 16
MEMORIES = 20
SENTENCE_CHARS = 400
"""How much of each kind there is at most, the newest; a longer sentence is no statement that somebody typed."""

PASTED_CHARS = 3_000
"""A human message beyond this is mostly pasted text, whose sentences are not the person's."""

_FEWEST_CHARS = 8
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""Fewer characters state nothing; a Chinese or Japanese one counts for two."""

_OPTION_CHARS = 140
_NAME_CHARS = 32
_SAID_CHARS = 160
_QUESTION_MARKS = ("?", "？")

_DECIDES = re.compile(
    r"(?i)\b(?:let'?s (?:use|keep|stick|skip|not|leave|stay|call|name|go (?:with|for)|drop|postpone)|"
    r"we(?:'ll| will| should| are going to) (?:use|go|keep|ship|skip|stick|call|move|drop|stay|do)\b|"
    r"go(?:ing)? with|stick with|(?:i|we)(?:'ve| have)? (?:decided?|chose|choose|picked|pick|agreed?|settled)|"
    r"the decision is|approved|settled on|(?:use|do|keep|take|pick|prefer)\b.{1,60}\b(?:rather than|instead of)|"
    r"the (?:plan|deadline|budget) is)\b"
    r"|(?:^|[.,;] )we (?:go with|keep|ship|stick|drop|stay (?:with|on))\b(?! (?:\w+ing|about|around|some|\d)\b)"
    r"|^\W*(?:(?:ok|okay|alright|fine|then|so)\W+){1,3}we (?:take|book|buy|do|use|fly|go)\b"
    r"|^\W*(?:(?:ok|okay|alright|fine|then|so)\W+){0,3}(?:(?!(?:what|how|where|who|why|when|that|think|know|sure"
    r"|if)\b)[\w.-]+ ){1,4}it is\W*$"
    r"|决定(?!不了)|選ぶ|选(?:择|用|了)|采用|就用|还是用|改用|决め|決めま|決めた|に決め(?!てい|られ|かね)|にしよう"
    r"|にします|でいこう|でいきま"
    r"|やっぱり.{1,20}に(?:します|する)"
    r"|\b(?:wir nehmen|ich nehme)\b(?! (?:an|teil)\b)|\b(?:für|gegen)\b.{1,60}\bentschieden\b|^\W*dann (?:eben"
    r"|halt|doch)\b"
)
_REVERSES = re.compile(
    r"(?i)^\W*(?:(?:ok|okay|no|actually|wait|hmm|and|but|so|please|alright)\b[\s,.]+){0,3}"
    r"(?:forget|scrap|drop|cancel|abandon|never ?mind|scratch|revert|undo|no more|no(?= \w)|skip|not"
    r"|don'?t (?:use|do|add"
    r"|need)|leave out)\b(?! (?:problem|worries|idea|need|rush|hurry|one|way|longer|thanks|it|that|this|there|i"
    r"|we|you|luck|clue|sign|news|errors?|changes?|difference|wonder|doubt|more|response|answer)\b)|"
    r"^\W*no[,.!] (?!(?:that|this|it)(?:['’]s| is| was)? (?:not|wrong)\b).{0,80}\b(?:should|we|keep|use|stays?)\b|"
    r"\b(?:on second thought|change of plans?)\b|改成|改为|算了|^不(?:做|要|用|搞|买|去).{1,20}了\W*$|やめて|代わりに"
)
_UNDECIDED = re.compile(
    r"(?i)\b(?:used to|not sure|undecided|(?:have ?n['’]t|has ?n['’]t|not) (?:yet )?(?:decided|chosen|agreed"
    r"|settled))\b"
    r"|^\W*(?:if|wenn|falls)\b|还没|還沒|没有?决定|未定|まだ|noch nicht"
)
_ORDERS_ONLY = re.compile(r"(?i)^\W*(?:don'?t (?:do|need)|not)\b")
_SKIPS = re.compile(r"(?i)\b(?:skip|drop|ignore|leave out|without|except|don'?t do|not)\b|跳过|不要|除了|以外")
_GOES_ON = re.compile(r"(?i)\b(?:the )?(?:rest|others|remaining)\b|其余|剩下|残り")
_REFUSES = re.compile(r"(?i)\W*(?:no|nope|nah|nein|non|不|不要|不用|いいえ|нет)(?!\w)")
_ACCEPTS = re.compile(
    r"(?i)\W*(?:yes|yep|yeah|yup|y|ok(?:ay)?|sure|fine|agreed?|correct|exactly|go (?:ahead|for it)|do (?:it|that"
    r"|so|both"
    r"|all)|please do|sounds? (?:good|great|fine)|lgtm|perfect|approved?|both|all|ja|oui|sí|sim|да|네|是的?|对"
    r"|好的?|可以|行"
    r"|はい|うん|お願い)(?!\w)"
)
_CORRECTS = re.compile(
    r"(?i)^\W*(?:no|nope|wrong|correction|not quite)[,.:!]\s(?!.{0,160}\bshould\b).{0,160}\b(?:is|are|was|were"
    r"|called|named"
    r"|means|lives?|uses?|runs?|has|have)\b|"
    r"^\W*(?:actually\b.{0,120}(?:\b(?:is|are|was|were|use|called|on|at)\b)|i meant\b|i (?:already )?(?:said"
    r"|told you)\b)|"
    r"\b(?:i meant|is not \S+ but|should (?:be|have been) \S+,? not)\b|"
    r"\b(?:is|are|was|at|on|in|port|use|called|named|belongs? to|means)\b[^.!?,;]{1,60}, not [^\s,.;]|"
    r"不对|不是.{1,20}[，,]?(?:而)?是|错了|違う|違います|ではなく|じゃなくて"
)
_VAGUE = re.compile(
    r"(?i)^\W*(?:(?:no|nope|wrong|well|but|and|so)\W+)*(?:it|that|this|they|these|those|there|you|he|she|i)\b"
)
_TOLD_BEFORE = re.compile(r"(?i)^\W*(?:i (?:already )?(?:said|told you)|as i said)\W+(?:that )?")
_PREFERS = re.compile(
    r"(?i)\bi(?:'d)? (?:really |much |strongly |usually |always )?(?:prefer|hate|dislike)\b(?! (?:this|that|it)\b)|"
    r"\bi (?:really )?(?:like|love) (?:my|your|when|to|\w+ing|\w+s)\b|\bi (?:always|usually|never) (?:use|work"
    r"|write|run|"
    r"commit|want|read|deploy|test)\b|\bi don'?t like \w+|"
    r"\bmy (?:preference|preferred|favou?rite|usual)\b|"
    r"\bmy (?:\w+ )?(?:name|user ?name|user|handle|timezone|time zone|email|editor|account|id|pronouns) (?:is|are)\b|"
    r"\bcall me\b|我(?:更?喜欢|偏好|习惯|讨厌|叫)|の方が好き|が好き|好みは"
)
_REMEMBER = re.compile(
    r"(?i)\b(?:remember(?: that| this|:)|for the record|keep in mind|note that|fyi|for future reference|"
    r"make a note|bear in mind)\b|记住|记得|请注意|覚えて|忘れないで"
)
_HOLDS = re.compile(
    r"(?i)\b(?:(?:our|my) (?:[\w'-]+ ){1,4}?(?:is|are|runs?|lives?|uses?|opens?|belongs?|has|needs?|expects?)|"
    r"we (?:only )?(?:run|host|deploy|own|ship|support|serve|store)|"
    r"(?:the )?(?:[\w'-]+ )?(?:team|people|customers?|clients?|department|ops|legal|finance|dba) (?:\w+ )?"
    r"(?:owns?|opens?|uses?|needs?|reads?|runs?|expects?|wants?|opens)|"
    r"the (?:[\w'-]+ ){1,4}?(?:is (?:on|at|in|called|named|due|from)|lives? in|runs? on|stays?|belongs to"
    r"|is owned by))\b|"
    r"(?:服务器|数据库|端口|客户|部署|截止).{0,20}(?:是|在|为)"
)
_LASTS = re.compile(r"(?i)\b(?:our|we|team|people|customers?|clients?|department|ops|legal|finance|dba)\b|是|在")
_LEAD_IN = re.compile(r"(?i)^(?:(?:and|but|so|ok|okay|hmm+|well|alright|also)\b[\s,.:]*){1,3}(?=\w)")
_OPTION_LABEL = re.compile(r"\W{0,4}(\d{1,3}|[A-Za-z])(?:[.):\]]+\s*| – |(?= \())")
_PROPOSED = re.compile(
    r"(?i)^(?:(?:ok|okay|so|now|then|next)\W+)?(?:(?:shall|should|can|may) (?:i|we)|i['’]ll|i will|let me"
    r"|i(?:['’]m going| plan) to"
    r"|(?:(?:do|would) you )?(?:want|like) me to|ready (?:for|to))\s+(?:(?:now|also|then|go ahead and) )?"
)
_EITHER_OR = re.compile(r"(?i)\b(?:or|oder|ou)\b|\w/\w|还是|それとも")
_CLAUSE_END = re.compile(r"[,.;:!?，。；：！？]")
_COMPLAINS = re.compile(
    r"(?i)\b(?:error|fail\w*|broken|bug|wrong|doesn'?t|does not|isn'?t|not working|crash\w*|sucks?|shit|weird"
    r"|stuck|hangs?|"
    r"still|again|seems?|feels?|unfortunate|horrible|screenshot|i (?:think|believe|guess|feel)|maybe|perhaps"
    r"|probably|if"
    r"|when|should|could|can we|why)\b"
)


def decisions(said: Sequence[UserMessage], rules: Sequence[Constraint] = ()) -> tuple[Problem, ...]:
    """What people chose, approved, rejected or reversed; a short answer with the lines that it picks.

    rules: what is told as a constraint is not told again, here and below.
    """
    found: list[Problem] = []
    told = _quotes(rules)
    for message in said:
        choice = _choice(message, message.answers) if message.answers is not None else ""
        if choice and message.answers is not None:
            found.append(_decision(choice, (message.answers.id, message.id)))
        stated = () if choice else _own_sentences(message, told)
        sure = [_as_sentence(words) for words in stated if _is_decision(words)]
        found += [_decision(words, (message.id,)) for words in sure]
    return tuple(map(with_id, _with_reversals(found, said)[-DECISIONS:]))


def facts(said: Sequence[UserMessage], rules: Sequence[Constraint] = ()) -> tuple[Problem, ...]:
    """What people stated as being so, in their words; what is worth a memory stands there."""
    told = _quotes(rules)
    found = [
        Problem(kind=ProblemKind.FACT, text=_as_sentence(words), evidence=(message.id,))
        for message in said
        for words in _own_sentences(message, told)
        if _is_fact(words) and _memory_kind(words) is None
    ]
    return tuple(map(with_id, found[-FACTS:]))


def memories(said: Sequence[UserMessage], rules: Sequence[Constraint] = ()) -> tuple[Memory, ...]:
    """What is worth knowing in another session: corrections, preferences, lasting facts, what they want remembered."""
    told = _quotes(rules)
    found = [
        Memory(kind=kind, text=_as_sentence(_without_order(words)), evidence=(message.id,))
        for message in said
        for words in _own_sentences(message, told)
        if (kind := _memory_kind(words)) is not None
    ]
    return tuple(map(with_id, found[-MEMORIES:]))


def _decision(text: str, cited: tuple[str, ...]) -> Problem:
    return Problem(kind=ProblemKind.DECISION, text=text, evidence=cited)


def _own_sentences(message: UserMessage, told: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Statements of a length that somebody types and a reader takes in, not those of pasted text, and no questions."""
    if len(message.text) > PASTED_CHARS:
        return
    quotes = told.get(message.id, ())
    for words in _statements(message.text):
        if not any(words in quote or quote in words for quote in quotes):
            yield words


def _quotes(rules: Sequence[Constraint]) -> dict[str, list[str]]:
    """What is told as a constraint, by the message it comes from."""
    quotes: dict[str, list[str]] = {}
    for rule in rules:
        for message_id in rule.evidence:
            quotes.setdefault(message_id, []).append(rule.quote)
    return quotes


@lru_cache(maxsize=2_048)
def _statements(text: str) -> tuple[str, ...]:
    """Decisions, facts, memories and the check of these ask one after the other for every message of a range."""
    sayings = (" ".join(sentence.text.split()) for sentence in sentences(text))
    return tuple(
        words
        for words in sayings
        if len(words) + len(_CJK.findall(words)) >= _FEWEST_CHARS
        and len(words) <= SENTENCE_CHARS
        and not words.endswith(_QUESTION_MARKS)
        and "⟨secret:" not in words
    )


def _is_decision(words: str) -> bool:
    if not content_words(words) or _ORDERS_ONLY.match(words) or _UNDECIDED.search(words) or is_idle(words):
        return False
    return _DECIDES.search(words) is not None or _REVERSES.search(words) is not None


def _choice(message: UserMessage, answers: Answered) -> str:
    """The decision that an answer is, with the words of what it chose; "" when it decides nothing."""
    text = message.text.strip()
    if text.endswith(_QUESTION_MARKS):
        return ""
    said = f' ("{clip(text, _SAID_CHARS)}")'
    lines = answers.excerpt.splitlines()
    labels = labels_of(text)
    picked = [line for line in lines if _label(line) in labels]
    if picked:
        rest = "; do the rest" if _GOES_ON.search(text) else ""
        return f"{_listed('Skip' if _skips(text) else 'Chosen', picked)}{rest}{said}"
    if named := _named_option(text, lines):
        return f"{named}{said}"
    if lines[0].endswith(_QUESTION_MARKS) or len(lines) == 1:
        return _verdict(text, lines[-1], said)
    return f"{_listed('Chosen', lines)}{said}"


def _named_option(text: str, lines: Sequence[str]) -> str:
    """What an answer picks by its name from an either-or: "minor, this is a big change"; "" when it names nothing."""
    name = _CLAUSE_END.split(text, maxsplit=1)[0].strip()
    words = set(content_words(name))
    if not words or len(name) > _NAME_CHARS or _ACCEPTS.match(name) or _REFUSES.match(name):
        return ""
    offered = next((line for line in lines if _EITHER_OR.search(line) and words <= set(content_words(line))), None)
    return f'Chosen: {name}, asked "{clip(offered, _OPTION_CHARS)}"' if offered else ""


def _verdict(text: str, proposed: str, said: str) -> str:
    """A yes or no to something that was proposed; to an either-or or to what was only told it decides nothing."""
    bare = _bare(proposed)
    is_question = proposed.endswith(_QUESTION_MARKS)
    if len(content_words(bare)) < 2 or " or " in bare or not (is_question or is_proposal(proposed)):
        return ""
    if (refusal := _REFUSES.match(text)) is not None:
        instead = content_words(text[refusal.end() :])
        return (
            f'No to "{clip(bare, _OPTION_CHARS)}": {clip(text, _SAID_CHARS)}' if instead else f"Rejected: {bare}{said}"
        )
    nod = _ACCEPTS.match(text)
    return f"{_listed('Approved', [proposed])}{said}" if nod and (is_question or _PROPOSED.match(proposed)) else ""


def _skips(text: str) -> bool:
    """Whether the first thing said about the labels is to leave them out."""
    skip = _SKIPS.search(text)
    return skip is not None and skip.start() <= 12


def _label(line: str) -> str:
    match = _OPTION_LABEL.match(line)
    return match[1].lower() if match else ""


def _label_end(line: str) -> int:
    match = _OPTION_LABEL.match(line)
    return match.end() if match else 0


def _listed(verb: str, lines: Sequence[str]) -> str:
    return f"{verb}: {'; '.join(clip(_bare(line), _OPTION_CHARS) for line in lines)}"


def _bare(line: str) -> str:
    """What is proposed, without its label and without "shall I"."""
    return _PROPOSED.sub("", line[_label_end(line) :], count=1).strip(" .:?？")


def _with_reversals(found: Sequence[Problem], said: Sequence[UserMessage]) -> list[Problem]:
    """Earlier decisions say which message took them back: "forget Redis" after "let's use Redis"."""
    taken_back = [
        (message, frozenset(content_words(_CLAUSE_END.split(words[match.end() :], maxsplit=1)[0])[:3]))
        for message in said
        for words in _own_sentences(message, {})
        if (match := _REVERSES.search(words)) is not None
    ]
    return [_marked(one, taken_back) for one in found]


def _marked(decision: Problem, taken_back: Sequence[tuple[UserMessage, frozenset[str]]]) -> Problem:
    words = set(content_words(decision.text))
    for message, gone in taken_back:
        if gone & words and _index(message.id) > _index(decision.evidence[-1]):
            return replace(decision, text=f"{decision.text} (taken back in {message.id})")
    return decision


def _index(message_id: str) -> int:
    return message_index(message_id) or 0


def _is_fact(words: str) -> bool:
    if len(content_words(words)) < 2 or _COMPLAINS.search(words) or len(words) > 240:
        return False
    return _HOLDS.search(words) is not None or (", not " in words and _CORRECTS.search(words) is not None)


def _memory_kind(words: str) -> MemoryKind | None:
    if len(content_words(words)) < 2 or words.startswith(("/", "http")):
        return None
    if _CORRECTS.search(words) and (_TOLD_BEFORE.match(words) or not _VAGUE.match(words)):
        return MemoryKind.CORRECTION
    if _PREFERS.search(words):
        return MemoryKind.PREFERENCE
    if _REMEMBER.search(words) or (_is_fact(words) and _LASTS.search(words)):
        return MemoryKind.PROJECT
    return None


def _without_order(words: str) -> str:
    """What is the case, without "I said" and without the order that it gave the reason for ("forget Redis, we …")."""
    stated = _TOLD_BEFORE.sub("", words, count=1)
    order, _, reason = stated.partition(", ")
    is_order = _REVERSES.match(stated) is not None or _REFUSES.fullmatch(order) is not None
    return reason if is_order and (_HOLDS.match(reason) or _CORRECTS.match(stated)) else stated


def _as_sentence(words: str) -> str:
    """One line, begun with a capital, as a sentence that stands alone."""
    line = _LEAD_IN.sub("", clip(words, SENTENCE_CHARS), count=1)
    return line[:1].upper() + line[1:]
