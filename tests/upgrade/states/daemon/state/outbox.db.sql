BEGIN;
CREATE TABLE deliveries (
    number INTEGER PRIMARY KEY,
    message_id TEXT NOT NULL,
    server TEXT NOT NULL,
    pane TEXT NOT NULL,
    program TEXT NOT NULL,
    text TEXT NOT NULL,
    head TEXT NOT NULL,
    state TEXT NOT NULL,
    reason TEXT NOT NULL DEFAULT '',
    removed TEXT NOT NULL DEFAULT '{}',
    file TEXT,
    changed REAL NOT NULL,
    UNIQUE (server, pane, message_id)
) STRICT;
CREATE INDEX open_deliveries ON deliveries (server, pane) WHERE text <> '';
INSERT INTO deliveries VALUES (1795966921678620, 'send-d63e27a38499', '@SOCKET@ @PID@ @STARTED@', '%1', 'python', '', '', 'answered', 'signal', '{}', NULL, 1795966922.30653);
INSERT INTO deliveries VALUES (1795966922347553, 'send-4184cc1dbdca', '@SOCKET@ @PID@ @STARTED@', '%1', 'python', '', '', 'answered', 'signal', '{}', NULL, 1.79596692299159908291e+09);
INSERT INTO deliveries VALUES (1795966922998599, 'link-b3732fbd-1', '@SOCKET@ @PID@ @STARTED@', '%2', 'python', '', '[From Ann]', 'answered', 'signal', '{}', NULL, 1.79596692363829898834e+09);
INSERT INTO deliveries VALUES (1795966923646809, 'link-b3732fbd-2', '@SOCKET@ @PID@ @STARTED@', '%1', 'python', '', '[From Bob]', 'answered', 'signal', '{}', NULL, 1.79596692428600430493e+09);
INSERT INTO deliveries VALUES (1795966923769327, 'send-fb91d6bf4ec6', '@SOCKET@ @PID@ @STARTED@', '%3', 'python', '', '', 'answered', 'signal', '{}', NULL, 1.79596692438744831091e+09);
INSERT INTO deliveries VALUES (1795966924388246, 'relay-111be09d-1', '@SOCKET@ @PID@ @STARTED@', '%4', 'python', '', 'Cid (1):', 'answered', 'signal', '{}', NULL, 1.79596692501193380348e+09);
INSERT INTO deliveries VALUES (1795966925012387, 'relay-111be09d-2', '@SOCKET@ @PID@ @STARTED@', '%3', 'python', '', 'Dan (2):', 'turn_started', '', '{}', NULL, 1.79596692515234875684e+09);
INSERT INTO deliveries VALUES (1795966925108562, 'long-work', '@SOCKET@ @PID@ @STARTED@', '%7', 'python', '', '', 'turn_started', '', '{}', NULL, 1.79596692524797034266e+09);
INSERT INTO deliveries VALUES (1795966925257750, 'waits', '@SOCKET@ @PID@ @STARTED@', '%7', 'python', 'this one waits over the upgrade', '', 'pasted', '', '{}', NULL, 1.79596692526152443888e+09);
PRAGMA user_version = 1;
COMMIT;
