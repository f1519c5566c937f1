"""An OpenAI-compatible endpoint on loopback that summarizes by a policy, fails by order, and meters everything.

One per run of a system under test. It knows the session, see `peers.extracting`; it answers in Afterturn's form where
Afterturn's prompt asks for it and in plain bullets otherwise, both with the same lines under the same output budget.
"""

import json
import re
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from fidelity.models import read
from peers.extracting import KnownLines, Policy, chosen, lines_of

from worker.core.tokens import estimate_tokens
from worker.core.wording import content_words
from worker.ports import Turn
from worker.testing import EMPTY_PART, in_form

Json = dict[str, Any]


class Fault(StrEnum):
    """How the endpoint fails. Beside NONE and ONCE_500 it does so at every request."""

    NONE = "none"
    ONCE_500 = "http500 once"
    ALWAYS_500 = "http500"
    CUT_OFF = "cut off"
    TOOL_CALL = "tool call"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request. began, ended: seconds of the monotonic clock between which the stand-in had it."""

    prompt: str
    tokens: int
    began: float
    ended: float
    status: int


@dataclass(slots=True)
class Meter:
    """Every request so far."""

    asked: list[Asked] = field(default_factory=list)

    @property
    def calls(self) -> int:
        return len(self.asked)

    @property
    def prompt_tokens(self) -> int:
        return sum(one.tokens for one in self.asked)

    @property
    def seconds(self) -> float:
        """How long at least one request was being answered; requests that overlap count once."""
        total, until = 0.0, 0.0
        for one in sorted(self.asked, key=lambda one: one.began):
            total += max(0.0, one.ended - max(one.began, until))
            until = max(until, one.ended)
        return total


class StandIn:
    """What is answered. texts: of the session, whose lines a summary may take."""

    def __init__(self, texts: Iterable[str], *, policy: Policy = Policy.PROSE, fault: Fault = Fault.NONE) -> None:
        self.meter = Meter()
        self._known = KnownLines(texts)
        self._policy = policy
        self._fault = fault
        self._lock = threading.Lock()

    def learn(self, texts: Iterable[str]) -> None:
        """More texts of the session."""
        with self._lock:
            self._known.learn(texts)

    def answer(self, request: Json) -> tuple[int, Json]:
        """Status and body for a request of the chat-completions protocol."""
        began = time.monotonic()
        turns = [Turn(role=str(one.get("role", "user")), content=text_of(one)) for one in request["messages"]]
        prompt = "\n".join(turn.content for turn in turns)
        fails = self._fault is Fault.ALWAYS_500 or (self._fault is Fault.ONCE_500 and not self.meter.calls)
        if fails:
            status, body = 500, _error("the server had an error")
        else:
            status, body = 200, self._completion(turns, prompt)
        asked = Asked(prompt=prompt, tokens=estimate_tokens(prompt), began=began, ended=time.monotonic(), status=status)
        with self._lock:
            self.meter.asked.append(asked)
        return status, body

    def _completion(self, turns: Sequence[Turn], prompt: str) -> Json:
        text = "" if self._policy is Policy.BLANK else self._summary(turns, prompt)
        if self._fault is Fault.TOOL_CALL:
            call = {"id": "call_1", "type": "function", "function": {"name": "read_file", "arguments": '{"path": "."}'}}
            return _body(prompt, None, "tool_calls", tool_calls=[call])
        if self._fault is Fault.CUT_OFF:
            return _body(prompt, text[: len(text) // 2], "length")
        return _body(prompt, text, "stop")

    def _summary(self, turns: Sequence[Turn], prompt: str) -> str:
        question = _JUDGED.search(turns[-1].content)
        if question is not None:
            return "YES" if _is_retained(question[1], question[2]) else "NO"
        if turns[0].content.startswith(_OWN_PROMPTS):
            return self._in_own_form(turns)
        lines = chosen(self._known.found_in(prompt), self._policy)
        with self._lock:
            self._known.add(lines)
        bullets = "\n".join(f"- {line}" for line in lines) or "(nothing)"
        return f"<summary>\n{bullets}\n</summary>" if "<summary>" in prompt else bullets

    def _in_own_form(self, turns: Sequence[Turn]) -> str:
        asked = read(turns)
        if asked.is_merge:
            newest: Json = {
                "request": asked.requests[-1] if asked.requests else "Go on",
                "next_step": None,
                "changes": [],
            }
            return in_form({**newest, "current_work": asked.works[-1] if asked.works else "The session goes on"})
        found = {line: one.id for one in asked.lines for line in self._known.among(lines_of(one.text))}
        cited = {worded: found[line] for line in found for worded in chosen([line], self._policy)}
        lines = chosen(list(found), self._policy)
        facts = [
            {"kind": "fact", "text": line, "verify": None, "evidence": [cited[line]] if line in cited else []}
            for line in lines
        ]
        texts = {"request": (lines or ["Go on with the session"])[0], "current_work": (lines or ["As before"])[-1]}
        return in_form({**EMPTY_PART, **texts, "problem_solving": facts})


_OWN_PROMPTS = ("You write the memory of an agent session", "You keep the memory of an agent session")


_JUDGED = re.compile(r"\[Injected SSSC\]\s*(.*?)\s*\[Compacted Context\]\s*(.*)", re.DOTALL)
"""How conpact's judge is asked whether a constraint is still there."""


