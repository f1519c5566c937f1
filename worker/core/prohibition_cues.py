"""The English words by which people forbid something, looked for in single sentences as those of `constraint_cues`."""

from worker.core.rule_words import VERBS

_FORBIDDEN_NOUN = (
    r"(?:emoji|emojis|comments?|abbreviations|jargon|markdown|bullet points?|bullets|tables|headings?|docstrings?"
    r"|console\.?\s?logs?|logs?"
    r"|any|mocks?|semicolons|tabs|fluff|filler|small talk|apologies|preamble|disclaimers?|spoilers|new|external"
    r"|third[- ]party|extra"
    r"|additional|hard[- ]?coded|magic|global|force|direct|breaking|inline|default|wildcard|unsafe|raw|backwards?"
    r"|unrelated|drive-by"
    r"|network|internet|commits?|pushes|deploys?|merges?|refactors?|refactoring|rewrites?|code|explanations?|more"
    r"|shortcuts|stubs?"
    r"|placeholders?|todos?|dependencies|frameworks?|libraries|deprecat\w*|alias\w*|indices|exclamation|swearing"
    r"|profanity|caps)"
)

PROHIBITIONS_AT_CLAUSE = (
    (
        r"(?:never(?! ?mind\b|theless)(?:, ever,?)?|(?:do not|don['’]?t|do n[o0]t)(?: you)?(?: (?:ever"
        r"|even))?)\s+(?:\w+ly )?(?P<verb>(?!\w+(?:[^us]s|ed)\b)[a-z]\w+)"
    ),
    r"(?:avoid|refrain from|steer clear of|stay (?:away from|out of|off)|keep (?:away from|out of|off))\s+\w+",
    r"(?:stop|quit|no more)\s+(?!(?:it|that|this|the|a|here|now|and|for)\b)\w+ing\b",
    (
        rf"no\s+(?:\w+ing|{_FORBIDDEN_NOUN})\b(?!\s*(?:than|yet|found|needed|necessary|required|left|so far|changed"
        rf"|failed"
        rf"|passed))"
    ),
    (
        r"no\s+(?!(?:problem|worries|idea|need|luck|wait|way|changes?|errors?|one|more errors|rush|thanks|difference"
        r"|clue|doubt|shit|kidding)\b)[\w-]+(?:\s[\w-]+){0,3}\s?!"
    ),
    rf"no\s+{_FORBIDDEN_NOUN}\b[^.?!]{{0,60}}(?:!|\bplease\b|\bunless\b|\bin (?:the|your|any)\b)",
    r"(?:nothing|nobody|no one) (?:gets|should|may|must|is to|goes|touches|merges|leaves)\b",
    r"(?:spare me|stay clear of|keep clear of)\s+\w+",
    # To do nothing, to leave out.
    (
        r"(?!(?:find|found|got|get|saw|see|had|know|hear|heard|lost|won|cut|said|did|mean|cost|changes?)\b)"
        r"(?!\w+(?:ed|s)\b)[a-z]{3,}\s+(?:nothing|nobody|no one)\s+\w"
    ),
    r"hold off\s(?:on|with|from)\b|(?:let['’]?s )?keep\s[^?!\n,]{1,60}\bout of (?!order|sync|date)\w+",
    r"leave\s[^.?!,]{1,40}\sto (?:me|us|him|her|them|(?-i:[A-Z]\w+))\b",
    r"leave\s+(?:it|them|these|those|any|all)\s+(?:out|off|alone|be)\b",
    r"leave\s+[^?!\n,]{1,60}\b(?:out of|as (?:i|we) (?:wrote|left|made|set|put)|exactly as|the way)\b",
)
"""Matched where a clause begins, behind what leads into it."""

