-- Every interval in the life of a branch or a group that is a latency, one value a row; what the percentiles are taken over.
-- depends on: request_lives, group_lives

CREATE VIEW latencies AS
SELECT
    run,
    'branch' AS subject,
    unnest(['sent_to_completed', 'offered_to_completed', 'sent_to_first_output', 'sent_to_registered',
            'registered_to_selected', 'selected_to_completed']) AS interval,
    request_id AS name,
    request_group,
    dataset,
    -- to whole nanoseconds, as they were recorded: equal intervals are equal numbers
    round(unnest([latency_ms, offered_latency_ms, first_output_ms - sent_ms, registered_ms - sent_ms, waiting_ms,
                  CASE WHEN latency_ms IS NOT NULL THEN completed_ms - first_selected_ms END]), 6) AS value_ms
FROM request_lives
UNION ALL
SELECT
    run,
    'group' AS subject,
    unnest(['sent_to_completed', 'offered_to_completed']) AS interval,
    request_group::VARCHAR AS name,
    request_group,
    dataset,
    round(unnest([latency_ms, offered_latency_ms]), 6) AS value_ms
FROM group_lives;

COMMENT ON VIEW latencies IS 'One row a branch or request group and interval; NULL where the interval has no end (a one-token answer may have no first output). Of a completed branch sent_to_registered + registered_to_selected + selected_to_completed = sent_to_completed.';
COMMENT ON COLUMN latencies.run IS '[-] Run.';
COMMENT ON COLUMN latencies.subject IS '[-] branch or group (complete with its last branch).';
COMMENT ON COLUMN latencies.interval IS '[-] From what to what: sent_to_completed (what latency means elsewhere), offered_to_completed (with the lateness of the sender), sent_to_first_output, sent_to_registered, registered_to_selected (waiting for the first selection), selected_to_completed (the rest).';
COMMENT ON COLUMN latencies.name IS '[-] Name of the branch or number of the group.';
COMMENT ON COLUMN latencies.request_group IS '[-] Request group; NULL in runs without our client.';
COMMENT ON COLUMN latencies.dataset IS '[-] Dataset or generator of the branch, or of the first branch of the group.';
COMMENT ON COLUMN latencies.value_ms IS '[ms] Length of the interval; NULL when it did not end or was not seen.';
