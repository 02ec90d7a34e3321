-- Who waited for whom, request by request: every other view of producers is built on this one.
-- depends on: visits, awaited_states

CREATE VIEW producer_waits AS
SELECT
    visits.run,
    awaited_states.producer,
    visits.cause,
    visits.request,
    count(*) FILTER (visits.witness = 'native') AS num_visits,
    count(*) AS num_all_visits,
    min(awaited_states.round) AS first_round,
    max(awaited_states.round) AS last_round
FROM visits
JOIN awaited_states ON awaited_states.run = visits.run AND awaited_states.awaited_hash = visits.awaited_hash
    AND awaited_states.round BETWEEN visits.round AND visits.last_round
WHERE visits.outcome = 'blocked' AND awaited_states.producer IS NOT NULL
GROUP BY visits.run, awaited_states.producer, visits.cause, visits.request;

COMMENT ON VIEW producer_waits IS 'One row a producer, cause and request that waited for it. Of a run that keeps a sample of its rounds (runs.sampled_fraction), counts are those of the kept ones.';
COMMENT ON COLUMN producer_waits.run IS '[-] Run.';
COMMENT ON COLUMN producer_waits.producer IS '[-] Number of the producer in the run.';
COMMENT ON COLUMN producer_waits.cause IS '[-] being_written or marked_again.';
COMMENT ON COLUMN producer_waits.request IS '[-] Number of the request that waited.';
COMMENT ON COLUMN producer_waits.num_visits IS '[visits] BLOCKED visits of the scan to that request while it waited for the producer.';
COMMENT ON COLUMN producer_waits.num_all_visits IS '[visits] The same by scan and probe.';
COMMENT ON COLUMN producer_waits.first_round IS '[-] First round in which it did.';
COMMENT ON COLUMN producer_waits.last_round IS '[-] Last such round.';
