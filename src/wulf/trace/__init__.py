"""Traces of MPI programs: read, written, counted, turned from and into other tools' formats. No node is touched.

record      one record as a value
wire        the fields of records as bytes
reader      a rank's file, a chunk at a time; whole traces
writer      the same the other way, for imports and tests
manifest    trace.json: what belongs to the trace, and what is missing
requests    which calls complete which requests; communicators by members
summary     calls, seconds and bytes by rank and call; who sends to whom; faults
skew        how far the clocks of hosts are apart, as messages show it
steps       a rank's records as messages that are posted and waited for
imports/    one module a format that is read
exports/    one module a format that is written

docs/reference/trace-format.md holds the format, docs/how-to/trace.md how it is used.
"""
