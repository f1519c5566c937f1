import io
import json
import time
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from worker.transcripts.jsonl import (
    MENDED_ROW,
    NOT_AN_OBJECT,
    NOT_JSON,
    ROW_TOO_LONG,
    UNFINISHED_LAST_ROW,
    Row,
    parse_document,
    read_rows,
)

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", max_size=4), inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(st.text("xyz", min_size=1, max_size=4), VALUES, max_size=4)


def rows_of(content: bytes, limit_bytes: int = 10_000) -> list[Row]:
    return list(read_rows(io.BytesIO(content), limit_bytes=limit_bytes))


def values_of(rows: list[Row]) -> list[Any]:
    return [value for row in rows for value in row.values]


def problems_of(rows: list[Row]) -> list[str]:
    return [problem for row in rows for problem in row.problems]


@settings(deadline=None, max_examples=60)
@given(objects=st.lists(OBJECTS, max_size=8), separators=st.lists(st.sampled_from([b"\n", b"\r\n", b"\n\n"])))
def test_what_is_written_as_rows_is_read_as_rows(objects: list[Any], separators: list[bytes]) -> None:
    content = b""
    for number, value in enumerate(objects):
        content += json.dumps(value, ensure_ascii=False).encode() + (separators[number:] or [b"\n"])[0]
    rows = rows_of(content)
    assert values_of(rows) == objects
    assert problems_of(rows) == []
    assert all(content[row.offset : row.end].strip() for row in rows)


@settings(deadline=None, max_examples=80)
@given(content=st.binary(max_size=400) | st.text('{}[]":,\\n\x00 a', max_size=80).map(str.encode))
def test_any_bytes_are_read_without_an_exception(content: bytes) -> None:
    for row in rows_of(content, limit_bytes=50):
        assert row.values or row.problems


def test_a_line_separator_inside_a_string_ends_no_row() -> None:
    content = '{"a":"one\u2028two\x0cthree\ufeff"}\n{"b":1}'.encode()
    assert values_of(rows_of(content)) == [{"a": "one\u2028two\x0cthree\ufeff"}, {"b": 1}]


def test_objects_glued_together_are_both_read() -> None:
    rows = rows_of(b'{"a":1}{"b":2} {"c":3}\n{"d":4}\n')
    assert values_of(rows) == [{"a": 1}, {"b": 2}, {"c": 3}, {"d": 4}]
    assert problems_of(rows) == []


def test_a_bad_line_in_the_middle_is_counted_t07() -> None:
    rows = rows_of(b'{"a":1}\n{"b": tru\n{"c":3}\n')
    assert values_of(rows) == [{"a": 1}, {"c": 3}]
    assert problems_of(rows) == [NOT_JSON]


def test_a_bad_last_line_is_being_written_t07() -> None:
    rows = rows_of(b'{"a":1}\n{"text":"half a sen')
    assert values_of(rows) == [{"a": 1}]
    assert problems_of(rows) == [UNFINISHED_LAST_ROW]
    assert rows[-1].unfinished


def test_blank_lines_behind_a_half_row_change_nothing() -> None:
    assert rows_of(b'{"a":1}\n{"b"\n\n  \n')[-1].unfinished


def test_a_missing_newline_at_the_end_says_nothing() -> None:
    rows = rows_of(b'{"a":1}\n{"b":2}')
    assert values_of(rows) == [{"a": 1}, {"b": 2}]
    assert not rows[-1].unfinished


def test_a_whole_object_before_a_half_one_is_kept() -> None:
    rows = rows_of(b'{"a":1}{"a":2,"b')
    assert values_of(rows) == [{"a": 1}]
    assert rows[0].unfinished


def test_a_row_behind_the_half_row_of_a_writer_that_died_is_read() -> None:
    rows = rows_of(b'{"type":"user","text":"never finis{"type":"user","text":"whole"}\n{"type":"end"}\n')
    assert values_of(rows) == [{"type": "user", "text": "whole"}, {"type": "end"}]
    assert problems_of(rows) == [NOT_JSON, MENDED_ROW]


