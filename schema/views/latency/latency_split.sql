-- What the mean latency of a run consists of.
-- depends on: runs, latency_parts
-- cached by: run

CREATE VIEW latency_split AS
SELECT
    runs.run,
    any_value(runs.label) AS label,
    count(*) AS num_requests,
    avg(sending_ms) AS mean_sending_ms,
    avg(waiting_ms) AS mean_waiting_ms,
    avg(executing_ms) AS mean_executing_ms,
    avg(latency_ms) AS mean_latency_ms,
    sum(waiting_ms) / nullif(sum(latency_ms), 0) AS waiting_fraction
FROM latency_parts
JOIN runs USING (run)
GROUP BY runs.run;

COMMENT ON VIEW latency_split IS 'One row a run with completed branches. mean_sending_ms + mean_waiting_ms + mean_executing_ms = mean_latency_ms.';
COMMENT ON COLUMN latency_split.run IS '[-] Run.';
COMMENT ON COLUMN latency_split.label IS '[-] Name of the run.';
COMMENT ON COLUMN latency_split.num_requests IS '[requests] Completed branches that the engine selected.';
COMMENT ON COLUMN latency_split.mean_sending_ms IS '[ms] Mean time from sending to registration in the scheduler.';
COMMENT ON COLUMN latency_split.mean_waiting_ms IS '[ms] Mean time from registration to the first selection.';
COMMENT ON COLUMN latency_split.mean_executing_ms IS '[ms] Mean time from the first selection to completion at the client.';
COMMENT ON COLUMN latency_split.mean_latency_ms IS '[ms] Mean time from sending to completion, over these branches.';
COMMENT ON COLUMN latency_split.waiting_fraction IS '[fraction] Share of all latency that was waiting. Formula: sum(waiting_ms) / sum(latency_ms).';
