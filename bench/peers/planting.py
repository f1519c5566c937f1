"""Made sessions with twenty planted items each, the same every time: what every system under test is given.

The items are said the way people say such things, one per message, spread over the older part of a session that is
about something else: talk full of paths and numbers of its own, or the logs of its tools. Nothing comes from a
recorded session.
"""

import json
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

KEEP_MESSAGES = 20
"""The newest messages, which every system is asked to leave as they are."""

Row = dict[str, Any]


class Kind(StrEnum):
    RULE = "rule"
    LIMIT = "limit"
    FACT = "fact"
    STATE = "state"
    PREFERENCE = "preference"


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """One item. needed: pieces that must all be there for it to count as kept. superseded: pieces of what was said
    before of the same thing, which must be gone. earlier: the words that said it."""

    name: str
    kind: Kind
    text: str
    needed: tuple[str, ...]
    earlier: str = ""
    superseded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message in the shape of the chat API. call: name and command of the call that a tool's text answers."""

    role: str
    text: str
    call: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """messages: oldest first; all that was planted stands before the newest KEEP_MESSAGES."""

    name: str
    about: str
    messages: tuple[Message, ...]
    planted: tuple[Planted, ...]

    @property
    def old(self) -> tuple[Message, ...]:
        return self.messages[:-KEEP_MESSAGES]

    @property
    def tail(self) -> tuple[Message, ...]:
        return self.messages[-KEEP_MESSAGES:]


def sessions() -> dict[str, Session]:
    """By name: some talk, a lot of it, the logs of tools, and logs that a person pasted."""
    made = (
        _session("talk", "talk of a coding session", 11, _talk, turns=90),
        _session("long-talk", "four times as much talk", 12, _talk, turns=360),
        _session("tool-logs", "little talk between long tool outputs", 13, _tool_logs, turns=90),
        _session("pasted-logs", "logs that a person pasted", 14, _pasted_logs, turns=90),
    )
    return {session.name: session for session in made}


def rows_of(messages: Iterable[Message]) -> list[Row]:
    """The messages as rows of the chat API; a tool's text behind the call that it answers."""
    return [row for message in messages for row in _rows(message)]


def _rows(message: Message) -> list[Row]:
    if message.call is None:
        return [{"role": message.role, "content": message.text}]
    name, command = message.call
    call_id = f"call_{_number_of(command + message.text):08x}"
    call = {"id": call_id, "type": "function", "function": {"name": name, "arguments": json.dumps({"cmd": command})}}
    return [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "content": message.text, "tool_call_id": call_id},
    ]


def _number_of(text: str) -> int:
    """A number that is the same in every process."""
    return random.Random(text).getrandbits(32)


# The items.


def plant(rng: random.Random) -> list[Planted]:
    """Twenty items, four of each kind; two of them put right what was said before."""
    names = _Names(rng)
    return [*_rules(names), *_limits(names), *_facts(names), *_states(names), *_preferences(names)]


