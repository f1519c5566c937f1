"""The prompt files: Jinja2 over `prompts/`, strict in both directions about the values that they are given."""

import hashlib
import re
from functools import cached_property
from pathlib import Path
from typing import cast

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from jinja2.meta import find_referenced_templates, find_undeclared_variables

import worker

_PACKAGE = Path(worker.__file__).parent
_LINE_ENDS = re.compile(r"[\s\x1c-\x1e\x85\u2028\u2029]+")


def shipped_prompts() -> Path:
    """The folder of the prompts: inside an installed package, or beside the package in a checkout."""
    packaged = _PACKAGE / "prompts"
    return packaged if packaged.is_dir() else _PACKAGE.parent / "prompts"


class PromptFiles:
    """`worker.ports.Prompts` over the files of one folder."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or shipped_prompts()
        # Plain text for a model, not HTML: escaping markup would falsify what the transcript says.
        self._environment = Environment(
            loader=FileSystemLoader(self._folder),
            undefined=StrictUndefined,
            keep_trailing_newline=True,
            trim_blocks=True,
            lstrip_blocks=True,
            autoescape=False,  # noqa: S701
        )
        self._environment.filters["inside"] = inside
        self._environment.filters["one_line"] = one_line
        self._wanted: dict[str, frozenset[str]] = {}

    @cached_property
    def sha256(self) -> str:
        """Over names and contents of all files, in the order of their names."""
        hasher = hashlib.sha256()
        for path in sorted(self._folder.rglob("*.j2")):
            content = path.read_bytes()
            hasher.update(f"{path.relative_to(self._folder).as_posix()} {len(content)}\n".encode() + content)
        return hasher.hexdigest()

    def render(self, name: str, /, **values: object) -> str:
        """The text of `<name>.j2`, without blank lines at its ends.

        Raises: TypeError when a value is missing, or given and used nowhere: both are bugs of the caller.
        """
        file = f"{name}.j2"
        if file not in self._wanted:
            self._wanted[file] = self._variables(file)
        if wrong := self._wanted[file] ^ values.keys():
            raise TypeError(f"prompt {file}: missing or unknown values: {', '.join(sorted(wrong))}")
        return self._environment.get_template(file).render(values).strip()

    def _variables(self, file: str) -> frozenset[str]:
        """The values that a file uses, itself or through the files that it includes."""
        source = (self._folder / file).read_text("utf-8")
        tree = self._environment.parse(source)
        names = set(find_undeclared_variables(tree))
        for included in find_referenced_templates(tree):
            names |= self._variables(cast("str", included))
        return frozenset(names)


def inside(text: str, fence: str) -> str:
    """The text as it may stand between fences of that name: the name itself, in any letter case, is broken up."""
    return re.sub(re.escape(fence), f"{fence[:1]}\u00b7{fence[1:]}", text, flags=re.IGNORECASE)


def one_line(text: str) -> str:
    """The text without line ends, so that a value cannot pose as a line of its own."""
    return _LINE_ENDS.sub(" ", text).strip()
