-- What the latency of each completed branch consists of: on the way, waiting, executing.
-- depends on: request_lives

CREATE VIEW latency_parts AS
SELECT
    run,
    request_id,
    request_group,
    dataset,
    registered_ms - sent_ms AS sending_ms,
    waiting_ms,
    completed_ms - first_selected_ms AS executing_ms,
    latency_ms,
    waiting_ms / nullif(latency_ms, 0) AS waiting_fraction,
    num_blocked_visits,
    request
FROM request_lives
WHERE latency_ms IS NOT NULL AND waiting_ms IS NOT NULL;

COMMENT ON VIEW latency_parts IS 'One row a completed branch that the engine selected. sending_ms + waiting_ms + executing_ms = latency_ms.';
COMMENT ON COLUMN latency_parts.run IS '[-] Run.';
COMMENT ON COLUMN latency_parts.request_id IS '[-] Name of the branch.';
COMMENT ON COLUMN latency_parts.request_group IS '[-] Its request group.';
COMMENT ON COLUMN latency_parts.dataset IS '[-] Dataset or generator of the branch.';
COMMENT ON COLUMN latency_parts.sending_ms IS '[ms] From sending to registration in the scheduler. Formula: registered_ms - sent_ms.';
COMMENT ON COLUMN latency_parts.waiting_ms IS '[ms] From registration to the start of the round that first selected it.';
COMMENT ON COLUMN latency_parts.executing_ms IS '[ms] From that round to completion at the client. Formula: completed_ms - first_selected_ms.';
COMMENT ON COLUMN latency_parts.latency_ms IS '[ms] From sending to completion.';
COMMENT ON COLUMN latency_parts.waiting_fraction IS '[fraction] Formula: waiting_ms / latency_ms.';
COMMENT ON COLUMN latency_parts.num_blocked_visits IS '[visits] Visits that ended BLOCKED.';
COMMENT ON COLUMN latency_parts.request IS '[-] Number of the request in the run.';
