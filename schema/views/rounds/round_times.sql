-- Durations of each round for display.
-- depends on: round_clock

CREATE VIEW round_times AS
WITH followed AS (
    SELECT
        *,
        lag(round) OVER in_order = round - 1 AS is_next,  -- of a sample few rounds have the one before them
        start_ns - lag(host_end_ns) OVER in_order AS gap_ns
    FROM round_clock
    WINDOW in_order AS (PARTITION BY run ORDER BY round)
)
SELECT
    run,
    round,
    start_ns,
    end_ns,
    start_ms,
    end_ms,
    duration_ms,
    schedule_ns / 1e6 AS schedule_ms,
    execute_ns / 1e6 AS execute_ms,
    CASE WHEN is_next AND gap_ns IS NOT NULL THEN greatest(0, gap_ns) / 1e6 END AS gap_before_ms,
    observer_ns / 1e6 AS observer_ms
FROM followed;

COMMENT ON VIEW round_times IS 'Start, end and durations of each round on the host clock, without the time of probe and recorder.';
COMMENT ON COLUMN round_times.run IS '[-] Run.';
COMMENT ON COLUMN round_times.round IS '[-] Round.';
COMMENT ON COLUMN round_times.start_ns IS '[ns] Monotonic time at which schedule() began.';
COMMENT ON COLUMN round_times.end_ns IS '[ns] End of update_from_output() (else of execute_model, else of schedule()), moved back by the time of probe and recorder.';
COMMENT ON COLUMN round_times.start_ms IS '[ms] Start after the start of the first round. Formula: (start_ns - origin_ns) / 1e6.';
COMMENT ON COLUMN round_times.end_ms IS '[ms] End after the start of the first round. Formula: (end_ns - origin_ns) / 1e6.';
COMMENT ON COLUMN round_times.duration_ms IS '[ms] How long the round lasted. Formula: end_ms - start_ms.';
COMMENT ON COLUMN round_times.schedule_ms IS '[ms] Time of native scheduling, before the probe.';
COMMENT ON COLUMN round_times.execute_ms IS '[ms] From the first start to the last end of execute_model over the workers, host clock; NULL without worker spans.';
COMMENT ON COLUMN round_times.gap_before_ms IS '[ms] Host time between the end of the round before and this start; 0 when rounds overlap, NULL for the first round and where the round before is not kept.';
COMMENT ON COLUMN round_times.observer_ms IS '[ms] Time of probe and recorder in the round; part of no duration.';
