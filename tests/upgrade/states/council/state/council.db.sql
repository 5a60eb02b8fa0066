BEGIN;
CREATE TABLE sessions (
    id TEXT PRIMARY KEY, created REAL NOT NULL, ended REAL, title TEXT NOT NULL DEFAULT '', config TEXT NOT NULL,
    rotation_state TEXT NOT NULL, state TEXT NOT NULL
);
CREATE TABLE messages (
    number INTEGER PRIMARY KEY, session TEXT NOT NULL REFERENCES sessions(id), id TEXT NOT NULL, at REAL NOT NULL,
    author TEXT NOT NULL, kind TEXT NOT NULL, text TEXT NOT NULL, round INTEGER NOT NULL, round_kind TEXT NOT NULL,
    partial INTEGER NOT NULL, queued INTEGER NOT NULL DEFAULT 0, read INTEGER, written INTEGER, cost REAL,
    UNIQUE (session, id)
);
INSERT INTO sessions VALUES ('council-62da378e', 1.79596686993031120303e+09, 1.79596687058200335509e+09, 'What do you say?', '{"member":[{"name":"Ada","vendor":"scripted","model":"scripted","fallback":null,"priority":0,"base_url":"","key":"","persona":"","max_tokens":4096,"price":null,"script":["I say yes."]}],"person":"You","phases":{},"prompt":"You are {name}, a member of a council with {others} and a person called {person}. Each speaks in turn. What others said is marked with their name in brackets. Speak for yourself only, briefly, and to the point.","auto_load":[],"history":20,"context_tokens":30000,"blind_first":false,"cost_limit":0.0}', '{"drafter":"Ada","writer":"Ada"}', '{"phase":"Plan","rounds":1,"turns":1,"disabled":[],"on_fallback":[]}');
INSERT INTO messages VALUES (2, 'council-62da378e', 'p419ad3100fdf', 1.79596686994652843475e+09, 'You', 'person', 'What do you say?', 0, 'open', 0, 0, NULL, NULL, NULL);
INSERT INTO messages VALUES (3, 'council-62da378e', 't1', 1.79596686996761131282e+09, 'Ada', 'member', 'I say yes.', 1, 'open', 0, 0, 63, 3, NULL);
PRAGMA user_version = 1;
COMMIT;
