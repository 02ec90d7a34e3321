-- Whether a refused request is taken in the next round.
-- depends on: spread_visits, rounds, requests, runs
-- cached by: run

CREATE VIEW blocking_recovery AS
WITH waits AS (
    SELECT
        visits.run,
        visits.cause,
        visits.round,
        requests.first_selected_round
    FROM spread_visits AS visits
    JOIN (SELECT run, max(round) AS last_round FROM rounds GROUP BY run) AS ends USING (run)
    LEFT JOIN requests ON requests.run = visits.run AND requests.request = visits.request
    WHERE visits.outcome = 'blocked' AND visits.witness = 'native' AND visits.round < ends.last_round
        AND (requests.first_selected_round IS NULL OR requests.first_selected_round > visits.round)
)
SELECT
    runs.run,
    any_value(runs.label) AS label,
    waits.cause,
    CASE WHEN any_value(runs.sampled_fraction) IS NULL THEN count(*) END AS num_visits,
    CASE
        WHEN any_value(runs.sampled_fraction) IS NULL THEN count(*) FILTER (first_selected_round = round + 1)
    END AS num_visits_selected_next,
    count(*) FILTER (first_selected_round = round + 1) / count(*) AS next_round_fraction,
    quantile_cont(first_selected_round - round, 0.5) AS p50_rounds_until_selected,
    CASE WHEN any_value(runs.sampled_fraction) IS NULL THEN max(first_selected_round - round) END
        AS most_rounds_until_selected
FROM waits
JOIN runs USING (run)
GROUP BY runs.run, waits.cause;

COMMENT ON VIEW blocking_recovery IS 'One row a run and cause, over BLOCKED visits of the scan to requests that wait for their first selection, the last round left out.';
COMMENT ON COLUMN blocking_recovery.run IS '[-] Run.';
COMMENT ON COLUMN blocking_recovery.label IS '[-] Name of the run.';
COMMENT ON COLUMN blocking_recovery.cause IS '[-] being_written or marked_again.';
COMMENT ON COLUMN blocking_recovery.num_visits IS '[visits] BLOCKED visits that have a next round.';
COMMENT ON COLUMN blocking_recovery.num_visits_selected_next IS '[visits] Of those, the ones whose request the next round selected.';
COMMENT ON COLUMN blocking_recovery.next_round_fraction IS '[fraction] Formula: num_visits_selected_next / num_visits.';
COMMENT ON COLUMN blocking_recovery.p50_rounds_until_selected IS '[rounds] Median number of rounds from a refusal to the selection, of those that were selected.';
COMMENT ON COLUMN blocking_recovery.most_rounds_until_selected IS '[rounds] Greatest number of rounds from a refusal to the selection.';
