BEGIN;
CREATE TABLE events (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    at REAL NOT NULL,
    event TEXT NOT NULL
) STRICT;
CREATE INDEX events_by_time ON events (at);
CREATE TABLE utterances (
    first INTEGER PRIMARY KEY,
    last INTEGER NOT NULL,
    at REAL NOT NULL,
    until REAL NOT NULL,
    host TEXT NOT NULL,
    session TEXT NOT NULL,
    pane TEXT NOT NULL,
    turn INTEGER NOT NULL,
    agent TEXT NOT NULL,
    origin TEXT NOT NULL,
    message_id TEXT,
    text TEXT NOT NULL
) STRICT;
CREATE INDEX utterances_by_time ON utterances (at);
CREATE VIRTUAL TABLE words USING fts5 (
    text, content = 'utterances', content_rowid = 'first', tokenize = 'unicode61 remove_diacritics 2'
);
CREATE TRIGGER said AFTER INSERT ON utterances BEGIN
    INSERT INTO words (rowid, text) VALUES (new.first, new.text);
END;
CREATE TRIGGER forgotten AFTER DELETE ON utterances BEGIN
    INSERT INTO words (words, rowid, text) VALUES ('delete', old.first, old.text);
END;
CREATE TRIGGER continued AFTER UPDATE OF text ON utterances BEGIN
    INSERT INTO words (words, rowid, text) VALUES ('delete', old.first, old.text);
    INSERT INTO words (rowid, text) VALUES (new.first, new.text);
END;
INSERT INTO events VALUES (1, 1.79596707158552312856e+09, '{"event":"text","text":"a word of the first journal","origin":"program","message_id":null,"line":0,"v":1,"seq":1,"t":1.0,"at":1795967071.5855231,"session":"work","pane":"%1","turn":1}');
INSERT INTO utterances VALUES (1, 1, 1.79596707158552312856e+09, 1.79596707158552312856e+09, '', 'work', '%1', 1, '', 'program', NULL, 'a word of the first journal');
PRAGMA user_version = 1;
COMMIT;
