"""Commits, branches and links come from what git and gh printed and from people."""

from typing import Any

from worker.core.references import find_references


def found(session: Any) -> list[tuple[str, str]]:
    return [(item.kind.value, item.value) for item in find_references(session.messages, session.invocations)]


def test_a_commit_is_what_git_printed(session: Any) -> None:
    session.run('git commit -m "x"', "[feat/a 1a2b3c4] fix: the parser\n 1 file changed", exit_code=0)
    assert found(session) == [("commit", "1a2b3c4"), ("branch", "feat/a")]
    assert find_references(session.messages, session.invocations)[0].note == "fix: the parser"


def test_a_failed_commit_is_none(session: Any) -> None:
    session.run('git commit -m "x"', "[main 1a2b3c4] x", exit_code=1)
    session.run("cat log.txt", "[main 1a2b3c4] x", exit_code=0)
    assert found(session) == []


def test_branches_pull_requests_and_issues_are_found(session: Any) -> None:
    session.run("git checkout -b feat/b", "Switched to a new branch 'feat/b'", exit_code=0)
    session.run("gh pr create --fill", "https://github.com/o/r/pull/12", exit_code=0)
    session.run("gh issue view 4670", "title: x", exit_code=0)
    assert found(session) == [("branch", "feat/b"), ("pr", "https://github.com/o/r/pull/12"), ("issue", "#4670")]


def test_links_of_people_are_kept_and_those_of_listings_are_not(session: Any) -> None:
    """O10"""
    session.human("see https://example.com/spec and https://github.com/o/r/pull/1#discussion_r22")
    session.run("gh api repos/o/r/pulls", "https://api.github.com/repos/o/r/pulls/1", exit_code=0)
    session.human("again https://example.com/spec")
    assert found(session) == [
        ("url", "https://example.com/spec"),
        ("comment", "https://github.com/o/r/pull/1#discussion_r22"),
    ]
    assert find_references(session.messages, session.invocations)[0].evidence == ("m0", "m3")
