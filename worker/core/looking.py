"""Calls that only look: they read, search or fetch, so they changed nothing and finished nothing."""

from collections.abc import Sequence

from worker.core.commands import simple_commands
from worker.core.invocations import Invocation, invocations_of
from worker.core.messages import Message

_READERS = """
    cat head tail ls find grep rg ag which type file stat wc tree jq sed awk less diff curl ping echo read open view
    glob search list fd du df env printenv pwd test nl xxd cd
"""
_GIT_READERS = "log show diff status branch blame grep ls-files rev-parse remote describe"
_GH_READERS = "view list diff checks status api"
_CLUSTER_READERS = "get describe logs top explain events ps inspect images list status history version"
_CLUSTER_LOOKS_UP = frozenset(_CLUSTER_READERS.split())
_CLUSTER_TOOLS = frozenset({"kubectl", "oc", "docker", "podman", "helm"})
_LOOKS_UP, _GIT_LOOKS_UP, _GH_LOOKS_UP = (frozenset(names.split()) for names in (_READERS, _GIT_READERS, _GH_READERS))
_GH_WRITES = frozenset(["-X", "--method", "-f", "-F", "--field", "--raw-field", "--input"])
_FORGES = frozenset({"git", "gh"})
_READING_TOOLS = """
    read read_file readfile view view_file open open_file fs_read cat notebookread grep glob search search_files
    codebase_search find find_files ls list list_dir list_files webfetch web_fetch fetch websearch web_search
    google_web_search browse read_many_files readmcpresource
"""
_TOOLS = frozenset(_READING_TOOLS.split())


def only_looks(command: str) -> bool:
    """Whether every program of a shell command only reads."""
    called = list(simple_commands(command)) or [tuple(command.split())]
    return bool(command.strip()) and all(_only_reads(*words) for words in called)


def _only_reads(program: str, *given: str) -> bool:
    name = program.rsplit("/", 1)[-1].lower()
    if name == "git":
        return next((word for word in given if not word.startswith("-")), "") in _GIT_LOOKS_UP
    if name == "gh":
        return not _GH_LOOKS_UP.isdisjoint(given[:2]) and _GH_WRITES.isdisjoint(given)
    if name in _CLUSTER_TOOLS:
        return next((word for word in given if not word.startswith("-")), "") in _CLUSTER_LOOKS_UP
    return name in _LOOKS_UP


def acting_messages(messages: Sequence[Message]) -> dict[str, tuple[str, ...]]:
    """The messages of calls that did something and succeeded: id → ids of call and result, which belong together.

    Questions to Git and to a forge count: what they answer is the state of the work itself.
    """
    found: dict[str, tuple[str, ...]] = {}
    for invocation in invocations_of(messages):
        if invocation.is_successful and not looks_only(invocation):
            for one in invocation.evidence:
                found[one] = tuple(dict.fromkeys((*found.get(one, ()), *invocation.evidence)))
    return found


def looks_only(invocation: Invocation) -> bool:
    """True for a call that only reads, by its tool or its command; not for a question to Git or a forge."""
    command = invocation.command
    return invocation.name in _TOOLS or (command is not None and only_looks(command) and not _asks_forge(command))


def _asks_forge(command: str) -> bool:
    return any(words[0].rsplit("/", 1)[-1] in _FORGES for words in simple_commands(command))
