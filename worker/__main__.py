"""`afterturn`, also as `python -m worker`: the hook that an agent waits for goes past all that people need."""

import sys


def main() -> None:
    """`afterturn hook AGENT …` loads no command line; anything else is `worker.cli`."""
    arguments = sys.argv[1:]
    if (
        arguments[:1] == ["hook"]
        and arguments[1:2] in (["claude-code"], ["codex"])
        and not _is_for_people(arguments[2:])
    ):
        from worker.hooks import main as hook

        sys.exit(hook(arguments[1:]))
    from worker.cli import main as command_line

    command_line()


def _is_for_people(options: list[str]) -> bool:
    """What an agent passes is JSON; a person passes options."""
    return any(option in ("--install", "--write", "--help", "-h") for option in options)


if __name__ == "__main__":
    main()
