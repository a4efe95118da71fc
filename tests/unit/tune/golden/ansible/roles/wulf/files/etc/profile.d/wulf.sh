# Settings that `wulf tune` kept in the run 20261122T010203-tune-ab12 of 2026-11-22, on n[1-4].
# Beside each: what it changed there, with the interval; or that this was not measured.
# job.eager: not measured; run 20261122T010203-tune-ab12, 2026-11-22
export OMPI_MCA_btl_tcp_eager_limit='65536'
