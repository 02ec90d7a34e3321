-- Who waited for whom: consumers by producer.
-- depends on: runs, producer_waits, requests

CREATE VIEW blocking_producers AS
WITH waits AS (
    SELECT
        run,
        producer,
        cause,
        sum(num_visits)::BIGINT AS num_visits,
        sum(num_all_visits - num_visits)::BIGINT AS num_probe_visits,
        count(*) AS num_consumers,
        min(first_round) AS first_round,
        max(last_round) AS last_round
    FROM producer_waits
    GROUP BY run, producer, cause
)
SELECT
    waits.run,
    requests.request_id AS producer_request_id,
    waits.cause,
    CASE WHEN runs.sampled_fraction IS NULL THEN waits.num_visits END AS num_visits,
    CASE WHEN runs.sampled_fraction IS NULL THEN waits.num_probe_visits END AS num_probe_visits,
    CASE WHEN runs.sampled_fraction IS NULL THEN waits.num_consumers END AS num_consumers,
    CASE WHEN runs.sampled_fraction IS NULL THEN waits.first_round END AS first_round,
    CASE WHEN runs.sampled_fraction IS NULL THEN waits.last_round END AS last_round,
    waits.producer
FROM waits
JOIN runs ON runs.run = waits.run
LEFT JOIN requests ON requests.run = waits.run AND requests.request = waits.producer;

COMMENT ON VIEW blocking_producers IS 'One row a run, producer and cause. Where a sample of the rounds is kept, only who waited in a kept round is there, and counts are NULL.';
COMMENT ON COLUMN blocking_producers.run IS '[-] Run.';
COMMENT ON COLUMN blocking_producers.producer_request_id IS '[-] Name of the producer; NULL if the recording ended before it did.';
COMMENT ON COLUMN blocking_producers.cause IS '[-] being_written or marked_again.';
COMMENT ON COLUMN blocking_producers.num_visits IS '[visits] BLOCKED visits of the scan that waited for it.';
COMMENT ON COLUMN blocking_producers.num_probe_visits IS '[visits] BLOCKED visits of the probe that waited for it.';
COMMENT ON COLUMN blocking_producers.num_consumers IS '[requests] Different requests that waited for it, seen by scan or probe.';
COMMENT ON COLUMN blocking_producers.first_round IS '[-] First round in which any did.';
COMMENT ON COLUMN blocking_producers.last_round IS '[-] Last such round.';
COMMENT ON COLUMN blocking_producers.producer IS '[-] Number of the producer in the run.';
