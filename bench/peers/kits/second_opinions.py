"""compaction-guard's fate of each planted rule, and distil-llm's exact details that survive, without an answer key.

python second_opinions.py SESSIONS.json
"""

import json
import sys
from collections import Counter
from pathlib import Path

import compaction_guard  # type: ignore[import-not-found]
from distil import retention  # type: ignore[import-not-found]
from peers.kits.keeping import compacted, new_session

FATES = ("preserved", "paraphrased", "weakened", "mutated", "dropped", "unverifiable")


def main() -> None:
    print(f"| session | {' / '.join(FATES)} | {' | '.join(map(str, retention.DIMENSIONS))} |")
    print(f"|---|---|{'---|' * len(retention.DIMENSIONS)}")
    for name, session in json.loads(Path(sys.argv[1]).read_text("utf-8")).items():
        text = compacted(new_session(), session["rows"])
        fates = Counter(finding.kind.value for finding in compaction_guard.check(session["rules"], text).findings)
        told = "\n".join(row["content"] for row in session["rows"] if row["role"] == "user")
        targets, normalized = retention.extract_targets(told), retention._normalize(text)
        details = []
        for dimension in retention.DIMENSIONS:
            wanted = targets.get(dimension, set())
            kept = sum(retention._survives(dimension, value, text, normalized) for value in wanted)
            details.append(f"{kept}/{len(wanted)}")
        print(f"| {name} | {' / '.join(str(fates[fate]) for fate in FATES)} | {' | '.join(details)} |", flush=True)


if __name__ == "__main__":
    main()
