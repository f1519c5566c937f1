"""The words that make a sentence no rule, whatever cue it holds: questions, reports, suppositions, statements, leave.

Where two readings are possible these stay silent: a rule too many is read, a rule too few is broken.
"""

import re

from worker.core.permitting import gives_leave

_QUESTION_WORDS = re.compile(
    r"(?i)^\W*(?:(?:and|so|but|ok|okay|hm+|well|wait|also|oh|actually|sorry|then)\W+)*(?:why|what|how|who|where"
    r"|which|when (?:do|does|did|is|was|will|should|can)|(?:do|have) (?:we|you|i|they|it|there)|(?:does|did|is|are"
    r"|was|were|has|had|should|shall) (?:we|you|i|it|they|he|she|there|this|that|these|those|the|my|your|our|all"
    r"|any)"
    r"|can (?:we|i|it)|could (?:we|i|it)|would (?:it|that|this)|won['’]?t|isn['’]?t|aren['’]?t|doesn['’]?t"
    r"|don['’]?t (?:we|you|they)|any idea)\b"
)
_POLITE = re.compile(
    r"(?i)\b(?:would|do) you mind (?:not|always|never|keeping|using|avoiding|leaving)\b"
    r"|\b(?:can|could|would|will) (?:you|we)(?: all)?(?: please| kindly| just)*,? (?:not|never|always|avoid"
    r"|refrain|make (?:it )?a (?:habit|rule|point)|stop \w+ing|keep \w+ (?:short|brief|concise|out)"
    r"|leave .{1,60} alone)\b"
    r"|\b(?:can|could|would|will) (?:you|we)\b.{0,160}\b(?:from now on|in future|in the future|every time|whenever"
    r"|going forward|always)\b"
)
_ASKS = re.compile(r"[?？]\W*$|(?:吗|嗎|呢|か|ですかね|かな|까|나요|니까|까요)[。.]?$")
_IDIOM = re.compile(
    r"(?i)\b(?:never ?mind|(?:do not|don['’]?t) (?:worry|bother(?: with (?:it|that))?|know|think|see|understand"
    r"|remember|have|get (?:it|me wrong|why)|care|believe|recall|mind|you think|sweat|panic|ask me why"
    r"|forget to (?:add|fix|update|commit|push|run|check|remove|delete|rename)|hesitate"
    r"|let me|give up|feel|expect (?:it|this|that)|show|seem|look|matter|wait for me|we|you (?:know|agree|see|have"
    r"|want)|need|exist|apply|work|mean)\b"
    r"|no (?:problem|worries|idea|need|luck|rush|hurry|longer|more questions|more (?:errors|failures))\b"
    r"|only (?:\d|one |two )|as always|not only|if only|better late than never|it never|never (?:seen|heard|been"
    r"|worked|had|got|knew|mind)"
    r"|that should never happen|must be (?:a|an|the|some|something|because|due)\b|must have (?:been|had|seen|gone"
    r"|lost|got|\w+ed)\b)"
)
_IDIOM_ABROAD = re.compile(
    r"不要紧|不要緊|不要担心|没关系|沒關係|别担心|别急|别擔心|別急"
    r"|气にしないで|気にしないで|心配しないで|걱정하지|신경 ?쓰지"
    r"|(?i:keine Ahnung|kein Problem"
    r"|keine Sorge|nicht schlimm|macht nichts|n(?:e t)?['’]inqui[eè]te|vous inqui[eé]tez"
    r"|no te preocupes|não se preocupe|не волнуй|не беспокой|не переживай|не знаю)"
)
_REPORTED = re.compile(
    r"(?i)\b(?:(?<!\bi )(?<!\bi['’]ve )(?<!\bwe )(?<!\bi already )(?:says|(?:they|people|some|docs) say|said"
    r"|claims?|claimed|complains?|states?"
    r"|stated|reads|argues?|wrote|writes|mentions?|mentioned|insists?|insisted|told|tells|demands|demanded"
    r"|orders (?=that)|according to|(?<=\w )(?<!please )reports?|reported)"
    r"|the (?:docs?|error|warning|linter|message|log|output|compiler|article|issue|ticket)\b[^.?!]{0,30}(?:that"
    r"|says?|tells?))[\s:]"
)
"""Not "I said": what a person told before they tell again."""

