-- The sentry's state. Times are Unix seconds, durations seconds, figures in the unit that stands beside them.
-- SQLite 3.24 or later: no STRICT tables, which the one of RHEL 9 does not have.

CREATE TABLE node (
    name       TEXT PRIMARY KEY,
    class      TEXT NOT NULL,           -- hardware class: nodes of one are held against each other
    since      REAL NOT NULL,           -- in the plan since
    gone       REAL,                    -- no longer in the plan since; NULL: it is
    chance     REAL NOT NULL,           -- that it has changed, as of `as_of`
    faults     REAL NOT NULL,           -- changes for the worse that it has had
    as_of      REAL NOT NULL
);

CREATE TABLE measurement (
    id         INTEGER PRIMARY KEY,
    measure    TEXT NOT NULL,           -- the plan's name for it
    nodes      TEXT NOT NULL,           -- JSON: a list of names
    why        TEXT NOT NULL,           -- why these: 'due', 'sign', 'confirm', 'likeliest', 'asked'
    state      TEXT NOT NULL CHECK (state IN ('running', 'done', 'failed', 'preempted', 'lost')),
    holder     TEXT NOT NULL,           -- JSON: who measures: boot, pid, started
    began      REAL NOT NULL,
    ended      REAL,
    seconds    REAL,                    -- node-seconds that it took
    run        TEXT NOT NULL DEFAULT '',
    reason     TEXT NOT NULL DEFAULT '' -- why it did not succeed
);
CREATE INDEX measurement_began ON measurement (began);
CREATE INDEX measurement_running ON measurement (state) WHERE state = 'running';

-- A node is measured by one at a time: the primary key refuses a second.
CREATE TABLE claim (
    node        TEXT PRIMARY KEY,
    measurement INTEGER NOT NULL REFERENCES measurement (id) ON DELETE CASCADE
);

CREATE TABLE measured (                 -- when each node last was, by measure
    node    TEXT NOT NULL,
    measure TEXT NOT NULL,
    at      REAL NOT NULL,
    PRIMARY KEY (node, measure)
) WITHOUT ROWID;

CREATE TABLE metric (
    id     INTEGER PRIMARY KEY,
    name   TEXT NOT NULL UNIQUE,
    unit   TEXT NOT NULL,
    better TEXT NOT NULL                -- 'lower', 'higher', or '' where nobody says
);

CREATE TABLE figure (
    metric      INTEGER NOT NULL REFERENCES metric (id),
    node        TEXT NOT NULL,
    at          REAL NOT NULL,
    value       REAL NOT NULL,
    low         REAL,
    high        REAL,
    measurement INTEGER NOT NULL REFERENCES measurement (id),
    PRIMARY KEY (metric, node, at)
) WITHOUT ROWID;

-- What the detector knows of a node's metric: stats/series/detector.py, whose arrays these are. `@CLASS` is a class.
CREATE TABLE level (
    metric     INTEGER NOT NULL REFERENCES metric (id),
    node       TEXT NOT NULL,
    first      TEXT NOT NULL,           -- JSON: logarithms of the first figures, until there are enough for a level
    residual   REAL,                    -- of the last figure
    seen_at    REAL,                    -- when that was
    up         REAL NOT NULL,           -- logarithms of the evidence for a rise and a fall
    down       REAL NOT NULL,
    up_since   REAL,                    -- the last figure before the evidence began to gather
    down_since REAL,
    shifted    REAL,                    -- logarithm of the ratio of the change that is open; NULL: none is
    back       REAL NOT NULL,           -- evidence that it is as before again
    waiting    TEXT NOT NULL,           -- JSON: residuals that join the pool if nothing comes of the evidence
    PRIMARY KEY (metric, node)
) WITHOUT ROWID;

CREATE TABLE pool (                     -- residuals of nodes that nothing is the matter with, by class and metric
    metric    INTEGER NOT NULL REFERENCES metric (id),
    class     TEXT NOT NULL,
    residuals TEXT NOT NULL,            -- JSON: a list, the newest last
    PRIMARY KEY (metric, class)
) WITHOUT ROWID;

CREATE TABLE incident (
    id        INTEGER PRIMARY KEY,
    kind      TEXT NOT NULL,
    node      TEXT NOT NULL,
    metric    TEXT NOT NULL,
    severity  TEXT NOT NULL,
    state     TEXT NOT NULL CHECK (state IN ('open', 'acknowledged', 'closed')),
    since     REAL NOT NULL,
    until     REAL NOT NULL,
    opened    REAL NOT NULL,
    seen      REAL NOT NULL,
    closed    REAL,
    openings  TEXT NOT NULL,            -- JSON: a list of times
    text      TEXT NOT NULL,
    next_step TEXT NOT NULL,
    unit      TEXT NOT NULL,
    before    REAL,
    now       REAL,
    ratio     REAL,
    low       REAL,
    high      REAL,
    by        TEXT NOT NULL,
    note      TEXT NOT NULL,
    run       TEXT NOT NULL
);
CREATE UNIQUE INDEX incident_open ON incident (kind, node, metric) WHERE state <> 'closed';
CREATE INDEX incident_key ON incident (kind, node, metric, opened);

CREATE TABLE event (
    id       INTEGER PRIMARY KEY,
    incident INTEGER NOT NULL REFERENCES incident (id),
    at       REAL NOT NULL,
    what     TEXT NOT NULL,
    text     TEXT NOT NULL
);
CREATE INDEX event_incident ON event (incident);

-- What channels are to be told: kept until they have been, so that a webhook that is down for a night misses nothing.
CREATE TABLE delivery (
    event    INTEGER NOT NULL REFERENCES event (id),
    channel  TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    next_at  REAL NOT NULL,
    error    TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (event, channel)
) WITHOUT ROWID;

CREATE TABLE sign (                     -- passive signs that a node may have changed
    node TEXT NOT NULL,
    at   REAL NOT NULL,
    name TEXT NOT NULL,                 -- 'retransmissions', 'rebooted', 'facts', 'corrected errors', …
    odds REAL NOT NULL,                 -- how many times likelier after a change
    text TEXT NOT NULL,
    PRIMARY KEY (node, at, name)
) WITHOUT ROWID;

-- What the sentry read of nodes when it last measured them: what differs next time is a sign.
CREATE TABLE fact (
    node  TEXT NOT NULL,
    name  TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (node, name)
) WITHOUT ROWID;

-- Nodes that the sentry had Slurm drain, each once for an opening: who resumes one by hand is not overruled.
CREATE TABLE drained (
    node     TEXT NOT NULL,
    incident INTEGER NOT NULL REFERENCES incident (id),
    opening  REAL NOT NULL,
    PRIMARY KEY (node, incident, opening)
) WITHOUT ROWID;

CREATE TABLE kept (                     -- 'plan': the plan as it is carried out, as JSON
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;
