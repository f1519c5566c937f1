"""The index that `recall` searches: one SQLite file, derived from the memory files, that may be deleted at any time.

Units (a file, a session) are indexed apart, so that a new checkpoint costs what is new. Postings are packed per term
and unit; ranking is done by `core.recalling`, which needs nothing of SQLite, so no build of it lacks what is used here.
Where nothing can be written, or the file is damaged and cannot be made anew, the same tables are in memory.

What leaves the sources leaves the file: freed pages are zeroed (`secure_delete`), and no journal outlives its commit.
"""

import os
import sqlite3
import struct
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import orjson

from worker.adapters.files import FILE_MODE, locked, make_folder, remove, storage_errors
from worker.core.recalling import Kind, Question, Record, Stock, Trust
from worker.core.terms import is_near, terms_of
from worker.errors import SessionBusy, StorageUnavailable, StoreError

if TYPE_CHECKING:
    from worker.memories import Unit

FORMAT = 1
"""Raised with whatever changes the terms or the fields of a record: an index of another format is made anew."""

LOCK_WAIT_SECONDS = 10.0
BUSY_SECONDS = 10.0
MAX_STAND_INS = 8
MAX_STOOD_FOR = 8
"""Terms of a question for which others are looked for: each costs a walk through part of the vocabulary."""

MIN_PREFIX = 3
MIN_TYPO_CHARS = 4

_TABLES = """
    CREATE TABLE about (format INTEGER NOT NULL);
    CREATE TABLE unit (id INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL, stamp TEXT NOT NULL, notes BLOB NOT NULL,
        count INTEGER NOT NULL, length INTEGER NOT NULL, lengths BLOB NOT NULL);
    CREATE TABLE record (id INTEGER PRIMARY KEY, data BLOB NOT NULL, sum INTEGER NOT NULL);
    CREATE TABLE posting (term TEXT NOT NULL, unit INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (term, unit))
        WITHOUT ROWID;
"""
_UNIT_BITS = 24
"""A record's id is its unit's id and, in the lower bits, its number in the unit."""

_IN_UNIT = (1 << _UNIT_BITS) - 1
_MAX_TIMES = 255

