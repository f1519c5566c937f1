from hypothesis import given, settings
from hypothesis import strategies as st

from worker.transcripts import branches
from worker.transcripts.branches import Branches


def grown(*rows: tuple[str, str | None, bool]) -> Branches:
    """A tree from (id, parent, human) rows; every row is the message of its number."""
    tree = Branches()
    for index, (row_id, parent, human) in enumerate(rows):
        tree.add(row_id, parent, index, human=human)
    return tree


def test_a_human_row_beside_an_earlier_one_takes_that_branch_back_t09() -> None:
    tree = grown(("h1", None, True), ("a1", "h1", False), ("h2", "a1", True), ("a2", "h2", False), ("h3", "a1", True))
    assert tree.rewound() == [(2, 4)]


def test_a_rewind_over_several_turns_takes_all_of_them_back() -> None:
    tree = grown(
        ("h1", None, True),
        ("a1", "h1", False),
        ("h2", "a1", True),
        ("a2", "h2", False),
        ("h3", "a2", True),
        ("a3", "h3", False),
        ("h4", "a1", True),
        ("a4", "h4", False),
    )
    assert tree.rewound() == [(2, 6)]


def test_rewinds_to_one_place_again_and_again_are_joined() -> None:
    tree = grown(("a", None, False), ("h1", "a", True), ("h2", "a", True), ("h3", "a", True))
    assert tree.rewound() == [(1, 3)]


def test_parallel_calls_and_their_results_are_no_rewind_p04() -> None:
    tree = grown(
        ("h1", None, True),
        ("c1", "h1", False),
        ("c2", "c1", False),
        ("c3", "c2", False),
        ("r1", "c1", False),
        ("r3", "c3", False),
        ("r2", "c2", False),
        ("a", "r2", False),
        ("h2", "a", True),
    )
    assert tree.rewound() == []


def test_a_branch_that_goes_on_was_not_taken_back() -> None:
    tree = grown(
        ("h1", None, True),
        ("a1", "h1", False),
        ("h2", "a1", True),
        ("h3", "a1", True),
        ("a3", "h3", False),
        ("a2", "h2", False),
    )
    assert tree.rewound() == []


def test_a_foreign_row_between_the_two_forbids_the_judgement() -> None:
    tree = grown(("a", None, False), ("h1", "a", True), ("other", "unknown", False), ("h2", "a", True))
    assert tree.rewound() == []


def test_a_parent_that_is_nowhere_a_cycle_and_a_self_reference_are_survived() -> None:
    tree = grown(("h1", "nowhere", True), ("a", "b", False), ("b", "a", False), ("c", "c", False), ("h2", "c", True))
    assert tree.rewound() == []
    assert "a" in tree
    assert "nowhere" not in tree


def test_memory_is_bounded_and_old_parents_are_forgotten() -> None:
    tree = Branches()
    for number in range(branches.ROWS_KNOWN + 10):
        tree.add(str(number), str(number - 1), None, human=False)
    assert "5" not in tree
    assert str(branches.ROWS_KNOWN) in tree


@settings(deadline=None, max_examples=60)
@given(st.lists(st.booleans(), min_size=1, max_size=40))
def test_a_session_without_forks_has_no_rewind(humans: list[bool]) -> None:
    tree = grown(*[(str(n), str(n - 1), human) for n, human in enumerate(humans)])
    assert tree.rewound() == []


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.integers(-1, 30), st.booleans()), max_size=30))
def test_rewound_ranges_are_ascending_apart_and_inside_the_session(rows: list[tuple[int, bool]]) -> None:
    tree = grown(*[(str(n), str(parent), human) for n, (parent, human) in enumerate(rows)])
    ends = 0
    for start, end in tree.rewound():
        assert ends <= start < end < len(rows)
        ends = end + 1
