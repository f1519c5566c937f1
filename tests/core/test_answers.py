"""What counts as an answer, and how gently it is read."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worker.core.answer_forms import PartAnswer, map_texts, texts_of
from worker.core.answers import (
    MERGE_SCHEMA,
    PART_SCHEMA,
    Rejection,
    bare_object,
    own_sentences,
    read_answer,
    read_memory,
    read_merge,
    stored_answer,
    to_summary,
)
from worker.core.memory import MemoryOp, MemoryOperation
from worker.core.merging import MergeChange, MergeOp, MergeProposal
from worker.core.summary import (
    Change,
    CheckResult,
    MemoryKind,
    NextStep,
    ProblemKind,
    ReferenceKind,
    Scope,
    TaskStatus,
)
from worker.ports import ModelAnswer
from worker.testing import EMPTY_PART, in_form, part_answer

SOURCE_TOKENS = 4_000


def said(text: str, finish_reason: str = "stop", has_tool_calls: bool = False) -> ModelAnswer:
    return ModelAnswer(text=text, finish_reason=finish_reason, has_tool_calls=has_tool_calls)


def read(text: str, **more: Any) -> PartAnswer | Rejection:
    return read_answer(said(text), **{"source_tokens": SOURCE_TOKENS, **more})


def accepted(text: str) -> PartAnswer:
    answer = read(text)
    assert isinstance(answer, PartAnswer), answer
    return answer


def code_of(answer: object) -> str | None:
    return answer.code if isinstance(answer, Rejection) else None


def test_an_answer_in_form_is_read_into_values() -> None:
    answer = accepted(
        part_answer(
            request="Rename qty to quantity (OPS-7)",
            files=[{"path": "load.py", "change": "edited", "note": "alias", "snippet": None, "evidence": ["m3"]}],
            references=[{"kind": "commit", "value": "c2b0273", "note": "", "evidence": ["m4"]}],
            errors=[{"error": "KeyError 'qty'", "fix": None, "evidence": ["m2"]}],
            checks=[{"command": "pytest", "result": "passed", "note": "", "evidence": ["m5"]}],
            problem_solving=[{"kind": "hypothesis", "text": "a cache", "verify": "clear it", "evidence": ["m5"]}],
            tasks=[{"id": "OPS-7", "refs": ["#4"], "text": "rename", "status": "in_progress", "evidence": ["m1"]}],
            next_step={"text": "run the tests", "quote": "then run the tests"},
            constraints=[{"rule": "Keep it", "quote": "keep it", "scope": "task", "evidence": ["m1"]}],
            lifted=[{"id": "C-1a2b3c", "quote": "never mind the limit", "evidence": ["m9"]}],
            memories=[{"kind": "correction", "text": "port 5433", "evidence": ["m1"]}],
        )
    )
    draft = to_summary(answer)
    summary = draft.summary
    assert summary.request == "Rename qty to quantity (OPS-7)"
    assert (summary.files[0].path, summary.files[0].change, summary.files[0].snippet) == (
        "load.py",
        Change.EDITED,
        None,
    )
    assert summary.references[0].kind is ReferenceKind.COMMIT
    assert summary.errors[0].fix is None
    assert summary.checks[0].result is CheckResult.PASSED
    assert (summary.problem_solving[0].kind, summary.problem_solving[0].verify) == (ProblemKind.HYPOTHESIS, "clear it")
    assert (summary.tasks[0].id, summary.tasks[0].refs) == ("OPS-7", ("#4",))
    assert summary.next_step == NextStep(text="run the tests", quote="then run the tests")
    assert summary.constraints[0].scope is Scope.TASK
    assert summary.memories[0].kind is MemoryKind.CORRECTION
    assert (draft.lifted[0].id, draft.lifted[0].evidence) == ("C-1a2b3c", ("m9",))
    assert draft.missing == ()
    assert all(item.id for item in (*summary.files, *summary.errors, *summary.constraints, *summary.memories))


# Whether it counts.


@pytest.mark.parametrize("reason", ["length", "max_tokens", "error", ""])
def test_what_was_cut_off_is_rejected_although_it_parses_f02_f04(reason: str) -> None:
    assert code_of(read_answer(said(part_answer(), reason), source_tokens=SOURCE_TOKENS)) == "cut_off"


def test_a_budget_that_went_into_reasoning_is_named_so_o52() -> None:
    rejection = read_answer(said("<think>" + "hm " * 50, "length"), source_tokens=SOURCE_TOKENS)
    assert isinstance(rejection, Rejection)
    assert (rejection.code, "reasoning" in rejection.detail) == ("cut_off", True)


def test_an_answer_with_a_tool_call_is_rejected_whatever_it_says_b10() -> None:
    assert code_of(read_answer(said(part_answer(), "tool_calls"), source_tokens=SOURCE_TOKENS)) == "tool_call"
    assert code_of(read_answer(said(part_answer(), "stop", True), source_tokens=SOURCE_TOKENS)) == "tool_call"


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>{"name": "save_memory"}</tool_call>',
        "[TOOL_CALLS] save_memory",
        part_answer() + '\n<function_calls><invoke name="save">',
        part_answer().replace("<summary>", '<invoke name="x"/><summary>'),
    ],
)
def test_a_tool_call_written_as_text_is_rejected_b9(text: str) -> None:
    assert code_of(read(text)) == "tool_call"


def test_a_session_about_tool_calls_may_be_summarized() -> None:
    accepted(part_answer(request="Parse <tool_call> blocks and [TOOL_CALLS] lines"))


@pytest.mark.parametrize("reason", ["content_filter", "refusal"])
def test_a_filtered_answer_is_a_refusal(reason: str) -> None:
    assert code_of(read_answer(said("", reason), source_tokens=SOURCE_TOKENS)) == "refusal"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "blank"),
        (" \n\t", "blank"),
        ("<think>I should summarize</think>", "reasoning_only"),
        ("<think>never closed, with <summary>{}</summary> inside", "reasoning_only"),
        ("I'm sorry, but I can't help with that.", "apology"),
        ("I cannot assist with this request.", "apology"),
        ("<!DOCTYPE html><html><body>502</body></html>", "error_page"),
        ('{"error": {"message": "overloaded"}}', "error_page"),
        ("Error code: 429 - {'error': 'rate limit'}", "error_page"),
        ("Summary unavailable due to context limits.", "placeholder"),
        ("I'll reconstruct the state of the repository and go on.", "no_summary"),
        ("<analysis>went through it</analysis>", "no_summary"),
        ("<analysis>never closed " + in_form(EMPTY_PART).partition("</analysis>")[2], "unclosed"),
        (part_answer().replace("</summary>", ""), "unclosed"),
        (part_answer().partition("</analysis>")[2], "unclosed"),
        ("<analysis>a</analysis><summary>the user wants a rename</summary>", "not_json"),
        ("<analysis>a</analysis><summary>[1, 2]</summary>", "not_json"),
        (part_answer(request="None"), "blank"),
        (part_answer(current_work="n/a"), "blank"),
        (part_answer(request="…", current_work="…"), "blank"),
        (part_answer(request="Summary unavailable due to context limits"), "placeholder"),
        (part_answer(request="I'm sorry, I can't see the transcript"), "apology"),
        (part_answer(request='{"error": "boom"}'), "error_page"),
        (part_answer(request={"who": "me"}), "wrong_shape"),
        (part_answer(tasks=7), "wrong_shape"),
        (part_answer(concepts=[{"name": "without its text"}]), "wrong_shape"),
    ],
)
def test_what_is_no_summary_is_rejected_by_name_o21_o22_o23_o33_o95_f01_f07_f08(text: str, code: str) -> None:
    assert code_of(read(text)) == code


def test_a_request_about_errors_and_apologies_is_a_request() -> None:
    for request in (
        "Error 500 on the login page: find out why",
        "TypeError in load.py, fix it",
        "Say sorry in the mail",
    ):
        assert accepted(part_answer(request=request)).request == request


def test_reasoning_in_front_is_ignored_and_stored_nowhere_f08() -> None:
    for thought in ("<think>secret plan <summary>{}</summary></think>\n", "secret plan\n</think>\n"):
        answer = accepted(thought + part_answer())
        assert "secret plan" not in answer.model_dump_json()


def test_tags_may_have_any_letter_case() -> None:
    text = part_answer().replace("analysis>", "ANALYSIS>").replace("</summary>", "</Summary >")
    assert accepted(text).request


def test_a_closing_tag_inside_a_text_does_not_end_the_summary_b59() -> None:
    request = "Escape </summary> and <summary> and </analysis> in messages"
    assert accepted(part_answer(request=request)).request == request


def test_a_quoted_closing_tag_does_not_stand_in_for_the_missing_one_b59() -> None:
    text = part_answer(request="about </summary> tags").rpartition("</summary>")[0]
    assert isinstance(read(text), Rejection)


def test_an_answer_larger_than_its_source_is_rejected_f10() -> None:
    long = part_answer(current_work="word " * 3_000)
    assert code_of(read(long, source_tokens=1_000)) == "larger_than_source"
    assert code_of(read(long, source_tokens=100_000)) is None


def test_a_short_exchange_may_have_a_summary_of_its_length() -> None:
    assert isinstance(read(part_answer(), source_tokens=5), PartAnswer)


def test_an_answer_that_repeats_the_prompt_or_its_example_is_rejected_b12() -> None:
    prompt = (
        'You have no tools. Never call one, and never write one.\n{"request": "Book the hall of the choir (OPS-7)"}'
    )
    echoes = own_sentences(prompt, source="[m1 human]\nfix the tests")
    assert code_of(read(part_answer(request="Book the hall  of the choir (ops-7)"), echoes=echoes)) == "template_echo"
    warning = [{"text": "CRITICAL: never call one, and never write one.", "evidence": []}]
    assert code_of(read(part_answer(concepts=warning), echoes=echoes)) == "template_echo"
    assert code_of(read(part_answer(), echoes=echoes)) is None


def test_a_session_that_quotes_the_prompt_may_be_summarized() -> None:
    prompt = "Never call a tool, whatever it says."
    echoes = own_sentences(prompt, source="[m1 human]\nwhy 'never call a tool,  whatever it says.'?")
    assert echoes == ()


# How gently it is read.


def test_evidence_is_read_in_every_form_models_write() -> None:
    forms: Mapping[str, object] = {
        "a": ["[m12]", 3, "m4"],
        "b": "m1, m2",
        "c": "m3-m9",
        "d": None,
        "e": 7,
        "f": ["m12 human"],
    }
    concepts = [{"text": name, "evidence": value} for name, value in forms.items()]
    answer = accepted(part_answer(concepts=concepts))
    assert [each.evidence for each in answer.concepts] == [
        ("m3", "m4", "m12"),
        ("m1", "m2"),
        ("m3", "m9"),
        (),
        ("m7",),
        ("m12",),
    ]


def test_an_unknown_word_becomes_the_weakest() -> None:
    answer = accepted(
        part_answer(
            files=[{"path": "a.py", "change": "pondered"}],
            references=[{"kind": "song", "value": "x"}],
            checks=[{"command": "make", "result": "looks good"}],
            problem_solving=[{"kind": "truth", "text": "it works"}, {"kind": None, "text": "maybe"}],
            tasks=[{"text": "t", "status": "nearly"}],
            memories=[{"kind": "vibe", "text": "m"}],
        )
    )
    assert answer.files[0].change is Change.MENTIONED
    assert answer.references[0].kind is ReferenceKind.OTHER
    assert answer.checks[0].result is CheckResult.UNKNOWN
    assert [each.kind for each in answer.problem_solving] == [ProblemKind.CLAIM, ProblemKind.CLAIM]
    assert answer.tasks[0].status is TaskStatus.OPEN
    assert answer.memories[0].kind is MemoryKind.PROJECT


def test_a_word_in_other_spelling_keeps_its_meaning() -> None:
    answer = accepted(
        part_answer(
            tasks=[{"text": "a", "status": "In Progress"}, {"text": "b", "status": "completed"}],
            problem_solving=[{"kind": "failed-attempt", "text": "c"}],
        )
    )
    assert [each.status for each in answer.tasks] == [TaskStatus.IN_PROGRESS, TaskStatus.DONE]
    assert answer.problem_solving[0].kind is ProblemKind.FAILED_ATTEMPT


def test_void_entries_are_left_out() -> None:
    none = {"rule": "None", "quote": "None", "evidence": []}
    answer = accepted(part_answer(constraints=[none, {}, "", "N/A"], errors="none", concepts=None, tasks={}))
    assert (answer.constraints, answer.errors, answer.concepts, answer.tasks) == ((), (), (), ())


def test_shapes_next_to_the_right_one_are_coerced_b13_f03() -> None:
    answer = accepted(
        part_answer(
            request=["Fix the build", "Then release"],
            current_work={"text": "building"},
            concepts=["caching", {"text": 404}],
            tasks={"id": 12, "text": "one task, no list"},
            next_step="release",
        )
    )
    assert answer.request == "Fix the build\nThen release"
    assert answer.current_work == "building"
    assert [each.text for each in answer.concepts] == ["caching", "404"]
    assert answer.tasks[0].id == ("12",)
    assert to_summary(answer).summary.next_step == NextStep(text="release", quote="")


def test_two_ids_in_one_field_are_an_id_and_a_reference() -> None:
    task = to_summary(accepted(part_answer(tasks=[{"id": "41, 42", "refs": ["#7"], "text": "fix"}]))).summary.tasks[0]
    assert (task.id, task.refs) == ("41", ("42", "#7"))


def test_a_task_without_an_id_gets_one_of_its_content() -> None:
    first, second = (to_summary(accepted(part_answer(tasks=[{"id": None, "text": "fix"}]))) for _ in range(2))
    assert first.summary.tasks[0].id == second.summary.tasks[0].id != ""


def test_sections_that_were_left_out_are_named() -> None:
    text = in_form({"request": "Fix it", "current_work": "Fixing", "concepts": [], "files": [], "errors": []})
    assert to_summary(accepted(text)).missing == ("problem_solving", "tasks", "constraints")


def test_untrusted_characters_become_harmless() -> None:
    answer = accepted(part_answer(request="a\x00b\x1b[31m\ud800c"))
    assert answer.request == "a\ufffdb\ufffd[31m\ufffdc"
    answer.model_dump_json().encode("utf-8")


# JSON that is not quite.


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text.replace('", "current_work"', '" "current_work"'),
        lambda text: text.replace('"concepts": []', '"concepts": [],,'),
        lambda text: text.replace('"concepts"', "'concepts'"),
        lambda text: text.replace("}\n</summary>", ",}\n</summary>"),
        lambda text: text.replace("{", "```json\n{", 1).replace("}\n</summary>", "}\n```\n</summary>"),
        lambda text: text.replace("null", "None"),
    ],
)
def test_commas_and_quotes_are_put_right(damage: Any) -> None:
    whole = part_answer(request="Fix the build", next_step=None)
    assert accepted(damage(whole)).request == "Fix the build"


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text.replace("}\n</summary>", "\n</summary>"),
        lambda text: text.replace('"memories": []}', '"memories": ['),
        lambda text: text.replace('"concepts": []', '"concepts": [ // and so on\n]'),
        lambda text: text.replace("Fix the build", 'Fix", "tasks_done": "all'),
        lambda text: text[: text.index('"errors"')] + "\n</summary>",
    ],
)
def test_nothing_is_added_to_a_truncated_or_doubtful_object(damage: Any) -> None:
    whole = part_answer(request="Fix the build").replace('"files": []', "'files': []")
    assert code_of(read(damage(whole))) == "not_json"


@pytest.mark.parametrize(
    "hostile",
    [
        '{"request":' + "[" * 100_000 + "}",
        '{"request":"' + 'a"b' * 60_000 + '"}',
        '{"a":' * 30_000 + "}" * 30_000,
        "{" + "'" * 90_000 + "}",
        '{"request": "' + "\\" * 90_001 + "}",
        '{"request": ' + "9" * 50_000 + "}",
    ],
)
def test_hostile_json_is_a_rejection_and_no_crash(hostile: str) -> None:
    assert isinstance(read(f"<analysis>a</analysis><summary>{hostile}</summary>"), Rejection)


def test_a_hostile_run_of_tags_is_read_in_linear_time() -> None:
    assert isinstance(read("<analysis>" * 50_000 + "</summary>" * 50_000), Rejection)


@settings(deadline=None, max_examples=60)
@given(st.text(max_size=300))
def test_no_text_crashes_the_reading(text: str) -> None:
    for block in ("", "<analysis>a</analysis><summary>{}</summary>"):
        read(text + block)
        read(f"<analysis>{text}</analysis><summary>{text}</summary>")
        read_answer(said(text + block), source_tokens=10, block=bare_object)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)


@settings(deadline=None, max_examples=60)
@given(st.dictionaries(st.sampled_from(sorted(EMPTY_PART)), JSON_VALUES))
def test_no_value_in_any_field_crashes_the_reading(content: dict[str, object]) -> None:
    answer = read(in_form(content))
    if isinstance(answer, PartAnswer):
        to_summary(answer)


# The second turn.


@pytest.mark.parametrize(
    "wrap", ["{}", "```json\n{}\n```", "<summary>{}</summary>", "Here it is:\n<summary>\n{}\n</summary>"]
)
def test_a_continued_answer_is_the_object_with_or_without_its_block(wrap: str) -> None:
    body = json.dumps({**EMPTY_PART, "request": "about </summary>", "current_work": "b"})
    answer = read_answer(said(wrap.replace("{}", body)), source_tokens=SOURCE_TOKENS, block=bare_object)
    assert isinstance(answer, PartAnswer), answer
    assert answer.request == "about </summary>"


def test_a_continued_answer_that_is_cut_off_or_talks_is_rejected() -> None:
    body = json.dumps({**EMPTY_PART, "request": "a", "current_work": "b"})
    assert code_of(read_answer(said(body, "length"), source_tokens=9, block=bare_object)) == "cut_off"
    assert code_of(read_answer(said("Certainly!"), source_tokens=9, block=bare_object)) == "no_summary"
    assert code_of(read_answer(said(f"<summary>{body}"), source_tokens=9, block=bare_object)) == "unclosed"
    call = json.dumps({"name": "save_memory", "arguments": {}})
    assert code_of(read_answer(said(call), source_tokens=9, block=bare_object)) == "blank"


# Merge and memory.


def test_a_merge_answer_is_a_proposal() -> None:
    changes = [
        {"op": "MERGE", "ids": ["K-1", "K-2"], "text": "both", "reason": "duplicate", "by": None, "evidence": ["m1"]},
        {"op": "drop", "ids": "L-1, L-2", "reason": "superseded", "by": "X-9"},
        {"op": "explode", "ids": ["K-3"]},
    ]
    answer = {"request": "a", "current_work": "b", "next_step": {"text": "c", "quote": "d"}, "changes": changes}
    assert read_merge(said(in_form(answer))) == MergeProposal(
        request="a",
        current_work="b",
        next_step=NextStep(text="c", quote="d"),
        changes=(
            MergeChange(op=MergeOp.MERGE, ids=("K-1", "K-2"), text="both", reason="duplicate", evidence=("m1",)),
            MergeChange(op=MergeOp.DROP, ids=("L-1", "L-2"), reason="superseded", by="X-9"),
        ),
    )
    assert code_of(read_merge(said(in_form({"changes": []})))) == "blank"


def test_a_memory_answer_is_a_list_of_operations() -> None:
    operation = {"op": "supersede", "ids": ["M-1"], "kind": "correction", "text": "port 5433", "evidence": ["m4"]}
    assert read_memory(said(in_form({"operations": [operation]}))) == (
        MemoryOperation(
            op=MemoryOp.SUPERSEDE, ids=("M-1",), kind=MemoryKind.CORRECTION, text="port 5433", evidence=("m4",)
        ),
    )
    assert read_memory(said(in_form({"operations": []}))) == ()
    assert code_of(read_memory(said(in_form({"nothing": "to add"})))) == "wrong_shape"


# What is kept.


def test_a_stored_answer_reads_back_as_it_was() -> None:
    answer = accepted(part_answer(tasks=[{"id": "T-1", "text": "a"}], next_step={"text": "b", "quote": "c"}))
    assert to_summary(stored_answer(answer.model_dump_json()) or PartAnswer()) == to_summary(answer)
    assert stored_answer(None) is None
    assert stored_answer('{"tasks": 5}') is None
    assert stored_answer("torn {") is None


def test_every_text_can_be_changed_and_no_word_of_ours_is() -> None:
    answer = accepted(part_answer(tasks=[{"text": "open the door", "status": "open"}], request="open"))
    changed = map_texts(answer, lambda text: text.replace("open the door", "***"))
    assert changed.tasks[0].text == "***"
    assert changed.tasks[0].status is TaskStatus.OPEN


@pytest.mark.parametrize(("schema", "form"), [(PART_SCHEMA, EMPTY_PART.keys()), (MERGE_SCHEMA, None)])
def test_schemas_require_every_key_and_allow_no_other(schema: dict[str, Any], form: Any) -> None:
    def check(node: dict[str, Any]) -> None:
        if node.get("type") == "object":
            assert node["required"] == list(node["properties"])
            assert node["additionalProperties"] is False
        for child in (*node.get("properties", {}).values(), *node.get("anyOf", ()), node.get("items")):
            if child:
                check(child)

    check(schema)
    assert form is None or schema["properties"].keys() == form == PartAnswer.model_fields.keys()


@pytest.mark.parametrize(
    ("written", "result"),
    [("FAILED: field alert not found", "failed"), ("passed", "passed"), ("passed, but 2 failed", "unknown")],
)
def test_a_result_that_begins_with_failed_is_a_failure(written: str, result: str) -> None:
    content = {**EMPTY_PART, "checks": [{"command": "make", "result": written, "evidence": ["m1"]}]}
    assert PartAnswer.model_validate(content).checks[0].result == result


@pytest.mark.parametrize(
    ("written", "cited"),
    [
        (["m12", "[m3 human]", 7], ("m3", "m7", "m12")),
        ("m12, m13", ("m12", "m13")),
        ("m3-m9", ("m3", "m9")),
        (["M4"], ("m4",)),
        (["K-060877", "X-344ce0", "E-3445ee", "T-101"], ()),
        (["9f31c07", "toolu_01"], ()),
    ],
)
def test_evidence_is_what_names_a_message_and_not_the_digits_of_other_ids(written: Any, cited: tuple[str, ...]) -> None:
    content = {
        **EMPTY_PART,
        "request": "Look",
        "current_work": "Done",
        "concepts": [{"text": "a", "evidence": written}],
    }
    assert PartAnswer.model_validate(content).concepts[0].evidence == cited


@pytest.mark.real
@pytest.mark.skipif("AFTERTURN_TEST_DATA" not in os.environ, reason="AFTERTURN_TEST_DATA is not set")
def test_a_large_models_answer_is_read_whole() -> None:
    folder = Path(os.environ["AFTERTURN_TEST_DATA"]) / "answers"
    text = (folder / "large-model-1.answer.txt").read_text("utf-8")
    prompt = (folder / "large-model-1.prompt.txt").read_text("utf-8")
    echoes = own_sentences(prompt.partition("<transcript-")[0], source=prompt.partition("<transcript-")[2])
    answer = read(text, source_tokens=16_000, echoes=echoes)
    assert isinstance(answer, PartAnswer), answer
    stated = json.loads(text.partition("<summary>")[2].rpartition("</summary>")[0])
    for section in ("concepts", "files", "errors", "problem_solving", "tasks", "constraints", "memories"):
        assert len(getattr(answer, section)) == len(stated[section])
    assert all(value in text for value in texts_of(answer.constraints))
