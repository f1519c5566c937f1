"""The words by which people make rules, language by language. Which sentence is one is decided in `constraints`.

A cue is only looked for in sentences (a few hundred characters), never in whole messages. English needs the most care:
the same "never", "only" and "must" make statements ("it never works", "only 3 failed", "it must be the cache").
"""

import re

# Words that lead into an order without being its subject.
LEAD_IN = re.compile(
    r"\W{0,8}(?:(?:please|plase|pelase|for now|right now|for the moment|until then|pls|plz|kindly|ok|okay|oh"
    r"|alright|also|and|but|so"
    r"|then|btw|by the way|note|nb|remember|important|importantly|reminder|again|just|yes|yeah|no wait|hey|dude"
    r"|omg|omfg|still"
    r"|however|otherwise|rule|most of all|above all|finally|lastly|one more thing|another thing|first|second|third"
    r"|and one rule"
    r"|as always|that said|in general|generally|ps|p\.s\.)\b[\s,:;.!-]{0,8}){0,5}",
    re.IGNORECASE,
)
CLAUSE_BOUNDARY = re.compile(r"\(|(?:[,;:–—]|\s-|\b(?:but|and|so|then|please|or))\s{1,4}", re.IGNORECASE)

_VERBS = (
    r"(?:use|touch|change|edit|modify|work|write|read|run|make|add|commit|push|deploy|reply|respond|answer|speak"
    r"|include|import|install"
    r"|call|return|show|report|list|mention|cite|quote|reference|ask|delete|remove|create|format|test|log|save"
    r"|store|send|give|output"
    r"|print|say|talk|look|fix|refactor|rename|update|review|suggest|propose|consider|keep|put|name|do|go|open"
    r"|expose|share|publish"
    r"|merge|rebase|squash|target|support|accept|allow|apply|assume|explain|summari[sz]e|translate|refer|stay"
    r"|provide|generate|draw|link)"
)
_OUTPUT_NOUN = (
    r"(?:repl(?:y|ies)|answers?|responses?|messages?|commits?|commit messages?|comments?|docstrings?|functions?"
    r"|methods?|files?|classes"
    r"|variables?|names?|tests?|branch(?:es)?|branch names?|PRs?|pull requests?|summar(?:y|ies)|explanations?"
    r"|outputs?|code|docs|charts?|plots?|figures?"
    r"|documentation|changes|migrations?|endpoints?|modules?|numbers|dates|amounts|prices|units|tables|lists"
    r"|paragraphs?|sentences?)"
)
_LANGUAGE = (
    r"(?:english|french|german|spanish|italian|portuguese|dutch|russian|ukrainian|polish|turkish|arabic|hebrew"
    r"|hindi|japanese|korean"
    r"|chinese|mandarin|cantonese|swedish|danish|norwegian|finnish|czech|greek|vietnamese|thai|plain|simple|formal"
    r"|informal|british"
    r"|american|markdown|json|bullet|prose|the (?:first|second|third) person|passive|active|present|past"
    r"|imperative)"
)
_QUALITY = (
    r"(?:short|brief|concise|terse|small|simple|minimal|minimalist|formal|informal|professional|casual|polite"
    r"|friendly|neutral|private"
    r"|confidential|secret|consistent|compatible|clean|readable|lean|tidy|separate|sorted|alphabetical|pure|stable"
    r"|green|up to date"
    r"|under|below|within|at|in|out of|to|between us|as is|as it is|as they are|as-is|untouched|unchanged|intact"
    r"|the same)"
)
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
        rf"no\s+(?:\w+ing|{_FORBIDDEN_NOUN})\b(?!\s*(?:yet|found|needed|necessary|required|left|so far|changed|failed"
        rf"|passed))"
    ),
    (
        r"no\s+(?!(?:problem|worries|idea|need|luck|wait|way|changes?|errors?|one|more errors|rush|thanks|difference"
        r"|clue|doubt|shit|kidding)\b)[\w-]+(?:\s[\w-]+){0,3}\s?!"
    ),
    rf"no\s+{_FORBIDDEN_NOUN}\b[^.?!]{{0,60}}(?:!|\bplease\b|\bunless\b|\bin (?:the|your|any)\b)",
    r"(?:nothing|nobody|no one) (?:gets|should|may|must|is to|goes|touches|merges|leaves)\b",
    r"(?:spare me|stay clear of|keep clear of)\s+\w+",
)
"""Matched where a clause begins, behind what leads into it."""