class _Names:
    """Names and numbers that stand nowhere else in a session."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self.person = f"{self.word(4).title()} {self.word(6).title()}"

    def word(self, letters: int) -> str:
        return "".join(self._rng.choice("bcdfghklmnprstvz" if at % 2 == 0 else "aeiou") for at in range(letters))

    def number(self, low: int, high: int) -> int:
        return self._rng.randrange(low, high)

    def code(self) -> str:
        return f"{self.word(4).upper()}-{self.number(100, 999)}"

    def date(self) -> str:
        return f"2027-{self.number(1, 13):02d}-{self.number(1, 29):02d}"

    def commit(self) -> str:
        return f"{self._rng.getrandbits(28) | 0xA000000:07x}"


def _rules(names: _Names) -> Iterator[Planted]:
    folder, ticket, host = f"{names.word(6)}/{names.word(5)}", names.code(), f"{names.word(5)}.internal"
    yield _item(Kind.RULE, "folder", f"Never touch anything under {folder}, another team owns it.", "never", folder)
    yield _item(
        Kind.RULE, "ticket", f"Don't run the purge job without {ticket} being signed off.", "don't run", "purge", ticket
    )
    yield _item(
        Kind.RULE, "approval", f"Nothing goes out to {host} before {names.person} has seen it.", host, names.person
    )
    yield _item(
        Kind.RULE,
        "third party",
        "If something could harm a customer, stop and ask instead of going on.",
        "harm a customer",
        "stop and ask",
    )


def _limits(names: _Names) -> Iterator[Planted]:
    old, new = names.number(200, 500), names.number(600, 990)
    service, timeout, zone = names.word(6), names.number(1100, 9900), f"Zone/{names.word(6).title()}"
    yield _item(
        Kind.LIMIT,
        "budget",
        f"The budget for the load tests is ${new}. Going over it needs my word.",
        f"${new}",
        earlier=f"The budget for the load tests is ${old}. Going over it needs my word.",
        superseded=f"${old}",
    )
    yield _item(Kind.LIMIT, "timeout", f"Timeouts towards {service} stay at {timeout} ms.", service, f"{timeout} ms")
    yield _item(Kind.LIMIT, "zone", f"When you print a time, print it in {zone}.", "time", zone)
    yield _item(
        Kind.LIMIT,
        "runtime",
        "We are bound to Python 3.11 here, and the sandbox has no network.",
        "python 3.11",
        "no network",
    )


def _facts(names: _Names) -> Iterator[Planted]:
    codename, old, new = names.code(), names.date(), names.date()
    region, host, phone = f"eu-north-{names.number(1, 6)}", f"{names.word(5)}.staging", names.number(4000, 9999)
    yield _item(
        Kind.FACT,
        "deadline",
        f"Correction: {codename} ships on {new}.",
        codename,
        new,
        earlier=f"The release is called {codename} and ships on {old}.",
        superseded=old,
    )
    yield _item(Kind.FACT, "database", f"Production runs on Postgres 15 in {region}.", "postgres 15", region)
    yield _item(Kind.FACT, "address", f"The staging API answers at https://{host}/v2.", f"{host}/v2")
    yield _item(
        Kind.FACT, "on call", f"{names.person} is on call this week, extension {phone}.", names.person, str(phone)
    )


def _states(names: _Names) -> Iterator[Planted]:
    branch, commit, one, other = f"spike/{names.word(6)}", names.commit(), names.code(), names.code()
    yield _item(Kind.STATE, "branch", f"We are on {branch}, cut from {commit}, not pushed yet.", branch, commit)
    yield _item(Kind.STATE, "failing cases", f"{one} and {other} still fail in the nightly.", one, other, "fail")
    yield _item(
        Kind.STATE,
        "next step",
        "The move of the login to OAuth is at step 3 of 5, token refresh comes next.",
        "oauth",
        "3 of 5",
        "token refresh",
    )
    yield _item(
        Kind.STATE, "open question", "I still owe you an answer on strict mode by default.", "strict mode by default"
    )


def _preferences(names: _Names) -> Iterator[Planted]:
    style, sign = names.word(6).title(), names.code()
    yield _item(
        Kind.PREFERENCE,
        "one recommendation",
        "I prefer one decisive recommendation to a list of options.",
        "one decisive recommendation",
    )
    yield _item(Kind.PREFERENCE, "language", "For examples I like Kotlin, not Java.", "kotlin", "not java")
    yield _item(Kind.PREFERENCE, "sign", f"Put my sign {sign} under each entry of the change log.", sign, "change log")
    yield _item(
        Kind.PREFERENCE,
        "style",
        f"Write to me in the {style} style, with metric units.",
        style,
        "metric units",
    )


def _item(kind: Kind, name: str, text: str, *needed: str, earlier: str = "", superseded: str = "") -> Planted:
    return Planted(
        name=name,
        kind=kind,
        text=text,
        needed=tuple(one.lower() for one in needed),
        earlier=earlier,
        superseded=(superseded.lower(),) if superseded else (),
    )


# What the session is about otherwise.

Filler = Callable[[random.Random, int], list[Message]]
"""The messages of one turn: a person's first."""


