"""What failed, what a person refused, and which checks were run: from tool calls and their results alone."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace

from worker.core.commands import hides_exit_code, normal_command, repeatable, simple_commands
from worker.core.invocations import Invocation
from worker.core.ledger import Failure
from worker.core.messages import ToolResult
from worker.core.summary import Check, CheckResult, with_id

MAX_LINE_CHARS = 300
_MAX_EVIDENCE = 4
_SCANNED_CHARS = 20_000
_CLOSING_CHARS = 6_000
_MAX_CALLED_CHARS = 500

_ANSI = re.compile(r"\x1b\[[0-9;?]{0,20}[A-Za-z]|\x1b\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)")
_WRAPPING = re.compile(r"</?(?:tool_use_error|error|output|stdout|stderr)>")
_HEADER = re.compile(
    r"(?i)^\s*(?:(?:error: )?exit code:? -?\d+|(?:command|process) exited with (?:code|status) -?\d+|wall time.*"
    r"|chunk id.*|output:|stderr:|stdout:|traceback \(most recent call last\):)\s*$"
)
_RAISED = re.compile(r"^(?:E\s+)?(?:[\w.]{1,80}\.)?\w{0,60}(?:Error|Exception|Interrupt|Exit|Warning)\b(?::|$)")
_TELLING = re.compile(
    r"(?i)\b(?:error(?:\[\w+\])?:|fatal:|panic:|exception|undefined|cannot |can't |could not|couldn't|not found"
    r"|no such|denied|refused|timed? ?out|failed|failure|fail:|unable|invalid|missing|conflict|rejected|unexpected"
    r"|assert\w*|✖|✘|错误|失败|エラー)"
)
_REASON = re.compile(r"(?:the user said|user(?:'s)? feedback|reason):\s*(\S.{0,1000})", re.DOTALL)
_PLACE = re.compile(r"\S{1,200}\.\w{1,8}:\d{1,7}(?::\d{1,7})?:? \S")
_SAYS_LITTLE = re.compile(r"(?i)^\W*(?:\w+\W+)?(?:error\W+)?(?:task|command|script|step|job|build|lint) failed\W*$")
_HARMLESS = re.compile(r"(?i)\b(?:0 (?:failed|errors?|failures?)|no errors?|without errors?|errors?: 0|failed: 0)\b")

_CHECKS = re.compile(
    r"(?:python[\d.]* -m )?(?:pytest|unittest|mypy|ruff|tox|nox|flake8|pylint|pyright|black|isort|bandit"
    r"|coverage)\b"
    r"|go (?:test|vet|build)\b|golangci-lint\b|gofmt\b|staticcheck\b|cargo (?:test|build|check|clippy|fmt"
    r"|nextest)\b"
    r"|(?:npm|pnpm|yarn|bun|deno)(?: run)?(?: -\S+)* (?:tests?|lint|build|check|typecheck|type-check|tsc|vitest"
    r"|jest|ci)\b\S*"
    r"|(?:npx |pnpm exec |yarn |bunx )?(?:tsc|tsgo|eslint|jest|vitest|mocha|prettier|biome|playwright|ava)\b"
    r"|(?:make|just|task|mise(?: run)?|mage|rake)(?: -\S+)* (?:\w+[:-])*(?:tests?|lint|build|check|ci|fmt|format"
    r"|typecheck|verify|all|integration|unit|e2e)\b[\w:-]*"
    r"|(?:\./)?(?:mvn|mvnw|gradle|gradlew)\b.*\b(?:test|build|check|verify|package)\b|dotnet (?:test|build)\b"
    r"|(?:bundle exec )?(?:rspec|rubocop)\b"
    r"|(?:vendor/bin/)?phpunit\b|swift (?:test|build)\b|ctest\b|cmake --build\b|bazel (?:test|build)\b"
    r"|terraform (?:validate|plan)\b|shellcheck\b|hadolint\b|mix test\b|uv run (?:pytest|mypy|ruff)\b"
)
_RUNNERS = re.compile(
    r"^(?:uv run|poetry run|pipenv run|hatch run|npx|bunx|pnpm exec|mise exec --|docker compose exec \S+)\s+"
)
_FAILED_LINE = re.compile(
    r"(?i)=*\s*(?:[1-9]\d* (?:failed|errors?)\b|FAILED \(|.*\b[1-9]\d* (?:failed|failing|failures?)\b)"
    r"|(?:--- )?FAIL\b|test result: FAILED|(?:Found|✖) [1-9]\d* (?:errors?|problems?)|make(?:\[\d+\])?: \*\*\*"
    r"|BUILD FAILED|.*BUILD FAILURE|.*\berror TS\d+|error: (?:could not compile|test failed|aborting)|npm ERR!"
    r"|\d+ issues?:$|Would reformat|Oh no!"
    r"|ERROR: (?!\(?(?:none|null|no errors?|0)\)?\s*$)"
)
_PASSED_LINE = re.compile(
    r"(?i)=*\s*\d+ passed\b(?!.*\bfailed)|ok\s+\S+\s+(?:\(cached\)|[\d.]+s)|PASS$|test result: ok"
    r"|All checks passed|Success: no issues|0 issues\.?$|Tests:\s+(?!.*failed).*\d+ passed|BUILD SUCCESS"
    r"|Finished .*(?:profile|target)|OK(?: \(.*\))?$|No (?:issues|errors|problems) found|0 errors"
    r"|.*\bTests? passed\b|DONE \d+ tests|All done!|✓|✔|.*files? (?:already formatted|left unchanged)"
)
_OK = tuple(f"ok{space}" for space in " \t\r\n")
_TELLING_LINES = {
    CheckResult.FAILED: (_FAILED_LINE, ("fail", "err", "***", "problem", "issue", "reformat", "oh no!")),
    CheckResult.PASSED: (
        _PASSED_LINE,
        ("pass", *_OK, "success", "issue", "error", "problem", "finished", "done", "✓", "✔", "formatted", "unchanged"),
    ),
}
"""How a line begins by which a check tells its result, and words of which one stands in every such line, in lower case:
most output has none of them, and looking for words is a hundred times cheaper than trying every line."""


def find_failures(invocations: Sequence[Invocation]) -> list[Failure]:
    """One per kind of failure in order of first appearance; repetitions of the same one add evidence.

    `resolved_by` names the message in which the same command passed after the last of them.
    """
    found: dict[str, Failure] = {}
    waiting: dict[str, list[str]] = {}
    for invocation in invocations:
        if invocation.is_failed:
            failure = _failure(invocation)
            known = found.get(failure.id)
            evidence = (*known.evidence, *failure.evidence) if known else failure.evidence
            found[failure.id] = replace(failure, evidence=tuple(dict.fromkeys(evidence))[-_MAX_EVIDENCE:])
            if failure.kind == "error":
                waiting.setdefault(repeatable(failure.command), []).append(failure.id)
        elif waiting and _can_resolve(invocation):
            for failure_id in _resolved(waiting, invocation):
                found[failure_id] = replace(found[failure_id], resolved_by=invocation.evidence[-1])
    return list(found.values())


def find_checks(invocations: Sequence[Invocation]) -> list[Check]:
    """The newest result of every test, lint or build command, in order of that run."""
    found: dict[str, Check] = {}
    for invocation in invocations:
        command = invocation.command
        if command is None or not runs_check(command):
            continue
        check = _check(repeatable(command).split(" | ", 1)[0], invocation)
        known = found.pop(check.command, None)
        evidence = (*known.evidence, *check.evidence) if known else check.evidence
        found[check.command] = replace(check, evidence=evidence[-_MAX_EVIDENCE:])
    return list(found.values())


def runs_check(command: str) -> bool:
    """True when a program of the command is a check: `grep pytest setup.cfg` and a commit message are none."""
    if not _CHECKS.search(command, 0, _SCANNED_CHARS):
        return False
    return any(_CHECKS.match(_RUNNERS.sub("", _called(words))) for words in simple_commands(command))


def _called(words: Sequence[str]) -> str:
    """The command by its program's name: `.venv/bin/pytest -q` is pytest; of a long one the beginning."""
    return " ".join([words[0].rsplit("/", 1)[-1], *words[1:20]])[:_MAX_CALLED_CHARS]