Reader = Callable[[str], "Unit"]
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What the index knows for a question. notes: of all units, one line each."""

    stock: Stock
    notes: tuple[str, ...]


class RecallIndex:
    """The index of one place."""

    def __init__(self, root: Path) -> None:
        self._path = root / ".afterturn" / "recall.sqlite"
        self._lock = root / ".afterturn" / "recall.lock"

    def ask(self, stamps: Mapping[str, str], read: Reader, use: Callable[["OpenIndex"], Answer]) -> Answer:
        """What `use` gives for the index brought up to the stamps: what changed is read, what is gone is taken out.

        A damaged file is made anew. Where it cannot be written, or another process writes it for too long, all of it is
        made in memory.

        Raises: StorageUnavailable when the sources cannot be read.
        """
        for connect in (self._up_to_date, self._made_anew):
            failures = (sqlite3.Error, SessionBusy, StorageUnavailable, StoreError)
            with suppress(*failures), closing(connect(stamps, read)) as connection:
                return use(OpenIndex(connection))
        with closing(_in_memory(stamps, read)) as connection:
            return use(OpenIndex(connection))

    def remove(self) -> None:
        """Takes the index away, once nobody is writing it: what it held is then nowhere but in the sources.

        Raises: SessionBusy, StorageUnavailable.
        """
        if self._path.exists():
            with locked(self._lock, wait_seconds=LOCK_WAIT_SECONDS):
                self._delete()

    def _up_to_date(self, stamps: Mapping[str, str], read: Reader) -> sqlite3.Connection:
        """Nothing is locked or written when the index fits already."""
        if self._path.is_file():
            connection = self._connect("ro")
            if _stamps_in(connection) == stamps:
                return connection
            connection.close()
        with self._writing():
            return self._brought_up(stamps, read)

    def _made_anew(self, stamps: Mapping[str, str], read: Reader) -> sqlite3.Connection:
        with self._writing():
            self._delete()
            return self._brought_up(stamps, read)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with storage_errors(self._path):
            make_folder(self._path.parent)
            with locked(self._lock, wait_seconds=LOCK_WAIT_SECONDS):
                yield

    def _brought_up(self, stamps: Mapping[str, str], read: Reader) -> sqlite3.Connection:
        if not self._path.exists():
            os.close(os.open(self._path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, FILE_MODE))
        connection = self._connect("rw")
        _bring_up(connection, stamps, read)
        return connection

    def _connect(self, mode: str) -> sqlite3.Connection:
        address = f"{self._path.absolute().as_uri()}?mode={mode}"
        return _prepared(sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS, isolation_level=None))

    def _delete(self) -> None:
        for ending in ("", "-journal", "-wal", "-shm"):
            remove(self._path.with_name(self._path.name + ending))


class OpenIndex:
    """An index that fits its sources, open for one question, in one transaction: nobody changes what is read.

    All methods raise sqlite3.DatabaseError when they find what was never written so.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        if not connection.in_transaction:
            connection.execute("BEGIN")
        self._units = {
            row[0]: row[1:] for row in connection.execute("SELECT id, count, length, lengths, notes FROM unit")
        }

    def search(self, question: Question) -> Found:
        """Where the question's terms stand; for a term that stands nowhere, where its like stand."""
        with _noticing_damage():
            postings = {term: self._postings(term) for wanted in question.wanted for term in wanted.names}
            instead = dict(islice(self._stand_ins(question, postings), MAX_STOOD_FOR))
            postings |= {term: self._postings(term) for near in instead.values() for term in near}
            count = sum(unit[0] for unit in self._units.values())
            length = sum(unit[1] for unit in self._units.values())
            stock = Stock(
                postings=postings,
                lengths=self._lengths(postings),
                count=count,
                average=max(1.0, length / max(1, count)),
                instead=instead,
            )
            notes = tuple(note for unit in self._units.values() for note in orjson.loads(unit[3]))
            return Found(stock=stock, notes=notes)

    def _stand_ins(
        self, question: Question, postings: Mapping[str, Mapping[int, int]]
    ) -> Iterator[tuple[str, Sequence[str]]]:
        """(term that stands nowhere, its like), for words that are not found as a whole either."""
        for wanted in question.wanted:
            if wanted.compound and postings[wanted.compound]:
                continue
            for term in wanted.names:
                if not postings[term] and (near := self._near(term)):
                    yield term, near

    def records(self, ids: Iterable[int]) -> dict[int, Record]:
        """The records of those ids, in their order."""
        with _noticing_damage():
            return {one: self._record(one) for one in ids}

    def _record(self, record: int) -> Record:
        data, written = self._connection.execute("SELECT data, sum FROM record WHERE id = ?", (record,)).fetchone()
        if zlib.crc32(data) != written:
            raise ValueError("a record is not what was written")
        return _decoded(data)

    def _postings(self, term: str) -> dict[int, int]:
        rows = self._connection.execute("SELECT unit, data FROM posting WHERE term = ?", (term,))
        return {
            unit << _UNIT_BITS | packed >> 8: packed & _MAX_TIMES for unit, data in rows for packed in _unpacked(data)
        }

    def _lengths(self, postings: Mapping[str, Mapping[int, int]]) -> dict[int, int]:
        by_unit = {unit: _unpacked(row[2]) for unit, row in self._units.items()}
        records = {record for found in postings.values() for record in found}
        return {record: by_unit[record >> _UNIT_BITS][record & _IN_UNIT] for record in records}

    def _near(self, term: str) -> list[str]:
        """Terms that begin with this one, else those that one typing error parts from it, the most frequent first."""
        if len(term) < MIN_PREFIX:
            return []
        longer = self._between(term, term + "\U0010ffff")
        if longer or len(term) < MIN_TYPO_CHARS or not term.isalnum():
            return _most_frequent(longer)
        same_start = self._between(term[0], term[0] + "\U0010ffff")
        swapped = self._between(term[1], term[1] + "\U0010ffff") if term[1] != term[0] else Counter()
        return _most_frequent(Counter({name: n for name, n in (same_start | swapped).items() if is_near(term, name)}))

    def _between(self, start: str, end: str) -> Counter[str]:
        rows = self._connection.execute(
            "SELECT term, sum(length(data)) FROM posting WHERE term >= ? AND term < ? GROUP BY term", (start, end)
        )
        return Counter(dict(rows.fetchall()))


@contextmanager
def _noticing_damage() -> Iterator[None]:
    """What cannot be taken apart was damaged below SQLite's notice."""
    try:
        yield
    except (KeyError, IndexError, TypeError, ValueError, struct.error) as exc:
        raise sqlite3.DatabaseError(f"damaged: {exc}") from exc


