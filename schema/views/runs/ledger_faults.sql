-- Ledgers that do not close; an empty view is the proof that every row and token is accounted for.
-- depends on: rounds, requests
-- cached by: run

CREATE VIEW ledger_faults AS
WITH slots AS (
    SELECT
        run, round, row_capacity,
        rows_used + rows_avoidable + rows_dependency_wait + rows_held + rows_token_limited + rows_other + rows_no_work
            AS rows_explained
    FROM rounds
),
tokens AS (
    SELECT
        run, request, request_id, num_prompt_tokens,
        num_reused_tokens + num_scheduled_prompt_tokens - num_repeated_tokens AS tokens_explained
    FROM requests
    WHERE outcome = 'finished'
)
SELECT
    run, 'slot' AS ledger, round, NULL::INTEGER AS request,
    format('Round {} may hold {} rows, but its ledger explains {}.', round, row_capacity, rows_explained) AS sentence
FROM slots
WHERE row_capacity <> rows_explained
UNION ALL
SELECT
    run, 'token' AS ledger, NULL::BIGINT AS round, request,
    CASE
        WHEN tokens_explained IS NULL THEN format('Request {} finished without a count of reused tokens.', request_id)
        ELSE format(
            'Request {} has {} prompt tokens, but its ledger explains {}.',
            request_id, num_prompt_tokens, tokens_explained
        )
    END AS sentence
FROM tokens
WHERE num_prompt_tokens IS DISTINCT FROM tokens_explained;

COMMENT ON VIEW ledger_faults IS 'Rounds whose slot ledger and finished requests whose token ledger do not close.';
COMMENT ON COLUMN ledger_faults.run IS '[-] Run.';
COMMENT ON COLUMN ledger_faults.ledger IS '[-] slot (row_capacity = sum of the rows_* classes of a round) or token (num_prompt_tokens = num_reused_tokens + num_scheduled_prompt_tokens - num_repeated_tokens of a finished request).';
COMMENT ON COLUMN ledger_faults.round IS '[-] Round of a slot ledger.';
COMMENT ON COLUMN ledger_faults.request IS '[-] Request of a token ledger.';
COMMENT ON COLUMN ledger_faults.sentence IS '[-] What does not add up, in a sentence for a person.';
