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
INSERT INTO deliveries VALUES (1795966903391813, 'send-117bf35cc0f7', '@SOCKET@ @PID@ @STARTED@', '%1', 'python', '', '', 'answered', 'signal', '{}', NULL, 1.7959669040209975243e+09, '{"needs_human":"hold","commands":"send","patience":null}', '');
INSERT INTO deliveries VALUES (1795966904055716, 'send-09ab52c635f0', '@SOCKET@ @PID@ @STARTED@', '%1', 'python', '', '', 'answered', 'signal', '{}', NULL, 1.79596690469772768015e+09, '{"needs_human":"hold","commands":"send","patience":null}', '');
INSERT INTO deliveries VALUES (1795966904697863, 'link-fd72bcb8-1', '@SOCKET@ @PID@ @STARTED@', '%2', 'python', '', '[From Ann]', 'answered', 'signal', '{}', NULL, 1.79596690537460041041e+09, '{"needs_human":"hold","commands":"send","patience":null}', '%1');
INSERT INTO deliveries VALUES (1795966905390580, 'link-fd72bcb8-2', '@SOCKET@ @PID@ @STARTED@', '%1', 'python', '', '[From Bob]', 'answered', 'signal', '{}', NULL, 1.79596690607149434091e+09, '{"needs_human":"hold","commands":"send","patience":null}', '%2');
INSERT INTO deliveries VALUES (1795966905871619, 'send-5efb601cc062', '@SOCKET@ @PID@ @STARTED@', '%3', 'python', '', '', 'answered', 'signal', '{}', NULL, 1.79596690658258318902e+09, '{"needs_human":"hold","commands":"send","patience":null}', '');
INSERT INTO deliveries VALUES (1795966906596268, 'relay-1f0d8236-1', '@SOCKET@ @PID@ @STARTED@', '%4', 'python', '', 'Cid (1):', 'answered', 'signal', '{}', NULL, 1.79596690725515151024e+09, '{"needs_human":"hold","commands":"send","patience":null}', '%3');
INSERT INTO deliveries VALUES (1795966907264745, 'relay-1f0d8236-2', '@SOCKET@ @PID@ @STARTED@', '%3', 'python', '', 'Dan (2):', 'answered', 'signal', '{}', NULL, 1.79596690798130822182e+09, '{"needs_human":"hold","commands":"send","patience":null}', '%4');
INSERT INTO deliveries VALUES (1795966907572665, 'gathering-451d0050-1', '@SOCKET@ @PID@ @STARTED@', '%5', 'python', '', '', 'answered', 'superseded', '{}', NULL, 1.79596690907621431352e+09, '{"needs_human":"hold","commands":"send","patience":null}', '');
INSERT INTO deliveries VALUES (1795966907578906, 'gathering-451d0050-2', '@SOCKET@ @PID@ @STARTED@', '%6', 'python', '', '', 'answered', 'superseded', '{}', NULL, 1.79596690868324446676e+09, '{"needs_human":"hold","commands":"send","patience":null}', '');
INSERT INTO deliveries VALUES (1795966907591452, 'gathering-451d0050-3', '@SOCKET@ @PID@ @STARTED@', '%8', 'python', '', '', 'answered', 'superseded', '{}', NULL, 1.79596690861858844763e+09, '{"needs_human":"hold","commands":"send","patience":null}', '');
INSERT INTO deliveries VALUES (1795966907597660, 'gathering-451d0050-4', '@SOCKET@ @PID@ @STARTED@', '%5', 'python', '', '', 'answered', 'superseded', '{}', NULL, 1.79596690907621932024e+09, '{"needs_human":"hold","commands":"send","patience":null}', '');
INSERT INTO deliveries VALUES (1795966907597730, 'gathering-451d0050-4', '@SOCKET@ @PID@ @STARTED@', '%6', 'python', '', '', 'answered', 'signal', '{}', NULL, 1.79596690868324780467e+09, '{"needs_human":"hold","commands":"send","patience":null}', '');
INSERT INTO deliveries VALUES (1795966907597789, 'gathering-451d0050-4', '@SOCKET@ @PID@ @STARTED@', '%8', 'python', '', '', 'answered', 'signal', '{}', NULL, 1.79596690861859178542e+09, '{"needs_human":"hold","commands":"send","patience":null}', '');
INSERT INTO deliveries VALUES (1795966907613798, 'gathering-451d0050-5', '@SOCKET@ @PID@ @STARTED@', '%5', 'python', '', '', 'answered', 'signal', '{}', NULL, 1.79596690907622098917e+09, '{"needs_human":"hold","commands":"send","patience":null}', '');
INSERT INTO deliveries VALUES (1795966909129472, 'gathering-451d0050-6', '@SOCKET@ @PID@ @STARTED@', '%6', 'python', '', 'Eve (1):', 'turn_started', '', '{}', NULL, 1.79596690932070612908e+09, '{"needs_human":"hold","commands":"send","patience":null}', '');
INSERT INTO deliveries VALUES (1795966909129641, 'gathering-451d0050-6', '@SOCKET@ @PID@ @STARTED@', '%8', 'python', '', 'Eve (1):', 'turn_started', '', '{}', NULL, 1.79596690933310699457e+09, '{"needs_human":"hold","commands":"send","patience":null}', '');
INSERT INTO deliveries VALUES (1795966909386773, 'long-work', '@SOCKET@ @PID@ @STARTED@', '%7', 'python', '', '', 'turn_started', '', '{}', NULL, 1.79596690955838584899e+09, '{"needs_human":"hold","commands":"send","patience":null}', '');
INSERT INTO deliveries VALUES (1795966909638252, 'waits', '@SOCKET@ @PID@ @STARTED@', '%7', 'python', 'this one waits over the upgrade', '', 'queued', '', '{}', NULL, 1.79596690964430499076e+09, '{"needs_human":"hold","commands":"send","patience":null}', '');
PRAGMA user_version = 3;
COMMIT;
