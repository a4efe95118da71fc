#include "replay/goal/dependencies.hpp"

namespace wulf::replay {

void Dependencies::set(const GoalRank& rank, const GoalReader& reader) {
  const std::size_t ops = rank.ops.size();
  for (const GoalEdge& edge : rank.edges) {
    if (edge.op >= ops || edge.on >= ops) {
      throw reader.wrong(edge.on + 1, "operation " + std::to_string(edge.op) + " depends on it, of " +
                                          std::to_string(ops) + " that there are");
    }
  }
  fill(needs_, rank, true);
  fill(gives_, rank, false);
}

void Dependencies::fill(Table& table, const GoalRank& rank, bool needs) {
  table.first.assign(rank.ops.size() + 2, 0);
  for (const GoalEdge& edge : rank.edges) {
    ++table.first[(needs ? edge.op : edge.on) + std::size_t{2}];
  }
  for (std::size_t i = 2; i < table.first.size(); ++i) {
    table.first[i] += table.first[i - 1];
  }
  table.links.resize(rank.edges.size());
  for (const GoalEdge& edge : rank.edges) {
    const std::uint32_t own = needs ? edge.op : edge.on;
    table.links[table.first[own + std::size_t{1}]++] = {needs ? edge.on : edge.op, edge.begin};
  }
}

}  // namespace wulf::replay