PROHIBITIONS = (
    rf"\bwe (?:never|always|only ever) {VERBS}\b",
    (
        r"\b(?:you|we|nobody|no one|agents?|the (?:agent|assistant|bot|model|code|script|app|tool))\s+"
        r"(?:must|should|shall|may|can|are|is)\s*(?:not|n['’]t|never)\s+(?!sure\b)(?!be (?:sure|able))\w+"
    ),
    r"\b(?:must|shall)(?: not|n['’]t| never)\b",
    r"\bshould never\b(?! happen)",
    (
        r"\b(?:is|are|stays?|remains?) (?:strictly |absolutely |completely )?(?:forbidden|prohibited|off[- ]limits"
        r"|not allowed|not permitted|taboo"
        r"|read[- ]only|not to be|no[- ]go|out of bounds|out of scope|frozen)\b"
    ),
    r"\b(?:hands|fingers|paws) off\b",
    r"\bit(?:['’]s| is) (?:not|never) (?:ok|okay|fine|acceptable|alright|all right) to\b",
    r"\bI(?:['’]d| would) (?:ask|like|want|appreciate|be grateful)\b[^.?!]{1,30}\b(?:stay clear|keep clear|not to)\b",
    r"\b(?:when|once|after) [^.?!]{3,80}, not (?:earlier|sooner|before)\b",
    (
        r"\b(?:leave|keep)\b[^?!\n]{1,80}\b(?:alone|as (?:it|they) (?:is|are)|as[- ]is|untouched|unchanged|intact"
        r"|out of (?:it|this))\b"
    ),
    r"\b(?:under no circumstances|on no account|in no case|at no (?:time|point)|not under any circumstances)\b",
    (
        r"\bwithout (?:asking|my (?:approval|permission|consent|ok(?:ay)?|explicit)|checking with|consulting"
        r"|permission|approval|confirmation|explicit"
        r"|telling me|letting me)\b"
    ),
    r"\bI (?:do not|don['’]?t|never|no longer) (?:ever )?(?:want|like|need you|expect you)\b(?! to know)",
    r"\bI(?:['’]d| would) (?:rather|prefer)(?: that)? (?:you|we) (?:not|didn['’]?t|don['’]?t|never)\b",
    (
        r"\b(?:would|do) you mind not\b|\b(?:could|can|would|will) you (?:please )?(?:not|never|avoid|refrain"
        r"|stop \w+ing)\b"
    ),
    r"(?<!\bwas )(?<!\bwere )\bnot? (?:longer )?(?:allowed|permitted) to\b",
    r"(?<!\bit )(?<!\bthis )(?<!\bthat )(?<!\bthey )(?:should|may)(?: not|n['’]t) be (?:\w+ly )?\w+(?:ed|en|t)\b",
    # What is beyond question.
    (
        r"\b(?:is|are) (?:unacceptable|sacred|sacrosanct|not acceptable|out of the question|not negotiable"
        r"|not up for (?:discussion|debate)|a (?:no-go|red line|deal[- ]?breaker))\b"
    ),
    r"\bunder no (?:circumstances?|conditions?|terms)\b",
    # The limits of what is allowed.
    rf"\byou (?:(?:may|should|must|are to) only\b|can only {VERBS}\b)",
    (
        r"\b(?:you (?:may|can|need not)|feel free)\b[^.?!]{1,80}\b(?:as long as|provided"
        r"|unless|except|only if|but (?:not|never|only|nothing))\b"
    ),
    r"\b(?:told|asked|warned|want|need|expect|wanted) (?:you|them|everyone) (?:not|never) to\b",
    # What is not to get out.
    (
        r"\b(?:data|files?|keys?|secrets?|passwords?|names?|photos?|records?|documents?|credentials|address(?:es)?)"
        r" (?:never|must not|mustn['’]?t|do not|don['’]?t) (?:leave|go|get|end up|appear)s?\b"
    ),
    r"\b(?:we|i)(?:['’]ve| have)(?: got)? an? (?:strict |firm )?[\w -]{1,30}(?:policy|rule)\b",
    r"\bno (?:case|situation|circumstances?|scenario|excuse)\b[^.?!]{1,40}\b(?:may|should|can|could|are allowed)\b",
    r"\bnot a (?:single )?[\w-]+ (?:should|may|must|is to|more(?=\W*$))\b",
    r"\b(?:do not|don['’]?t|does not|doesn['’]?t) count (?:as|towards)\b",
    # What somebody's body, belief or taste rules out holds for whatever is proposed.
    (
        r"\b(?:we|i|(?:my|our) [\w-]+)\s+(?:do not|don['’]?t|does not|doesn['’]?t|never|can['’]?t|cannot|must not"
        r"|won['’]?t)\s+(?:ever )?(?:eat|drink|fly|drive|smoke|celebrate|swim|hike|ride|camp)\b"
    ),
)
"""Looked for anywhere in the sentence."""