def telling_line(text: str) -> str:
    """The line that says what went wrong: the exception, else the first complaint, else the last line."""
    clean = _WRAPPING.sub("", _ANSI.sub("", _edges(text)))
    lines = [line.strip() for line in clean.splitlines() if line.strip() and not _HEADER.match(line)]
    if not lines:
        return ""
    raised = [line for line in lines if _RAISED.match(line)]
    if raised:
        return raised[-1][:MAX_LINE_CHARS]
    telling = [line for line in lines if _is_telling(line[:MAX_LINE_CHARS])]
    places = [line for line in lines if _PLACE.match(line)]
    return next(iter((*telling, *places, lines[-1])))[:MAX_LINE_CHARS]


def _is_telling(line: str) -> bool:
    return _TELLING.search(line) is not None and not _HARMLESS.search(line) and not _SAYS_LITTLE.match(line)


def _edges(text: str) -> str:
    half = _SCANNED_CHARS // 2
    return text if len(text) <= _SCANNED_CHARS else f"{text[:half]}\n{text[-half:]}"


def _failure(invocation: Invocation) -> Failure:
    command, message = _subject(invocation), _message(invocation)
    digest = hashlib.sha256(f"{invocation.name}\n{command}\n{message}".encode("utf-8", "replace")).hexdigest()
    return Failure(
        id=f"E-{digest[:6]}",
        tool=invocation.call.name,
        command=command,
        message=message,
        exit_code=invocation.exit_code,
        evidence=invocation.evidence,
        kind="denial" if invocation.is_denied else "error",
    )