PROHIBITIONS = (
    rf"\bwe (?:never|always|only ever) {_VERBS}\b",
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
    r"\bnot? (?:longer )?(?:allowed|permitted) to\b",
)
"""Looked for anywhere in the sentence."""

RULES_AT_CLAUSE = (
    r"always\s+(?:\w+ly )?(?!\w+(?:[^us]s|ed)\b)(?!the\b|been\b|was\b|has\b|is\b)[a-z]\w+",
    rf"only\s+(?:ever\s+)?{_VERBS}\b(?! (?:to|for) me\b)",
    rf"{_VERBS}\s+(?:only|solely|exclusively|nothing but)\b(?!\s+\d)",
    (
        r"(?:restrict|limit|confine|cap|constrain)\s+(?:yourself|your\w*|the|all|any|each|every|changes|edits|answers"
        r"|replies|it)\b"
    ),
    r"(?:stick|adhere|conform|comply)\s+(?:to|with)\b|(?:obey|respect)\s+(?:the|our|my)\b",
    r"follow\s+[^.?!]{0,50}\b(?:style|conventions?|guide(?:lines?)?|pep ?\d*|rules?|standards?|patterns?|process)\b",
    (
        r"(?:ask|check with|consult|confirm with|get approval from|tell|warn|notify|ping)(?: with)? ?(?:me|us"
        r"|first)?\b[^.?!]{0,50}\b(?:before|first|prior to|whenever|if (?:in doubt|unsure|you|anything is"
        r"|something is))\b"
    ),
    r"(?:wait for|get|require|need) my (?:go\b|approval|ok|okay|permission|confirmation|go-ahead|sign-off|consent)\b",
    r"(?:prefer|favou?r)\s+\w+",
    (
        rf"(?:respond|reply|answer|write|speak|talk|communicate|comment|explain|think|report|summari[sz]e)\s+(?:(?:to"
        rf"|with) (?:me|us) |back |everything |all |only |code comments |"
        rf"comments |commit messages |docs |your answers? |your replies )*in (?:(?:a|an|the) )?(?:very )?{_LANGUAGE}\b"
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
    rf"keep\s+(?!going\b|in mind\b|it up\b|me\b|it in mind|that in mind)(?:[\w'’-]+\s+){{1,6}}?{_QUALITY}\b",
    r"(?:cite|quote|credit|attribute)\s+(?!(?:me|that|this) )\w+",
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
)
"""What is due, how it is done, how they like it; matched where a clause begins."""

RULES = (
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
    r"\b(?:is|are) (?:mandatory|compulsory|obligatory|non-negotiable|a must|a hard (?:requirement|rule|limit))\b",
    (
        r"\b(?:make|be) (?:absolutely )?sure (?:to |that |you )?(?:always|never|every|each|not|no|nothing)\b"
        r"|\bmake sure (?:every|each|all (?:your|new|the tests))\b|\bensure (?:that )?(?:every|each|no|nothing|all)\b"
    ),
    (
        r"\bit(?:['’]s| is) (?:very |absolutely |really )?(?:important|essential|crucial|critical|imperative"
        r"|vital) (?:that|to|you)\b"
    ),
    (
        r"\b(?:from (?:now|here|today|this point)(?: on(?:wards?)?| forward)?|from here on(?: out)?|going forward"
        r"|moving forward|henceforth"
        r"|in (?:the )?future|for (?:the rest|the remainder|the duration) of|for the whole|for (?:this"
        r"|the) (?:entire )?(?:session|conversation|chat|project|repo)"
        r"|throughout (?:this|the)|at all times|as a (?:general )?rule|by default|until further notice|until I (?:say"
        r"|tell|ask)|every single time)\b(?!\s+(?:it|the|this|that) (?:is|was|does|did|works?|uses?))"
    ),
    (
        r"(?:^|: )\W*(?:and |also |but |so |please )*(?:if|when)\b[^.?!]{3,120}, (?:please |just )?(?:stop|refuse"
        r"|decline|escalate|abort)\b(?: and\b|[^.?!]{0,60}\binstead of \w+ing\b)"
    ),
    r"\b(?:needs?|requires?) (?:my|our|explicit) (?:word|approval|ok|okay|consent|permission|sign-off|go-ahead)\b",
    r"\bwe(?:['’]re| are) (?:bound|limited|restricted|confined) to\b",
    r"\b(?:user|client|customer|boss|team) (?:strongly |always |clearly )?prefers\b(?! not to say)",
    r"\bI (?:really )?like (?!(?:it|this|that|them|how)\b)[^.?!,]{2,40}, not \w+",
    r"\b(?:every|each|any) ?time you\b|\bwhenever\b|\banytime you\b",
    (
        r"^\W*(?:and |also |but |so |please )*(?:when|if|before|after|while|once|as soon as|unless) (?:you(?:['’]re"
        r"|['’]ve)?|you are|citing|quoting|writing|answering|replying"
        r"|responding|coding|committing|pushing|deploying|merging|editing|refactoring|adding|changing|creating|naming"
        r"|in doubt|unsure|something is unclear"
        r"|anything is unclear|a (?:test|check|build|command) fails|(?:each|every|any|all)|tests? (?:fail"
        r"|break)s?)\b(?![^.?!]{0,160}, (?:then )?(?:it|that|this|there)(?:['’]s| is| are| was| means?)\b)"
        r"[^.?!]{3,200}"
    ),
    (
        r"\b(?:before|after|for|with|in|on|under|above|below|beside|at the (?:end|start|beginning|top) of) (?:each"
        r"|every)\b(?: single)? (?!day\b|month\b|row\b|item\b|line\b|file\b|other\b|session\b|loop\b)\w+"
    ),
    rf"\bin (?:all|each|every|any)(?: of)?(?: your| my| our| the)? {_OUTPUT_NOUN}\b",
    (
        rf"\b(?:all|each|every|any)(?: of)? (?:your |my |our |new |the )?{_OUTPUT_NOUN}\s+(?:should|must|needs? to"
        rf"|has to|have to|shall|are to|is to|ends?|starts?|gets?|goes?|stays?)\b"
    ),
    rf"\b(?:your|our|my) {_OUTPUT_NOUN}\s+(?:should|must|need to|needs to|have to|has to|shall|are to|is to)\b",
    rf"^\W*{_OUTPUT_NOUN}\s+(?:only\s+)?in\s+{_LANGUAGE}\b",
    r"\b(?:has|have) to (?:be|stay|remain) (?:at least|at most|under|below|above|within)\b",
    (
        r"^\W*if [^.?!,]{3,80}, (?:tell|warn|notify|ping|alert|inform) (?:me|us) "
        r"(?:at once|immediately|right away|first)\b"
    ),
    rf"^\W*{_OUTPUT_NOUN}\s+(?:should|must|need to|have to|shall|are to|go|stay)\b",
    r"\b(?:one|a single) (?:\w+ ){1,3}(?:per|at a time|for each|for every)\b",
    (
        r"\b(?:can|could|would|will) you (?:please )?(?:always|make sure|keep|use"
        r"|from now)\b[^?]{0,120}\b(?:from now on|always|every|each|whenever|in (?:the )?future|going forward)\b"
    ),
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
    r"\buse\b[^.?!]{1,60}, (?:never|not)\b",
    (
        r"\b(?:confidential|between (?:us|you and me)|not be (?:shared|disclosed|mentioned|published|committed|logged"
        r"|touched|changed|modified|deleted))\b"
    ),
    (
        r"\b(?:at most|no more than|not more than|maximum of|max\.?|up to|fewer than|less than|at least"
        r"|a minimum of)\s+(?:\d+|one|two|three|four|five|six|ten)\s+"
        r"(?:words?|sentences?|lines?|paragraphs?|characters?|chars|bullets?|bullet points|items|files?|commits?"
        r"|tokens)\b(?! (?:failed|passed|changed|wide|left))"
    ),
)
"""The same, looked for anywhere in the sentence."""

TASK_SCOPE = re.compile(
    r"(?i)\b(?:for (?:this|the current) (?:\w+ )?(?:task|ticket|pr|pull request|change|bug|fix|issue|feature|one"
    r"|file|refactor|step|run|release|migration|commit|branch|answer|reply)"
    r"|th(?:is|ese) (?:plan|document|report|summary|file|page|list|script|test|issue|ticket)s? (?:must|should|has to"
    r"|needs to)"
    r"|in this (?:pr|task|change|commit|ticket|branch|refactor|answer|reply)|until (?!further|i (?:say|tell"
    r"|ask))\w+|for now|right now|for the moment|for the time being|not? yet|yet|this time|today"
    r"|while (?:you|we|i|working|doing|fixing)|just this once|temporarily|during this|as part of this)\b"
    r"|暂时|目前|先不要|先别|这次|本次|在.{1,20}之前|直到|今回|とりあえず|今は|ひとまず"
    r"|für (?:diese|dieses|diesen)|vorerst|bis \w+|pour (?:cette"
    r"|ce|l['’]instant|le moment)|jusqu"
    r"|por ahora|para esta|hasta que|por enquanto|para esta|até|пока|до тех пор|для этой|지금은|이번|당분간|까지"
)

OTHER_SCRIPTS = (
    # Chinese
    r"(?:不要|不得|不准|不许|不許|不可以?(?!能)|禁止|严禁|嚴禁|切勿|请勿|請勿|切忌|杜绝|避免|不允许|不允許)(?!紧|緊|急|担心|擔心|客气|管|谢)",
    r"(?:^|[，,。；;：:、\s请請也就都先千万千萬])(?:别|別)(?!的|人|处|處|名|扭|急|担心|擔心|管|致|墅|无|無|说|客气|问)",
    r"(?:^|[，,。；;：:、\s])(?:你|您|都|也|绝对|絕對|千万|千萬)?(?:不能|不该|不該|不应|不應)(?!.{0,12}(?:了|吗|嗎|$)$)",
    r"必须|必須|务必|務必|一定要|只能|只(?:可以?|用|准|准许|允许|許|许|改|修改|使用|回答|输出)|(?:^|[，,。；;\s请請你])(?:总是|總是|始终|始終|永远|永遠|一律|统一|統一)",
    (
        r"从(?:现在|今|此)(?:开始|起|以后)?|從(?:現在|今|此)(?:開始|起|以後)?|今后|今後|(?:以后|以後|之后|之後)(?:都|请|請|要|不|每|所有)|每次|每当|每當|任何时候|任何時候"
        r"|无论何时|除非|未经|未經"
    ),
    (
        r"(?:请|請|都|一律|统一|始终|全程)?用(?:中文|英文|英语|日语|日文|简体|繁体|繁體|法语|德语|口语|书面).{0,4}(?:回答|回复|回覆|答|写|寫|交流|注释|输出|說|说)|(?:尽量|盡量"
        r"|优先|優先)(?:使用|用|选|選|采用|考虑|保持|简|少|不)|保持.{1,16}(?:不变|不變|简洁|簡潔|一致|风格|原样)"
    ),
    # Japanese
    r"(?:しないで|ないでください|ないで下さい|ないように|ないこと(?=[。！!、\s]|$)|てはいけ|てはなら|ではいけ|ではなら|ちゃだめ|ちゃダメ|禁止|厳禁|べからず|は不可|してはダメ|してはだめ)",
    (
        r"必ず|絶対に|絶対|つねに|常に|毎回|いつも.{0,20}(?:して|で)|今後|これから(?:は|ずっと)|以降(?:は|、)|(?:する|ある|なる|ない)ように(?:して|お願い|する)|(?:のみ|だけ)に(?:して|限)|(?:のみ"
        r"|だけ)(?:を)?(?:使|変更|編集|出力|回答|書)|(?:日本語|英語|敬語|簡潔|丁寧語?)(?:に|で)(?:答|回答|返|書|お願い|返信|コメント)|必須|なるべく|できるだけ|許可なく|許可なしに"
        r"|確認せずに|勝手に.{0,20}(?:ない|な[。！]?$)"
    ),
    # Korean
    (
        r"(?:하지|지)\s?(?:마|말|않도록)|금지|절대(?:로)?|반드시|항상|앞으로는?|지금부터|이제부터|(?:하면|면)\s?안\s?(?:돼|됩|된)|(?:해야|어야|아야)\s?(?:합니다|한다"
        r"|해요|해|함)|(?:만|만을)\s?(?:사용|수정|변경|출력)|(?:한국어|영어)로\s?(?:답|대답|작성|써|응답)|허락\s?없이|매번"
    ),
    # Russian
    (
        r"(?i)\b(?:никогда|нельзя|запрещ\w+|ни в коем случае|обязательно|с этого момента|отныне|впредь|в дальнейшем"
        r"|не смей|не (?:трогай|меняй|удаляй|изменяй|используй|пиши|добавляй|коммить|делай|пушь|переименовывай"
        r"|запускай|отправляй|публикуй|редактируй|трогать|менять|удалять)(?:те)?|избегай(?:те)?|отвечай(?:те)? (?:на"
        r"|по|только|всегда|кратко)|без (?:моего|разрешения|спроса)|только (?:используй|меняй|пиши|на русском"
        r"|по-русски))\b"
    ),
    (
        r"(?i)(?:^|[,;:]\s|\bи\s|\bно\s|пожалуйста,?\s)всегда\b|\bдолж(?:ен|на|ны|но) (?:всегда|быть|использовать"
        r"|отвечать|оставаться)\b"
    ),
)
"""Not one of these can match a text in ASCII."""

OTHER_LANGUAGES = (
    # German
    (
        r"(?i)\b(?:nie(?:mals)?|nie wieder|auf keinen Fall|keinesfalls|unter keinen Umständen|verboten|untersagt|tabu"
        r"|(?:darf|dürfen|darfst|soll|sollen|sollst)\b[^.?!]{0,60}\b(?:nicht|nie|niemals|kein\w*|nur)|Finger weg"
        r"|ab (?:jetzt|sofort|heute)|künftig|zukünftig|in Zukunft|unbedingt|stets|ohne (?:Rückfrage|meine|zu fragen"
        r"|Genehmigung|Freigabe|Absprache))\b"
    ),
    (
        r"(?i)(?:^|[,;:]\s|\bund\s|\baber\s)(?:bitte\s)?(?:immer|nur noch|vermeide|vermeiden Sie|bevorzuge"
        r"|verwende (?:immer|nur|stets)|benutze (?:immer|nur|stets)|nutze (?:immer|nur)|antworte (?:immer|nur|mir"
        r"|bitte|auf|kurz)|schreibe? (?:immer|alle|auf)|halte? dich)\b"
    ),
    (
        r"(?i)(?:^|[,;:]\s|\baber\s|\bund\s)(?:bitte\s)?(?:[^.,?!]{0,60}\s)?(?:nicht"
        r"|keine?n?)\s(?:[^.,?!]{0,50}\s)?(?:ändern|anfassen|löschen|verändern|bearbeiten|committen|pushen|verwenden"
        r"|benutzen|nutzen|entfernen|umbenennen|berühren|überschreiben|hinzufügen|schreiben|einfügen|ausführen"
        r"|erwähnen|weitergeben|installieren|mergen)\b\s*[.!]?"
    ),
    (
        r"(?i)^(?:bitte\s)?(?:fass|fasst|änder[en]?|lösch[en]?|verwende|benutze|nutze|rühr|mach|schreib|nimm|committe"
        r"|pushe|lass)\s[^.?!]{0,80}\b(?:nicht|nie|kein\w*|in Ruhe|unverändert)\b"
    ),
    # French
    (
        r"(?i)(?:^|[,;:]\s|\bet\s|\bmais\s|plaît,?\s|svp,?\s)(?:merci de\s|s'il (?:te|vous) plaît,?\s|svp,?\s"
        r"|veuillez\s|surtout,?\s)*(?:ne\s|n['’])(?!(?:t|vous|te) inqui|importe|est|a\b|y a|ai)[^.?!]{1,60}\b(?:pas"
        r"|jamais|plus|rien|aucune?|que)\b"
    ),
    (
        r"(?i)\b(?:interdit|interdiction|il ne faut (?:pas|jamais)|il faut toujours|(?:tu|vous) (?:dois|devez|ne dois"
        r"|ne devez)|à partir de maintenant|désormais|dorénavant|à l['’]avenir|en aucun cas|sans (?:mon accord"
        r"|ma permission|me demander|demander|autorisation)|obligatoire(?:ment)?|impérativement)\b"
    ),
    (
        r"(?i)(?:^|[,;:]\s|\bet\s|\bmais\s)(?:toujours|uniquement|seulement|évite[zr]?"
        r"|réponds?(?:ez)?[- ](?:moi )?(?:toujours |uniquement )?en|répondez (?:toujours )?en|utilise[zr]? (?:toujours"
        r"|uniquement|seulement)|privilégie[zr]?|garde[zr]? .{1,40}(?:court|simple|concis|inchangé|tel))"
    ),
    r"(?i)\btoujours (?:utiliser|répondre|demander|écrire|citer|vérifier|lancer)\b",
    # Spanish and Portuguese
    (
        r"(?i)(?:^|[,;:]\s|\by\s|\be\s|\bpero\s|\bmas\s|favor,?\s)(?:por favor,?\s)?(?:nunca|jamás|jamais|siempre"
        r"|sempre)\b"
    ),
    (
        r"(?i)(?:^|[,;:]\s|\by\s|\be\s|\bpero\s|\bmas\s|favor,?\s)(?:por favor,?\s)?n(?:o|ão)\s(?:me\s|lo\s|la\s|los\s"
        r"|las\s|se\s|os?\s|as?\s)?(?:toques?|cambi(?:es|e)|modifi(?:ques|que)|borr(?:es|e)|us(?:es|e)|elimin(?:es|e)"
        r"|edit(?:es|e)|hag(?:as|a)|agregu(?:es|e)|añad(?:as|a)|pong(?:as|a)|inclu(?:yas|ya|a)|escrib(?:as|a)"
        r"|compart(?:as|a)|muev(?:as|a)|ejecut(?:es|e)|sub(?:as|a)|hagan|respond(?:as|a)|mex(?:as?|am)|alter(?:e|es)"
        r"|mud(?:e|es)|apagu(?:e|es)|delet(?:e|es)|remov(?:a|as)|faç(?:a|as)|adicion(?:e|es)|coloqu(?:e|es)|escrev(?:a"
        r"|as)|envi(?:e|es)|compartilh(?:e|es)|crie|instale|tocar|cambiar|modificar|borrar|usar|alterar|mexer|apagar)\b"
    ),
    (
        r"(?i)\b(?:prohibido|proibido|a partir de (?:ahora|agora)|de ahora en adelante|de agora em diante|en adelante"
        r"|daqui (?:para a frente|em diante)|en ningún caso|bajo ninguna circunstancia|em hipótese alguma"
        r"|de jeito nenhum|sin (?:mi permiso|preguntar\w*|mi aprobación|autorización)|sem (?:minha|a minha|permissão"
        r"|perguntar|autorização|me perguntar)"
        r"|obligatori[oa]|obrigatóri[oa]|(?:debes|deves|debe|deve|deben|devem) (?:siempre|sempre|usar|ser|estar|quedar"
        r"|ficar|responder|preguntar|perguntar))\b"
    ),
    (
        r"(?i)(?:^|[,;:]\s|\by\s|\be\s)(?:por favor,?\s)?(?:respond[ea](?:me)?|contesta(?:me)?) (?:siempre |sempre "
        r"|sólo |solo )?(?:en|em) \w+|(?:^|[,;:]\s|\by\s|\be\s)(?:por favor,?\s)?(?:evita|evite|solo usa|usa solo"
        r"|usa siempre|use sempre|use apenas|use somente|usa sólo|mantén|mantenha|prefiero|prefiro|somente"
        r"|apenas use)\b"
    ),
)
