-- Numbers of requests to their names and groups, for the views that show single visits and rows.
-- depends on: requests, offers

CREATE VIEW request_names AS
SELECT requests.run, requests.request, requests.request_id, offers.request_group
FROM requests
LEFT JOIN offers ON offers.run = requests.run AND offers.request_id = requests.request_id
-- a window of a long run needs few of millions of names; schema/reading/windows.py says which by these variables
WHERE requests.request >= coalesce(getvariable('first_request')::INTEGER, 0)
    AND requests.request <= coalesce(getvariable('last_request')::INTEGER, 2147483647);

COMMENT ON VIEW request_names IS 'One row a request that the engine saw end.';
COMMENT ON COLUMN request_names.run IS '[-] Run.';
COMMENT ON COLUMN request_names.request IS '[-] Number of the request in the run.';
COMMENT ON COLUMN request_names.request_id IS '[-] Name of the branch.';
COMMENT ON COLUMN request_names.request_group IS '[-] Request group of the branch; NULL in runs without our client.';
