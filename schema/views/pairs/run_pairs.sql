-- Which runs may be paired, and what is said against it.
-- depends on: comparability

CREATE VIEW run_pairs AS
SELECT
    run_a,
    run_b,
    any_value(label_a) AS label_a,
    any_value(label_b) AS label_b,
    bool_and(is_same OR affects <> 'pairing') AS is_pairable,
    bool_and(is_same) AS is_comparable,
    count(*) FILTER (NOT is_same) AS num_differences,
    bool_and(is_same OR affects = 'times') AS is_scheduling_comparable,
    string_agg(sentence, ' ' ORDER BY property) AS differences
FROM comparability
GROUP BY run_a, run_b;

COMMENT ON VIEW run_pairs IS 'One row an ordered pair of different runs. Paired views hold the pairable ones; the differences of these are marks that belong beside every comparison.';
COMMENT ON COLUMN run_pairs.run_a IS '[-] Run of the baseline.';
COMMENT ON COLUMN run_pairs.run_b IS '[-] Run that is compared with it.';
COMMENT ON COLUMN run_pairs.label_a IS '[-] Name of run a.';
COMMENT ON COLUMN run_pairs.label_b IS '[-] Name of run b.';
COMMENT ON COLUMN run_pairs.is_pairable IS '[-] Whether stream (workload digest), model name and architecture agree, so that requests are paired.';
COMMENT ON COLUMN run_pairs.is_comparable IS '[-] Whether everything stated agrees.';
COMMENT ON COLUMN run_pairs.num_differences IS '[differences] Properties that differ.';
COMMENT ON COLUMN run_pairs.is_scheduling_comparable IS '[-] Whether all that bears on scheduling agrees, so that counts of rounds may be compared.';
COMMENT ON COLUMN run_pairs.differences IS '[-] The differences, a sentence each; NULL without any.';