_REPORTED_ABROAD = re.compile(
    r"(?:老板|老闆|经理|他们?|她们?|同事|文档|文檔|说明书?|手册|报错|日志|网上|有人|朋友)[^，。]{0,6}(?:说|說"
    r"|写着?|寫|提到|认为)"
    r"|と(?:書いて|書かれ|言って|言いま|言われ|聞きま|聞いた|いうこと)|らしい(?:です)?[。]?$|そうです[。]?$"
    r"|(?i:\b(?:sagt|sagte|meint|meinte|schreibt|schrieb|behauptet|heißt es|(?:in|auf) [^,.]{2,40} steht)\b)"
)
_SUPPOSED = re.compile(
    r"(?i)^\W*(?:(?:and|but|so|well|hm+|then)\W+){0,3}(?:suppose|imagine|what if|maybe|perhaps|one (?:could|might)"
    r"|i (?:might|may)|we (?:might|may|could)|it would be (?:a (?:shame|pity)|bad|sad|odd|strange)"
    r"|if\b[^?!]{3,160}\b(?!you\b)\w+(?:['’]d| would)\b)"
)
_SUPPOSED_ABROAD = re.compile(
    r"^(?:如果|要是|假如|假设|倘若)[^。]{2,80}会|^もし(?!.*(?:ください|下さい|こと[。]?$|なさい|必ず|禁止))"
    r"|(?i:^wenn\b[^?!]{3,160}\b(?:würde|wäre|hätte|könnte)\w{0,2}\b)"
)
_PAST = re.compile(
    r"(?i)^\W*(?:(?:and|but|so|well)\W+){0,2}(?:yesterday|last (?:week|month|year|night|time|summer|winter)|back then"
    r"|(?:we|i|they) used to|in (?:19|20)\d\d\b|at (?:the|that) time|years ago)\b"
    r"|^(?:我|我们)?(?:昨天|昨晚|上次|上周|去年|刚才|剛才)|^(?:昨日|先週|去年|この前)|^(?:gestern"
    r"|letzte[ns]? (?:woche|jahr|mal))\b"
)
_STATEMENT = re.compile(
    r"(?i)\W*(?:(?:and|but|so|because|since|well|hm+|actually|also|ok|yeah|yes|no|maybe|perhaps|looks? like"
    r"|i think|i guess|i believe|it seems|apparently|turns out|i (?:just )?noticed|i (?:just )?saw|i (?:just )?had"
    r"|i got)\W+)*"
    r"(?:it|this|that|there|he|she|they|i|the (?:tests?|build|server|app|script|page|function|method|job|ci"
    r"|pipeline|log|error|cache|problem|bug|issue))(?:['’](?:s|re|m|ve|ll|d))?\s+(?:just |still |also |always "
    r"|never |only |actually |probably |really )*"
    r"(?:am|is|are|was|were|has|have|had|does|do|did|doesn|didn|don|isn|wasn|can|can['’]t|cannot|could|couldn|won"
    r"|will|would|fails?|failed|works?|worked|shows?|returns?|crash\w*|keeps|goes|gets?|got|seems?|looks?|takes?"
    r"|uses?|used|runs?|ran|says?|throws?|prints?|always|never|only|must be)\b"
)
_INDICATIVE = re.compile(
    r"(?i)\W*(?:(?:and|but|so|because|since|well|hm+|actually|also|ok|yeah|yes|no)\W+)*"
    r"(?:(?:i|we|you|it|he|she|they|this|that|there|these|those|nobody|everybody|everyone|someone)"
    r"|(?:the|a|an|my|our|your|his|her|their|its|this|that|these|those|each|every|all|both|most|some|many)"
    r"(?:\s[\w'’-]+){1,4}?|(?!(?:please|pls|kindly|then|now|next|also|just|let['’]?s?|do|don['’]?t|try|start|make"
    r"|keep|help|first"
    r"|finally|always|never|only|go)\b)[\w'’-]+)\s(?:\w+ly |just |still |also |always |never |only |often )?"
    r"(?:am|is|are|was|were|has|have|had|does|do|did|runs|ran|returns|returned|takes|took|gives|gave|shows|showed"
    r"|keeps"
    r"|kept|goes|went|gets|got|uses|used|says|said|stops|stopped|complains|requires|required|needs|needed|comes|came"
    r"|works?|worked|fails?|failed|breaks|broke|happens?|happened|crashe[sd]|seems?|looks?|looked|asks|asked|knows?"
    r"|knew|thinks?|thought|found|stayed|began|starts|started|ends|ended|lets|writes|wrote|reads|prints|throws|drops"
    r"|sends|sent|lists|calls|called|opens|opened|closes|closed|costs?|lasts|leaves|left|arrives|allows|supports"
    r"|contains|holds|stores|loads|sits|hangs|waits|waited|tries|tried|adds|added|made|makes)\b"
)
"""Somebody or something, and what it does or did. No word of it forbids or obliges."""