def _session(name: str, about: str, seed: int, filler: Filler, *, turns: int) -> Session:
    rng = random.Random(seed)
    planted = plant(rng)
    said = [one.earlier for one in planted if one.earlier]
    texts = [one.text for one in planted]
    rng.shuffle(texts)
    told = said + texts
    made = [filler(rng, number) for number in range(turns)]
    closing = [message for turn in made[-KEEP_MESSAGES:] for message in turn][-KEEP_MESSAGES:]
    turns_before = made[: turns - KEEP_MESSAGES // 2]
    gap = len(turns_before) / (len(told) + 1)
    after = {int(gap * (place + 1)): text for place, text in enumerate(told)}
    messages: list[Message] = []
    for number, turn in enumerate(turns_before):
        messages += turn
        if number in after:
            messages.append(Message(role="user", text=after[number]))
            messages.append(Message(role="assistant", text="Understood, going on."))
    assert len(after) == len(told), f"{name}: too few turns for {len(told)} items"
    return Session(name=name, about=about, messages=(*messages, *closing), planted=tuple(planted))


MODULES = ("billing", "search", "shipping", "returns", "catalogue", "vouchers", "invoices", "stock", "mail", "reports")
THINGS = ("importer", "cache", "queue", "parser", "scheduler", "mapper", "client", "validator", "index", "exporter")
ASKS = (
    "have a look at {path}, the {thing} there does the same work twice",
    "can you rename the {thing} in {module} so that it says what it does",
    "the {module} page is slow again, about {number} ms for a list of {small}",
    "ok, and now the same for {path}",
    "I think the {thing} should live in {module}, what do you say",
    "there is a test in tests/{module}/test_{thing}.py that sleeps for {small} seconds, take it out",
    "why does the {thing} log {number} lines for one request",
    "looks fine. next is the {thing} of {module}, its error messages are useless",
    "please add a test for an empty {thing}, we had {small} reports of that",
    "the diff is too large, split it: first {path}, then the rest",
)
ANSWERS = (
    """The {thing} in {path} is called from {small} places. I moved the loop into one function and kept the signature,
so the callers in {module} need no change. The old helper is still there for the tests and can go later.""",
    """I renamed it in {path} and in the {small} files that import it. The {module} package builds, and the tests of the
{thing} pass. One of them compared the text of an error, which I adapted.""",
    """The time goes into the {thing}: it opens a connection per row, {number} in all. Reading the rows in one query
brings the list down to a tenth. The change is in {path}, line {number}.""",
    """Done. The {thing} now says which field was wrong and what was expected. I left the codes as they were, since
{module} reads them. The test file grew by {small} cases.""",
    """It logged once per retry and once per attempt. I kept the second and made the first a counter; a request now
writes {small} lines. The {module} dashboards do not read these lines, I looked.""",
)
LINES = (
    "{module}/{thing}_{small}.py:{number}: debug: took {small} ms for {number} rows",
    "INFO  {module}.{thing} request id={number} status=200 bytes={number}",
    "PASSED tests/{module}/test_{thing}.py::test_case_{number}",
    "{number}:    def load_{thing}_{small}(self, rows, limit={small}):",
    "WARN  {module}.{thing} slow query, {number} ms, plan {small}",
)


def _talk(rng: random.Random, number: int) -> list[Message]:
    return [
        Message(role="user", text=_filled(rng, rng.choice(ASKS))),
        Message(role="assistant", text=" ".join(_filled(rng, rng.choice(ANSWERS)) for _ in range(1 + number % 3))),
    ]


def _tool_logs(rng: random.Random, number: int) -> list[Message]:
    asked, answered = _talk(rng, number)
    command = _filled(rng, "grep -rn {thing} {module} | head -n {number}")
    return [asked, Message(role="tool", text=_log(rng, 45), call=("bash", command)), answered]


def _pasted_logs(rng: random.Random, number: int) -> list[Message]:
    asked, answered = _talk(rng, number)
    if number % 3:
        return [asked, answered]
    return [Message(role="user", text=f"{asked.text}\n\n{_log(rng, 60)}"), answered]


def _log(rng: random.Random, lines: int) -> str:
    return "\n".join(_filled(rng, rng.choice(LINES)) for _ in range(rng.randrange(lines // 2, lines * 3 // 2)))


def _filled(rng: random.Random, template: str) -> str:
    module, thing = rng.choice(MODULES), rng.choice(THINGS)
    return template.replace("\n", " ").format(
        module=module,
        thing=thing,
        path=f"src/{module}/{thing}.py",
        number=rng.randrange(100, 9_000),
        small=rng.randrange(2, 60),
    )
