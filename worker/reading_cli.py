"""Commands of the reading side: what was kept, found, shown and accounted for."""

import click

COMMANDS: tuple[click.Command, ...] = ()
