"""conpact's fifteen side constraints, each said once in the middle of a session: how many are retained.

    python side_constraints.py SESSIONS.json JUDGE_URL

Its instances and its judge's prompt are its own. Only retention is taken: the other rates need a real model.
"""

import json
import sys
import tempfile
from pathlib import Path

from conpact import Endpoint  # type: ignore[import-not-found]
from conpact.evaluate import score, summarize  # type: ignore[import-not-found]
from conpact.generate import build_instances  # type: ignore[import-not-found]
from peers.kits.keeping import compacted, new_session


def main() -> None:
    messages = [
        {"role": row["role"], "content": row["content"]}
        for row in json.loads(Path(sys.argv[1]).read_text("utf-8"))["talk"]["rows"]
    ]
    sizes = [len(message["content"]) // 4 for message in messages]
    haystack = {
        "haystack_id": "talk",
        "source": "talk",
        "messages": messages,
        "message_tokens": sizes,
        "token_length": sum(sizes),
        "system_prompt": "You are a coding assistant.",
        "source_conversation_count": 1,
    }
    judge = Endpoint("gpt-4o-mini", sys.argv[2], "not-a-key")
    instances = build_instances([haystack], length=sum(sizes), position="middle", strict=False, direct=False)
    left = [[{"role": "assistant", "content": compacted(new_session(), one.messages)}] for one in instances]
    with tempfile.TemporaryDirectory() as folder:
        rows = summarize(score(instances, left, out_dir=folder, judge=judge, retention_only=True, workers=1))
    print("| type | constraints | retained |\n|---|---|---|")
    for row in rows:
        print(f"| {row['sc_type']} | {row['n']} | {row['retention_rate_pct']:.0f}% |")


if __name__ == "__main__":
    main()
