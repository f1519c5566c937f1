"""Languages and tools of a session, read from the names of its files and from the checks that were run.

Names only: what they are used for is a judgement, and a judgement needs a model or a person.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from worker.core.ledger import Ledger
from worker.core.summary import Change, Check, Concept, FileItem, ReferenceKind, with_id

_LANGUAGES = {
    "py": "Python", "pyi": "Python", "go": "Go", "rs": "Rust", "rb": "Ruby", "php": "PHP", "java": "Java",
    "kt": "Kotlin", "swift": "Swift", "scala": "Scala", "c": "C", "h": "C", "cc": "C++", "cpp": "C++", "hpp": "C++",
    "cs": "C#", "ts": "TypeScript", "tsx": "TypeScript (React)", "js": "JavaScript", "jsx": "JavaScript (React)",
    "mjs": "JavaScript", "vue": "Vue", "svelte": "Svelte", "dart": "Dart", "ex": "Elixir", "exs": "Elixir",
    "hs": "Haskell", "lua": "Lua", "sql": "SQL", "sh": "Shell", "tf": "Terraform", "proto": "Protocol Buffers",
    "html": "HTML", "css": "CSS", "scss": "Sass", "ipynb": "Jupyter notebooks", "r": "R", "jl": "Julia", "zig": "Zig",
}  # fmt: skip
_TOOLS = (
    ("pytest", "Python tests"), ("mypy", "Python types"), ("ruff", "Python linter"), ("tox", "Python tests"),
    ("go test", "Go tests"), ("golangci-lint", "Go linter"), ("cargo", "Rust builds and tests"),
    ("vitest", "JavaScript tests"), ("jest", "JavaScript tests"), ("eslint", "JavaScript linter"),
    ("tsc", "TypeScript compiler"), ("npm", "packages and scripts"), ("pnpm", "packages and scripts"),
    ("yarn", "packages and scripts"), ("bun", "packages and scripts"), ("mise", "tasks"), ("make", "tasks"),
    ("gradle", "Java builds"), ("mvn", "Java builds"), ("dotnet", ".NET builds and tests"), ("rspec", "Ruby tests"),
    ("phpunit", "PHP tests"), ("terraform", "infrastructure"), ("docker", "containers"), ("alembic", "migrations"),
)  # fmt: skip
_FOUND = tuple((name, use, re.compile(rf"(?<![\w./-]){re.escape(name)}(?![\w-])")) for name, use in _TOOLS)
_MOST = 8
_EVIDENCE = 3


def concepts_seen(ledger: Ledger) -> tuple[Concept, ...]:
    """The languages of the files that were worked on, then the tools that checked them; the most used first."""
    return tuple(map(with_id, [*_languages(ledger.files), *_tools(ledger.checks), *_forges(ledger)][:_MOST]))


def _languages(files: Sequence[FileItem]) -> list[Concept]:
    """Of changed files when there are such: what was only read tells less."""
    changed = [file for file in files if file.change not in (Change.READ, Change.MENTIONED)]
    cited: dict[str, list[str]] = {}
    for file in changed or files:
        extension = file.path.rpartition(".")[2].lower()
        if extension in _LANGUAGES and file.evidence:
            cited.setdefault(f"{_LANGUAGES[extension]} (.{extension} files)", []).append(file.evidence[-1])
    often = Counter({name: len(ids) for name, ids in cited.items()})
    return [Concept(text=name, evidence=_few(cited[name])) for name, _ in often.most_common(4)]


def _tools(checks: Sequence[Check]) -> list[Concept]:
    cited: dict[str, list[str]] = {}
    for check in checks:
        for name, use, pattern in _FOUND:
            if name in check.command and pattern.search(check.command):
                cited.setdefault(f"{name} ({use})", []).extend(check.evidence[-1:])
    return [Concept(text=name, evidence=_few(ids)) for name, ids in cited.items() if ids]


def _forges(ledger: Ledger) -> list[Concept]:
    kinds = (ReferenceKind.PR, ReferenceKind.ISSUE, ReferenceKind.COMMENT)
    cited = [one.evidence[0] for one in ledger.references if one.kind in kinds and "github.com" in one.value]
    return [Concept(text="GitHub (pull requests and issues)", evidence=_few(cited))] if cited else []


def _few(ids: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(ids))[:_EVIDENCE]
