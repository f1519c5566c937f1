"""The state fits its room, and what must stay stays."""

from hypothesis import given, settings
from hypothesis import strategies as st

from worker.core.items import is_protected, items_of, words_of
from worker.core.shedding import shed
from worker.core.summary import Concept, Constraint, ErrorItem, Problem, ProblemKind, Summary, Task, TaskStatus


def letters(text: str) -> int:
    return len(text)


@given(data=st.data(), room=st.integers(0, 400))
@settings(deadline=None, max_examples=25)
def test_nothing_is_lost_and_what_is_protected_stays(
    states: st.SearchStrategy[Summary], data: st.DataObject, room: int
) -> None:
    state = data.draw(states)
    result = shed(state, state_tokens=room, token_estimator=letters)
    before = [item for _, item in items_of(state)]
    after = [item for _, item in items_of(result.summary)]
    assert sorted(map(repr, before)) == sorted(map(repr, [*after, *result.moved]))
    assert not any(is_protected(item) for item in result.moved)
    assert sum(letters(words_of(item)) for item in after) <= room or all(map(is_protected, after))


def test_b5_the_least_worthy_goes_first_and_of_equals_the_oldest() -> None:
    decision = Problem(id="D-1", kind=ProblemKind.DECISION, text="d" * 10, seen=1)
    old, new = Concept(id="K-1", text="k" * 10, seen=1), Concept(id="K-2", text="q" * 10, seen=5)
    state = Summary(problem_solving=(decision,), concepts=(new, old))
    assert shed(state, state_tokens=20, token_estimator=letters).moved == (old,)
    assert shed(state, state_tokens=10, token_estimator=letters).moved == (old, new)


def test_what_is_protected_stays_even_when_it_alone_does_not_fit() -> None:
    state = Summary(
        constraints=(Constraint(id="C-1", rule="r" * 50, quote="r"),),
        tasks=(Task(id="T-1", text="t" * 50, status=TaskStatus.BLOCKED),),
        errors=(ErrorItem(id="E-1", error="e" * 50),),
    )
    assert shed(state, state_tokens=1, token_estimator=letters).summary == state


def test_a_state_that_fits_is_left_alone() -> None:
    state = Summary(concepts=(Concept(id="K-1", text="k"),))
    assert shed(state, state_tokens=1, token_estimator=letters).summary is state