_DONE = re.compile(
    r"(?i)\W*(?:also |then |now |just |all )?(?!(?:feed|embed|need|proceed|speed|seed|bed|red)\b)\w+ed\s"
)
"""A report of what was done, without saying by whom: "added logging at each step"."""

_SPEAKS_OF_RULES = re.compile(
    r"(?i)\bI(?:['’]d)?\s+(?:\w+ ){0,2}(?:do not|don['’]?t|never|prefer|like|love|want|hate|dislike|need|expect"
    r"|rather|can['’]?t stand"
    r"|(?:can['’]?t|cannot|won['’]?t) (?:eat|drink|fly|drive|smoke)|told you|asked you)\b"
    r"|\bthat (?:\w+ )?(?:is|are) (?:forbidden|prohibited|off[- ]limits|not allowed)"
    r"|\b(?:from now on|going forward|whenever|off[- ]limits|forbidden|prohibited|not allowed|read[- ]only"
    r"|confidential|without asking|mandatory|important (?:that|to)|would (?:be|appreciate|love))\b"
)
_OPINION = re.compile(
    r"(?i)^\W*(?:(?:ok|okay|hm+|so|and|but|well|yeah|also)\W+)*(?:i (?:think|guess|believe|suspect|wonder)"
    r"|it (?:seems|looks)"
    r"|looks? like|apparently)\b.{0,200}\b(?:does ?n['’]?t|is ?n['’]?t|do ?n['’]?t|does not|is not|are not"
    r"|violates?|breaks?)\b"
)
_TEMPTS = re.compile(r"(?i)\bit(?:['’]s| is) (?:very |too )?(?:easy|tempting|common|possible) to\b")


def without_idioms(text: str) -> str:
    """The text with "never mind", "no problem" and the like blanked, in the same length."""
    return _IDIOM.sub(lambda match: " " * len(match[0]), text)


def is_question(text: str) -> bool:
    """True for an English question, unless it is a polite order: "could you please never …?"."""
    if _POLITE.search(text):
        return False
    return _ASKS.search(text) is not None or _QUESTION_WORDS.match(text) is not None


def is_no_order(text: str) -> bool:
    """True for an English sentence that orders nothing as a whole: leave, a supposition, an opinion, a tale."""
    return (
        gives_leave(text)
        or _SUPPOSED.match(text) is not None
        or _PAST.match(text) is not None
        or _OPINION.match(text) is not None
        or _TEMPTS.search(text) is not None
    )


def is_no_order_abroad(text: str) -> bool:
    """The same for the other languages, with what is asked and what others said."""
    return gives_leave(text) or any(
        guard.search(text) for guard in (_ASKS, _IDIOM_ABROAD, _REPORTED_ABROAD, _SUPPOSED_ABROAD, _PAST)
    )


def is_idle(text: str) -> bool:
    """True for a sentence that only supposes something, tells of the past, or repeats what somebody else says."""
    return (
        _SUPPOSED.match(text) is not None
        or _SUPPOSED_ABROAD.search(text) is not None
        or is_past(text)
        or is_reported(text, len(text))
        or _REPORTED_ABROAD.search(text) is not None
    )


def is_past(text: str) -> bool:
    """True for a sentence that begins with a time that is over."""
    return _PAST.match(text) is not None


def is_reported(text: str, end: int) -> bool:
    """True when somebody or something else is quoted before `end`."""
    return _REPORTED.search(text, 0, end) is not None


def states(text: str, start: int = 0) -> bool:
    """True when the clause that begins there tells how something is, and does not speak of what is allowed."""
    return _STATEMENT.match(text, start) is not None and not _SPEAKS_OF_RULES.search(text)


def tells(text: str, start: int = 0) -> bool:
    """True when the clause that begins there says of anything at all what it does or did."""
    return _INDICATIVE.match(text, start) is not None or _DONE.match(text, start) is not None
