"""State folders as text: each database as SQL, what belongs to one machine as `@NAME@`.

    files = stored(folder, {"@SOCKET@": "/tmp/x/tmux"})  # {"outbox.db.sql": "...", "mcp.key.hex": "..."}
    write(files, other, {"@SOCKET@": "/tmp/y/tmux"})

The tables of a search index are left out: the triggers of the table that it indexes fill it again.
"""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

SQL, HEX = ".sql", ".hex"


def stored(folder: Path, places: Mapping[str, str]) -> dict[str, str]:
    """Return the files of a state folder by their paths in it."""
    files: dict[str, str] = {}
    for path in sorted(folder.rglob("*")):
        name = _filled(str(path.relative_to(folder)), _turned(places))
        if path.is_dir() or path.suffix == ".lock" or path.name.endswith(("-wal", "-shm")):
            continue
        if path.suffix == ".db":
            files[name + SQL] = _filled("\n".join(_statements(path)) + "\n", _turned(places))
        elif path.suffix == ".key":
            files[name + HEX] = path.read_bytes().hex() + "\n"
        else:
            files[name] = _filled(path.read_text(encoding="utf-8"), _turned(places))
    return files


def write(files: Mapping[str, str], folder: Path, places: Mapping[str, str]) -> None:
    """Write the files of a state folder, as this machine and server have their names."""
    for name, content in files.items():
        path, text = folder / _filled(name, places), _filled(content, places)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if name.endswith(SQL):
            with closing(sqlite3.connect(path.with_suffix(""))) as database:
                database.executescript(text)
            path.with_suffix("").chmod(0o600)
        elif name.endswith(HEX):
            path.with_suffix("").write_bytes(bytes.fromhex(text))
            path.with_suffix("").chmod(0o600)
        else:
            path.write_text(text, encoding="utf-8")
            path.chmod(0o600)


def read(folder: Path) -> dict[str, str]:
    """Return the files of a folder of text files."""
    return {
        str(path.relative_to(folder)): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _turned(places: Mapping[str, str]) -> dict[str, str]:
    return {value: name for name, value in sorted(places.items(), key=lambda place: -len(place[1]))}


def _filled(text: str, places: Mapping[str, str]) -> str:
    for name, value in places.items():
        text = text.replace(name, value)
    return text


def _statements(path: Path) -> Iterator[str]:
    with closing(sqlite3.connect(path)) as database:
        yield "BEGIN;"
        tables = []
        made_by_hand = "sql IS NOT NULL AND name NOT LIKE 'sqlite_%'"
        query = f"SELECT type, name, sql FROM sqlite_master WHERE {made_by_hand} ORDER BY rowid"  # noqa: S608
        for kind, name, made in database.execute(query).fetchall():
            if not name.startswith("words_"):
                yield f"{made};"
                tables += [name] if kind == "table" and name != "words" else []
        for table in tables:
            columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
            values = " || ', ' || ".join(map(_quoted, columns))
            for (row,) in database.execute(f"SELECT {values} FROM {table} ORDER BY 1"):  # noqa: S608  # only from here
                yield f"INSERT INTO {table} VALUES ({row});"  # noqa: S608
        yield f"PRAGMA user_version = {database.execute('PRAGMA user_version').fetchone()[0]};"
        yield "COMMIT;"


def _quoted(column: str) -> str:
    """Return the SQL that makes a literal of a value; a blob here holds JSON, which stays legible."""
    text = f"'CAST(' || quote(CAST({column} AS TEXT)) || ' AS BLOB)'"
    return f"CASE typeof({column}) WHEN 'blob' THEN {text} ELSE quote({column}) END"
