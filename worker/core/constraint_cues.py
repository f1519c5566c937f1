"""The English words by which people say what is due, how it is done and how they like it.

`prohibition_cues` has those that forbid, `constraint_cues_abroad` those of other languages, `rule_guards` the words
that make a sentence no rule. Which sentence is one is decided in `constraints`. A cue is only looked for in sentences
(a few hundred characters), never in whole messages. English needs the most care: the same "never", "only" and "must"
make statements ("it never works", "only 3 failed", "it must be the cache").
"""

from worker.core.rule_words import LANGUAGE, OUTPUT_NOUN, QUALITY, VERBS

_GOES_ON = (
    r"\b(?:every|each|all|always|never|any|anything|whenever|only|no|not|nothing|without|kept|keep|stayed|stay|stopped"
    r"|left|avoided|before you|after you|from now on|in (?:the )?future|wouldn['’]?t|didn['’]?t)\b"
)

RULES_AT_CLAUSE = (
    r"always\s+(?:\w+ly )?(?!\w+(?:[^us]s|ed)\b)(?!the\b|been\b|was\b|has\b|is\b)[a-z]\w+",
    rf"only\s+(?:ever\s+)?{VERBS}\b(?! (?:to|for) me\b)",
    rf"{VERBS}\s+(?:only|solely|exclusively|nothing but)\b(?!\s+\d)",
    (
        r"(?:restrict|limit|confine|cap|constrain)\s+(?:yourself|your\w*|the|all|any|each|every|changes|edits|answers"
        r"|replies|it)\b"
    ),
    r"(?:stick|adhere|conform|comply)\s+(?:to|with)\b|(?:obey|respect)\s+(?:the|our|my)\b",
    r"follow\s+[^.?!]{0,50}\b(?:style|conventions?|guide(?:lines?)?|pep ?\d*|rules?|standards?|patterns?|process)\b",
    (
        r"(?:ask|check with|consult|confirm with|get approval from|tell|warn|notify|ping)(?: with)? ?(?:me|us"
        r"|first)?\b[^.?!]{0,50}\b(?:before(?! (?:\w+day|tomorrow|noon|lunch|dinner|tonight|we|i|next|the end"
        r"|\d)\b)|first|prior to|whenever|if (?:in doubt|unsure|you|anything is"
        r"|something is))\b"
    ),
    r"(?:wait for|get|require|need) my (?:go\b|approval|ok|okay|permission|confirmation|go-ahead|sign-off|consent)\b",
    r"(?:prefer|favou?r)\s+\w+",
    (
        rf"(?:respond|reply|answer|write|speak|talk|communicate|comment|explain|think|report|summari[sz]e)\s+(?:(?:to"
        rf"|with) (?:me|us) |back |everything |all |only |code comments |"
        rf"comments |commit messages |docs |your answers? |your replies )*in (?:(?:a|an|the) )?(?:very )?{LANGUAGE}\b"
    ),
    (
        r"(?:respond|reply|answer|write|speak|talk)\s+(?:(?:to|with) (?:me|us) )?in (?:(?:a|an|the|my|our) )?"
        r"(?:[\w-]+ ){1,3}(?:style|tone|voice|register)\b"
    ),
    (
        r"(?:report|print|show|give|write|store|log|format|express|state)\s+(?:all|every|each|any)\s+(?:\w+ )?"
        r"(?:times?|timestamps?|dates?|durations?|amounts?|prices?|numbers?|sizes?|distances?|temperatures?)\s+"
        r"(?:in|as|with|to)\b"
    ),
    (
        r"(?:use|write|put|include|mention|give|spell|state|show|number)\s+[^.?!]{1,60}\bin your (?:replies|answers"
        r"|responses|messages|commit messages|summaries|explanations)\b"
    ),
    (
        r"use\s+[^.?!]{0,60}?\b(?:tabs?|spaces|quotes|semicolons|snake[_ ]?case|camel ?case|kebab[- ]?case"
        r"|pascal ?case|type (?:hints?|annotations?)|docstrings?"
        r"|pnpm|yarn|npm|uv|poetry|bun|pip|ruff|black|prettier|eslint|mypy|pytest|british|american|english|iso|utc"
        r"|metric|imperial|si units|celsius|fahrenheit"
        r"|markdown|plain text|bullet points|conventional commits|imperative mood|oxford|24[- ]hour|inline styles"
        r"|f-strings|async/await|instead of|rather than"
        r"|and not|not|everywhere|throughout|for (?:all|every|everything)|at all times|wherever|where possible"
        r"|whenever possible)\b(?! (?:this|that|it) (?:one|time))"
    ),
    rf"keep\s+(?!going\b|in mind\b|it up\b|me\b|it in mind|that in mind)(?:[\w'’-]+\s+){{1,6}}?{QUALITY}\b",
    (
        r"(?:cite|quote|credit|attribute)\s+(?!(?:me|that|this) )(?!the (?:first|second|third|last|next|whole|following"
        r"|paragraph|line|sentence)\b)\w+"
    ),
    r"(?:answer|reply|respond|write) (?:back )?in (?:one|two|three|a single|\d+|short|full|complete|whole) \w+",
    rf"(?:write|use) (?:only )?(?:short|simple|plain|full|complete) {OUTPUT_NOUN}\b",
    (
        r"(?:end|start|begin|finish|open|close|prefix|sign|preface|tag|precede|number)\s+(?:off )?(?:each|every|all"
        r"|any|your|commit|my|replies|answers|messages|branch)\b"
    ),
    (
        r"name\s+(?:all |every |each |your |the |new )?(?:branches|files|variables|functions|tests|commits|classes"
        r"|modules|tables|columns|types)\b"
    ),
    (
        r"be\s+(?:very |more |as |always |extremely |really )*(?:concise|brief|terse|short|formal|honest|polite|blunt"
        r"|direct|specific|explicit|succinct|conservative|precise|thorough)\b"
    ),
    r"(?:call|address)\s+me\s+(?:as |by )?\w+",
    (
        r"(?:treat|consider|regard|assume)\s+[^.?!]{1,80}\b(?:as|read-only|confidential|untrusted|final|immutable"
        r"|unless)\b"
    ),
    rf"{VERBS}\s+[^.?!]{{1,80}}\bby default\b",
    rf"{VERBS}\s+[^.?!]{{1,60}}\bthroughout\W*$",
    r"use\s+[^.?!]{1,40}\b(?:style|notation|convention|spelling|tense|voice|tone|currency)\s+(?:for|in|when|with)\b",
    # The manner of what is said and written.
    (
        r"(?:write|talk|speak|explain|answer|reply|respond|describe|phrase|word|put it)\b(?: (?:to|with) (?:me|us)"
        r"| back"
        r"| everything| all| things)? (?:like|as if|as though|the way|so that|without|simply|plainly|formally"
        r"|informally|politely)\b"
    ),
    (
        r"(?:write|speak|talk|phrase|word|answer|reply|respond|explain|treat|address)\b[^.?!]{1,60}\b(?:gently"
        r"|politely"
        r"|briefly|formally|informally|simply|plainly|concisely|neutrally|warmly|kindly|honestly|directly|bluntly"
        r"|respectfully)\W*$"
    ),
    r"stay\s(?:in|on|within|under|below)\s\w+",
    rf"{VERBS}\s+[^.?!,]{{1,60}}, (?:not|never) (?:by|in|as|with|on|at|to|from|through|via)\b",
    r"(?:refer|make|treat|keep|mark|label|sign|document)\s(?:to )?(?:every|each)\b",
    (
        r"assume (?:that )?(?:(?:the|my|our|your) (?:reader|user|audience|client|customer|listener)s?|no|nothing"
        r"|every|all|any)\b"
    ),
    # What is done before something else, every time that it comes up.
    (
        r"(?:do )?(?:ask|check|test|verify|confirm|read|run|back up|save|look|measure|count|search|validate|review)\b"
        r"[^.?!]{1,80}\bbefore (?:you (?!go on|continue|proceed|start|begin|carry on|move on)\w+|any|each|every"
        r"|(?!(?:that|this|the|it|we|i|then|noon|lunch|tomorrow|moving|going|continuing|morning|evening)\b)\w+ing\b)"
    ),
)
"""What is due, how it is done, how they like it; matched where a clause begins."""

