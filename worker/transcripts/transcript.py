"""A transcript file: what it is, and passes over its messages."""

from functools import partial
from pathlib import Path
from typing import BinaryIO

from worker.core.checkpoint import Cursor
from worker.errors import TranscriptError
from worker.transcripts.detection import Detected, detect
from worker.transcripts.formats import Format, TranscriptInfo
from worker.transcripts.jsonl import ROW_LIMIT_BYTES
from worker.transcripts.reading import Reading
from worker.transcripts.sources import DocumentRows, FileRows, RowSource, load_document, open_binary


class Transcript:
    """One file of a known format. Nothing is kept open between two readings: agents replace and delete their files."""

    def __init__(self, path: Path, detected: Detected, max_row_bytes: int) -> None:
        self.path = path
        self.info: TranscriptInfo = detected.info
        self._format: Format = detected.format
        self._is_document = detected.is_document
        self._max_row_bytes = max_row_bytes

    def read(self, cursor: Cursor | None = None) -> Reading:
        """The messages behind the cursor, or all. Raises: TranscriptError when the file cannot be read any more."""
        file = open_binary(self.path)
        try:
            source = self._source(file)
        except BaseException:
            file.close()
            raise
        return Reading(source, partial(self._format.reader, self.info, source.holds), cursor, self.info.format)

    def _source(self, file: BinaryIO) -> RowSource:
        if not self._is_document:
            return FileRows(file, self.path, self._max_row_bytes)
        try:
            elements = self._format.elements(load_document(file, self.path))
        except ValueError as exc:
            raise TranscriptError(f"{self.path}: no longer a JSON document; it may be being written") from exc
        if elements is None:
            raise TranscriptError(f"{self.path}: no longer holds messages of the format {self.info.format}")
        file.close()
        return DocumentRows(elements)


def open_transcript(path: Path, *, max_row_bytes: int = ROW_LIMIT_BYTES) -> Transcript:
    """The transcript at the path, its format detected from the head of the file.

    Raises: TranscriptError for what is missing, a directory, unreadable, empty, binary, of no known format, or one
        row beyond the limit.
    """
    with open_binary(path) as file:
        return Transcript(path, detect(file, path, max_row_bytes), max_row_bytes)
