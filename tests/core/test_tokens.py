"""The estimate against the real tokenizer: never too small within its margin, not far too large, and linear."""

import base64
import importlib.util
import json
import os
import random
import string
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worker.core.tokens import SAFETY_MARGIN, estimate_tokens, with_margin

Count = Callable[[str], int]

ENGLISH = (
    "The importer keeps the old column until every consumer has moved to the new one. When the nightly job finishes, "
    "compare the counts of both tables and write the difference to the report. Please do not remove the index yet: the "
    "billing service still reads it, and nobody has measured what a missing index costs there. I have looked at the "
    "three failing tests; two of them wait for a fixture that is no longer created, and the third one really is a bug. "
)
CODE = '''def load(path: Path, *, strict: bool = True) -> dict[str, Row]:
    """Rows by key; raises KeyError when `strict` and a key comes twice."""
    rows: dict[str, Row] = {}
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        key, _, value = line.partition("=")
        if strict and key in rows:
            raise KeyError(f"{path}:{number}: {key!r} comes twice")
        rows[key.strip()] = Row(value=value.strip(), line_number=number)
    return rows
'''
CHINESE = (
    "请先不要修改数据库的表结构，等所有服务都迁移到新的接口之后再删除旧的字段。昨天晚上的定时任务失败了，原因是配置文件里的路径写错了，"
    "我已经改好并且重新运行了一次，结果正常。接下来需要检查日志，确认没有其他错误，然后把测试报告发给大家。"
)
JAPANESE = (
    "データベースのスキーマは変更しないでください。すべてのサービスが新しいインターフェースに移行してから、古い列を削除します。"
    "昨夜のバッチ処理は設定ファイルのパスが間違っていたために失敗しましたが、修正して再実行したところ正常に終了しました。"
)
KOREAN = (
    "데이터베이스 스키마는 변경하지 마세요. 모든 서비스가 새로운 인터페이스로 이전한 다음에 오래된 열을 삭제합니다. "
    "어젯밤의 배치 작업은 설정 파일의 경로가 잘못되어 실패했지만, 수정하고 다시 실행한 결과 정상적으로 끝났습니다. "
)


@pytest.fixture(scope="module")
def count() -> Iterator[Count]:
    """cl100k_base from the file that litellm ships, so that nothing is downloaded."""
    spec = importlib.util.find_spec("litellm")
    if spec is None or spec.origin is None:
        pytest.skip("litellm is not installed")
    patch = pytest.MonkeyPatch()
    patch.setenv("TIKTOKEN_CACHE_DIR", str(Path(spec.origin).parent / "litellm_core_utils" / "tokenizers"))
    import tiktoken

    encoding = tiktoken.get_encoding("cl100k_base")
    yield lambda text: len(encoding.encode(text.encode("utf-8", "replace").decode("utf-8"), disallowed_special=()))
    patch.undo()


def log_lines(rng: random.Random, lines: int) -> str:
    return "\n".join(
        f"2026-{rng.randint(1, 12):02}-11T{rng.randint(0, 23):02}:04:{rng.randint(0, 59):02}.{rng.randint(0, 999):03}Z "
        f"[{rng.choice(['INFO', 'WARN', 'ERROR'])}] 10.0.3.{rng.randint(1, 250)}:{rng.randint(1000, 65000)} worker-7 "
        f"request id={rng.getrandbits(32):08x} took {rng.randint(1, 3000)}ms status={rng.choice([200, 404, 500])}"
        for _ in range(lines)
    )


def json_rows(rng: random.Random, rows: int) -> str:
    return json.dumps(
        [
            {
                "id": rng.getrandbits(40),
                "path": f"src/mod_{rng.randint(0, 99)}/file.py",
                "score": rng.random(),
                "ok": True,
            }
            for _ in range(rows)
        ]
    )