_DUTIES = (
    (
        r"\b(?:you|we|agents?|it|they|that|all|every|each|everything|\w+s)\s+(?:should|must|need to|have to|shall"
        r"|are to)\s+(?:always|only|at all times)\b"
    ),
    (
        r"\b(?:you|agents?)\s+(?:must|shall)\s+(?!be (?:kidding|joking|wrong|mistaken|aware)|have (?:been|had|seen"
        r"|gone|lost|got|\w+ed))\w+"
    ),
    (
        r"\s(?<!\bwe\s)(?<!\bi\s)(?<!\bit\s)(?<!\bthis\s)(?<!\bthat\s)(?<!\bthey\s)(?<!\bthere\s)(?<!\byou\s)must\s+"
        r"(?!be (?:a|an|the|because|some|something|wrong|kidding|due|aware)\b"
        r"|have (?:been|had|seen|gone|lost|got|\w+ed)\b)\w+"
    ),
    r"\bit must (?!(?:be|have|mean|depend|seem|look|come|feel|sound|do)\b)\w+",
    r"\b(?:is|are) (?:mandatory|compulsory|obligatory|non-negotiable|a must|a hard (?:requirement|rule|limit))\b",
    (
        r"\b(?:make|be) (?:absolutely )?sure (?:to |that |you )?(?:always|never|every|each|not|no|nothing)\b"
        r"|\bmake sure (?:every|each|all (?:your|new|the tests))\b|\bensure (?:that )?(?:every|each|no|nothing|all)\b"
    ),
    (
        r"\bit(?:['’]s| is) (?:very |absolutely |really )?(?:important|essential|crucial|critical|imperative"
        r"|vital) (?:that|to|you)\b"
    ),
    r"\b(?:has|have) to (?:be|stay|remain) (?:at least|at most|under|below|above|within)\b",
    r"\bwe(?:['’]re| are) (?:bound|limited|restricted|confined) to\b",
    r"\b(?:our|my|the) [\w -]{2,40} (?:forbids?|prohibits?|disallows?)\b",
)
"""What is due: must, mandatory, make sure, has to."""