def _is_retained(constraint: str, context: str) -> bool:
    """When one line holds all its words; a real judge would also take a paraphrase."""
    wanted = set(content_words(constraint))
    return any(wanted <= set(content_words(line)) for line in context.splitlines())


def text_of(message: Mapping[str, Any]) -> str:
    """All that a message of a request says, its tool calls included."""
    content = message.get("content") or ""
    if not isinstance(content, str):
        content = "\n".join(part.get("text", "") for part in content if isinstance(part, dict))
    calls = message.get("tool_calls")
    return f"{content}\n{json.dumps(calls, ensure_ascii=False)}" if calls else content


def _error(message: str) -> Json:
    return {"error": {"message": message, "type": "server_error", "code": None}}


def _body(prompt: str, text: str | None, finish_reason: str, **more: object) -> Json:
    tokens_in, tokens_out = estimate_tokens(prompt), estimate_tokens(text or "")
    choice = {"index": 0, "message": {"role": "assistant", "content": text, **more}, "finish_reason": finish_reason}
    usage = {"prompt_tokens": tokens_in, "completion_tokens": tokens_out, "total_tokens": tokens_in + tokens_out}
    return {
        "id": "chatcmpl-stand-in",
        "object": "chat.completion",
        "created": 0,
        "model": "gpt-4o-mini",
        "choices": [choice],
        "usage": usage,
    }


# On the wire.


@contextmanager
def serving(stand_in: StandIn) -> Iterator[str]:
    """The address under which it is reached while the block runs."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(stand_in))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(stand_in: StandIn) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = 1 << 16  # one write per reply: no wait for a delayed acknowledgement
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            request = json.loads(body or b"{}")
            if not self.path.endswith("/chat/completions"):
                self._send(404, "application/json", json.dumps(_error(f"no such path: {self.path}")).encode())
                return
            status, answer = stand_in.answer(request)
            if request.get("stream") and status == 200:
                self._send(200, "text/event-stream", _as_events(answer))
            else:
                self._send(status, "application/json", json.dumps(answer).encode())

        def do_GET(self) -> None:
            listed = {"object": "list", "data": [{"id": "gpt-4o-mini", "object": "model"}]}
            self._send(200, "application/json", json.dumps(listed).encode())

        def _send(self, status: int, media_type: str, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", media_type)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Connection", "close")  # a client that is not asked to keeps its sockets for ever
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the name is http.server's)
            """Silent: the meter has it."""

    return Handler


def _as_events(answer: Json) -> bytes:
    """The answer as a stream: one piece with all of it, one with the reason it ended, one with the usage."""
    choice = answer["choices"][0]
    calls = [{**call, "index": at} for at, call in enumerate(choice["message"].get("tool_calls", ()))]
    delta = {**choice["message"], **({"tool_calls": calls} if calls else {})}
    base = {**answer, "object": "chat.completion.chunk"}
    pieces = (
        {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}], "usage": None},
        {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}], "usage": None},
        {**base, "choices": []},
    )
    return "".join(f"data: {piece}\n\n" for piece in (*map(json.dumps, pieces), "[DONE]")).encode()
