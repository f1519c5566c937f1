"""The record of views: what is kept comes back, what cannot be used is told, who comes second begins again."""

from pathlib import Path

import pytest

from worker.adapters.view_file import ViewFile
from worker.core.checkpoint import Cursor
from worker.core.decisions import Base, Decisions, HeadBlock, Lane, Replacement, Sent
from worker.errors import UsageError

LANE = Lane(
    base=Base(
        kind="checkpoint",
        start=Cursor(format="openai", index=12, anchors=("aa", "bb")),
        head=(HeadBlock(kind="memory", text="错误 \u2028 page"),),
        system_rows=1,
        checkpoint=3,
        left_out_tokens=900,
    ),
    replaced={14: Replacement(text="[artifact …]", step="offloaded", saved=300)},
    late=(15,),
    breaks=(17,),
    sent=Sent(end=20, sha256="ff", units=9, units_sha256="ee"),
    share=0.7,
    forced_at=20,
)


def test_what_is_kept_comes_back(tmp_path: Path) -> None:
    file = ViewFile(tmp_path, "openai--s1")
    decisions = Decisions().with_lane("openai summarize 8000", LANE)
    assert file.store(decisions, file.load())
    again = file.load()
    assert again.decisions == decisions
    assert again.problem is None
    assert file.path.stat().st_mode & 0o777 == 0o600


def test_who_comes_second_is_told_and_changes_nothing(tmp_path: Path) -> None:
    """T13: neither update is lost without a word."""
    file = ViewFile(tmp_path, "openai--s1")
    seen = file.load()
    assert file.store(Decisions().with_lane("first", LANE), seen)
    assert not file.store(Decisions().with_lane("second", LANE), seen)
    assert list(file.load().decisions.lanes) == ["first"]
    assert file.store(file.load().decisions.with_lane("second", LANE), file.load())
    assert list(file.load().decisions.lanes) == ["first", "second"]


def test_an_archive_is_written_once_under_one_name(tmp_path: Path) -> None:
    """T23."""
    file = ViewFile(tmp_path, "openai--s1")
    path = file.archive("m0-m9", "half \ud83d of it\n")
    before = path.stat().st_mtime_ns
    assert file.archive("m0-m9", "half \ud83d of it\n") == path == file.archive_path("m0-m9", "half \ud83d of it\n")
    assert path.stat().st_mtime_ns == before
    assert file.archive("m0-m9", "another") != path


def test_a_name_that_is_no_session_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        ViewFile(tmp_path, "../elsewhere")
