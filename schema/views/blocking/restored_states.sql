-- Who published the recurrent state that a row restored, and whether the output of that round was there by then.
-- depends on: rows, rounds

CREATE VIEW restored_states AS
WITH published AS (
    SELECT run, published_hash AS state_hash, round, request FROM rows WHERE published_hash IS NOT NULL
)
SELECT
    rows.run,
    rows.round,
    rows.request,
    rows.restored_hash,
    published.request AS publisher,
    published.round AS published_round,
    rows.round - published.round AS num_rounds_between,
    publishing.update_end_ns AS completed_ns,
    publishing.update_end_ns IS NULL OR publishing.update_end_ns > restoring.schedule_start_ns AS is_in_flight
FROM rows
ASOF JOIN published ON rows.run = published.run AND rows.restored_hash = published.state_hash
    AND rows.round > published.round
JOIN rounds AS restoring ON restoring.run = rows.run AND restoring.round = rows.round
JOIN rounds AS publishing ON publishing.run = rows.run AND publishing.round = published.round
WHERE rows.restored_hash IS NOT NULL;

COMMENT ON VIEW restored_states IS 'One row a state that a row restored from the cache and that a row of the recording had published: the link from consumer to producer. Under asynchronous scheduling a round is scheduled before the output of the one before it is processed, so that a round number alone does not say that the state is there.';
COMMENT ON COLUMN restored_states.run IS '[-] Run.';
COMMENT ON COLUMN restored_states.round IS '[-] Round that restored the state.';
COMMENT ON COLUMN restored_states.request IS '[-] Request that restored it.';
COMMENT ON COLUMN restored_states.restored_hash IS '[-] Hash of the state.';
COMMENT ON COLUMN restored_states.publisher IS '[-] Request that published it, last before this round.';
COMMENT ON COLUMN restored_states.published_round IS '[-] Round in which its tokens were scheduled.';
COMMENT ON COLUMN restored_states.num_rounds_between IS '[rounds] Formula: round - published_round.';
COMMENT ON COLUMN restored_states.completed_ns IS '[ns] Completion fence: monotonic time at which the output of published_round had been processed; NULL if it never was.';
COMMENT ON COLUMN restored_states.is_in_flight IS '[-] Whether that output was still on its way when the restoring round was scheduled.';
