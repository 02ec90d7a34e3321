-- When each round started and ended on the host, without our own cost; what every other view of time is built on.
-- depends on: rounds, spans, opened_runs

CREATE VIEW round_ends AS
WITH unfinished AS (
    SELECT run, round FROM rounds WHERE update_end_ns IS NULL
),
executed AS (  -- workers matter only to rounds whose update was never seen, so this reads nothing of most runs
    SELECT spans.run, spans.round, max(spans.end_ns) AS execute_end_ns
    FROM spans
    JOIN unfinished USING (run, round)
    WHERE spans.component = 'execute' AND spans.clock = 'host'
    GROUP BY spans.run, spans.round
),
ended AS (
    SELECT
        rounds.run,
        rounds.round,
        rounds.schedule_start_ns AS start_ns,
        rounds.schedule_end_ns,
        -- greatest() passes over NULL: a round that never came to its update ends with what is known
        greatest(rounds.schedule_end_ns, rounds.update_end_ns, executed.execute_end_ns) AS host_end_ns,
        coalesce(rounds.probe_ns, 0) + rounds.recorder_ns AS observer_ns
    FROM rounds
    LEFT JOIN executed USING (run, round)
)
SELECT
    ended.run,
    ended.round,
    ended.start_ns,
    greatest(ended.schedule_end_ns, ended.host_end_ns - ended.observer_ns) AS end_ns,
    ended.host_end_ns,
    ended.schedule_end_ns - ended.start_ns AS schedule_ns,
    ended.observer_ns,
    opened_runs.origin_ns
FROM ended
JOIN opened_runs USING (run);

COMMENT ON VIEW round_ends IS 'Start and end of each round on the host clock, in nanoseconds; the building block of every view of rounds.';
COMMENT ON COLUMN round_ends.run IS '[-] Run.';
COMMENT ON COLUMN round_ends.round IS '[-] Round.';
COMMENT ON COLUMN round_ends.start_ns IS '[ns] Monotonic time at which schedule() began.';
COMMENT ON COLUMN round_ends.end_ns IS '[ns] End without our own cost. Formula: greatest(schedule_end_ns, host_end_ns - observer_ns).';
COMMENT ON COLUMN round_ends.host_end_ns IS '[ns] End of update_from_output(); of a round without one, the last end of execute_model on any worker, else the end of schedule().';
COMMENT ON COLUMN round_ends.schedule_ns IS '[ns] Time of native scheduling, before the probe.';
COMMENT ON COLUMN round_ends.observer_ns IS '[ns] Time of probe and recorder in the round; part of no duration. Formula: probe_ns + recorder_ns.';
COMMENT ON COLUMN round_ends.origin_ns IS '[ns] Start of the first round of the run.';
