-- Which request a number stands for.
-- depends on: requests, offers

CREATE VIEW request_names AS
SELECT requests.run, requests.request, requests.request_id, offers.request_group, offers.branch, offers.dataset
FROM requests
LEFT JOIN offers ON offers.run = requests.run AND offers.request_id = requests.request_id;

COMMENT ON VIEW request_names IS 'Name and group of each request that the engine saw.';
COMMENT ON COLUMN request_names.run IS '[-] Run.';
COMMENT ON COLUMN request_names.request IS '[-] Number of the request in the run.';
COMMENT ON COLUMN request_names.request_id IS '[-] Name of the branch, equal in every arm of a stream.';
COMMENT ON COLUMN request_names.request_group IS '[-] Request group (question) of the branch; NULL in runs without our client.';
COMMENT ON COLUMN request_names.branch IS '[-] Number of the branch in its group.';
COMMENT ON COLUMN request_names.dataset IS '[-] Dataset or generator of the branch.';
