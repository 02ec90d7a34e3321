-- Who came first although it arrived later: the pairs behind num_overtakes of request_waits, for one request at a time.
-- depends on: requests, opened_runs

CREATE VIEW request_overtakers AS
SELECT
    earlier.run,
    earlier.request,
    earlier.request_id,
    later.request_id AS overtaker_request_id,
    later.first_selected_round AS overtaker_round,
    (later.registered_ns - opened_runs.origin_ns) / 1e6 AS overtaker_registered_ms,
    later.first_selected_round - earlier.first_selected_round AS rounds_difference
FROM requests AS earlier
JOIN requests AS later ON later.run = earlier.run AND later.request > earlier.request
    AND later.first_selected_round < coalesce(earlier.first_selected_round, 4611686018427387904)
JOIN opened_runs ON opened_runs.run = earlier.run
WHERE earlier.first_selected_ns IS NULL OR earlier.first_selected_round IS NOT NULL;  -- else selected before the recording

COMMENT ON VIEW request_overtakers IS 'One row a request and later arrival that was first selected in an earlier round. Ask for one request: over a whole run there may be very many pairs.';
COMMENT ON COLUMN request_overtakers.run IS '[-] Run.';
COMMENT ON COLUMN request_overtakers.request IS '[-] Number of the request that was overtaken.';
COMMENT ON COLUMN request_overtakers.request_id IS '[-] Its name.';
COMMENT ON COLUMN request_overtakers.overtaker_request_id IS '[-] Request that was registered later and selected earlier.';
COMMENT ON COLUMN request_overtakers.overtaker_round IS '[-] Round that first selected that one.';
COMMENT ON COLUMN request_overtakers.overtaker_registered_ms IS '[ms] When that one was registered, after the start of the first round.';
COMMENT ON COLUMN request_overtakers.rounds_difference IS '[rounds] Negative: how many rounds earlier; NULL if the overtaken request was never selected. Formula: overtaker_round - round of the first selection.';
