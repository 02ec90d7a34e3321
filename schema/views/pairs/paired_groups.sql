-- The same request group in two arms of one stream.
-- depends on: run_pairs, group_lives

CREATE VIEW paired_groups AS
SELECT
    run_pairs.run_a,
    run_pairs.run_b,
    a.request_group,
    a.dataset,
    a.latency_ms AS latency_ms_a,
    b.latency_ms AS latency_ms_b,
    b.latency_ms - a.latency_ms AS latency_difference_ms
FROM run_pairs
JOIN group_lives AS a ON a.run = run_pairs.run_a
JOIN group_lives AS b ON b.run = run_pairs.run_b AND b.request_group = a.request_group
WHERE run_pairs.is_pairable;

COMMENT ON VIEW paired_groups IS 'One row a request group and ordered pair of pairable runs; a group is complete with its last branch.';
COMMENT ON COLUMN paired_groups.run_a IS '[-] Run of the baseline.';
COMMENT ON COLUMN paired_groups.run_b IS '[-] Run that is compared with it.';
COMMENT ON COLUMN paired_groups.request_group IS '[-] Number of the group in both runs.';
COMMENT ON COLUMN paired_groups.dataset IS '[-] Dataset or generator of the group.';
COMMENT ON COLUMN paired_groups.latency_ms_a IS '[ms] Latency in run a, first branch sent to last completed; NULL when any branch did not complete.';
COMMENT ON COLUMN paired_groups.latency_ms_b IS '[ms] Latency in run b.';
COMMENT ON COLUMN paired_groups.latency_difference_ms IS '[ms] Negative when run b was faster. Formula: latency_ms_b - latency_ms_a.';
