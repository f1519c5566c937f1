"""Reading transcripts of any known format as messages: bytes in, messages out. Nothing is ever written here.

`open_transcript(path).read()` gives all messages in file order; `read(cursor)` those behind a covered range.
"""

from worker.transcripts.formats import TranscriptInfo
from worker.transcripts.reading import Reading, cursor_behind
from worker.transcripts.resuming import ResumePoint
from worker.transcripts.transcript import Transcript, open_transcript

__all__ = ["Reading", "ResumePoint", "Transcript", "TranscriptInfo", "cursor_behind", "open_transcript"]
