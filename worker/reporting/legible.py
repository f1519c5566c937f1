"""Other people's text as a page can show it: what would act unseen is shown as a mark, what only colours is dropped."""

import re

_TERMINAL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]?|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[ -/]*[0-~]?)")
_LINE_END = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff"
    "\U000e0000-\U000e007f]"
)
_SURROGATE = re.compile("[\ud800-\udfff]")


def legible(text: str) -> str:
    """The text without terminal colours; characters that direct, hide or control show as ‹U+202E›.

    Line ends of any kind are "\\n", lone surrogates U+FFFD. Joiners stay: scripts and emoji are written with them.
    """
    if text.isascii() and text.isprintable():
        return text
    plain = _LINE_END.sub("\n", _TERMINAL.sub("", text))
    return _SURROGATE.sub("\ufffd", _UNSEEN.sub(lambda found: f"‹U+{ord(found[0]):04X}›", plain))
