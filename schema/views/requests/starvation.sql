-- The longest waits of each run.
-- depends on: request_waits, refused_requests
-- cached by: run

CREATE VIEW starvation AS
WITH ranked AS (
    SELECT *, row_number() OVER (PARTITION BY run ORDER BY waited_ms DESC, request) AS wait_rank
    FROM request_waits
)
SELECT
    ranked.run,
    ranked.wait_rank,
    ranked.request_id,
    ranked.is_selected,
    ranked.waited_ms,
    ranked.num_rounds_waited,
    ranked.num_deferrals,
    ranked.num_overtakes,
    ranked.num_blocked_visits,
    refused.blocked_ms
FROM ranked
LEFT JOIN refused_requests AS refused ON refused.run = ranked.run AND refused.request = ranked.request
WHERE ranked.wait_rank <= 50;

COMMENT ON VIEW starvation IS 'The 50 requests of each run that waited longest for their first selection.';
COMMENT ON COLUMN starvation.run IS '[-] Run.';
COMMENT ON COLUMN starvation.wait_rank IS '[-] 1 for the longest wait.';
COMMENT ON COLUMN starvation.request_id IS '[-] Name of the branch.';
COMMENT ON COLUMN starvation.is_selected IS '[-] Whether any round selected it.';
COMMENT ON COLUMN starvation.waited_ms IS '[ms] As in request_waits.';
COMMENT ON COLUMN starvation.num_rounds_waited IS '[rounds] As in request_waits.';
COMMENT ON COLUMN starvation.num_deferrals IS '[visits] Visits that did not take it.';
COMMENT ON COLUMN starvation.num_overtakes IS '[requests] Later arrivals that came first.';
COMMENT ON COLUMN starvation.num_blocked_visits IS '[visits] Of the visits, refused for its recurrent state.';
COMMENT ON COLUMN starvation.blocked_ms IS '[ms] From its first such refusal to its selection; NULL if it was never refused, or never selected.';
