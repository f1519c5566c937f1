"""What an assistant wrote in Markdown, as words: lines without marks, and a beginning that reads as running text.

Headings, tables, bullets and fences are for a screen. In a summary that is itself Markdown they are noise, and cut off
in the middle they break the page.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from worker.core.wording import clip, sentences

READ_CHARS = 20_000
"""Of one message; the words of a longer one are not summed up by its first line anyway."""

_FENCE = re.compile(r"[ \t]{0,8}(`{3,}|~{3,})")
_RULE = re.compile(r"[ \t]*(?:[-=*_]{3,}|\|?[ \t:|-]{3,})[ \t]*")
_HEADING = re.compile(r"[ \t]{0,3}#{1,6}[ \t]+(.*)")
_BULLET = re.compile(r"[ \t]*(?:[-*+•‣][ \t]+(?:\[[ xX]\][ \t]+)?|(\(?(?:\d{1,3}|[A-Za-z])[.)])[ \t]+)")
_ROW = re.compile(r"[ \t]*\|(.*)\|[ \t]*")
_LINK = re.compile(r"!?\[([^\]\n]{1,300})\]\([^)\s]{1,600}\)")
_STRONG = re.compile(r"\*\*(?=\S)|(?<=\S)\*\*|~~")
_EMPHASIS = re.compile(r"(?<![\w*])\*(?=\S)([^*\n]{1,300})(?<=\S)\*(?![\w*])")
_BOLD_LINE = re.compile(r"[ \t]*(?:[-*][ \t]+)?\*\*([^*\n]{2,120})\*\*[ \t]*:?[ \t]*")
_TITLE_OF_ALL = re.compile(r"(?i)\W*(?:summary|overview|key findings|findings|results?|changes|what changed)\b.{0,40}")
_FILLER = re.compile(
    r"(?i)(?:(?:here(?:['’]s| is| are)|(?:now )?let me|now i|below is|i['’]ll|i will|i['’]m going to)\b.*"
    r"|(?:(?:done|great|perfect|good|excellent|ok(?:ay)?|yes|sure|got it|understood|of course|absolutely|exactly"
    r"|all done"
    r"|you(?:['’]re| are) (?:absolutely )?right|(?:you raise a )?good (?:catch|point|question|idea))\W*){1,3})"
)
_SAYS_ENOUGH = 40
_OPTIONS = re.compile(r"(?:^|\s)\(?[Aa1]\)\s")
_ENDED = (".", "!", "?", ":", ";", ",", "。", "！", "？", "：", "；", "…")


@dataclass(frozen=True, slots=True)
class FlatLine:
    """label: the number or letter of a list item, as it is written. is_title: a heading or a line in bold alone."""

    text: str
    is_item: bool = False
    is_title: bool = False
    label: str = ""

    @property
    def labelled(self) -> str:
        return f"{self.label} {self.text}" if self.label else self.text


def plain(line: str) -> str:
    """One line without emphasis, links and the pipes of a table; inline code stays, it names things."""
    row = _ROW.fullmatch(line)
    if row is not None:
        line = " – ".join(cell for piece in row[1].split("|") if (cell := piece.strip()))
    if "](" in line:
        line = _LINK.sub(r"\1", line)
    return _EMPHASIS.sub(r"\1", _STRONG.sub("", line)).strip() if "*" in line or "~" in line else line.strip()


def flat_lines(text: str) -> Iterator[FlatLine]:
    """The lines that say something, in order: no fenced code, no rules, no head of a table."""
    fence = ""
    lines = text[:READ_CHARS].splitlines()
    for at, line in enumerate(lines):
        mark = _FENCE.match(line)
        if mark is not None and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
            continue
        if fence or not line.strip() or _RULE.fullmatch(line) or _is_table_head(lines, at):
            continue
        yield _flat(line)


def prose(text: str, chars: int) -> str:
    """The beginning of the text as running words, cut at about `chars`."""
    told, in_list = "", False
    for line in flat_lines(text):
        if len(told) >= chars:
            break
        if line.is_title and (_TITLE_OF_ALL.fullmatch(line.text) or told.endswith(":")):
            continue
        told = _joined(told, line, in_list)
        in_list = line.is_item
    return clip(told, chars)


def gist(text: str, chars: int) -> str:
    """What the text tells, in one short line: its opening sentences; of a list what it lists, when that says more.

    A question tells nothing, and neither does the list that it asks about: "" when there is nothing else.
    """
    lines = list(flat_lines(text))
    listed = next((at for at, line in enumerate(lines) if line.is_item or line.is_title), len(lines))
    opening = sentences(" ".join(line.text for line in lines[:listed])[: chars * 8])
    told = _told(opening, chars)
    whole = told if any(map(_leaves_open, opening)) else _with_items(told, lines[listed:], chars)
    if whole.endswith((":", "：")):
        whole = " ".join(sentences(whole)[:-1]) or whole
    return clip(whole, chars).rstrip(" :;,")


def _told(opening: Sequence[str], chars: int) -> str:
    """As many of the sentences that tell something as there is room for, the first of them always."""
    told = ""
    for words in opening:
        if _leaves_open(words) or _FILLER.fullmatch(words):
            continue
        longer = f"{told} {words}" if told else words
        if told and len(longer) > chars:
            break
        told = longer
    return told


def _leaves_open(words: str) -> bool:
    """Whether a sentence asks, or offers a first option of several."""
    return words.endswith(("?", "？")) or _OPTIONS.search(words) is not None


def _with_items(told: str, lines: Sequence[FlatLine], chars: int) -> str:
    """The first items behind words that only announce them or say little, as many as fit whole."""
    if told and not told.endswith((":", "：")) and len(told) >= _SAYS_ENOUGH:
        return told
    for line in lines:
        if line.is_title and (not line.text or _TITLE_OF_ALL.fullmatch(line.text) or told.endswith(":")):
            continue
        longer = _joined(told, line, in_list=";" in told or not told.endswith(_ENDED))
        if told and len(longer) > chars:
            return longer if not line.is_title and len(told) < chars // 2 else told
        told = longer
    return told


def _is_table_head(lines: list[str], at: int) -> bool:
    return "|" in lines[at] and at + 1 < len(lines) and "-" in lines[at + 1] and bool(_RULE.fullmatch(lines[at + 1]))


def _flat(line: str) -> FlatLine:
    heading = _HEADING.fullmatch(line)
    if heading is not None:
        return FlatLine(plain(heading[1]).rstrip(" :#"), is_title=True)
    bold = _BOLD_LINE.fullmatch(line)
    if bold is not None:
        return FlatLine(plain(bold[1]).rstrip(" :"), is_title=True)
    bullet = _BULLET.match(line)
    if bullet is not None:
        return FlatLine(plain(line[bullet.end() :]), is_item=True, label=bullet[1] or "")
    return FlatLine(plain(line.lstrip("> \t")), is_item=_ROW.fullmatch(line) is not None)


def _joined(told: str, line: FlatLine, in_list: bool) -> str:
    words = f"{line.text}:" if line.is_title else line.text
    if not told:
        return words
    if told.endswith(_ENDED):
        return f"{told} {words}"
    return f"{told}; {words}" if in_list and line.is_item else f"{told}. {words}"