_LASTING = (
    (
        r"\b(?:from (?:now|here|today|this point)(?: on(?:wards?)?| forward)?|from here on(?: out)?|going forward"
        r"|moving forward|henceforth"
        r"|in (?:the )?future|for (?:the rest|the remainder|the duration) of|for the whole|for (?:this"
        r"|the) (?:entire )?(?:session|conversation|chat|project|repo)"
        r"|throughout (?:this|the)|at all times|as a (?:general )?rule|until further notice|until I (?:say"
        r"|tell|ask)|every single time)\b(?!\s+(?:it|the|this|that) (?:is|was|does|did|works?|uses?))"
    ),
    (
        r"^\W*(?!(?:it|this|that|he|she|they|there|the)\b)[^.?!]{3,200}, (?:always|(?:every|each) time"
        r"|no exceptions?|without exception)\W*$"
    ),
    r"\b(?:make it (?:a|your) (?:rule|habit|point|principle)|(?:make|making) a (?:habit|point) of)\b",
    (
        r"\b(?:can|could|would|will) you (?:please )?(?:always|make sure|keep|use"
        r"|from now)\b[^?]{0,120}\b(?:from now on|always|every|each|whenever|in (?:the )?future|going forward)\b"
    ),
)
"""What says that it goes on."""

_OCCASIONS = (
    (
        r"^\W*(?:and |also |but |so |please )*(?:when|if|before|after|while|once|as soon as|unless) (?:you(?:['’]re"
        r"|['’]ve)?|you are|citing|quoting|writing|answering|replying"
        r"|responding|coding|committing|pushing|deploying|merging|editing|refactoring|adding|changing|creating|naming"
        r"|in doubt|unsure|something is unclear"
        r"|anything is unclear|a (?:test|check|build|command) fails|(?:each|every|any|all)|tests? (?:fail"
        r"|break)s?)\b(?![^.?!]{0,160}, (?:then )?(?:it|that|this|there)(?:['’]s| is| are| was| means?)\b)"
        r"(?! (?:like|want|wish|can|please|must|insist|have time|don['’]?t mind|go on|continue|proceed|start|begin"
        r"|carry on"
        r"|move on)\b,?(?= ?,| (?!to)\w+ (?:me|it|this|that|the)\b))"
        r"[^.?!]{3,200}"
    ),
    (
        r"(?:^|: )\W*(?:and |also |but |so |please )*(?:if|when)\b[^.?!]{3,120}, (?:please |just )?(?:stop|refuse"
        r"|decline|escalate|abort)\b(?: and\b|[^.?!]{0,60}\binstead of \w+ing\b)"
    ),
    (
        r"^\W*if [^.?!,]{3,80}, (?:tell|warn|notify|ping|alert|inform) (?:me|us) "
        r"(?:at once|immediately|right away|first)\b"
    ),
    r"\bwhen(?:ever)? you \w+[^.?!]{1,40} (?:i['’]d|i would|please)\b",
    r"\b(?:needs?|requires?) (?:my|our|explicit) (?:word|approval|ok|okay|consent|permission|sign-off|go-ahead)\b",
    (
        r"\b(?:you|we) should (?:ask|check with|tell)\b"
        r"|^\W*(?:please )?let me (?:approve|see|read|review|confirm)\b[^.?!]{1,60}\b(?:before|each|every)\b"
    ),
)
"""What is done whenever something else comes up, and who has the say."""

