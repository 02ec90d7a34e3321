-- Each stall in the time of its run, with the names of the requests in it.
-- depends on: stalls, opened_runs, registrations

CREATE VIEW stall_times AS
SELECT
    stalls.run,
    (stalls.start_ns - opened_runs.origin_ns) / 1e6 AS start_ms,
    (stalls.end_ns - opened_runs.origin_ns) / 1e6 AS end_ms,
    (stalls.end_ns - stalls.start_ns) / 1e6 AS duration_ms,
    stalls.num_steps,
    stalls.round_before,
    stalls.num_waiting,
    stalls.num_running,
    stalls.num_free_blocks,
    head.request_id AS head_request_id,
    stop.request_id AS stop_request_id,
    stalls.stop_reason,
    stalls.stop_cause,
    CASE
        WHEN stalls.num_rounds_in_flight > 0 THEN 'awaits_output'
        WHEN stalls.stop_reason = 'end_of_queue' AND stalls.stop_cause = 'held' THEN 'held'
        ELSE 'stalled'
    END AS kind,
    stalls.num_rounds_in_flight
FROM stalls
JOIN opened_runs ON opened_runs.run = stalls.run
LEFT JOIN registrations AS head ON head.run = stalls.run AND head.request = stalls.head_request
LEFT JOIN registrations AS stop ON stop.run = stalls.run AND stop.request = stalls.stop_request;

COMMENT ON VIEW stall_times IS 'One row a stretch of equal steps that scheduled nothing while work waited.';
COMMENT ON COLUMN stall_times.run IS '[-] Run.';
COMMENT ON COLUMN stall_times.start_ms IS '[ms] When its first step began, after the start of the first round; negative before it.';
COMMENT ON COLUMN stall_times.end_ms IS '[ms] When its last step ended.';
COMMENT ON COLUMN stall_times.duration_ms IS '[ms] How long it lasted. Formula: end_ms - start_ms.';
COMMENT ON COLUMN stall_times.num_steps IS '[steps] schedule() calls in it.';
COMMENT ON COLUMN stall_times.round_before IS '[-] Round before it; NULL before the first.';
COMMENT ON COLUMN stall_times.num_waiting IS '[requests] Requests that waited, without sessions that wait for their client.';
COMMENT ON COLUMN stall_times.num_running IS '[requests] Running requests, none of which got a token.';
COMMENT ON COLUMN stall_times.num_free_blocks IS '[blocks] Free KV cache blocks.';
COMMENT ON COLUMN stall_times.head_request_id IS '[-] First request of the waiting queue; NULL when only running requests were there.';
COMMENT ON COLUMN stall_times.stop_request_id IS '[-] Request at which the scan stopped; NULL unless a request stopped it.';
COMMENT ON COLUMN stall_times.stop_reason IS '[-] What ended the scan of each step, as in rounds.';
COMMENT ON COLUMN stall_times.stop_cause IS '[-] More about the stop: larger_than_pool, pool_in_use, parked_sessions, held, ..., as in the table stalls.';
COMMENT ON COLUMN stall_times.kind IS '[-] stalled; or, counted apart since both are meant to be: awaits_output (the output of a round was on its way, as under asynchronous scheduling) and held (by an admission rule).';
COMMENT ON COLUMN stall_times.num_rounds_in_flight IS '[rounds] Rounds whose output had not been processed.';
