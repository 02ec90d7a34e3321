-- Start, end and execution of each round on the host clock.
-- depends on: round_ends, spans

CREATE VIEW round_clock AS
WITH execution AS (
    SELECT run, round, max(end_ns) - min(start_ns) AS execute_ns
    FROM spans
    WHERE component = 'execute' AND clock = 'host'
    GROUP BY run, round
)
SELECT
    round_ends.run,
    round_ends.round,
    round_ends.start_ns,
    round_ends.end_ns,
    round_ends.start_ms,
    round_ends.end_ms,
    round_ends.duration_ms,
    round_ends.host_end_ns,
    round_ends.schedule_ns,
    execution.execute_ns,
    round_ends.observer_ns,
    round_ends.origin_ns
FROM round_ends
LEFT JOIN execution USING (run, round);

COMMENT ON VIEW round_clock IS 'Start, end and execution of each round on the host clock.';
COMMENT ON COLUMN round_clock.run IS '[-] Run.';
COMMENT ON COLUMN round_clock.round IS '[-] Round.';
COMMENT ON COLUMN round_clock.start_ns IS '[ns] Monotonic time at which schedule() began.';
COMMENT ON COLUMN round_clock.end_ns IS '[ns] End without our own cost. Formula: greatest(schedule_end_ns, host_end_ns - observer_ns).';
COMMENT ON COLUMN round_clock.start_ms IS '[ms] Start after the start of the first round.';
COMMENT ON COLUMN round_clock.end_ms IS '[ms] End after the start of the first round.';
COMMENT ON COLUMN round_clock.duration_ms IS '[ms] How long the round lasted.';
COMMENT ON COLUMN round_clock.host_end_ns IS '[ns] As in round_ends.';
COMMENT ON COLUMN round_clock.schedule_ns IS '[ns] Time of native scheduling, before the probe.';
COMMENT ON COLUMN round_clock.execute_ns IS '[ns] From the first start to the last end of execute_model over the workers, host clock; NULL without worker spans.';
COMMENT ON COLUMN round_clock.observer_ns IS '[ns] Time of probe and recorder in the round; part of no duration. Formula: probe_ns + recorder_ns.';
COMMENT ON COLUMN round_clock.origin_ns IS '[ns] Start of the first round of the run.';
