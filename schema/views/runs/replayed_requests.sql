-- The table requests, derived once more from what was recorded while each request lived: for a run that was killed.
-- depends on: registrations, rows, rounds, events, visits, opened_runs

CREATE VIEW replayed_requests AS
WITH positions AS (  -- of the prompt: decodes lie behind it
    SELECT
        rows.run, rows.request, rows.round, rows.kind, rows.num_tokens, registrations.num_prompt_tokens,
        rows.first_token + rows.num_tokens AS end_token,
        least(rows.first_token, registrations.num_prompt_tokens) AS first_position,
        least(rows.first_token + rows.num_tokens, registrations.num_prompt_tokens) AS end_position
    FROM rows
    JOIN registrations ON registrations.run = rows.run AND registrations.request = rows.request
), covered AS (  -- how much of the prompt was covered before each row
    SELECT *, coalesce(max(end_position) OVER (
        PARTITION BY run, request ORDER BY round ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS num_before
    FROM positions
), counted AS (
    SELECT
        covered.run, covered.request,
        sum(greatest(0, first_position - num_before)) FILTER (kind <> 'running') AS num_reused_tokens,
        sum(num_tokens) AS num_scheduled_tokens,
        sum(end_position - first_position) AS num_scheduled_prompt_tokens,
        sum(greatest(0, least(end_position, num_before) - first_position)) AS num_repeated_tokens,
        greatest(0, max(end_token - num_prompt_tokens + 1) FILTER (rounds.update_end_ns IS NOT NULL))
            AS num_output_tokens,
        -- a process that is killed while it writes leaves rows whose events, or rounds, are lost
        min(covered.round) FILTER (kind = 'new') AS first_selected_round,
        min(rounds.schedule_start_ns) FILTER (kind = 'new') AS first_selected_ns,
        count(*) AS num_rows
    FROM covered
    LEFT JOIN rounds ON rounds.run = covered.run AND rounds.round = covered.round
    GROUP BY ALL
), happened AS (
    SELECT
        run, request,
        min(time_ns) FILTER (event = 'released') AS released_ns,
        min(time_ns) FILTER (event = 'selected') AS first_selected_ns,
        min(round) FILTER (event = 'selected') AS first_selected_round,
        min(time_ns) FILTER (event IN ('finished', 'aborted')) AS finished_ns,
        min(event) FILTER (event IN ('finished', 'aborted')) AS outcome,
        count(*) FILTER (event = 'preempted') AS num_preemptions
    FROM events
    GROUP BY ALL
), selected AS (  -- first of all: by its event, or by its first row
    SELECT
        registrations.run, registrations.request,
        coalesce(happened.first_selected_ns, counted.first_selected_ns) AS first_selected_ns,
        coalesce(happened.first_selected_round, counted.first_selected_round) AS first_selected_round
    FROM registrations
    LEFT JOIN counted ON counted.run = registrations.run AND counted.request = registrations.request
    LEFT JOIN happened ON happened.run = registrations.run AND happened.request = registrations.request
), refused AS (
    SELECT run, request, sum(last_round - round + 1) AS num_blocked_visits
    FROM visits
    WHERE outcome = 'blocked' AND witness = 'native'
    GROUP BY ALL
)
SELECT
    registrations.run,
    registrations.request,
    registrations.request_id,
    registrations.num_prompt_tokens,
    registrations.registered_ns,
    coalesce(happened.released_ns, if(selected.first_selected_round IS NULL, NULL, registrations.registered_ns))
        AS released_ns,
    selected.first_selected_ns,
    selected.first_selected_round,
    happened.finished_ns,
    if(selected.first_selected_round IS NULL, NULL, coalesce(counted.num_reused_tokens, 0))::INTEGER
        AS num_reused_tokens,
    coalesce(counted.num_scheduled_tokens, 0)::BIGINT AS num_scheduled_tokens,
    coalesce(counted.num_scheduled_prompt_tokens, 0)::BIGINT AS num_scheduled_prompt_tokens,
    coalesce(counted.num_repeated_tokens, 0)::BIGINT AS num_repeated_tokens,
    coalesce(counted.num_output_tokens, 0)::INTEGER AS num_output_tokens,
    coalesce(happened.num_preemptions, 0)::INTEGER AS num_preemptions,
    coalesce(refused.num_blocked_visits, 0)::INTEGER AS num_blocked_visits,
    coalesce(counted.num_rows, 0)::INTEGER AS num_rows,
    coalesce(happened.outcome, 'unfinished') AS outcome
FROM registrations
LEFT JOIN counted ON counted.run = registrations.run AND counted.request = registrations.request
LEFT JOIN happened ON happened.run = registrations.run AND happened.request = registrations.request
JOIN selected ON selected.run = registrations.run AND selected.request = registrations.request
LEFT JOIN refused ON refused.run = registrations.run AND refused.request = registrations.request
JOIN opened_runs ON opened_runs.run = registrations.run
-- what rounds that are not kept did to a request, or what was before the recording, cannot be derived
WHERE opened_runs.sampled_fraction IS NULL AND (selected.first_selected_round IS NOT NULL OR counted.num_rows IS NULL);

COMMENT ON VIEW replayed_requests IS 'One row a registered request: what its row in the table requests says, or would say if its end had been recorded, derived from rows, rounds, events and visits. Requests that ran before the recording began are left out, and those of a run that keeps a sample of its rounds.';
COMMENT ON COLUMN replayed_requests.run IS '[-] Run.';
COMMENT ON COLUMN replayed_requests.request IS '[-] Number of the request in the run.';
COMMENT ON COLUMN replayed_requests.request_id IS '[-] Name of the branch.';
COMMENT ON COLUMN replayed_requests.num_prompt_tokens IS '[tokens] Length of the prompt.';
COMMENT ON COLUMN replayed_requests.registered_ns IS '[ns] Monotonic time at which the scheduler received the request.';
COMMENT ON COLUMN replayed_requests.released_ns IS '[ns] Monotonic time at which admission let it through; NULL while held or not selected.';
COMMENT ON COLUMN replayed_requests.first_selected_ns IS '[ns] Start of the schedule() call that first selected it; NULL also where that round was lost.';
COMMENT ON COLUMN replayed_requests.first_selected_round IS '[-] Round that first selected it; NULL if it was not selected.';
COMMENT ON COLUMN replayed_requests.finished_ns IS '[ns] Monotonic time at which it ended; NULL if that was not recorded.';
COMMENT ON COLUMN replayed_requests.num_reused_tokens IS '[tokens] Prompt tokens first covered by the prefix cache; NULL if it was not selected. Formula: sum over new and resumed rows of max(0, first position - positions covered before).';
COMMENT ON COLUMN replayed_requests.num_scheduled_tokens IS '[tokens] Tokens scheduled for it in all rounds.';
COMMENT ON COLUMN replayed_requests.num_scheduled_prompt_tokens IS '[tokens] Prompt tokens scheduled for it in all rounds.';
COMMENT ON COLUMN replayed_requests.num_repeated_tokens IS '[tokens] Prompt tokens scheduled again. Formula: sum over rows of max(0, min(end, positions covered before) - first position).';
COMMENT ON COLUMN replayed_requests.num_output_tokens IS '[tokens] Output tokens, if the model is not given drafts. Formula: max(0, greatest end of a row whose output was processed - prompt tokens + 1).';
COMMENT ON COLUMN replayed_requests.num_preemptions IS '[preemptions] How often it was preempted.';
COMMENT ON COLUMN replayed_requests.num_blocked_visits IS '[visits] BLOCKED visits of the scan.';
COMMENT ON COLUMN replayed_requests.num_rows IS '[rows] Rounds in which it was scheduled.';
COMMENT ON COLUMN replayed_requests.outcome IS '[-] finished, aborted or unfinished.';
