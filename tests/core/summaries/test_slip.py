"""Where there is no room for a page, a list says what would be missed most, and holds its budget."""

from hypothesis import given, settings
from hypothesis import strategies as st

from worker.core.checkpoint import Status
from worker.core.rendering import SMALLEST_PAGE_TOKENS, Source, render_summary
from worker.core.slip import NOTICE, slip
from worker.core.summary import Constraint, Summary, Task, TaskStatus, UserMessage
from worker.core.tokens import estimate_tokens

SOURCE = Source(session="s", number=1, start=0, end=3, covered=3, status=Status.OK)


def said(*texts: str) -> tuple[UserMessage, ...]:
    return tuple(UserMessage(id=f"m{at}", text=text) for at, text in enumerate(texts))


SUMMARY = Summary(
    constraints=(Constraint(id="C-1", rule="Never touch the schema.", quote="never touch the schema"),),
    tasks=(Task(id="T-101", text="rename the column", status=TaskStatus.OPEN),),
    user_messages=said(
        "have a look at it",
        "SAFETY RULE: Never touch the schema. Ask Ann first.",
        "The budget is 18400 euros.",
        *(f"I wonder about the weather on day number {n} of the week, it may rain." for n in range(40)),
    ),
)


def test_a_small_budget_gets_the_list_and_it_says_what_it_left_out() -> None:
    rendering = render_summary(SUMMARY, source=SOURCE, budget_tokens=120)
    assert rendering.markdown.startswith(NOTICE)
    assert "## " not in rendering.markdown
    for must in ("T-101: rename the column", "18400 euros", "Never touch the schema"):
        assert must in rendering.markdown
    assert f"({rendering.left_out['lines']} more in the checkpoint)" in rendering.markdown


def test_a_line_that_says_more_takes_the_place_of_one_that_says_less() -> None:
    lines = slip(SUMMARY, budget_tokens=10_000, token_estimator=len).markdown.splitlines()
    assert [line for line in lines if "schema" in line] == ["- Never touch the schema. Ask Ann first."]


def test_a_budget_that_holds_a_page_gets_the_page() -> None:
    page = render_summary(SUMMARY, source=SOURCE, budget_tokens=SMALLEST_PAGE_TOKENS).markdown
    assert "## Constraints in force" in page


def test_nothing_fits_into_nothing() -> None:
    assert slip(SUMMARY, budget_tokens=3, token_estimator=estimate_tokens).markdown == ""


@given(budget=st.integers(30, SMALLEST_PAGE_TOKENS - 1), texts=st.lists(st.text(max_size=80), max_size=12))
@settings(deadline=None, max_examples=60)
def test_the_list_never_exceeds_its_budget(budget: int, texts: list[str]) -> None:
    summary = Summary(user_messages=said(*texts), constraints=SUMMARY.constraints)
    assert estimate_tokens(render_summary(summary, source=SOURCE, budget_tokens=budget).markdown) <= budget