_WISHES = (
    (
        r"\bI(?:['’]d)?\s*(?:would |much |strongly |really |generally |usually |always )*(?:prefer"
        r"|favou?r)(?! not to (?:say|know))\s+(?!(?:the (?:first|second|third|last|latter|former|other)|option"
        r"|that one|this one|it\b|#?\d))"
    ),
    r"\bI(?:['’]d)? (?:would )?only (?:want|need|like|accept|expect)\b",
    r"\bmy preference is\b|\bmy preferred\b|\bpreferably\b",
    (
        r"\bI (?:really )?(?:like|love|want|need|expect) (?:my|your|all (?:my|your|the)?|every|each)\b(?! (?:idea"
        r"|opinion|thoughts?|take|advice|help|feedback|suggestion|plan|approach|of (?:it|them|that)))"
    ),
    (
        r"\bI (?:really )?(?:like|love) it when\b|\bI (?:always )?want you to (?:always|never|only|use|keep|answer"
        r"|reply|respond|write|ask|avoid|speak|cite|explain)\b(?! (?:this|that|the (?:list|file)))"
    ),
    r"\bI (?:hate|dislike|can['’]?t stand|detest|loathe)\b(?! (?:this|that|it)\b)",
    r"\b(?:I|we)(?:['’]d| would) (?:rather|sooner) [^.?!]{1,60} than\b",
    r"\bI (?:really )?like (?!(?:it|this|that|them|how)\b)[^.?!,]{2,40}, not \w+",
    r"\b(?:user|client|customer|boss|team) (?:strongly |always |clearly )?prefers\b(?! not to say)",
    (
        r"\b(?:I(?:['’]d| would)|we(?:['’]d| would)) (?:really |very much |much )?(?:appreciate|love|like"
        r"|be (?:glad|happy"
        r"|grateful|thankful)|welcome)(?: it)? if\b[^.?!]{1,80}" + _GOES_ON
    ),
    r"\bit(?: would|['’]d) (?:really )?be (?:great|nice|good|lovely|helpful|ideal|best) if\b[^.?!]{1,80}" + _GOES_ON,
    (
        r"\bI(?:['’]d| would) (?:like|love|prefer|want) you to (?:always|never|only|not|use|keep|answer|reply|respond"
        r"|write|ask|avoid|speak|cite|explain|address|treat|stick|stay|prefer|quote)\b"
        r"(?! (?:this|that|the (?:list|file)))"
    ),
    r"\buse\b[^.?!]{1,60}, (?:never|not)\b",
)
"""How people like it, and the polite forms of an order that goes on."""

