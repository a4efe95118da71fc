#pragma once

#include <cstdint>
#include <vector>

#include "replay/goal/dependencies.hpp"
#include "replay/program/builder.hpp"
#include "replay/program/program.hpp"

namespace wulf::replay {

/// Makes a program's graph, rank by rank.
class GraphBuilder {
 public:
  /// `posts` of all ranks, in the order in which they are added, as GoalSequence has them; `compute` as of
  /// ProgramBuilder.
  GraphBuilder(const Array<std::uint32_t>& posts, std::int64_t compute) : posts_(posts), compute_(compute) {}

  void add(const GoalRank& rank, const Dependencies& dependencies);
  /// Gives the graph to the program that the ranks' sequences came to.
  void finish(Program& program);

 private:
  [[nodiscard]] std::uint32_t cpu_of(std::uint32_t rank, std::uint32_t cpu);

  const Array<std::uint32_t>& posts_;
  std::int64_t compute_;
  OperationGraph graph_;
  std::vector<std::uint32_t> cpus_;  ///< of the rank, by the number that the schedule gives them
};

}  // namespace wulf::replay
