#include "replay/goal/graph_builder.hpp"

#include <algorithm>

namespace wulf::replay {

/// The rank's CPU of that number in the schedule.
std::uint32_t GraphBuilder::cpu_of(std::uint32_t rank, std::uint32_t cpu) {
  const auto found = std::find(cpus_.begin(), cpus_.end(), cpu);
  const auto known = static_cast<std::uint32_t>(found - cpus_.begin());
  const auto first = static_cast<std::uint32_t>(graph_.rank_of_cpu.size() - cpus_.size());
  if (found == cpus_.end()) {
    cpus_.push_back(cpu);
    graph_.rank_of_cpu.push_back(rank);
  }
  return first + known;
}

void GraphBuilder::add(const GoalRank& rank, const Dependencies& dependencies) {
  const auto base = static_cast<std::uint32_t>(graph_.ops());
  if (graph_.next_first.empty()) {
    graph_.next_first.push_back(0);
  }
  cpus_.clear();
  for (std::uint32_t i = 0; i < rank.ops.size(); ++i) {
    const GoalOp& op = rank.ops[i];
    const bool computes = op.kind == GoalOp::Kind::kCalc;
    graph_.kind.push_back(computes ? OpKind::kCalc : OpKind::kSend);  // which post it is, the program knows
    graph_.op.push_back(posts_[base + i]);
    graph_.cpu.push_back(cpu_of(rank.rank, op.cpu));
    graph_.needs.push_back(static_cast<std::uint32_t>(dependencies.needs(i).size()));
    graph_.arg.push_back(static_cast<std::uint32_t>(graph_.durations.size()));
    if (computes) {
      graph_.durations.push_back(scaled(compute_, static_cast<Picoseconds>(op.amount) * kPerNanosecond));
    }
    for (const bool begin : {true, false}) {
      for (const auto& each : dependencies.gives(i)) {
        if (each.begin == begin) {
          graph_.next.push_back(base + each.op);
        }
      }
      graph_.next_first.push_back(static_cast<std::uint32_t>(graph_.next.size()));
    }
  }
}

void GraphBuilder::finish(Program& program) {
  graph_.sends.assign(program.messages.count(), kNone);
  graph_.receives.assign(program.messages.count(), kNone);
  graph_.live.assign(program.live.count(), kNone);
  for (std::uint32_t i = 0; i < graph_.ops(); ++i) {
    if (graph_.op[i] == kNone) {
      continue;
    }
    graph_.op[i] += program.first[graph_.rank_of_cpu[graph_.cpu[i]]];
    const OpKind kind = program.kind[graph_.op[i]];
    const std::uint32_t arg = program.arg[graph_.op[i]];
    graph_.kind[i] = kind;
    graph_.arg[i] = arg;
    (kind == OpKind::kSend ? graph_.sends : kind == OpKind::kRecv ? graph_.receives : graph_.live)[arg] = i;
  }
  program.graph = std::move(graph_);
}

}  // namespace wulf::replay
