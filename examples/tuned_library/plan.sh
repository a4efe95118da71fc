#!/bin/sh
# Writes plan.h on standard output: how many searches at a time, by what `wulf rates get` knows, else a fixed number.
#
#     plan.sh [WULF ...]     the command that asks for rates; none: do not ask
#
# A step of a search that finds its line near takes about as long as a load from the second level. So as many others as
# memory is slower fit into the time that one waits for memory.

set -eu

# What nearly every processor of the last twenty years can have under way.
fixed=4

rate() { # COMMAND ...: the figure that it prints; nothing where there is none
  "$@" --json | sed -n 's/.*"value": *\([0-9][0-9.e+-]*\),.*/\1/p'
}

group=$fixed source="fixed: no rates were asked for"
if [ $# -gt 0 ]; then
  near=$(rate "$@" rates get mem.l2.latency || true)
  memory=$(rate "$@" rates get mem.random.latency || true)
  if [ -n "$near" ] && [ -n "$memory" ]; then
    group=$(awk "BEGIN { wanted = int($memory / $near + .5); print (wanted < 1 ? 1 : wanted > 64 ? 64 : wanted) }")
    source="by the rates of this machine"
  else
    source="fixed: mem.l2.latency or mem.random.latency has no rate"
    echo "plan.sh: $source; \`wulf rates publish --only memory\` measures both" >&2
  fi
fi

cat <<END
#define GROUP $group
#define GROUP_SOURCE "$source"
END
