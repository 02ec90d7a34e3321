-- The parts of each round on one time axis: scheduling and update of the engine process, and what the workers report.
-- depends on: rounds, spans, round_ends

CREATE VIEW round_spans AS
WITH parts AS NOT MATERIALIZED (
    SELECT run, round, 'schedule' AS component, NULL::SMALLINT AS process_rank, 'host' AS clock,
        schedule_start_ns AS start_ns, schedule_end_ns AS end_ns
    FROM rounds
    UNION ALL
    SELECT run, round, 'update', NULL, 'host', update_start_ns, update_end_ns
    FROM rounds
    WHERE update_end_ns IS NOT NULL
    UNION ALL
    SELECT run, round, component, NULLIF(process_rank, -1), clock, start_ns, end_ns
    FROM spans
)
SELECT
    parts.run,
    parts.round,
    parts.component,
    parts.process_rank,
    parts.clock,
    (parts.start_ns - round_ends.origin_ns) / 1e6 AS start_ms,
    (parts.end_ns - round_ends.origin_ns) / 1e6 AS end_ms,
    (parts.start_ns - round_ends.start_ns) / 1e6 AS after_round_start_ms,
    (parts.end_ns - parts.start_ns) / 1e6 AS duration_ms
FROM parts
JOIN round_ends ON round_ends.run = parts.run AND round_ends.round = parts.round;

COMMENT ON VIEW round_spans IS 'One row an interval of a component in a round. Intervals may overlap, and clocks are never added up.';
COMMENT ON COLUMN round_spans.run IS '[-] Run.';
COMMENT ON COLUMN round_spans.round IS '[-] Round; filter on run and round to read only that part of the files.';
COMMENT ON COLUMN round_spans.component IS '[-] schedule (native scheduling), update, lookup, publish and dispatch of the engine process; execute, restore, forward, sample and publish of the workers.';
COMMENT ON COLUMN round_spans.process_rank IS '[-] Rank of the worker process; NULL for the engine process.';
COMMENT ON COLUMN round_spans.clock IS '[-] host (monotonic) or device (CUDA events, mapped to the host clock).';
COMMENT ON COLUMN round_spans.start_ms IS '[ms] Start after the start of the first round.';
COMMENT ON COLUMN round_spans.end_ms IS '[ms] End after the start of the first round.';
COMMENT ON COLUMN round_spans.after_round_start_ms IS '[ms] Start after the start of this round.';
COMMENT ON COLUMN round_spans.duration_ms IS '[ms] Formula: end_ms - start_ms.';
