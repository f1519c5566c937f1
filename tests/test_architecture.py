"""Imports point down, and each foreign library has one home."""

import ast
from pathlib import Path

import pytest

WORKER = Path(__file__).parent.parent / "worker"

LAYERS = {
    "worker.errors": 0,
    "worker.core": 1,
    "worker.ports": 2,
    "worker.config": 2,
    "worker.log": 2,
    "worker.threads": 2,
    "worker.asking": 3,
    "worker.conversation": 3,
    "worker.consolidate": 3,
    "worker.ranges": 3,
    "worker.summarize": 3,
    "worker.verifying": 3,
    "worker.resummarize": 3,
    "worker.forgetting": 3,
    "worker.hygiene": 3,
    "worker.night_record": 3,
    "worker.night_facts": 3,
    "worker.nightly": 3,
    "worker.locating": 3,
    "worker.transcripts": 3,
    "worker.adapters": 3,
    "worker.testing": 3,
    "worker.restoring": 3,
    "worker.memories": 3,
    "worker.reporting": 3,
    "worker.view": 4,
    "worker.view_base": 4,
    "worker.recall": 4,
    "worker.artifacts": 4,
    "worker.accounting": 4,
    "worker.report": 4,
    "worker.briefing": 4,
    "worker.delivery": 4,
    "worker.wiring": 4,
    "worker.upkeep": 4,
    "worker.app": 4,
    "worker.consuming": 4,
    "worker.providers": 4,
    "worker.service": 5,
    "worker.spending": 5,
    "worker.awaiting": 5,
    "worker.watching": 5,
    "worker.workbench": 5,
    "worker.attempts": 5,
    "worker.dispatching": 5,
    "worker.jobs": 5,
    "worker.monitoring": 5,
    "worker.supervising": 5,
    "worker.client": 5,
    "worker.hooks": 5,
    "worker.hook_settings": 5,
    "worker.diagnosis": 5,
    "worker.terminal": 5,
    "worker.cli_options": 6,
    "worker.service_cli": 6,
    "worker.upkeep_cli": 6,
    "worker.reading_cli": 6,
    "worker.cli": 6,
    "worker.__main__": 7,
}
"""Longest prefix wins. `worker` itself (the version) may be imported from everywhere."""

HOMES = {
    "litellm": {"worker/adapters/llm.py"},
    "jinja2": {"worker/adapters/pages.py", "worker/adapters/prompts.py"},
    "filelock": {"worker/adapters/files.py", "worker/adapters/projections.py"},
    "json_repair": {"worker/core/answers.py"},
    "redis": {"worker/adapters/redis_link.py"},
    "celery": {"worker/app.py", "worker/consuming.py", "worker/jobs.py"},
    "click": {
        "worker/cli.py",
        "worker/cli_options.py",
        "worker/reading_cli.py",
        "worker/service_cli.py",
        "worker/terminal.py",
        "worker/upkeep_cli.py",
    },
    "prometheus_client": {"worker/monitoring.py"},
}

IMPURE = {"os", "io", "time", "random", "secrets", "socket", "subprocess", "pathlib", "logging", "uuid", "tempfile"}
SOURCES = sorted(WORKER.rglob("*.py"))


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(WORKER.parent).with_suffix("").parts).removesuffix(".__init__")


def imports(path: Path) -> set[str]:
    """Every module that the file names in an import statement, wherever it stands."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}: relative import"
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
    return found


def layer(module: str) -> int | None:
    prefixes = [name for name in LAYERS if module == name or module.startswith(name + ".")]
    return LAYERS[max(prefixes, key=len)] if prefixes else None


@pytest.mark.parametrize("path", SOURCES, ids=module_name)
def test_imports_point_down(path: Path) -> None:
    own = layer(module_name(path))
    for target in imports(path):
        below = layer(target)
        if own is None or below is None:
            continue
        assert below <= own, f"{module_name(path)} (layer {own}) imports {target} (layer {below})"


@pytest.mark.parametrize("path", SOURCES, ids=module_name)
def test_every_module_has_a_layer(path: Path) -> None:
    assert module_name(path) == "worker" or layer(module_name(path)) is not None


@pytest.mark.parametrize("path", SOURCES, ids=module_name)
def test_a_foreign_library_is_imported_in_its_home_only(path: Path) -> None:
    relative = path.relative_to(WORKER.parent).as_posix()
    for target in imports(path):
        root = target.split(".")[0]
        assert root not in HOMES or relative in HOMES[root], f"{relative} imports {root}"


@pytest.mark.parametrize("path", sorted((WORKER / "core").rglob("*.py")), ids=module_name)
def test_the_core_is_pure(path: Path) -> None:
    roots = {target.split(".")[0] for target in imports(path)}
    assert not roots & IMPURE
    names = {node.id for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Name)}
    assert "open" not in names
