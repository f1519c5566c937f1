"""What the English words of rules are made of: what leads into an order, what is ordered, and how long it holds."""

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

VERBS = (
    r"(?:use|touch|change|edit|modify|work|write|read|run|make|add|commit|push|deploy|reply|respond|answer|speak"
    r"|include|import|install"
    r"|call|return|show|report|list|mention|cite|quote|reference|ask|delete|remove|create|format|test|log|save"
    r"|store|send|give|output"
    r"|print|say|talk|look|fix|refactor|rename|update|review|suggest|propose|consider|keep|put|name|do|go|open"
    r"|expose|share|publish"
    r"|merge|rebase|squash|target|support|accept|allow|apply|assume|explain|summari[sz]e|translate|refer|stay"
    r"|provide|generate|draw|link)"
)
OUTPUT_NOUN = (
    r"(?:repl(?:y|ies)|answers?|responses?|messages?|commits?|commit messages?|comments?|docstrings?|functions?"
    r"|methods?|files?|classes"
    r"|variables?|names?|tests?|branch(?:es)?|branch names?|PRs?|pull requests?|summar(?:y|ies)|explanations?"
    r"|outputs?|code|docs|charts?|plots?|figures?"
    r"|documentation|changes|migrations?|endpoints?|modules?|numbers|dates|amounts|prices|units|tables|lists"
    r"|paragraphs?|sentences?|texts?|e?-?mails?|letters?|posts?|reports?|articles?|chapters?|slides?|captions?)"
)
LANGUAGE = (
    r"(?:english|french|german|spanish|italian|portuguese|dutch|russian|ukrainian|polish|turkish|arabic|hebrew"
    r"|hindi|japanese|korean"
    r"|chinese|mandarin|cantonese|swedish|danish|norwegian|finnish|czech|greek|vietnamese|thai|plain|simple|formal"
    r"|informal|british"
    r"|american|markdown|json|bullet|prose|the (?:first|second|third) person|passive|active|present|past"
    r"|imperative)"
)
QUALITY = (
    r"(?:short|brief|concise|terse|small|simple|minimal|minimalist|formal|informal|professional|casual|polite"
    r"|friendly|neutral|private"
    r"|confidential|secret|consistent|compatible|clean|readable|lean|tidy|separate|sorted|alphabetical|pure|stable"
    r"|green|up to date"
    r"|under|below|within|at|in|out of|to|between us|as is|as it is|as they are|as-is|untouched|unchanged|intact"
    r"|the same|quiet|anonymous|local|offline)"
)

HAS_VERB = re.compile(
    r"(?i)\b(?:is|are|was|were|am|has|have|had|does|did|do|can|could|will|would|might|fails?|failed|fail|works?"
    r"|worked|looks?"
    r"|seems?|shows?|showed|found|finds?|got|gets?|went|goes|came|comes|made|makes?|said|says?|took|takes?|left"
    r"|remain(?:s|ed)?|happens?|happened|needs?|needed|wants?|wanted|think|thought|know|see|saw|run|runs|ran|exists?"
    r"|added|modified|simplified|included|created|updated|removed|fixed|changed|moved|implemented|replaced|renamed"
    r"|helps?|helped|broke|breaks?|replied|appears?|appeared|crashed|passed|passes)\b|\b\w+n['’]t\b|['’](?:s|re|m"
    r"|ve|ll)\b"
)
"""A noun phrase that goes on with one of these is a statement: "no tests before this one failed"."""

TASK_SCOPE = re.compile(
    r"(?i)\b(?:for (?:this|the current) (?:\w+ )?(?:task|ticket|pr|pull request|change|bug|fix|issue|feature|one"
    r"|file|refactor|step|run|release|migration|commit|branch|answer|reply)"
    r"|th(?:is|ese) (?:plan|document|report|summary|file|page|list|script|test|issue|ticket)s? (?:must|should|has to"
    r"|needs to)"
    r"|in this (?:pr|task|change|commit|ticket|branch|refactor|answer|reply)|until (?!further|i (?:say|tell"
    r"|ask))\w+|for now|right now|for the moment|for the time being|not? yet|yet|this time|today"
    r"|while (?:you|we|i|working|doing|fixing)|just this once|temporarily|during this|as part of this)\b"
    # "Don't modify the theme, look into the footer": how the work at hand is done.
    r"|\b(?:don['’]?t|do not) \w+ (?:the|teh|this|that|these|those) [^.?!,]{1,60},? (?:just |please |instead )?(?:look"
    r"|read|check|fix|try|start|continue|go|make|see|open|investigate|find)\b"
    r"|暂时|目前|先不要|先别|这次|本次|在.{1,20}之前|直到|今回|とりあえず|今は|ひとまず"
    r"|für (?:diese|dieses|diesen)|vorerst|bis \w+|pour (?:cette"
    r"|ce|l['’]instant|le moment)|jusqu"
    r"|por ahora|para esta|hasta que|por enquanto|para esta|até|пока|до тех пор|для этой|지금은|이번|당분간|까지"
)
