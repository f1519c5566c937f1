"""The benchmark over a conversation memory set, on a small conversation of our own in that format."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parents[1] / "bench"))

from locomo import Bm25, Sample, evaluate, read_samples, table

SAMPLE: dict[str, Any] = {
    "sample_id": "conv-1",
    "conversation": {
        "speaker_a": "Noor",
        "speaker_b": "Emil",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Noor", "dia_id": "D1:1", "text": "I started pottery classes on Tuesdays with my sister."},
            {"speaker": "Emil", "dia_id": "D1:2", "text": "Lovely! My dog Biscuit ate a whole pumpkin pie yesterday."},
            {
                "speaker": "Noor",
                "dia_id": "D1:3",
                "text": "",
                "img_url": ["x"],
                "blip_caption": "a blue vase on a shelf",
            },
        ],
        "session_2_date_time": "10:05 am on 17 August, 2023",
        "session_2": [
            {"speaker": "Emil", "dia_id": "D2:1", "text": "We moved to Porto in July, the flat has a tiny balcony."},
            {"speaker": "Noor", "dia_id": "D2:2", "text": "   "},
            {"speaker": "Noor", "dia_id": "D2:3", "text": "I won second prize at the regional chess tournament!"},
        ],
    },
    "qa": [
        {"question": "What did Biscuit eat?", "answer": "pie", "evidence": ["D1:2"], "category": 4},
        {"question": "When did Emil move to Porto?", "answer": "July 2023", "evidence": ["D2:1"], "category": 2},
        {"question": "Which hobbies does Noor have, pottery or chess?", "evidence": ["D1:1; D2:3"], "category": 1},
        {"question": "Which colour had the vase?", "answer": "blue", "evidence": ["D1:3"], "category": 4},
        {"question": "What is the capital of France?", "evidence": [], "category": 5},
        {"question": "Who painted it?", "evidence": ["D:9:1"], "category": 5},
    ],
}


@pytest.fixture
def samples(tmp_path: Path) -> list[Sample]:
    path = tmp_path / "set.json"
    path.write_text(json.dumps([SAMPLE]), "utf-8")
    return read_samples(path)


def test_the_format_is_read_with_its_gaps(samples: list[Sample]) -> None:
    (sample,) = samples
    assert [[turn.id for turn in turns] for _, turns in sample.sessions] == [["D1:1", "D1:2", "D1:3"], ["D2:1", "D2:3"]]
    assert sample.sessions[0][0].isoformat() == "2023-05-08T13:56:00+00:00"
    assert [sorted(question.evidence) for question in sample.questions] == [
        *[["D1:2"], ["D2:1"], ["D1:1", "D2:3"], ["D1:3"]],
        *[[], []],
    ]


def test_answers_of_real_consolidations_are_mapped_back_to_turns(samples: list[Sample], tmp_path: Path) -> None:
    told = evaluate(samples, tmp_path).as_object()
    assert told["skipped_without_evidence"] == 2
    assert told["recall"]["all"]["questions"] == told["bm25"]["all"]["questions"] == 4
    assert told["recall"]["all"]["recall@5"] == 1.0
    assert set(told["recall"]) == {"multi-hop", "temporal", "single-hop", "all"}


def test_what_an_assistant_only_said_counts_as_not_found(samples: list[Sample], tmp_path: Path) -> None:
    result = evaluate(samples, tmp_path, second_as_assistant=True)
    assert result.as_object()["recall"]["all"]["recall@5"] <= 1.0
    assert "single-hop" in table(result)


def test_the_baseline_cites_five_turns_at_most(samples: list[Sample]) -> None:
    baseline = Bm25(samples[0])
    assert baseline.answer("What did Biscuit eat?") >= {"D1:2"}
    assert len(baseline.answer("the a to in my on")) <= 5
    assert baseline.answer("zzz") == set()
