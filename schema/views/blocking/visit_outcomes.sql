-- How the looks at waiting requests ended.
-- depends on: visits, runs
-- cached by: run

CREATE VIEW visit_outcomes AS
SELECT
    run,
    witness,
    outcome,
    reason,
    cause,
    CASE WHEN any_value(sampled_fraction) IS NULL THEN sum(last_round - round + 1)::BIGINT END AS num_visits,
    min(round) AS first_round,
    max(last_round) AS last_round
FROM visits
JOIN (SELECT run, sampled_fraction FROM runs) AS runs USING (run)
GROUP BY run, witness, outcome, reason, cause;

COMMENT ON VIEW visit_outcomes IS 'One row a run and kind of outcome of a visit that did not select. The scan itself (native) and the probe are never added up.';
COMMENT ON COLUMN visit_outcomes.run IS '[-] Run.';
COMMENT ON COLUMN visit_outcomes.witness IS '[-] native or probe.';
COMMENT ON COLUMN visit_outcomes.outcome IS '[-] ready (probe only), blocked, held or other.';
COMMENT ON COLUMN visit_outcomes.reason IS '[-] Reason of an other outcome.';
COMMENT ON COLUMN visit_outcomes.cause IS '[-] Cause of a blocked outcome: being_written or marked_again.';
COMMENT ON COLUMN visit_outcomes.num_visits IS '[visits] Visits that ended so.';
COMMENT ON COLUMN visit_outcomes.first_round IS '[-] Round of the first of them.';
COMMENT ON COLUMN visit_outcomes.last_round IS '[-] Round of the last of them.';
