"""The messages that a page quotes: those that are needed most, each as long as there is room for."""

from collections.abc import Callable
from html import escape

from hypothesis import given, settings
from hypothesis import strategies as st

from worker.core.checkpoint import Checkpoint
from worker.core.messages import Message, Origin, Role, ToolCall
from worker.core.summary import Answered, Concept, Constraint, Lift, Summary, UserMessage
from worker.reporting import quoting
from worker.reporting.quoting import Saying, cited_ids, cut, mentioned_in, saying_of, shown_chars


def test_what_rules_rest_on_comes_before_what_is_newest(made: Callable[..., Checkpoint]) -> None:
    rule = Constraint(id="C-1", rule="r", quote="q", evidence=("m3",))
    concept = Concept(id="K-1", text="k", evidence=("m1", "m90"))
    summary = Summary(constraints=(rule,), concepts=(concept,), request="Do it (m40).")
    assert cited_ids([made(1, 0, 100, summary)], summary) == ["m3", "m90", "m40", "m1"]


def test_the_words_that_lifted_a_rule_are_quoted(made: Callable[..., Checkpoint]) -> None:
    rule = Constraint(id="C-1", rule="r", quote="q", evidence=("m3",), lifted=Lift(quote="go on", evidence=("m8",)))
    summary = Summary(constraints=(rule,))
    assert set(cited_ids([made(1, 0, 10, summary)], summary)) == {"m3", "m8"}


def test_no_more_is_quoted_than_a_page_can_hold(made: Callable[..., Checkpoint]) -> None:
    concepts = tuple(Concept(id=f"K-{at}", text="k", evidence=(f"m{at}",)) for at in range(5_000))
    summary = Summary(concepts=concepts)
    cited = cited_ids([made(1, 0, 5_000, summary)], summary)
    assert len(cited) == quoting.MAX_QUOTED_MESSAGES
    assert cited[0] == "m4999"


def test_what_only_memory_cites_is_quoted_too(made: Callable[..., Checkpoint]) -> None:
    assert cited_ids([made(1, 0, 10)], Summary(), ["m7", "nonsense"]) == ["m7"]


def test_ids_are_found_in_texts_and_not_in_names_that_look_like_them() -> None:
    text = "m3, (m4) and m5: not m6x, a/m7, m8-2 or cm9"
    assert [name for _, _, name in mentioned_in(text)] == ["m3", "m4", "m5"]


@settings(deadline=None)
@given(st.text(max_size=500), st.integers(90, 400))
def test_a_cut_keeps_both_ends_and_says_how_much_is_gone(text: str, chars: int) -> None:
    shorter, left_out = cut(text, chars)
    assert (left_out == 0) == (shorter == text)
    if left_out:
        assert f"[… {left_out:,} characters left out …]" in shorter
        assert text.startswith(shorter[: chars * 2 // 3])
        assert text.endswith(shorter[-(chars // 3) :])


@settings(deadline=None)
@given(st.lists(st.integers(0, 20_000), max_size=60), st.sampled_from("x<字"), st.integers(20_000, 400_000))
def test_all_messages_together_keep_within_their_room(lengths: list[int], sign: str, room: int) -> None:
    sayings = {f"m{at}": Saying(id=f"m{at}", author="tool", text=sign * length) for at, length in enumerate(lengths)}
    chars = shown_chars(sayings, room)
    size = len(escape(sign).encode())
    assert sum(min(length, chars) * size for length in lengths) <= room or chars == quoting.SHOWN_CHARS[-1]


def message(**fields: object) -> Message:
    plain: dict[str, object] = {"index": 4, "role": Role.ASSISTANT, "origin": Origin.ASSISTANT, "text": ""}
    return Message(**(plain | fields))  # type: ignore[arg-type]


def test_a_call_is_quoted_with_its_arguments() -> None:
    call = ToolCall(id="c", name="bash", arguments='{"command":"ls"}')
    assert saying_of(message(tool_calls=(call,))).text == 'call bash {"command":"ls"}'


def test_a_message_without_words_says_so_and_is_no_quotation() -> None:
    silent = saying_of(message())
    assert (silent.is_note, silent.text) == (True, "no text: the model only thought")
    assert saying_of(message(text="hello", sidechain=True)).is_note


def test_authors_have_names_that_people_use() -> None:
    assert saying_of(message(origin=Origin.HUMAN, text="hi")).author == "person"
    assert saying_of(message(origin=Origin.SUMMARY, text="hi")).author == "an earlier summary"


def test_user_messages_that_answer_quote_what_they_answer(made: Callable[..., Checkpoint]) -> None:
    said = UserMessage(id="m5", text="yes", answers=Answered(id="m4", excerpt="Shall I?"))
    assert cited_ids([made(1, 0, 6)], Summary(user_messages=(said,))) == ["m4"]
