"""One exchange with a model about one question: every way out of a bad answer, each of them bounded.

An answer that stops early or cannot be read is gone on with: the same messages, the answer so far, "now the summary",
held to a schema where the model supports one; the provider's prefix cache makes that cheap. One that was cut off, is
empty, refuses or calls a tool is no ground to build on: the question is asked again, with the reason. What the network
or the provider did wrong is raised, not tried again: there is one retry layer, and it is the job's.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any, Generic, TypeVar

from worker.core.answer_blocks import Block, Rejection, bare_object, summary_block, without_reasoning
from worker.core.checkpoint import Finding, ModelUse
from worker.core.planning import output_tokens
from worker.core.tokens import SAFETY_MARGIN, estimate_tokens
from worker.errors import PromptTooLong
from worker.log import log_event
from worker.ports import Model, ModelAnswer, Prompts, Turn

MAX_FURTHER_ANSWERS = 2
SMALLEST_ANSWER_TOKENS = 512
"""With less room than this behind the prompt (or an eighth of a small window) asking is a waste."""

_GO_ON = frozenset({"no_summary", "unclosed", "not_json", "wrong_shape", "blank", "placeholder"})
_SHORTER = frozenset({"cut_off", "larger_than_source"})

Said = TypeVar("Said")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question(Generic[Said]):
    """What is asked and how an answer is read.

    keys: of the object, for the second turn. answer_tokens: how long an answer may be. in_two_turns: the user text asks
    for the analysis alone, so that an answer that stops behind it is as it should be.
    """

    system: str
    user: str
    read: Callable[[ModelAnswer, Block], Said | Rejection]
    schema: Mapping[str, Any]
    keys: tuple[str, ...]
    answer_tokens: int
    fence: str
    in_two_turns: bool = False

    @property
    def turns(self) -> tuple[Turn, ...]:
        return Turn(role="system", content=self.system), Turn(role="user", content=self.user)


class Conversation(Generic[Said]):
    """Asks until an answer counts or the ways out are used up. `use` and `rejections` tell what that took."""

    def __init__(self, question: Question[Said], *, model: Model, prompts: Prompts) -> None:
        self._question = question
        self._model = model
        self._prompts = prompts
        self._goes_on = False
        self.rejections: list[Rejection] = []
        self.use = ModelUse(name=model.name, prompt_sha256=prompts.sha256)

    def answer(self) -> Said | None:
        """The first answer that counts, None when none did. Raises: worker.errors of the model."""
        said = self._ask(self._question.turns)
        read = self._question.read(said, summary_block)
        if self._question.in_two_turns and isinstance(read, Rejection) and read.code in ("no_summary", "unclosed"):
            said, read = self._go_on(said, problem=None)
        for _ in range(MAX_FURTHER_ANSWERS):
            if not isinstance(read, Rejection):
                return read
            self._reject(read)
            said, read = self._try_otherwise(said, read)
        if not isinstance(read, Rejection):
            return read
        self._reject(read)
        return None

    def repaired(self, summary: str, findings: Sequence[Finding]) -> Said | None:
        """The one answer to a list of what does not hold in the summary (its JSON), None when it does not count.

        Raises: worker.errors of the model, except PromptTooLong: then there is no room for a repair.
        """
        lines = [_in_words(finding) for finding in findings]
        request = self._prompts.render("repair", findings=lines, fence=self._question.fence, bare=self._has_schema)
        try:
            read = self._second_turn(f"<summary>\n{summary}\n</summary>", request)[1]
        except PromptTooLong:
            return None
        if isinstance(read, Rejection):
            self._reject(read)
            return None
        return read

    def _reject(self, rejection: Rejection) -> None:
        log_event("answer_rejected", model=self._model.name, code=rejection.code, detail=rejection.detail)
        self.rejections.append(rejection)

    @property
    def _has_schema(self) -> bool:
        return self._model.supports_schema

    def _try_otherwise(self, said: ModelAnswer, rejection: Rejection) -> tuple[ModelAnswer, Said | Rejection]:
        """On with the answer where it is something to build on and that was not tried last, else anew."""
        if rejection.code in _GO_ON and not self._goes_on and without_reasoning(said.text).strip():
            return self._go_on(said, problem=rejection.detail)
        return self._again(rejection)

    def _go_on(self, said: ModelAnswer, *, problem: str | None) -> tuple[ModelAnswer, Said | Rejection]:
        self._goes_on = True
        request = self._prompts.render("continue", problem=problem, keys=self._question.keys, bare=self._has_schema)
        return self._second_turn(without_reasoning(said.text).strip(), request)

    def _second_turn(self, so_far: str, request: str) -> tuple[ModelAnswer, Said | Rejection]:
        turns = (*self._question.turns, Turn(role="assistant", content=so_far), Turn(role="user", content=request))
        said = self._ask(turns, schema=self._question.schema if self._has_schema else None)
        return said, self._question.read(said, bare_object)

    def _again(self, rejection: Rejection) -> tuple[ModelAnswer, Said | Rejection]:
        """The same question with the reason behind it; one that was cut off gets twice the room, if there is any."""
        self._goes_on = False
        shorter = rejection.code in _SHORTER
        hint = self._prompts.render("again", problem=rejection.detail, shorter=shorter)
        system, user = self._question.turns
        turns = (system, Turn(role="user", content=f"{user.content}\n\n{hint}"))
        said = self._ask(turns, times=2 if rejection.code == "cut_off" else 1)
        return said, self._question.read(said, summary_block)

    def _ask(self, turns: Sequence[Turn], *, schema: Mapping[str, Any] | None = None, times: int = 1) -> ModelAnswer:
        answer = self._model.ask(turns, max_tokens=self._room(turns, times), schema=schema)
        self.use = added_use(self.use, _use_of(answer))
        return answer

    def _room(self, turns: Sequence[Turn], times: int) -> int:
        """How many tokens the answer may have. Raises: PromptTooLong when the turns leave no room for one."""
        limits = self._model.limits
        asked = ceil(sum(estimate_tokens(turn.content) for turn in turns) * (1 + SAFETY_MARGIN))
        room = output_tokens(self._question.answer_tokens * times, limits.output_tokens, limits.window_tokens, asked)
        needed = min(SMALLEST_ANSWER_TOKENS, limits.window_tokens // 8)
        if asked + needed > limits.window_tokens:
            message = f"{self._model.name}: {asked} tokens leave no room for an answer in {limits.window_tokens}"
            raise PromptTooLong(message, limits.window_tokens, asked + needed)
        return room


def added_use(first: ModelUse, second: ModelUse) -> ModelUse:
    """Both together; the cost is unknown as soon as that of one request is."""
    costs = [use.cost_usd for use in (first, second) if use.calls]
    known = [cost for cost in costs if cost is not None]
    return ModelUse(
        name=first.name or second.name,
        prompt_sha256=first.prompt_sha256 or second.prompt_sha256,
        calls=first.calls + second.calls,
        tokens_in=first.tokens_in + second.tokens_in,
        tokens_out=first.tokens_out + second.tokens_out,
        cost_usd=sum(known) if costs and len(known) == len(costs) else None,
        seconds=first.seconds + second.seconds,
    )


def _use_of(answer: ModelAnswer) -> ModelUse:
    return ModelUse(
        calls=1,
        tokens_in=answer.tokens_in,
        tokens_out=answer.tokens_out,
        cost_usd=answer.cost_usd,
        seconds=answer.seconds,
    )


_MEANINGS = {
    "evidence_unsupported": "the cited messages do not speak of this; cite those that do, or leave it out",
    "identifier_invented": "this stands nowhere in the material",
    "template_echo": "this is from the instructions and not from the material",
    "inflated": "the summary is longer than the material",
    "section_missing": "this list is missing",
}
"""For codes that do not say to a model what it has to do."""

_OWN_ID = re.compile(r"[KFREVDXLHAM]-[0-9a-f]{6}")
"""Of an item that the model wrote: it has never seen the id, and would cite it."""


def _in_words(finding: Finding) -> str:
    known = [one for one in finding.ids if not _OWN_ID.fullmatch(one)]
    ids = f" ({', '.join(known)})" if known else ""
    detail = f": {finding.detail}" if finding.detail else ""
    meaning = _MEANINGS.get(finding.code, finding.code.replace("_", " "))
    return f"{finding.where}{ids}{detail} — {meaning}"
