-- The life of each request group: it is complete with its last branch.
-- depends on: request_lives

CREATE VIEW group_lives AS
SELECT
    run,
    request_group,
    min(dataset) AS dataset,
    count(*) AS num_branches,
    count(latency_ms) AS num_branches_completed,
    min(sent_ms) AS first_sent_ms,
    CASE WHEN count(latency_ms) = count(*) THEN max(completed_ms) END AS last_completed_ms,
    CASE WHEN count(latency_ms) = count(*) THEN max(completed_ms) - min(sent_ms) END AS latency_ms,
    CASE WHEN count(latency_ms) = count(*) THEN max(completed_ms) - min(offered_ms) END AS offered_latency_ms
FROM request_lives
WHERE request_group IS NOT NULL
GROUP BY run, request_group;

COMMENT ON VIEW group_lives IS 'One row a request group (question with its candidate answers); NULL latency when any branch did not complete.';
COMMENT ON COLUMN group_lives.run IS '[-] Run.';
COMMENT ON COLUMN group_lives.request_group IS '[-] Number of the group.';
COMMENT ON COLUMN group_lives.dataset IS '[-] Dataset or generator of its branches.';
COMMENT ON COLUMN group_lives.num_branches IS '[requests] Branches of the group.';
COMMENT ON COLUMN group_lives.num_branches_completed IS '[requests] Branches that completed.';
COMMENT ON COLUMN group_lives.first_sent_ms IS '[ms] When its first branch was sent, after the start of the first round.';
COMMENT ON COLUMN group_lives.last_completed_ms IS '[ms] When its last branch completed.';
COMMENT ON COLUMN group_lives.latency_ms IS '[ms] From the first branch sent to the last completed. Formula: last_completed_ms - first_sent_ms.';
COMMENT ON COLUMN group_lives.offered_latency_ms IS '[ms] From the first due time to the last completion.';
