"""A transcript is read again as it was for its checkpoints; what does not hold any more is not quoted."""

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import pytest

from worker.core.checkpoint import Status
from worker.core.planning import limits_for
from worker.reporting import rereading
from worker.reporting.rereading import Reread, Standing, reread

Diary = Any


def read_again(diary: Diary, cited: Collection[str] = ("m0", "m3", "m8")) -> Reread:
    return reread(diary.path, diary.chain(), cited, limits_for(200_000), max_row_bytes=2**20)


def test_what_holds_is_weighed_and_quoted(told: Diary) -> None:
    read = read_again(told)
    assert (read.standing, read.changed, read.end) == (Standing.READ, (), 13)
    assert set(read.sayings) == {"m0", "m3", "m8"}
    assert "AssertionError" in read.sayings["m3"].text
    assert set(read.sources) == {"people", "assistant", "tool:bash"}
    assert set(read.tail_sources) == {"people", "assistant"}
    assert [weight.index for weight in read.weights] == list(range(13))


def test_a_transcript_that_is_gone_leaves_the_checkpoints(told: Diary) -> None:
    told.path.unlink()
    read = read_again(told)
    assert (read.standing, read.changed, read.sayings) == (Standing.GONE, (1, 2), {})


def test_a_transcript_that_became_something_else_says_what_is_wrong(told: Diary) -> None:
    told.path.write_bytes(b"%PDF-1.7 \x00\x01\x02")
    read = read_again(told)
    assert read.standing is Standing.UNREADABLE
    assert str(told.path) in read.problem


def test_a_range_that_reads_otherwise_is_not_quoted_and_the_others_are(told: Diary) -> None:
    told.change("m3", "all passed, I promise")
    read = read_again(told)
    assert (read.standing, read.changed) == (Standing.READ, (1,))
    assert set(read.sayings) == {"m8"}
    assert read.skipped is None
    assert read.tail_known


def test_a_change_in_the_last_range_is_found_too(told: Diary) -> None:
    told.change("m8", "Use port 1.")
    read = read_again(told)
    assert read.changed == (2,)
    assert set(read.sayings) == {"m0", "m3"}


def test_a_file_that_began_anew_keeps_nothing_of_what_it_was(told: Diary) -> None:
    told.path.write_text('{"role": "user", "content": "Something else altogether."}\n', encoding="utf-8")
    read = read_again(told)
    assert read.changed == (1, 2)
    assert (read.sayings, read.tail_known) == ({}, False)


def test_after_a_restart_the_new_chain_holds_and_the_old_one_is_gone(told: Diary) -> None:
    told.path.write_text("", encoding="utf-8")
    fresh = type(told)(told.path.parent)
    fresh.person("A new beginning. Use spaces.")
    fresh.assistant("Spaces it is.")
    fresh.consolidate()
    chain = fresh.chain()
    assert [one.range.chain for one in chain] == [1, 1, 2]
    start = chain[-1].range.start
    read = read_again(fresh, {f"m{start}", "m0"})
    assert read.changed == (1, 2)
    assert "A new beginning" in read.sayings[f"m{start}"].text
    assert "m0" not in read.sayings


def test_a_secret_is_redacted_as_it_was_for_the_checkpoint(diary: Diary) -> None:
    token = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    diary.person(f"The token is {token}, keep it to yourself.")
    diary.assistant("I will.")
    diary.consolidate()
    text = read_again(diary, {"m0"}).sayings["m0"].text
    assert token not in text
    assert "⟨secret:" in text


def test_a_secret_that_is_split_over_two_ranges_is_redacted_in_both(diary: Diary) -> None:
    diary.person("First half: ghp_A1b2C3d4E5f6G7h8I9")
    diary.consolidate()
    diary.person("j0K1l2M3n4O5p6Q7r8 is the rest.")
    diary.consolidate()
    texts = " ".join(saying.text for saying in read_again(diary, {"m0", "m1"}).sayings.values())
    assert "ghp_A1b2C3d4E5f6G7h8I9" not in texts


def test_a_tail_of_any_length_is_weighed_block_by_block(told: Diary, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = read_again(told)
    monkeypatch.setattr(rereading, "BLOCK_MESSAGES", 1)
    in_blocks = read_again(told)
    assert in_blocks.end == whole.end
    assert in_blocks.tail_tokens == whole.tail_tokens


def test_parts_are_told_where_a_model_was_asked(told: Diary) -> None:
    assert read_again(told).parts == {}
    chain = [replace(one, status=Status.OK) for one in told.chain()]
    read = reread(told.path, chain, (), limits_for(200_000, part_tokens=2_000), max_row_bytes=2**20)
    assert read.parts[1][0] == 0
    assert all(0 <= start < 8 for start in read.parts[1])


def test_skipped_rows_are_counted_once_over_all_ranges(told: Diary) -> None:
    with told.path.open("a", encoding="utf-8") as file:
        file.write("no JSON at all\n")
        file.write('{"role": "user", "content": "And now?"}\n')
    skipped = read_again(told).skipped
    assert skipped is not None
    assert skipped.get("not_json") == 1
