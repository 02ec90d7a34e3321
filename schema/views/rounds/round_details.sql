-- What one round did beside its slot ledger: who ran on, how the probe ended, and what each part of the host cost.
-- depends on: rounds, round_ends

CREATE VIEW round_details AS
SELECT
    rounds.run,
    rounds.round,
    round_ends.start_ms,
    round_ends.end_ms,
    round_ends.duration_ms,
    round_ends.schedule_ns / 1e6 AS schedule_ms,
    rounds.probe_ns / 1e6 AS probe_ms,
    rounds.recorder_ns / 1e6 AS recorder_ms,
    rounds.num_rows_running,
    rounds.num_rows_new,
    rounds.num_rows_resumed,
    rounds.num_running_before,
    rounds.num_preempted,
    rounds.probe_end_reason
FROM rounds
JOIN round_ends ON round_ends.run = rounds.run AND round_ends.round = rounds.round;

COMMENT ON VIEW round_details IS 'One row a round, to be read beside round_occupancy.';
COMMENT ON COLUMN round_details.run IS '[-] Run.';
COMMENT ON COLUMN round_details.round IS '[-] Round.';
COMMENT ON COLUMN round_details.start_ms IS '[ms] Start after the start of the first round.';
COMMENT ON COLUMN round_details.end_ms IS '[ms] End after the start of the first round, without probe and recorder.';
COMMENT ON COLUMN round_details.duration_ms IS '[ms] How long the round lasted. Formula: end_ms - start_ms.';
COMMENT ON COLUMN round_details.schedule_ms IS '[ms] Time of native scheduling, before the probe.';
COMMENT ON COLUMN round_details.probe_ms IS '[ms] Time of the counterfactual probe, part of no duration; NULL if it did not run.';
COMMENT ON COLUMN round_details.recorder_ms IS '[ms] Time of the recorder, part of no duration.';
COMMENT ON COLUMN round_details.num_rows_running IS '[rows] Rows of requests that were running.';
COMMENT ON COLUMN round_details.num_rows_new IS '[rows] Rows of requests selected for the first time.';
COMMENT ON COLUMN round_details.num_rows_resumed IS '[rows] Rows of requests resumed after a preemption.';
COMMENT ON COLUMN round_details.num_running_before IS '[requests] Running requests when schedule() began.';
COMMENT ON COLUMN round_details.num_preempted IS '[requests] Requests preempted in the round.';
COMMENT ON COLUMN round_details.probe_end_reason IS '[-] What ended the probe, as a stop reason; NULL if it did not run.';
