"""What every test may rely on: a clean environment, and a model provider on loopback.

`provider` is a real HTTP server that speaks `POST /v1/chat/completions`. Each request takes the next scripted reply:

    provider.script(provider.says("hello"), provider.fails(429, "slow down", retry_after=7))
    LiteLlm("openai/test", api_base=provider.url, api_key="sk-test-not-a-key")
"""

import json
import os
import secrets
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest

hypothesis.settings.register_profile("untimed", deadline=None)  # a law is no measurement, and machines are shared
hypothesis.settings.load_profile("untimed")

if TYPE_CHECKING:
    from worker.adapters.redis_link import RedisLink

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One answer on the wire. cut: the connection is closed after half of the body. hang: it never comes.

    drip_seconds: the pause before every byte of the body.
    """

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    cut: bool = False
    hang: bool = False
    drip_seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What the server was sent; header names in lower case."""

    path: str
    headers: Mapping[str, str]
    body: Json


Answering = Callable[[Request], Reply]


class Provider:
    """The scripted provider. `requests`: all that came, oldest first. `otherwise` answers behind the script's end."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.otherwise: Answering | None = None
        self.released = threading.Event()
        self._script: list[Reply | Answering] = []
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = False
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def script(self, *replies: Reply | Answering) -> None:
        """Adds replies to what is answered, one per request, in order."""
        with self._lock:
            self._script.extend(replies)

    def answer(self, request: Request) -> Reply:
        with self._lock:
            self.requests.append(request)
            reply = self._script.pop(0) if self._script else self.otherwise
        if reply is None:
            return self.fails(500, "the script of this test is used up")
        return reply(request) if callable(reply) else reply

    def close(self) -> None:
        self.released.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    # Good and bad answers that come with status 200.

    def says(self, text: object, *, finish_reason: str = "stop", **message: object) -> Reply:
        """An answer. `text` may be a list of content parts or None; `message` adds fields (tool_calls, refusal …)."""
        content = {"role": "assistant", "content": text, **message}
        choice = {"index": 0, "message": content, "finish_reason": finish_reason}
        usage = {"prompt_tokens": 120, "completion_tokens": 30, "total_tokens": 150}
        return self.sends(
            {"id": "x", "object": "chat.completion", "model": "test", "choices": [choice], "usage": usage}
        )

    def sends(self, body: object, *, status: int = 200) -> Reply:
        """Any JSON."""
        return Reply(status=status, headers={"Content-Type": "application/json"}, body=json.dumps(body).encode())

    def reasons(self, reasoning: str, *, finish_reason: str = "stop") -> Reply:
        """An answer of a thinking model that has no text."""
        return self.says("", finish_reason=finish_reason, reasoning_content=reasoning)

    def calls_tool(self, name: str = "save_memory", text: str | None = None) -> Reply:
        call = {"id": "call_1", "type": "function", "function": {"name": name, "arguments": "{}"}}
        return self.says(text, finish_reason="tool_calls", tool_calls=[call])

    def refuses(self, words: str = "I can't help with that.") -> Reply:
        return self.says(None, refusal=words)

    def page(self, status: int = 200) -> Reply:
        """What a proxy answers in the provider's place."""
        body = b"<!DOCTYPE html><html><head><title>Bad gateway</title></head><body>Try again later</body></html>"
        return Reply(status=status, headers={"Content-Type": "text/html"}, body=body)

    def empty(self) -> Reply:
        return Reply(headers={"Content-Type": "application/json"})

    def garbage(self) -> Reply:
        return Reply(headers={"Content-Type": "application/json"}, body=b'{"choices": [{"mess\x00')

    # Failures.

    def fails(self, status: int, message: str, *, retry_after: str | float | None = None, code: str = "error") -> Reply:
        headers = {"Content-Type": "application/json"}
        if retry_after is not None:
            headers["Retry-After"] = str(retry_after)
        error = {"error": {"message": message, "type": code, "code": code}}
        return Reply(status=status, headers=headers, body=json.dumps(error).encode())

    def too_long(self, limit: int = 4096, actual: int = 5000) -> Reply:
        message = (
            f"This model's maximum context length is {limit} tokens. However, your messages resulted in {actual} "
            "tokens. Please reduce the length of the messages."
        )
        return self.fails(400, message, code="context_length_exceeded")

    def hangs(self) -> Reply:
        """Nothing is sent until the test ends."""
        return Reply(hang=True)

    def drips(self, text: str, seconds: float = 0.05) -> Reply:
        """An answer that comes byte by byte."""
        whole = self.says(text)
        return Reply(headers=whole.headers, body=whole.body, drip_seconds=seconds)

    def breaks(self, text: str = "half of an answer " * 50) -> Reply:
        """The connection is closed in the middle of the body."""
        whole = self.says(text)
        return Reply(headers=whole.headers, body=whole.body, cut=True)


def _handler(provider: Provider) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = 10

        def do_POST(self) -> None:
            size = int(self.headers.get("Content-Length", "0"))
            body = json.loads(self.rfile.read(size) or b"{}")
            headers = {name.lower(): value for name, value in self.headers.items()}
            self._send(provider.answer(Request(path=self.path, headers=headers, body=body)))

        def _send(self, reply: Reply) -> None:
            self.close_connection = True
            if reply.hang:
                provider.released.wait()
                return
            self.send_response(reply.status)
            for name, value in {**reply.headers, "Content-Length": str(len(reply.body)), "Connection": "close"}.items():
                self.send_header(name, value)
            self.end_headers()
            if reply.drip_seconds:
                self._drip(reply)
                return
            self.wfile.write(reply.body[: len(reply.body) // 2] if reply.cut else reply.body)
            self.wfile.flush()
            if reply.cut:
                self.connection.shutdown(socket.SHUT_RDWR)

        def _drip(self, reply: Reply) -> None:
            with suppress(ConnectionError):  # the client has given up
                for byte in reply.body:
                    if provider.released.wait(reply.drip_seconds):
                        return
                    self.wfile.write(bytes([byte]))
                    self.wfile.flush()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the name is http.server's)
            """Silent: the requests are recorded."""

    return Handler


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    """A chat-completions server of this test's own, on 127.0.0.1, without a proxy in between."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    server = Provider()
    yield server
    server.close()


@pytest.fixture(scope="session")
def provider_kind() -> type[Provider]:
    """For tests that start several providers; whoever makes one closes it."""
    return Provider


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a real Redis that belongs to this test session, on a Unix socket."""
    from worker.adapters.redis_server import EmbeddedRedis, find_server_binary

    if find_server_binary() is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("no redis-server or valkey-server on this machine")
    server = EmbeddedRedis(tmp_path_factory.mktemp("redis"))
    yield server.start()
    server.stop()


@pytest.fixture
def redis_link(redis_server: str) -> Iterator["RedisLink"]:
    """A connection with key names of this test's own."""
    from worker.adapters.redis_link import RedisLink

    link = RedisLink(redis_server, prefix=f"afterturn:test-{secrets.token_hex(6)}:")
    yield link
    link.close()


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting of the developer's shell reaches a test; what belongs to tests and evaluation stays."""
    for name in [*os.environ]:
        if name.startswith("AFTERTURN_") and not name.startswith(("AFTERTURN_TEST_", "AFTERTURN_EVAL_")):
            monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def protocols() -> Any:
    """`check_openai` and `check_anthropic`: what providers demand of a request, checked by code of the tests alone."""
    spec = spec_from_file_location("protocols", Path(__file__).with_name("protocols.py"))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
