-- What two runs must share before they are compared, property by property.
-- depends on: runs, opened_facts

CREATE VIEW comparability AS
WITH properties AS (
    SELECT DISTINCT property FROM opened_facts
    UNION
    SELECT 'workload.digest'
),
paired AS (
    SELECT
        a.run AS run_a,
        b.run AS run_b,
        a.label AS label_a,
        b.label AS label_b,
        properties.property,
        fact_a.value AS value_a,
        fact_b.value AS value_b,
        CASE
            WHEN properties.property IN ('workload.digest', 'model.name', 'model.architecture') THEN 'pairing'
            WHEN properties.property LIKE 'hardware.%' OR properties.property IN ('recording.probe', 'versions.python', 'versions.pyarrow')
                THEN 'times'
            ELSE 'scheduling'
        END AS affects
    FROM runs AS a
    JOIN runs AS b ON a.run <> b.run
    CROSS JOIN properties
    LEFT JOIN opened_facts AS fact_a ON fact_a.run = a.run AND fact_a.property = properties.property
    LEFT JOIN opened_facts AS fact_b ON fact_b.run = b.run AND fact_b.property = properties.property
)
SELECT
    run_a,
    run_b,
    label_a,
    label_b,
    property,
    value_a,
    value_b,
    affects,
    -- a stream without a digest is known to be the same as no other
    value_a IS NOT DISTINCT FROM value_b AND (property <> 'workload.digest' OR value_a IS NOT NULL) AS is_same,
    CASE
        WHEN is_same THEN NULL
        WHEN property = 'workload.digest' THEN 'The runs were not offered the same stream.'
        ELSE format('{} is {} in {} and {} in {}.', property, coalesce(value_a, 'not known'), label_a,
            coalesce(value_b, 'not known'), label_b)
    END AS sentence
FROM paired;

COMMENT ON VIEW comparability IS 'One row an ordered pair of runs and property that either manifest states. A difference that affects the pairing refuses it; any other one marks it.';
COMMENT ON COLUMN comparability.run_a IS '[-] Run of the baseline.';
COMMENT ON COLUMN comparability.run_b IS '[-] Run that is compared with it.';
COMMENT ON COLUMN comparability.label_a IS '[-] Name of run a.';
COMMENT ON COLUMN comparability.label_b IS '[-] Name of run b.';
COMMENT ON COLUMN comparability.property IS '[-] Fact of the manifest: workload.digest, model.* (name, architecture, geometry, block size, block pool), engine.* (engine arguments: budgets, async scheduling, cache mode, ...), versions.*, hardware.*, recording.engine_kind, recording.probe.';
COMMENT ON COLUMN comparability.value_a IS '[-] Its value in run a; NULL if not stated.';
COMMENT ON COLUMN comparability.value_b IS '[-] Its value in run b; NULL if not stated.';
COMMENT ON COLUMN comparability.affects IS '[-] What a difference spoils: pairing (the runs are not paired at all), scheduling (rounds and all that follows from them), times (durations and latencies only).';
COMMENT ON COLUMN comparability.is_same IS '[-] Whether the runs share it; streams without a digest do not.';
COMMENT ON COLUMN comparability.sentence IS '[-] The difference in a sentence; NULL if there is none.';
