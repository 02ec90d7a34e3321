-- What each round cost, on each clock.
-- depends on: round_ends, spans

CREATE VIEW round_costs AS
SELECT run, round, 'host_round' AS clock, end_ns - start_ns AS cost_ns
FROM round_ends
UNION ALL
SELECT
    run,
    round,
    CASE clock WHEN 'host' THEN 'host_execute' ELSE 'device' END AS clock,
    max(end_ns) - min(start_ns) AS cost_ns
FROM spans
WHERE component = 'execute'
GROUP BY run, round, clock;

COMMENT ON VIEW round_costs IS 'One row a round and clock that measured it. The clocks are different quantities and are never added up or mixed.';
COMMENT ON COLUMN round_costs.run IS '[-] Run.';
COMMENT ON COLUMN round_costs.round IS '[-] Round.';
COMMENT ON COLUMN round_costs.clock IS '[-] host_round (schedule() to update, without probe and recorder), host_execute (the wrapper around execute_model, first worker to last), device (CUDA events around execution).';
COMMENT ON COLUMN round_costs.cost_ns IS '[ns] Cost of the round on that clock.';
