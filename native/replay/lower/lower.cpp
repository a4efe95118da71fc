#include "replay/lower/lower.hpp"

#include <array>

#include "core/session/registry.hpp"
#include "replay/lower/rank.hpp"
#include "replay/run/run.hpp"

namespace wulf::replay {
namespace {

/// All ranks' records, one rank after the other.
Program program_of(const std::string& folder, std::uint32_t ranks, Lowering& lowering, std::int64_t compute) {
  ProgramBuilder builder(ranks, compute);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    RankFile file(folder, rank);
    RankLowering(lowering, builder, file, rank).run();
  }
  return builder.finish();
}

/// Whether all ranks come to their ends; on a network that takes no time.
bool ends(const Program& program) {
  const std::array<Network, 1> networks{};
  try {
    if (program.live.count() > 0) {
      (void)run_b(program, networks.front(), {});
    } else {
      (void)run_a(program, networks, {});
    }
  } catch (const Error& error) {
    if (error.code() != "deadlock") {
      throw;
    }
    return false;
  }
  return true;
}

struct Lowered {
  Program program;
  Coverage coverage;
  std::vector<KeptCall> kept;
};

Lowered lowered(const std::string& folder, std::uint32_t ranks, Survey& survey, const CollectiveRules& rules,
                std::int64_t compute, bool post_all) {
  Lowered result;
  Lowering lowering{survey, rules, result.coverage, result.kept, post_all};
  result.program = program_of(folder, ranks, lowering, compute);
  return result;
}

class TraceSource final : public Source {
 public:
  TraceSource() : Source("trace", "the folder of a trace: one file a rank") {}

  [[nodiscard]] Loaded load(const Json& value, const Json& collectives, std::int64_t compute) const override {
    if (!value.is_string()) {
      throw bad_parameter("trace", "trace is " + value.dump() + ", but must be the path of a folder");
    }
    return lower_trace(value.get<std::string>(), collectives, compute);
  }
};

const Registered<Source> registered_trace_source{std::make_unique<TraceSource>()};

}  // namespace

Loaded lower_trace(const std::string& folder, const Json& collectives, std::int64_t compute) {
  const std::uint32_t ranks = ranks_of_trace(folder);
  Survey survey = survey_trace(folder, ranks);
  const CollectiveRules rules(collectives, survey.mpi);
  Lowered result = lowered(folder, ranks, survey, rules, compute, rules.posts_all_at_call());
  // A rank of a program does one thing after the other, an MPI library moves several collectives on at once.
  if (survey.nonblocking_collectives && !rules.posts_all_at_call() && !ends(result.program)) {
    result = lowered(folder, ranks, survey, rules, compute, true);
    result.coverage.note(
        "non-blocking collectives overlap so that some rank would wait for itself: all their messages are "
        "posted at the call, which shows them faster than they can be");
  }
  result.coverage.note("collectives without a given algorithm are carried out as by " +
                       std::string(rules.library().source));
  Loaded loaded;
  loaded.program = std::move(result.program);
  loaded.kept = std::move(result.kept);
  result.coverage.tell(loaded);
  return loaded;
}

}  // namespace wulf::replay
