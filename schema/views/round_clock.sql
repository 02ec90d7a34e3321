-- When each round started and ended; what every other view of time is built on.
-- depends on: rounds, spans, opened_runs

CREATE VIEW round_clock AS
WITH execution AS (
    SELECT run, round, min(start_ns) AS execute_start_ns, max(end_ns) AS execute_end_ns
    FROM spans
    WHERE component = 'execute' AND clock = 'host'
    GROUP BY run, round
),
clocked AS (
    SELECT
        rounds.run,
        rounds.round,
        rounds.schedule_start_ns AS start_ns,
        rounds.schedule_end_ns,
        -- greatest() passes over NULL: a round whose update was never seen ends with what is known
        greatest(rounds.schedule_end_ns, rounds.update_end_ns, execution.execute_end_ns) AS host_end_ns,
        coalesce(rounds.probe_ns, 0) + rounds.recorder_ns AS observer_ns,
        execution.execute_end_ns - execution.execute_start_ns AS execute_ns
    FROM rounds
    LEFT JOIN execution USING (run, round)
)
SELECT
    clocked.run,
    clocked.round,
    clocked.start_ns,
    greatest(clocked.schedule_end_ns, clocked.host_end_ns - clocked.observer_ns) AS end_ns,
    clocked.host_end_ns,
    clocked.schedule_end_ns - clocked.start_ns AS schedule_ns,
    clocked.execute_ns,
    clocked.observer_ns,
    opened_runs.origin_ns
FROM clocked
JOIN opened_runs USING (run);

COMMENT ON VIEW round_clock IS 'Start and end of each round on the host clock, in nanoseconds; the building block of round_times, round_occupancy and slot_cells.';
COMMENT ON COLUMN round_clock.run IS '[-] Run.';
COMMENT ON COLUMN round_clock.round IS '[-] Round.';
COMMENT ON COLUMN round_clock.start_ns IS '[ns] Monotonic time at which schedule() began.';
COMMENT ON COLUMN round_clock.end_ns IS '[ns] End without our own cost. Formula: greatest(schedule_end_ns, host_end_ns - observer_ns).';
COMMENT ON COLUMN round_clock.host_end_ns IS '[ns] Greatest known of the end of schedule(), of execute_model on any worker, and of update_from_output().';
COMMENT ON COLUMN round_clock.schedule_ns IS '[ns] Time of native scheduling, before the probe.';
COMMENT ON COLUMN round_clock.execute_ns IS '[ns] From the first start to the last end of execute_model over the workers, host clock; NULL without worker spans.';
COMMENT ON COLUMN round_clock.observer_ns IS '[ns] Time of probe and recorder in the round; part of no duration. Formula: probe_ns + recorder_ns.';
COMMENT ON COLUMN round_clock.origin_ns IS '[ns] Start of the first round of the run.';
