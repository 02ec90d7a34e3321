-- Files that were left out, or are missing, when the runs were opened.
-- depends on: opened_faults

CREATE VIEW segment_faults AS
SELECT run, table_name, file_name, sentence
FROM opened_faults
ORDER BY run, table_name NULLS FIRST, file_name;

COMMENT ON VIEW segment_faults IS 'Files of the opened runs that are not used: truncated, foreign, of another format version, or missing. No view counts them.';
COMMENT ON COLUMN segment_faults.run IS '[-] Number of the run among the opened ones; a run that cannot be read is in no other view.';
COMMENT ON COLUMN segment_faults.table_name IS '[-] Table whose folder the file is in; NULL for the manifest and the writers.';
COMMENT ON COLUMN segment_faults.file_name IS '[-] Name of the file in that folder.';
COMMENT ON COLUMN segment_faults.sentence IS '[-] What is wrong, in a sentence for a person.';