_OF_EACH = (
    (
        rf"\b(?:all|each|every|any)(?: of)? (?:your |my |our |new |the )?{OUTPUT_NOUN}\s+(?:should|must|needs? to"
        rf"|has to|have to|shall|are to|is to|ends?|starts?|gets?|goes?|stays?)\b"
    ),
    rf"\b(?:your|our|my) {OUTPUT_NOUN}\s+(?:should|must|need to|needs to|have to|has to|shall|are to|is to)\b",
    rf"^\W*{OUTPUT_NOUN}\s+(?:should|must|need to|have to|shall|are to|go|stay)\b",
    rf"^\W*{OUTPUT_NOUN}\s+(?:only\s+)?in\s+{LANGUAGE}\b",
    r"\b(?:the|your) (?:tone|style|voice|language|wording|layout|register)\s(?:should|must|has to|needs to|is to)\b",
    (
        r"\b(?:each|every|any|all)\b(?! of (?:it|this|that|these|those|them))[^.?!,]{1,60}\b(?:has|have"
        r"|needs?) to (?:be|go|come|stay|have|include|pass)\b"
    ),
    r"^\W*(?:each|every|all)\b[^.?!,]{1,60}\b(?:gets?|goe?s? (?:past|through|via|to)|comes? with)\b",
    r"^\W*(?:each|every|all new|new)\s[\w -]{1,40}?\s(?:needs?|requires?)\b",
    (
        r"^\W*(?:everything|anything|whatever|whoever|anyone|nobody|no one|nothing) (?:but|except|that|which|who"
        r"|we|i|you|without)"
        r"\b[^.?!,]{1,60}\b(?:goes|gets?|needs?|must|should|has to|stays?|talks?|touches|may|is to|comes|belongs?"
        r"|waits?)\b"
    ),
    r"\b(?:whatever|anything|everything|all|every|each|no)\b[^.?!,]{1,60}\b(?:is|are) to be \w+(?:ed|en|t)\b",
)
"""What holds for each of a kind, and for whatever has some quality."""

_OF_A_KIND = (
    (
        r"^\W*(?!(?:the|this|these|those|that|his|her|its)\b)(?:[\w-]+ )?[\w-]+s should (?:not |never "
        r"|always )?(?:have|be|come|stay"
        r"|use|go|start|end|include|contain|cover|follow)\b(?!.*\b(?:now|again|already)\b)"
    ),
    (
        r"^\W*(?!(?:it|he|she|this|that|i|we|they|there|the)\b)(?:[\w'’-]+\s){1,3}(?:stays?|remains?)\s(?:out of"
        r"|in|as|where|under"
        r"|below|within|private|secret|unchanged|untouched)\b"
    ),
    (
        r"^\W*(?!(?:the|this|these|those|that|his|her|its|yes|tests? (?:are"
        r"|is))\b)(?:[\w-]+ ){0,2}[\w-]+s (?:are(?! \w+ing\b)"
        r"|go|live|belong|stay|come|get)\b[^.?!,]{1,60}, (?:never|not)\b"
    ),
)
"""How things of a kind are, said in bare plurals: "migrations are written by hand, not generated"."""

_MEASURES = (
    r"\b(?:one|a single) (?:\w+ ){1,3}(?:per|at a time|for each|for every)\b",
    (
        r"\b(?:one|two|three|four|five|six|ten|\d+) (?:bullets?|lines?|sentences?|words|paragraphs?|pages?|points?"
        r"|examples?)"
        r" (?:is|are) (?:plenty|enough|sufficient)\b"
    ),
    r"\b(?:my|our) (?:[\w-]+ )?(?:budget|upper limit|spending limit|maximum) (?:is|are|stays|of)\b",
    (
        r"\b(?:confidential|between (?:us|you and me)|not be (?:shared|disclosed|mentioned|published|committed|logged"
        r"|touched|changed|modified|deleted))\b"
    ),
)
"""How many, how much, who is to know."""

