-- The producers that others waited for most, and who waited.
-- depends on: producer_waits, requests
-- cached by: run

CREATE VIEW awaited_producers AS
WITH waits AS MATERIALIZED (
    SELECT * FROM producer_waits
),
ranked AS (
    SELECT
        run,
        producer,
        sum(num_all_visits)::BIGINT AS num_all_visits,
        row_number() OVER (PARTITION BY run ORDER BY sum(num_all_visits) DESC, producer) AS producer_rank
    FROM waits
    GROUP BY run, producer
    QUALIFY producer_rank <= 50
)
SELECT
    ranked.run,
    ranked.producer_rank,
    any_value(producers.request_id) AS producer_request_id,
    waits.cause,
    sum(waits.num_all_visits)::BIGINT AS num_visits,
    count(*) AS num_consumers,
    list_sort(list(consumers.request_id) FILTER (consumers.request_id IS NOT NULL))[1:8] AS consumers,
    min(waits.first_round) AS first_round,
    max(waits.last_round) AS last_round,
    any_value(ranked.num_all_visits) AS num_all_visits
FROM ranked
JOIN waits USING (run, producer)
LEFT JOIN requests AS producers ON producers.run = ranked.run AND producers.request = ranked.producer
LEFT JOIN requests AS consumers ON consumers.run = waits.run AND consumers.request = waits.request
GROUP BY ranked.run, ranked.producer_rank, waits.cause;

COMMENT ON VIEW awaited_producers IS 'One row a run, producer and cause, for the 50 producers of each run that most visits waited for, by scan or probe. Of a run that keeps a sample of its rounds (runs.sampled_fraction), counts are those of the kept ones.';
COMMENT ON COLUMN awaited_producers.run IS '[-] Run.';
COMMENT ON COLUMN awaited_producers.producer_rank IS '[-] 1 for the producer that most visits waited for, whatever the cause.';
COMMENT ON COLUMN awaited_producers.producer_request_id IS '[-] Name of the producer; NULL if the recording ended before it did.';
COMMENT ON COLUMN awaited_producers.cause IS '[-] being_written or marked_again.';
COMMENT ON COLUMN awaited_producers.num_visits IS '[visits] BLOCKED visits of scan and probe that waited for it.';
COMMENT ON COLUMN awaited_producers.num_consumers IS '[requests] Different requests that waited for it.';
COMMENT ON COLUMN awaited_producers.consumers IS '[-] Names of the first eight of them in the order of names.';
COMMENT ON COLUMN awaited_producers.first_round IS '[-] First round in which one waited.';
COMMENT ON COLUMN awaited_producers.last_round IS '[-] Last round in which one waited.';
COMMENT ON COLUMN awaited_producers.num_all_visits IS '[visits] Visits that waited for it, over its causes.';