def _message(invocation: Invocation) -> str:
    """The telling line; of a refusal what the person said with it, when they said something."""
    reason = _REASON.search(invocation.text, 0, _SCANNED_CHARS) if invocation.is_denied else None
    if reason is not None:
        return f"refused: {' '.join(reason[1].split())}"[:MAX_LINE_CHARS]
    return telling_line(invocation.text)


def _subject(invocation: Invocation) -> str:
    """What was tried: the command, or the tool and the file."""
    if invocation.command is not None:
        return invocation.command.strip()[:1_000]
    return f"{invocation.call.name} {invocation.path}" if invocation.path else invocation.call.name


def _can_resolve(invocation: Invocation) -> bool:
    """A tool without command or file ("Task") says nothing about an earlier call of it."""
    return invocation.is_successful and (invocation.command is not None or bool(invocation.path))


def _resolved(waiting: dict[str, list[str]], invocation: Invocation) -> list[str]:
    """The failures that wait for this command or for a step of it, unless a pipe only feigns that it passed."""
    done = repeatable(_subject(invocation))
    steps = [step for step in (done, *map(normal_command, done.split(" && "))) if step in waiting]
    if not steps or (invocation.command is not None and not _passes(invocation, is_whole=steps[0] == done)):
        return []
    return [failure_id for step in dict.fromkeys(steps) for failure_id in waiting.pop(step)]


def _passes(invocation: Invocation, *, is_whole: bool) -> bool:
    """The steps of a chain are only known to have passed when all of it is."""
    result = _judged(invocation)
    return result is CheckResult.PASSED or (is_whole and result is not CheckResult.FAILED)


def _check(command: str, invocation: Invocation) -> Check:
    result = _judged(invocation)
    note = _closing_line(invocation.text, result)
    return with_id(Check(command=command[:500], result=result, note=note, evidence=invocation.evidence[-1:]))


def _judged(invocation: Invocation) -> CheckResult:
    """By exit code where it is the program's own, else by how the output ends."""
    if invocation.result is None or invocation.is_denied or invocation.arguments.get("run_in_background") is True:
        return CheckResult.UNKNOWN
    if invocation.is_failed:
        return CheckResult.FAILED
    if not hides_exit_code(invocation.command or "") and (
        invocation.exit_code == 0 or not _mentions_failure(invocation)
    ):
        return CheckResult.PASSED
    return _told(invocation.text)


def _mentions_failure(invocation: Invocation) -> bool:
    return bool(_telling_lines(invocation.text, CheckResult.FAILED))


def _told(text: str) -> CheckResult:
    told = (result for result in (CheckResult.FAILED, CheckResult.PASSED) if _telling_lines(text, result))
    return next(told, CheckResult.UNKNOWN)


def tells_failure(result: ToolResult) -> bool:
    """True when a result says that something failed: by its flag or exit code, how it ends, or a loud word in it."""
    if result.is_error or result.exit_code:
        return True
    told = _told(result.text)
    return told is CheckResult.FAILED or (told is CheckResult.UNKNOWN and _LOUD.search(result.text) is not None)


_LOUD = re.compile(
    r"(?<!\b0 )\bFAILED\b|^\s{0,8}(?:error|fatal)(?:\[\w+\])?: (?!\(?(?:none|null|no errors?|0)\)?\s*$)", re.MULTILINE
)


def _telling_lines(text: str, result: CheckResult) -> list[str]:
    """The lines at the end of an output that tell this result."""
    pattern, words = _TELLING_LINES[result]
    closing = _ANSI.sub("", text[-_CLOSING_CHARS:])
    lower = f"{closing.lower()}\n"
    if not any(word in lower for word in words):
        return []
    lines = (line.strip()[:MAX_LINE_CHARS] for line in closing.splitlines())
    return [line for line in lines if pattern.match(line)]


def _closing_line(text: str, result: CheckResult) -> str:
    """The line by which the result was told, else of a failure the telling one."""
    told = _telling_lines(text, result) if result in _TELLING_LINES else []
    if told:
        return told[-1]
    return telling_line(text) if result is CheckResult.FAILED else ""