_OF_PEOPLE = (
    (
        r"\b(?:I|we|he|she|they|(?:my|our) [\w-]+|(?-i:[A-Z]\w+))(?:['’](?:m|re|s)| am| are"
        r"| is)\s+(?:\w+ly )?(?:allergic|intolerant to"
        r"|vegan|vegetarian|diabetic|coeliac|celiac|pescatarian)\b"
    ),
    (
        r"\bi(?:['’]m| am) (?:only|never) (?:free|available|around|reachable|home)\b|\b(?:keep|eat|live) (?:kosher"
        r"|halal)\b"
    ),
)
"""What somebody's body, belief or time rules out holds for whatever is proposed."""

_CONSEQUENCES = (
    (
        r"\bso,? (?:please )?(?:no(?! (?:one|more|longer|need|changes?|errors?|difference|surprise|luck|news"
        r"|results?|answer"
        r"|wonder|harm|big deal)\b)\s+[\w-]+(?:\s[\w-]+){0,3}|(?:please )?don['’]?t)\W*$"
    ),
)
"""What follows from a fact: "we target Python 3.9, so no match statements"."""

RULES = (
    *_DUTIES,
    *_LASTING,
    *_OCCASIONS,
    *_WISHES,
    *_OF_EACH,
    *_OF_A_KIND,
    *_MEASURES,
    *_OF_PEOPLE,
    *_CONSEQUENCES,
)
"""Looked for anywhere in the sentence."""

HABITS = (
    r"\b(?:every|each|any) ?time you\b|\bwhenever\b|\banytime you\b",
    (
        r"\b(?:before|after|for|with|in|on|at|under|above|below|beside|at the (?:end|start|beginning|top) of) (?:each"
        r"|every)\b(?: single)? (?!day\b|month\b|row\b|item\b|line\b|file\b|other\b|session\b|loop\b)\w+"
    ),
    rf"\bin (?:all|each|every|any)(?: of)?(?: your| my| our| the)? {OUTPUT_NOUN}\b",
    (
        r"\b(?:at most|no more than|not more than|maximum of|max\.?|up to|fewer than|less than|at least"
        r"|a minimum of)\s+(?:\d+|one|two|three|four|five|six|ten)\s+"
        r"(?:words?|sentences?|lines?|paragraphs?|characters?|chars|bullets?|bullet points|items|files?|commits?"
        r"|tokens)\b(?! (?:failed|passed|changed|wide|left))"
    ),
)
"""What makes an order go on. In a sentence that tells what somebody or something does they make no rule."""

NOUN_PHRASES = (
    (
        r"no\s+[\w-]+(?:\s[\w-]+){0,2}\s+(?:before|after|without|above|over|under|below|between|unless|except"
        r"|longer than)\b"
    ),
    r"nothing\s(?!(?:left|new|else|wrong|special|to)\b)[\w-]+\sfor\b",
    (
        r"no\s(?!(?:time|news|reason|need|use|room|word|sign|support)\b)[\w-]+(?:\s[\w-]+)? for"
        r" (?:me|us|my|our|the (?:kids|children)|(?-i:[A-Z]\w+))\b"
    ),
    r"(?!thanks\b)[\w-]+(?:\s[\w-]+){0,3} for (?:everything|anything|all|every|each)\b",
    r"max(?:imum)?\.?\s(?:of )?(?:\d+|one|two|three|four|five|six|ten)\b",
    r"nothing (?:above|over|below|under|longer|shorter|older|more|less|before|after|without)\b",
    r"(?:all|every|each|any)\s+[\w-]+(?:\s[\w-]+)?\s+(?:in|with|as|by|via|through|under)\b",
    (
        r"[\w-]+(?:\s[\w-]+){0,3},?\s+(?:only|never|not)\s+(?:between|on|with|after|before|during|via|through|when"
        r"|if|over|under)\b"
    ),
    r"(?:[\w-]+\s){1,4}(?:only|at (?:the )?most|maximum|throughout|everywhere|without exception)(?:,? please)?\W*$",
    r"[\w-]+(?:\s[\w-]+){0,3}\s+first, (?:and )?(?:only )?then (?:any|every|each|all|the rest)\b",
    r"(?:one|a single)\s(?:[\w-]+\s){1,3}each\W*$",
)
"""Rules without a verb: "all times in local time", "deployments only on weekdays", "one topic each"."""
