"""The sentences that would be missed most come first."""

from worker.core.summary import UserMessage
from worker.core.telling import PASTED_CHARS, rank_sentences


def ranked(*texts: str, known: frozenset[str] = frozenset()) -> list[str]:
    said = [UserMessage(id=f"m{at}", text=text) for at, text in enumerate(texts)]
    return [one.text for one in rank_sentences(said, known)]


def test_identifiers_numbers_names_and_decisions_come_before_talk() -> None:
    talk = "I think it looks quite good like this and we could go on."
    telling = ["See OPS-4471.", "The budget is 18400 euros.", "Ask Marlene about it.", "We decided to drop it."]
    order = ranked(talk, *telling)
    assert set(order[:4]) == set(telling)
    assert order[-1] == talk


def test_a_sentence_that_repeats_what_stands_elsewhere_comes_behind_what_is_new() -> None:
    order = ranked("The ticket is OPS-4471.", "Look at OPS-4471, OPS-4471!", "The cat sleeps on the mat over there.")
    assert order.index("The ticket is OPS-4471.") < 2
    assert order[-1] == "Look at OPS-4471, OPS-4471!" or order[-1] == "The ticket is OPS-4471."


def test_what_is_shown_anyway_is_worth_less() -> None:
    assert ranked("See OPS-4471.", "See OPS-4472.", known=frozenset({"OPS-4471"}))[0] == "See OPS-4472."


def test_pasted_numbers_do_not_crowd_out_what_was_typed() -> None:
    pasted = "\n".join(f"row {n} value {n * 7}" for n in range(400))
    assert len(pasted) > PASTED_CHARS
    assert ranked(pasted, "The limit is 250 requests per minute.")[0] == "The limit is 250 requests per minute."


def test_lines_of_a_pasted_log_come_behind_words_however_short_they_are() -> None:
    log = "\n".join(f"src/mod_{n}.py:{n * 7}: took {n} ms for {n * 3} rows, status={n}" for n in range(1, 21))
    assert len(log) < PASTED_CHARS
    typed = ["For examples I like Kotlin, not Java.", "The build of the importer broke here:"]
    order = ranked(f"{typed[1]}\n{log}", typed[0])
    assert set(order[:2]) == set(typed)


def test_a_long_message_in_words_is_not_taken_for_a_log() -> None:
    spec = "\n".join(f"Point {n}: the service of team {n} answers OPS-44{n:02d} within a day." for n in range(20))
    assert ranked(spec, "Thanks a lot, that is a good idea.")[0].startswith("Point")


def test_nobody_said_nothing() -> None:
    assert ranked() == []
    assert ranked("", "  ") == []
