"""Requests as values and as JSON."""

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worker.core.job import (
    JobRequest,
    Kind,
    Priority,
    Trigger,
    request_from_fields,
    request_from_json,
    request_to_json,
)
from worker.errors import UsageError

TEXT = st.text(st.characters(), max_size=60)
TIME = st.datetimes(min_value=datetime(1990, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - the strategy adds the zone

REQUESTS = st.builds(
    JobRequest,
    submission=st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_.-]{7,63}", fullmatch=True),
    kind=st.sampled_from(Kind),
    workspace=TEXT,
    submitted_at=TIME,
    transcript=TEXT.filter(bool),
    session=st.none() | TEXT,
    session_id=st.none() | TEXT,
    trigger=st.sampled_from(Trigger),
    priority=st.sampled_from(Priority),
    seal_all=st.booleans(),
    start=st.none() | st.integers(0, 2**53 - 1),
    instructions=TEXT,
    transcript_bytes=st.none() | st.integers(0, 2**53 - 1),
    transcript_modified_at=st.none() | TIME,
    background=st.lists(TEXT, max_size=3).map(tuple),
)


def fields(**more: object) -> dict[str, object]:
    given = {"submission": "s-000001", "kind": "consolidate", "workspace": "/w", "transcript": "/t.jsonl"}
    return {**given, "submitted_at": "2026-01-23T03:00:00+00:00", **more}


def request(**more: object) -> JobRequest:
    return request_from_fields(fields(**more))


@settings(deadline=None, max_examples=100)
@given(REQUESTS)
def test_a_request_comes_back_from_its_json_as_it_was_whatever_its_texts_hold(wish: JobRequest) -> None:
    text = request_to_json(wish)
    assert text.isascii()
    assert "\n" not in text
    assert request_from_json(text) == wish


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"submission": None}, "submission is missing"),
        ({"submission": "short"}, "submission"),
        ({"submission": "s-000001\n"}, "submission"),
        ({"submission": "a" * 65}, "submission"),
        ({"kind": "dream"}, "kind"),
        ({"kind": ["consolidate"]}, "kind"),
        ({"submitted_at": "2026-01-23T03:00:00"}, "submitted_at"),
        ({"submitted_at": 1769137200}, "submitted_at"),
        ({"transcript": ""}, "transcript is missing"),
        ({"start": -1}, "start"),
        ({"start": True}, "start"),
        ({"end": 2**53}, "end"),
        ({"seal_all": "yes"}, "seal_all"),
        ({"instructions": "x" * 801}, "instructions"),
        ({"background": "b1"}, "background"),
        ({"message": "the text of a turn"}, "'message'"),
    ],
)
def test_a_value_out_of_form_is_refused_by_its_name(change: dict[str, object], named: str) -> None:
    with pytest.raises(UsageError, match=named):
        request(**change)


@pytest.mark.parametrize("text", ["", "[]", "null", "{", "[" * 10_000, json.dumps(fields(workspace="x" * 40_000))])
def test_text_that_is_no_request_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        request_from_json(text)


def test_a_refusal_repeats_no_value_of_the_request() -> None:
    with pytest.raises(UsageError) as refused:
        request(trigger="token sk-live-0123456789abcdef")
    assert "sk-live" not in str(refused.value)


def test_times_are_kept_in_utc() -> None:
    there = datetime(2026, 1, 23, 12, 0, tzinfo=timezone(timedelta(hours=9)))
    assert request(submitted_at=there.isoformat()).submitted_at.isoformat() == "2026-01-23T03:00:00+00:00"


@pytest.mark.parametrize(
    "other",
    [
        {"kind": "resummarize"},
        {"workspace": "/v"},
        {"transcript": "/u.jsonl"},
        {"workspace": "/w/t.jsonl", "transcript": "/"},
        {"start": 3},
        {"start": 1, "end": 11},
        {"kind": "nightly", "date": "2026-01-23"},
    ],
)
def test_different_work_is_a_different_subject(other: dict[str, object]) -> None:
    assert request(**other).subject != request().subject


def test_who_asks_when_and_how_urgently_is_no_part_of_the_subject() -> None:
    """O60, J15: manual, nightly and turn end mean the same work."""
    asked = [request(trigger=trigger, submission=f"asked-{trigger}") for trigger in Trigger]
    urgent = request(priority="interactive", seal_all=True, instructions="keep the API", transcript_bytes=7)
    assert len({wish.subject for wish in [*asked, urgent]}) == 1


def test_only_a_persons_own_request_is_manual() -> None:
    assert [trigger for trigger in Trigger if request(trigger=trigger).is_manual] == [Trigger.MANUAL]


def test_the_queues_have_an_order() -> None:
    assert sorted(Priority, key=lambda priority: priority.rank) == ["interactive", "turn", "nightly"]
