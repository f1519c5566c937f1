"""A workspace in which another program kept its memory before: nothing of it is lost, moved or glued to."""

from typing import Any

RAW = "[RAW] 146 messages\n" + "".join(
    f"[2026-03-13 11:39] TOOL: row {n} | 12 | ok\n## [2026-04-02 14:02 +08:00] pi/x · checkpoint {n} · m1–m9\n"
    for n in range(900)
)
ENTRIES = (
    "[2026-04-02 20:43] Decided to keep the schema.\n\n"
    "[2026-04-02 22:32-23:20] Long evening.\n\n"
    "[2026-03-13 11:39] USER: out of order\n\n"
    "[2026-04-03T08:01] Told again, in other words.\n\n"
)
CUT_MEMORY = "# Memory\n\n| unit | factor |\n|---|---|\n| kWh | 3.6 |\n| kg/h | 0.2"


def test_a_foreign_history_of_raw_dumps_is_left_as_it_is_and_gone_on_behind(desk: Any, afternoon: Any) -> None:
    """Larger than our own file may become; headings in it look like ours, and none of them has a marker."""
    before = ((ENTRIES + RAW) * 22).encode()
    assert len(before) > 1_500_000
    desk.root.mkdir(parents=True, exist_ok=True)
    history = desk.root / "HISTORY.md"
    history.write_bytes(before)
    desk.run(afternoon)
    assert history.read_bytes().startswith(before)
    afternoon.person("And now the changelog.")
    afternoon.assistant("Done.")
    desk.run(afternoon)
    told = history.read_bytes()
    assert told.startswith(before)
    ours = told[len(before) :].decode()
    assert ours.count("\n## [") == 2
    assert not (desk.root / "history").exists()
    assert desk.problems() == []


def test_a_memory_that_ends_in_half_a_table_row_is_not_glued_to(desk: Any, afternoon: Any) -> None:
    desk.root.mkdir(parents=True, exist_ok=True)
    memory = desk.root / "MEMORY.md"
    memory.write_text(CUT_MEMORY, "utf-8")
    desk.run(afternoon)
    text = memory.read_text("utf-8")
    assert text.startswith(f"{CUT_MEMORY}\n\n")
    assert afternoon.rule in text[len(CUT_MEMORY) :]
    assert desk.problems() == []
