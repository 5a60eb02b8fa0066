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
    UNIQUE (server, pane, message_id)
) STRICT;
CREATE INDEX open_deliveries ON deliveries (server, pane) WHERE text <> '';
INSERT INTO deliveries VALUES (1795966886098152, 'send-72bd82008889', '@SOCKET@ @PID@ @STARTED@', '%1', 'python', '', '', 'answered', 'signal', '{}', NULL, 1.79596688673508214952e+09, '{"needs_human":"hold","commands":"send","patience":null}');
INSERT INTO deliveries VALUES (1795966886773629, 'send-f2325eab4c6e', '@SOCKET@ @PID@ @STARTED@', '%1', 'python', '', '', 'answered', 'signal', '{}', NULL, 1.79596688738586711883e+09, '{"needs_human":"hold","commands":"send","patience":null}');
INSERT INTO deliveries VALUES (1795966887386804, 'link-bcefbaf4-1', '@SOCKET@ @PID@ @STARTED@', '%2', 'python', '', '[From Ann]', 'answered', 'signal', '{}', NULL, 1.79596688800474715234e+09, '{"needs_human":"hold","commands":"send","patience":null}');
INSERT INTO deliveries VALUES (1795966888005271, 'link-bcefbaf4-2', '@SOCKET@ @PID@ @STARTED@', '%1', 'python', '', '[From Bob]', 'answered', 'signal', '{}', NULL, 1.79596688862384033205e+09, '{"needs_human":"hold","commands":"send","patience":null}');
INSERT INTO deliveries VALUES (1795966888052463, 'send-036aa1b1525a', '@SOCKET@ @PID@ @STARTED@', '%3', 'python', '', '', 'answered', 'signal', '{}', NULL, 1.79596688867498612408e+09, '{"needs_human":"hold","commands":"send","patience":null}');
INSERT INTO deliveries VALUES (1795966888684014, 'relay-0209ede3-1', '@SOCKET@ @PID@ @STARTED@', '%4', 'python', '', 'Cid (1):', 'answered', 'signal', '{}', NULL, 1.79596688935096549986e+09, '{"needs_human":"hold","commands":"send","patience":null}');
INSERT INTO deliveries VALUES (1795966889358371, 'relay-0209ede3-2', '@SOCKET@ @PID@ @STARTED@', '%3', 'python', '', 'Dan (2):', 'answered', 'signal', '{}', NULL, 1.79596689000396776206e+09, '{"needs_human":"hold","commands":"send","patience":null}');
INSERT INTO deliveries VALUES (1795966889700854, 'gathering-0bf630c4-1', '@SOCKET@ @PID@ @STARTED@', '%5', 'python', '', '', 'answered', 'superseded', '{}', NULL, 1795966891.07363, '{"needs_human":"hold","commands":"send","patience":null}');
INSERT INTO deliveries VALUES (1795966889708013, 'gathering-0bf630c4-2', '@SOCKET@ @PID@ @STARTED@', '%6', 'python', '', '', 'answered', 'superseded', '{}', NULL, 1.79596689070440387729e+09, '{"needs_human":"hold","commands":"send","patience":null}');
INSERT INTO deliveries VALUES (1795966889715142, 'gathering-0bf630c4-3', '@SOCKET@ @PID@ @STARTED@', '%8', 'python', '', '', 'answered', 'superseded', '{}', NULL, 1.79596689070440816878e+09, '{"needs_human":"hold","commands":"send","patience":null}');
INSERT INTO deliveries VALUES (1795966889743440, 'gathering-0bf630c4-4', '@SOCKET@ @PID@ @STARTED@', '%5', 'python', '', '', 'answered', 'superseded', '{}', NULL, 1.79596689107363390925e+09, '{"needs_human":"hold","commands":"send","patience":null}');
INSERT INTO deliveries VALUES (1795966889743541, 'gathering-0bf630c4-4', '@SOCKET@ @PID@ @STARTED@', '%6', 'python', '', '', 'answered', 'signal', '{}', NULL, 1.79596689070440745355e+09, '{"needs_human":"hold","commands":"send","patience":null}');
INSERT INTO deliveries VALUES (1795966889743603, 'gathering-0bf630c4-4', '@SOCKET@ @PID@ @STARTED@', '%8', 'python', '', '', 'answered', 'signal', '{}', NULL, 1.79596689070440983767e+09, '{"needs_human":"hold","commands":"send","patience":null}');
INSERT INTO deliveries VALUES (1795966889744794, 'gathering-0bf630c4-5', '@SOCKET@ @PID@ @STARTED@', '%5', 'python', '', '', 'answered', 'signal', '{}', NULL, 1.79596689107363462452e+09, '{"needs_human":"hold","commands":"send","patience":null}');
INSERT INTO deliveries VALUES (1795966891112706, 'gathering-0bf630c4-6', '@SOCKET@ @PID@ @STARTED@', '%6', 'python', '', 'Eve (1):', 'turn_started', '', '{}', NULL, 1.79596689129742670062e+09, '{"needs_human":"hold","commands":"send","patience":null}');
INSERT INTO deliveries VALUES (1795966891112850, 'gathering-0bf630c4-6', '@SOCKET@ @PID@ @STARTED@', '%8', 'python', '', 'Eve (1):', 'turn_started', '', '{}', NULL, 1.79596689129742836952e+09, '{"needs_human":"hold","commands":"send","patience":null}');
INSERT INTO deliveries VALUES (1795966891309952, 'long-work', '@SOCKET@ @PID@ @STARTED@', '%7', 'python', '', '', 'turn_started', '', '{}', NULL, 1.79596689150674557688e+09, '{"needs_human":"hold","commands":"send","patience":null}');
INSERT INTO deliveries VALUES (1795966891552938, 'waits', '@SOCKET@ @PID@ @STARTED@', '%7', 'python', 'this one waits over the upgrade', '', 'painted', '', '{}', NULL, 1.79596689158750367166e+09, '{"needs_human":"hold","commands":"send","patience":null}');
PRAGMA user_version = 2;
COMMIT;
