-- The events of each request by name, in time.
-- depends on: events, request_names, opened_runs

CREATE VIEW request_events AS
SELECT
    events.run,
    own.request_id,
    (events.time_ns - opened_runs.origin_ns) / 1e6 AS time_ms,
    events.event,
    events.round,
    other.request_id AS other_request_id,
    events.detail,
    events.num_rounds,
    events.request
FROM events
JOIN opened_runs ON opened_runs.run = events.run
LEFT JOIN request_names AS own ON own.run = events.run AND own.request = events.request
LEFT JOIN request_names AS other ON other.run = events.run AND other.request = events.other_request
WHERE events.request IS NOT NULL;

COMMENT ON VIEW request_events IS 'One row a lifecycle event of a request; events of the whole scheduler are in the table alone.';
COMMENT ON COLUMN request_events.run IS '[-] Run.';
COMMENT ON COLUMN request_events.request_id IS '[-] Name of the branch; NULL if the recording ended before the request did.';
COMMENT ON COLUMN request_events.time_ms IS '[ms] When it happened, after the start of the first round.';
COMMENT ON COLUMN request_events.event IS '[-] arrived, held, released, blocked, recovered, selected, deferred, overtaken, preempted, resumed, finished, rejected or aborted.';
COMMENT ON COLUMN request_events.round IS '[-] Round in which it happened; NULL outside rounds.';
COMMENT ON COLUMN request_events.other_request_id IS '[-] The other party: the producer of a block, the overtaker.';
COMMENT ON COLUMN request_events.detail IS '[-] More about the event: the cause of a block, the reason of a release or a preemption.';
COMMENT ON COLUMN request_events.num_rounds IS '[rounds] Rounds that a recovered request spent blocked.';
COMMENT ON COLUMN request_events.request IS '[-] Number of the request in the run.';