KINDS: dict[str, Callable[[random.Random], str]] = {
    "English": lambda rng: ENGLISH * rng.randint(1, 4),
    "code": lambda rng: CODE * rng.randint(1, 3),
    "JSON": lambda rng: json_rows(rng, 20),
    "logs": lambda rng: log_lines(rng, 15),
    "hex": lambda rng: rng.randbytes(600).hex(),
    "HEX": lambda rng: rng.randbytes(600).hex().upper(),
    "base64": lambda rng: base64.b64encode(rng.randbytes(900)).decode(),
    "digits": lambda rng: "".join(rng.choices(string.digits, k=800)),
    "random letters": lambda rng: "".join(rng.choices(string.ascii_letters, k=800)),
    "random small letters": lambda rng: "".join(rng.choices(string.ascii_lowercase, k=800)),
    "punctuation": lambda rng: "".join(rng.choices(string.punctuation, k=800)),
    "printable": lambda rng: "".join(rng.choices(string.printable, k=800)),
    "whitespace": lambda rng: "".join(rng.choices(" \n\t", k=800)),
    "spaces": lambda rng: " " * 900,
    "control characters": lambda rng: "".join(map(chr, rng.choices(range(32), k=800))),
    "Chinese": lambda rng: CHINESE,
    "Japanese": lambda rng: JAPANESE,
    "Korean": lambda rng: KOREAN,
    "any Han": lambda rng: "".join(map(chr, rng.choices(range(0x4E00, 0xA000), k=400))),
    "any kana": lambda rng: "".join(map(chr, rng.choices(range(0x3041, 0x30FB), k=400))),
    "any Hangul": lambda rng: "".join(map(chr, rng.choices(range(0xAC00, 0xD7A4), k=400))),
    "emoji": lambda rng: "".join(map(chr, rng.choices(range(0x1F300, 0x1F700), k=300))),
    "mixed": lambda rng: " ".join(
        rng.choices([ENGLISH[:60], CHINESE[:20], KOREAN[:15], "👍🏽", CODE[:50], "0x1f"], k=40)
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_margin_covers_every_kind_of_text(kind: str, count: Count) -> None:
    for seed in range(12):
        text = KINDS[kind](random.Random(seed))
        assert estimate_tokens(text) * (1 + SAFETY_MARGIN) >= count(text), f"seed {seed}"


PIECES = st.one_of(
    st.text(alphabet=string.ascii_lowercase + " ", min_size=40, max_size=200),
    st.text(alphabet="0123456789abcdef-", min_size=20, max_size=200),
    st.text(alphabet=string.printable, min_size=20, max_size=200),
    st.text(alphabet=st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF), max_size=60),
    st.text(alphabet=st.characters(min_codepoint=0x3041, max_codepoint=0x30FA), max_size=60),
    st.text(alphabet=st.characters(min_codepoint=0xAC00, max_codepoint=0xD7A3), max_size=60),
    st.text(alphabet=st.characters(min_codepoint=0x1F300, max_codepoint=0x1F6FF), max_size=30),
    st.sampled_from([ENGLISH, CODE, CHINESE, JAPANESE, KOREAN]),
)


@settings(deadline=None, max_examples=60)
@given(pieces=st.lists(PIECES, min_size=1, max_size=6))
def test_the_margin_covers_texts_put_together_from_all_kinds(pieces: list[str], count: Count) -> None:
    text = ENGLISH[:80] + "\n".join(pieces)
    assert with_margin(estimate_tokens(text)) >= count(text)


@pytest.mark.parametrize(
    ("text", "most"), [(ENGLISH, 1.35), (CODE, 1.65), (CHINESE, 1.25), (JAPANESE, 1.25), (KOREAN, 1.25)]
)
def test_the_estimate_is_not_far_too_large(text: str, most: float, count: Count) -> None:
    """B56: within 25 % of the tokenizer for Chinese, Japanese and Korean."""
    assert estimate_tokens(text * 3) <= most * count(text * 3)


def test_o45_forty_thousand_han_characters_are_at_least_forty_thousand_tokens() -> None:
    assert estimate_tokens("的一是在不了有和人这" * 4_000) >= 40_000


def test_nothing_costs_nothing() -> None:
    assert estimate_tokens("") == 0


@given(text=st.text())
@settings(deadline=None, max_examples=60)
def test_any_text_has_an_estimate(text: str) -> None:
    """Lone surrogates, NULs, private characters: the number is at least 1 and not above four tokens a character."""
    assert not text or 1 <= estimate_tokens(text) <= 4 * len(text) + 4


@pytest.mark.parametrize("unit", ["a", "ab ", "\n", "=", "中", "aB3", "\r", "\ud800", "\x00"])
def test_the_estimate_grows_with_the_text(unit: str) -> None:
    assert estimate_tokens(unit * 64_000) > estimate_tokens(unit * 6_400) > estimate_tokens(unit * 640)


@pytest.mark.real
def test_the_margin_covers_recorded_sessions(count: Count) -> None:
    folder = os.environ.get("AFTERTURN_TEST_DATA")
    if not folder:
        pytest.skip("AFTERTURN_TEST_DATA is not set")
    for path in sorted(Path(folder).glob("*/*.jsonl")):
        text = path.read_bytes()[:400_000].decode("utf-8", "replace")
        for start in range(0, len(text), 20_000):
            piece = text[start : start + 20_000]
            assert with_margin(estimate_tokens(piece)) >= count(piece), f"{path.name} at {start}"
