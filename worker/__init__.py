"""Afterturn: a memory consolidation worker for LLM agents.

The LLM proposes, code decides, the transcript stays the truth. Start reading at `worker.consolidate`.
"""

__version__ = "0.1.0"
