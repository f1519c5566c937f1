"""Days that were named from where the speaker stood, as dates: "tomorrow", said on 1 March 2026, is 2026-03-02."""

import re
from datetime import date, timedelta

_DAYS = {
    "yesterday": -1, "today": 0, "tomorrow": 1, "tonight": 0, "last night": -1,
    "this morning": 0, "this afternoon": 0, "this evening": 0,
    "gestern": -1, "vorgestern": -2, "übermorgen": 2, "ayer": -1, "mañana": 1,
    "昨天": -1, "今天": 0, "明天": 1, "后天": 2, "前天": -2, "昨日": -1, "今日": 0, "明日": 1,
    "어제": -1, "오늘": 0, "내일": 1,
}  # fmt: skip
_WEEKS = {"last week": -1, "this week": 0, "next week": 1, "上周": -1, "下周": 1, "先週": -1, "来週": 1}
_MONTHS = {"last month": -1, "this month": 0, "next month": 1}
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

_RELATIVE = re.compile(
    r"(?<![\w./`'-])(?:yesterday|today|tomorrow|tonight|this (?:morning|afternoon|evening|week|month)|"
    r"(?:last|next) (?:week|month|night|monday|tuesday|wednesday|thursday|friday|saturday|sunday)|"
    r"\d{1,3} (?:days?|weeks?) ago|gestern|vorgestern|übermorgen|ayer|mañana)"
    r"(?![\w(`/=-]|\.\w|'s\b| \((?:the week of )?\d{4}-)|"
    r"(?:昨天|今天|明天|后天|前天|上周|下周|昨日|今日|明日|先週|来週|어제|오늘|내일)(?! ?\((?:the week of )?\d{4}-)",
    re.IGNORECASE,
)


def relative_date(text: str) -> str:
    """The first day that is named from where the speaker stood, "" when there is none."""
    found = _RELATIVE.search(text)
    return found.group() if found else ""


def absolute_dates(text: str, said_on: date) -> str:
    """The text with the date behind every such day: a week as the week of its Monday, a month as year and month.

    The words stay, so that what is quoted stays a quotation: "today (2026-11-27)".
    """
    return _RELATIVE.sub(lambda found: f"{found.group()} ({_absolute(found.group().casefold(), said_on)})", text)


def _absolute(words: str, said_on: date) -> str:
    if words in _DAYS:
        return _moved(said_on, days=_DAYS[words])
    if words in _WEEKS:
        return _week(said_on, _WEEKS[words])
    if words in _MONTHS:
        months = said_on.year * 12 + said_on.month - 1 + _MONTHS[words]
        return f"{months // 12:04d}-{months % 12 + 1:02d}"
    if words.endswith("ago"):
        number = int(words.split()[0])
        return _moved(said_on, days=-number) if "day" in words else _week(said_on, -number)
    direction, _, name = words.partition(" ")
    return _weekday(said_on, direction, name)


def _weekday(said_on: date, direction: str, name: str) -> str:
    if name not in _WEEKDAYS:
        return _moved(said_on, days=1 if direction == "next" else -1)
    ahead = (_WEEKDAYS.index(name) - said_on.weekday()) % 7
    return _moved(said_on, days=(ahead or 7) if direction == "next" else (ahead - 7))


def _week(said_on: date, weeks: int) -> str:
    return f"the week of {_moved(said_on, days=7 * weeks - said_on.weekday())}"


def _moved(said_on: date, *, days: int) -> str:
    """The calendar ends in the years 1 and 9999; a transcript may claim to come from there."""
    try:
        return (said_on + timedelta(days=days)).isoformat()
    except OverflowError:
        return said_on.isoformat()