def test_an_object_inside_a_half_row_is_not_taken_for_a_row() -> None:
    rows = rows_of(b'{"type":"a","list":[{"type":"a","x":1},{"type":"a","x":2}],"y\n{"b":1}\n')
    assert values_of(rows) == [{"b": 1}]


def test_raw_control_characters_spoil_nothing_else_o101() -> None:
    rows = rows_of(b'{"partialJson":"a\x01b\tc"}\n{"b":2}\n')
    assert values_of(rows) == [{"partialJson": "a\x01b\tc"}, {"b": 2}]
    assert problems_of(rows) == [MENDED_ROW]


def test_zeros_that_a_crash_left_around_a_row_are_ignored() -> None:
    assert values_of(rows_of(b"\x00" * 40 + b'{"a":1}\n' + b"\x00" * 20)) == [{"a": 1}]


def test_a_lone_surrogate_becomes_a_replacement_character_t08() -> None:
    rows = rows_of(b'{"text":"cut \\ud83d here, whole \\ud83d\\ude00"}\n')
    assert values_of(rows) == [{"text": "cut \ufffd here, whole \U0001f600"}]
    json.dumps(values_of(rows), ensure_ascii=False).encode("utf-8")


def test_bytes_that_are_not_utf8_become_replacement_characters() -> None:
    assert values_of(rows_of(b'{"text":"\xe4\xb8"}\n{"b":1}\n')) == [{"text": "\ufffd"}, {"b": 1}]


def test_not_a_number_is_read() -> None:
    assert str(values_of(rows_of(b'{"a":NaN}\n'))[0]["a"]) == "nan"


def test_a_byte_order_mark_is_no_damage() -> None:
    rows = rows_of(b'\xef\xbb\xbf{"a":1}\n')
    assert (values_of(rows), problems_of(rows)) == ([{"a": 1}], [])


def test_rows_that_are_no_objects_are_counted() -> None:
    assert problems_of(rows_of(b'"text"\n42\n[1]\nnull\n{"a":1}\n')) == [NOT_AN_OBJECT] * 4


def test_nesting_without_end_is_damage_and_not_a_crash() -> None:
    rows = rows_of(b"[" * 5000 + b'\n{"a":1}\n')
    assert values_of(rows) == [{"a": 1}]
    assert problems_of(rows) == [NOT_JSON]


def test_a_row_beyond_the_limit_is_skipped_and_the_next_one_read() -> None:
    content = b'{"a":"' + b"x" * 5_000_000 + b'"}\n{"b":2}\n'
    rows = rows_of(content, limit_bytes=1000)
    assert values_of(rows) == [{"b": 2}]
    assert problems_of(rows) == [ROW_TOO_LONG]
    assert rows[1].offset == content.index(b'{"b"')


def test_a_row_of_exactly_the_limit_is_read() -> None:
    body = b'{"a":"' + b"x" * 92 + b'"}\n'
    assert len(values_of(rows_of(body, limit_bytes=len(body)))) == 1
    assert len(values_of(rows_of(body.rstrip(), limit_bytes=len(body) - 1))) == 1


def test_a_hostile_line_costs_time_in_proportion_to_its_length() -> None:
    hostile = [b'{"a":{"' * 150_000, b'{"a":1}' * 150_000 + b"{", b'{"a":"' + b'{"a":"' * 150_000]
    started = time.process_time()
    for line in hostile:
        rows_of(line + b"\n", limit_bytes=10_000_000)
    assert time.process_time() - started < 10


def test_a_document_with_a_lone_surrogate_is_read() -> None:
    assert parse_document(b'\xef\xbb\xbf[{"a":"\\udc00"}]') == [{"a": "\ufffd"}]
