-- What each opened run says of itself: the manifest and the writers, one row a run.
-- depends on: opened_runs

CREATE VIEW runs AS
SELECT
    run,
    CASE
        WHEN count(*) OVER (PARTITION BY policy) = 1 THEN policy
        WHEN count(*) OVER (PARTITION BY experiment, stream, policy) = 1
            THEN concat_ws('/', experiment, stream, policy)
        ELSE concat(experiment, '/', stream, '/', policy, ' #', run)
    END AS label,
    policy,
    policy_effective,
    experiment,
    stream,
    state,
    engine_kind,
    model_name,
    is_hybrid,
    block_size,
    row_capacity,
    token_budget,
    num_requests,
    workload_digest,
    seed,
    vllm_version,
    created_utc,
    command,
    hardware,
    device,
    num_faults,
    num_drops,
    probe,
    is_observed,
    run_id,
    origin_ns,
    regime,
    input_order,
    repeat,
    arrival_rate,
    is_async,
    sampled_fraction
FROM opened_runs
ORDER BY run;

COMMENT ON VIEW runs IS 'The opened runs, one row each: what manifest and writers say. Runs that cannot be read are in segment_faults only.';
COMMENT ON COLUMN runs.run IS '[-] Number of the run among the opened ones, from 0, in the order in which they were named.';
COMMENT ON COLUMN runs.label IS '[-] Shortest name that tells the opened runs apart: policy, else experiment/stream/policy, else with the number of the run.';
COMMENT ON COLUMN runs.policy IS '[-] Policy asked for.';
COMMENT ON COLUMN runs.policy_effective IS '[-] Policy in effect, as the engine process reports it; NULL if it never did.';
COMMENT ON COLUMN runs.experiment IS '[-] Name of the experiment.';
COMMENT ON COLUMN runs.stream IS '[-] Name of the stream; arms of one stream are paired.';
COMMENT ON COLUMN runs.state IS '[-] complete, recording or incomplete, when the run was opened.';
COMMENT ON COLUMN runs.engine_kind IS '[-] vllm for the real engine, simulated for replayed scheduling.';
COMMENT ON COLUMN runs.model_name IS '[-] Name of the model.';
COMMENT ON COLUMN runs.is_hybrid IS '[-] Whether the model has recurrent layers beside attention.';
COMMENT ON COLUMN runs.block_size IS '[tokens] Tokens of one KV cache block.';
COMMENT ON COLUMN runs.row_capacity IS '[rows] Rows that a round may hold (max_num_seqs).';
COMMENT ON COLUMN runs.token_budget IS '[tokens] Tokens that a round may hold (max_num_batched_tokens).';
COMMENT ON COLUMN runs.num_requests IS '[requests] Branches of the offered stream; NULL when it is not ours.';
COMMENT ON COLUMN runs.workload_digest IS '[-] SHA-256 of the offered stream (ids, token ids, offsets); runs that share it are paired.';
COMMENT ON COLUMN runs.seed IS '[-] Seed of the workload.';
COMMENT ON COLUMN runs.vllm_version IS '[-] Version of vLLM that scheduled; a count of rounds says nothing without it.';
COMMENT ON COLUMN runs.created_utc IS '[-] Start of the recording, ISO 8601 in UTC.';
COMMENT ON COLUMN runs.command IS '[-] Command line of the recording.';
COMMENT ON COLUMN runs.hardware IS '[-] Processor, cores and memory of the machine, in one line.';
COMMENT ON COLUMN runs.device IS '[-] Device that executed the model.';
COMMENT ON COLUMN runs.num_faults IS '[faults] Faults kept by the manifest, by the writers, and found in the files when the run was opened.';
COMMENT ON COLUMN runs.num_drops IS '[rows] Rows of any table that the recording lost.';
COMMENT ON COLUMN runs.probe IS '[-] off, blocked or full: how far the counterfactual probe went. Without it avoidable rows are unknown.';
COMMENT ON COLUMN runs.is_observed IS '[-] Whether the engine was observed; in a run that was not (policy stock) every number of the engine is NULL.';
COMMENT ON COLUMN runs.run_id IS '[-] Random name of the run.';
COMMENT ON COLUMN runs.origin_ns IS '[ns] Monotonic time of the first schedule() call with work: zero of every *_ms time of the run; without rounds, of the first stall; NULL without either.';
COMMENT ON COLUMN runs.regime IS '[-] Reuse regime of the stream: cold, mixed or reuse.';
COMMENT ON COLUMN runs.input_order IS '[-] Order in which the stream offers its groups.';
COMMENT ON COLUMN runs.repeat IS '[-] Number of the repeat of the stream; NULL when it is not repeated.';
COMMENT ON COLUMN runs.arrival_rate IS '[groups/s] Mean rate at which the stream offers its groups.';
COMMENT ON COLUMN runs.is_async IS '[-] Whether the engine schedules a round before the one before it has ended.';
COMMENT ON COLUMN runs.sampled_fraction IS '[fraction] Share of the rounds that was drawn and kept; NULL when every round is kept.';
