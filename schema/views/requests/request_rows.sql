-- Every row with the name of its request and the time of its round: what one round held, and where one request ran.
-- depends on: rows, round_ends, request_names

CREATE VIEW request_rows AS
SELECT
    rows.run,
    rows.round,
    rows.slot,
    round_ends.start_ms,
    round_ends.end_ms,
    request_names.request_id,
    request_names.request_group,
    rows.kind,
    rows.visit,
    rows.first_token,
    rows.first_token + rows.num_tokens AS end_token,
    rows.num_tokens,
    rows.num_reused_tokens,
    lower(hex(rows.restored_hash)) AS restored_state,
    lower(hex(rows.published_hash)) AS published_state,
    rows.request
FROM rows
LEFT JOIN round_ends ON round_ends.run = rows.run AND round_ends.round = rows.round
LEFT JOIN request_names ON request_names.run = rows.run AND request_names.request = rows.request;

COMMENT ON VIEW request_rows IS 'One row a request in a round, with its name, its time and the token interval that it computed.';
COMMENT ON COLUMN request_rows.run IS '[-] Run.';
COMMENT ON COLUMN request_rows.round IS '[-] Round; filter on run and round to read only that part of the files.';
COMMENT ON COLUMN request_rows.slot IS '[-] Position in the round, in the order of selection from 0.';
COMMENT ON COLUMN request_rows.start_ms IS '[ms] Start of the round after the start of the first round.';
COMMENT ON COLUMN request_rows.end_ms IS '[ms] End of the round after the start of the first round.';
COMMENT ON COLUMN request_rows.request_id IS '[-] Name of the branch; NULL if the recording ended before the request did.';
COMMENT ON COLUMN request_rows.request_group IS '[-] Its request group.';
COMMENT ON COLUMN request_rows.kind IS '[-] new, running or resumed.';
COMMENT ON COLUMN request_rows.visit IS '[-] Place in the order of the scan, comparable within the round; NULL for a running request.';
COMMENT ON COLUMN request_rows.first_token IS '[tokens] Position of the first token that the row computes; those before it are computed or reused.';
COMMENT ON COLUMN request_rows.end_token IS '[tokens] Position after the last one. Formula: first_token + num_tokens.';
COMMENT ON COLUMN request_rows.num_tokens IS '[tokens] Tokens scheduled in the round.';
COMMENT ON COLUMN request_rows.num_reused_tokens IS '[tokens] Tokens taken from the prefix cache in the round.';
COMMENT ON COLUMN request_rows.restored_state IS '[-] Hash of the recurrent state that was restored from the cache, in hexadecimal.';
COMMENT ON COLUMN request_rows.published_state IS '[-] Hash of the deepest recurrent state that the row writes and publishes, in hexadecimal.';
COMMENT ON COLUMN request_rows.request IS '[-] Number of the request in the run.';
