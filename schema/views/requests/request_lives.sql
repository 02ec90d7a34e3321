-- The life of each branch from the offer to its completion: client and engine side by side.
-- depends on: requests, offers, opened_runs

CREATE VIEW request_lives AS
SELECT
    run,
    requests.request,
    request_id,
    offers.request_group,
    offers.branch,
    offers.dataset,
    offers.regime,
    offers.input_order,
    coalesce(requests.num_prompt_tokens, offers.num_prompt_tokens) AS num_prompt_tokens,
    requests.num_reused_tokens,
    requests.num_scheduled_tokens,
    requests.num_repeated_tokens,
    coalesce(requests.num_output_tokens, offers.num_output_tokens) AS num_output_tokens,
    (offers.offered_ns - origin_ns) / 1e6 AS offered_ms,
    (offers.sent_ns - origin_ns) / 1e6 AS sent_ms,
    (requests.registered_ns - origin_ns) / 1e6 AS registered_ms,
    (requests.released_ns - origin_ns) / 1e6 AS released_ms,
    (requests.first_selected_ns - origin_ns) / 1e6 AS first_selected_ms,
    (offers.first_output_ns - origin_ns) / 1e6 AS first_output_ms,
    (requests.finished_ns - origin_ns) / 1e6 AS finished_ms,
    (offers.completed_ns - origin_ns) / 1e6 AS completed_ms,
    (requests.first_selected_ns - requests.registered_ns) / 1e6 AS waiting_ms,
    CASE WHEN offers.outcome = 'completed' THEN (offers.completed_ns - offers.sent_ns) / 1e6 END AS latency_ms,
    CASE WHEN offers.outcome = 'completed' THEN (offers.completed_ns - offers.offered_ns) / 1e6 END
        AS offered_latency_ms,
    requests.first_selected_round,
    requests.num_blocked_visits,
    requests.num_rows,
    requests.num_preemptions,
    coalesce(offers.outcome, requests.outcome) AS outcome,
    offers.outcome_reason,
    offers.first_token_id
FROM requests
FULL JOIN offers USING (run, request_id)
JOIN opened_runs USING (run);

COMMENT ON VIEW request_lives IS 'One row a branch: tokens, times after the start of the first round, latency, outcome. Branches that never reached the engine are included.';
COMMENT ON COLUMN request_lives.run IS '[-] Run.';
COMMENT ON COLUMN request_lives.request IS '[-] Number of the request in the run; NULL if the engine never saw it.';
COMMENT ON COLUMN request_lives.request_id IS '[-] Name of the branch, equal in every arm of a stream.';
COMMENT ON COLUMN request_lives.request_group IS '[-] Request group (question) of the branch; NULL in runs without our client.';
COMMENT ON COLUMN request_lives.branch IS '[-] Number of the branch in its group.';
COMMENT ON COLUMN request_lives.dataset IS '[-] Dataset or generator of the branch.';
COMMENT ON COLUMN request_lives.regime IS '[-] Reuse regime of the stream.';
COMMENT ON COLUMN request_lives.input_order IS '[-] Input order of the stream.';
COMMENT ON COLUMN request_lives.num_prompt_tokens IS '[tokens] Length of the prompt.';
COMMENT ON COLUMN request_lives.num_reused_tokens IS '[tokens] Prompt tokens taken from the prefix cache at the first selection; NULL if never selected.';
COMMENT ON COLUMN request_lives.num_scheduled_tokens IS '[tokens] Tokens scheduled for it in all rounds, prompt and output.';
COMMENT ON COLUMN request_lives.num_repeated_tokens IS '[tokens] Prompt tokens scheduled again after a preemption.';
COMMENT ON COLUMN request_lives.num_output_tokens IS '[tokens] Output tokens produced.';
COMMENT ON COLUMN request_lives.offered_ms IS '[ms] When the branch was due to be sent, after the start of the first round.';
COMMENT ON COLUMN request_lives.sent_ms IS '[ms] When it was sent; NULL if it never was.';
COMMENT ON COLUMN request_lives.registered_ms IS '[ms] When the scheduler received it.';
COMMENT ON COLUMN request_lives.released_ms IS '[ms] When admission let it through; NULL while held.';
COMMENT ON COLUMN request_lives.first_selected_ms IS '[ms] Start of the round that first selected it.';
COMMENT ON COLUMN request_lives.first_output_ms IS '[ms] When the client had its first output token.';
COMMENT ON COLUMN request_lives.finished_ms IS '[ms] When the scheduler ended it.';
COMMENT ON COLUMN request_lives.completed_ms IS '[ms] When the last output reached the client.';
COMMENT ON COLUMN request_lives.waiting_ms IS '[ms] From registration to first selection. Formula: first_selected_ms - registered_ms.';
COMMENT ON COLUMN request_lives.latency_ms IS '[ms] From sending to completion; NULL without our client or when it did not complete. Formula: completed_ms - sent_ms.';
COMMENT ON COLUMN request_lives.offered_latency_ms IS '[ms] From the due time to completion, with the lateness of the sender. Formula: completed_ms - offered_ms.';
COMMENT ON COLUMN request_lives.first_selected_round IS '[-] Round that first selected it.';
COMMENT ON COLUMN request_lives.num_blocked_visits IS '[visits] Visits that ended BLOCKED.';
COMMENT ON COLUMN request_lives.num_rows IS '[rows] Rounds in which it was scheduled.';
COMMENT ON COLUMN request_lives.num_preemptions IS '[preemptions] How often it was preempted.';
COMMENT ON COLUMN request_lives.outcome IS '[-] What the client saw, else what the engine did: completed, finished, rejected, aborted, failed or unfinished.';
COMMENT ON COLUMN request_lives.outcome_reason IS '[-] Why it was rejected or failed.';
COMMENT ON COLUMN request_lives.first_token_id IS '[-] Id of the first output token.';