def _most_frequent(terms: Counter[str]) -> list[str]:
    return sorted(terms, key=lambda term: (-terms[term], term))[:MAX_STAND_INS]


def _prepared(connection: sqlite3.Connection) -> sqlite3.Connection:
    connection.execute("PRAGMA secure_delete = ON")
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cache_size = -32000")
    return connection


def _stamps_in(connection: sqlite3.Connection) -> dict[str, str]:
    """The stamps of all units, read in a transaction that stays open.

    Raises: sqlite3.DatabaseError when the tables are those of another format.
    """
    if not connection.in_transaction:
        connection.execute("BEGIN")
    (written,) = connection.execute("SELECT format FROM about").fetchone() or (None,)
    if written != FORMAT:
        raise sqlite3.DatabaseError("another format")
    return dict(connection.execute("SELECT name, stamp FROM unit").fetchall())


def _in_memory(stamps: Mapping[str, str], read: Reader) -> sqlite3.Connection:
    connection = _prepared(sqlite3.connect(":memory:", isolation_level=None))
    _bring_up(connection, stamps, read)
    return connection


def _bring_up(connection: sqlite3.Connection, stamps: Mapping[str, str], read: Reader) -> None:
    """One transaction: a reader sees all of it or nothing, and so does whoever comes after a kill."""
    connection.execute("BEGIN IMMEDIATE")
    if not connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone():
        for statement in _TABLES.split(";"):
            connection.execute(statement)
        connection.execute("INSERT INTO about VALUES (?)", (FORMAT,))
    known = _stamps_in(connection)
    stale = [name for name in known if known[name] != stamps.get(name)]
    _take_out(connection, stale)
    for name, stamp in stamps.items():
        if known.get(name) != stamp:
            _put_in(connection, name, stamp, read(name))
    connection.execute("COMMIT")


def _take_out(connection: sqlite3.Connection, names: Sequence[str]) -> None:
    if not names:
        return
    connection.executemany("UPDATE unit SET stamp = '' WHERE name = ?", [(name,) for name in names])
    for (unit,) in connection.execute("SELECT id FROM unit WHERE stamp = ''").fetchall():
        first = unit << _UNIT_BITS
        connection.execute("DELETE FROM record WHERE id >= ? AND id < ?", (first, first + (1 << _UNIT_BITS)))
    connection.execute("DELETE FROM posting WHERE unit IN (SELECT id FROM unit WHERE stamp = '')")
    connection.execute("DELETE FROM unit WHERE stamp = ''")


def _put_in(connection: sqlite3.Connection, name: str, stamp: str, unit: "Unit") -> None:
    postings: defaultdict[str, list[int]] = defaultdict(list)
    lengths = []
    for number, record in enumerate(unit.records):
        counted = Counter(terms_of(record.words))
        lengths.append(counted.total())
        for term, times in counted.items():
            postings[term].append(number << 8 | min(times, _MAX_TIMES))
    cursor = connection.execute(
        "INSERT INTO unit (name, stamp, notes, count, length, lengths) VALUES (?, ?, ?, ?, ?, ?)",
        (name, stamp, orjson.dumps(unit.notes), len(lengths), sum(lengths), _packed(lengths)),
    )
    number = cursor.lastrowid or 0
    first = number << _UNIT_BITS
    data = [_encoded(record) for record in unit.records]
    connection.executemany(
        "INSERT INTO record VALUES (?, ?, ?)", [(first + at, one, zlib.crc32(one)) for at, one in enumerate(data)]
    )
    connection.executemany(
        "INSERT INTO posting VALUES (?, ?, ?)",
        [(term, number, _packed(postings[term])) for term in sorted(postings)],
    )


def _unpacked(data: bytes) -> tuple[int, ...]:
    return struct.unpack(f"<{len(data) // 4}I", data)


def _packed(numbers: Sequence[int]) -> bytes:
    return struct.pack(f"<{len(numbers)}I", *numbers)


def _encoded(record: Record) -> bytes:
    return orjson.dumps(record)


def _decoded(data: bytes) -> Record:
    fields: dict[str, Any] = orjson.loads(data)
    fields["kind"], fields["trust"] = Kind(fields["kind"]), Trust(fields["trust"])
    fields["at"] = datetime.fromisoformat(fields["at"]) if fields["at"] else None
    fields["evidence"] = tuple(fields["evidence"])
    fields["more"] = tuple((name, text) for name, text in fields["more"])
    fields["part"] = tuple(fields["part"]) if fields["part"] else None
    return Record(**fields)
