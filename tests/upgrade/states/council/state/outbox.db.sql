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
    policy TEXT NOT NULL DEFAULT 'null',
    sender TEXT NOT NULL DEFAULT '',
    UNIQUE (server, pane, message_id)
) STRICT;
CREATE INDEX open_deliveries ON deliveries (server, pane) WHERE text <> '';
INSERT INTO deliveries VALUES (1795966864587266, 'send-c0a0cd001f29', '@SOCKET@ @PID@ @STARTED@', '%1', 'python', '', '', 'answered', 'signal', '{}', NULL, 1.79596686524937629702e+09, '{"needs_human":"hold","commands":"send","patience":null}', '');
INSERT INTO deliveries VALUES (1795966865303184, 'send-a07ef7315b16', '@SOCKET@ @PID@ @STARTED@', '%1', 'python', '', '', 'answered', 'signal', '{}', NULL, 1.79596686596536111828e+09, '{"needs_human":"hold","commands":"send","patience":null}', '');
INSERT INTO deliveries VALUES (1795966865974903, 'link-75a709a7-1', '@SOCKET@ @PID@ @STARTED@', '%2', 'python', '', '[From Ann]', 'answered', 'signal', '{}', NULL, 1.79596686662719440459e+09, '{"needs_human":"hold","commands":"send","patience":null}', '%1');
INSERT INTO deliveries VALUES (1795966866628710, 'link-75a709a7-2', '@SOCKET@ @PID@ @STARTED@', '%1', 'python', '', '[From Bob]', 'answered', 'signal', '{}', NULL, 1.79596686727421474454e+09, '{"needs_human":"hold","commands":"send","patience":null}', '%2');
INSERT INTO deliveries VALUES (1795966866715706, 'send-65a34ccff924', '@SOCKET@ @PID@ @STARTED@', '%3', 'python', '', '', 'answered', 'signal', '{}', NULL, 1.79596686736438536638e+09, '{"needs_human":"hold","commands":"send","patience":null}', '');
INSERT INTO deliveries VALUES (1795966867364464, 'relay-bb60625c-1', '@SOCKET@ @PID@ @STARTED@', '%4', 'python', '', 'Cid (1):', 'answered', 'signal', '{}', NULL, 1.79596686801186847682e+09, '{"needs_human":"hold","commands":"send","patience":null}', '%3');
INSERT INTO deliveries VALUES (1795966868014359, 'relay-bb60625c-2', '@SOCKET@ @PID@ @STARTED@', '%3', 'python', '', 'Dan (2):', 'answered', 'signal', '{}', NULL, 1.79596686867454624183e+09, '{"needs_human":"hold","commands":"send","patience":null}', '%4');
INSERT INTO deliveries VALUES (1795966868215120, 'gathering-3ccd1313-1', '@SOCKET@ @PID@ @STARTED@', '%5', 'python', '', '', 'answered', 'superseded', '{}', NULL, 1.79596686966318726534e+09, '{"needs_human":"hold","commands":"send","patience":null}', '');
INSERT INTO deliveries VALUES (1795966868223231, 'gathering-3ccd1313-2', '@SOCKET@ @PID@ @STARTED@', '%6', 'python', '', '', 'answered', 'superseded', '{}', NULL, 1.79596686926658916476e+09, '{"needs_human":"hold","commands":"send","patience":null}', '');
INSERT INTO deliveries VALUES (1795966868226180, 'gathering-3ccd1313-3', '@SOCKET@ @PID@ @STARTED@', '%8', 'python', '', '', 'answered', 'superseded', '{}', NULL, 1.79596686926658439631e+09, '{"needs_human":"hold","commands":"send","patience":null}', '');
INSERT INTO deliveries VALUES (1795966868233328, 'gathering-3ccd1313-4', '@SOCKET@ @PID@ @STARTED@', '%5', 'python', '', '', 'answered', 'superseded', '{}', NULL, 1.79596686966319274902e+09, '{"needs_human":"hold","commands":"send","patience":null}', '');
INSERT INTO deliveries VALUES (1795966868233407, 'gathering-3ccd1313-4', '@SOCKET@ @PID@ @STARTED@', '%6', 'python', '', '', 'answered', 'signal', '{}', NULL, 1.79596686926659035682e+09, '{"needs_human":"hold","commands":"send","patience":null}', '');
INSERT INTO deliveries VALUES (1795966868233469, 'gathering-3ccd1313-4', '@SOCKET@ @PID@ @STARTED@', '%8', 'python', '', '', 'answered', 'signal', '{}', NULL, 1.79596686926658868788e+09, '{"needs_human":"hold","commands":"send","patience":null}', '');
INSERT INTO deliveries VALUES (1795966868235494, 'gathering-3ccd1313-5', '@SOCKET@ @PID@ @STARTED@', '%5', 'python', '', '', 'answered', 'signal', '{}', NULL, 1.79596686966319513318e+09, '{"needs_human":"hold","commands":"send","patience":null}', '');
INSERT INTO deliveries VALUES (1795966869683169, 'gathering-3ccd1313-6', '@SOCKET@ @PID@ @STARTED@', '%6', 'python', '', 'Eve (1):', 'answered', 'signal', '{}', NULL, 1.79596687046539139746e+09, '{"needs_human":"hold","commands":"send","patience":null}', '');
INSERT INTO deliveries VALUES (1795966869683367, 'gathering-3ccd1313-6', '@SOCKET@ @PID@ @STARTED@', '%8', 'python', '', 'Eve (1):', 'answered', 'signal', '{}', NULL, 1.79596687046539402006e+09, '{"needs_human":"hold","commands":"send","patience":null}', '');
INSERT INTO deliveries VALUES (1795966870046746, 'long-work', '@SOCKET@ @PID@ @STARTED@', '%7', 'python', '', '', 'turn_started', '', '{}', NULL, 1.7959668703739368916e+09, '{"needs_human":"hold","commands":"send","patience":null}', '');
INSERT INTO deliveries VALUES (1795966870520191, 'waits', '@SOCKET@ @PID@ @STARTED@', '%7', 'python', 'this one waits over the upgrade', '', 'painted', '', '{}', NULL, 1.79596687058852171894e+09, '{"needs_human":"hold","commands":"send","patience":null}', '');
PRAGMA user_version = 3;
COMMIT;
