#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <system_error>
#include <vector>

#include "core/json/error.hpp"
#include "core/session/registry.hpp"
#include "replay/goal/goal.hpp"
#include "replay/goal/graph_builder.hpp"
#include "replay/goal/sequence.hpp"

namespace wulf::replay {
namespace {

std::string contents(const std::string& path) {
  std::error_code unknown;
  if (std::filesystem::exists(path, unknown) && !std::filesystem::is_regular_file(path, unknown)) {
    throw bad_parameter("goal", path + " is no regular file");  // a pipe would be waited for
  }
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = file ? static_cast<std::streamoff>(file.tellg()) : -1;
  std::string bytes(static_cast<std::size_t>(std::max<std::streamoff>(size, 0)), '\0');
  if (size < 0 || !file.seekg(0) || !file.read(bytes.data(), size)) {
    throw bad_parameter("goal", path + " can't be read: is it there, and yours to read?");
  }
  return bytes;
}

class GoalSource final : public Source {
 public:
  GoalSource() : Source("goal", "a GOAL schedule, as text or as LogGOPSim's binary file") {}

  [[nodiscard]] Loaded load(const Json& value, const Json&, std::int64_t compute) const override {
    if (!value.is_string()) {
      throw bad_parameter("goal", "goal is " + value.dump() + ", but must be the path of a file");
    }
    const auto path = value.get<std::string>();
    return read_goal(contents(path), path, compute);
  }
};

const Registered<Source> registered_goal_source{std::make_unique<GoalSource>()};

/// Whose operations are no sequence.
struct Graphs {
  std::uint32_t ranks = 0;
  std::uint32_t first = 0;

  [[nodiscard]] std::string note(std::uint32_t all) const {
    return std::to_string(ranks) + " of " + std::to_string(all) +
           " ranks do several things at a time, or on several CPUs (the first is rank " +
           std::to_string(first) +
           "): engine b replays the schedule as the graph that it is, engine a in one order of it, which may "
           "take several times as long";
  }
};

/// Of a file, for each of a program's operations: about so many, as text or binary.
constexpr std::size_t kBytesAnOperation = 28;

std::unique_ptr<GoalReader> reader_of(std::string_view bytes, const std::string& name) {
  return is_binary_goal(bytes) ? read_binary_goal(bytes, name) : read_goal_text(bytes, name);
}

}  // namespace

Loaded read_goal(std::string_view bytes, const std::string& name, std::int64_t compute) {
  std::unique_ptr<GoalReader> reader = reader_of(bytes, name);
  const std::uint32_t ranks = reader->ranks();
  if (ranks > bytes.size()) {  // nothing is allocated for what the file can't hold
    throw Error("goal", name + " says that it has " + std::to_string(ranks) + " ranks, more than its " +
                            std::to_string(bytes.size()) + " bytes can hold: is it whole?");
  }
  ProgramBuilder builder(ranks, compute);
  builder.expect(bytes.size() / kBytesAnOperation, bytes.size() / (2 * kBytesAnOperation));
  GoalSequence sequence(builder);
  Graphs graphs;
  std::vector<bool> told(ranks);
  GoalRank rank;
  Dependencies dependencies;
  std::vector<std::uint32_t> groups;
  while (reader->next(rank)) {
    if (told[rank.rank]) {
      throw reader->wrong(rank.ops.empty() ? 0 : rank.ops.front().mark,
                          "rank " + std::to_string(rank.rank) + " has a block already");
    }
    told[rank.rank] = true;
    dependencies.set(rank, *reader);
    if (find_groups(rank, dependencies, groups)) {
      sequence.add(rank, groups);
      continue;
    }
    if (const std::uint32_t stuck = sequence.add(rank, dependencies); stuck != kNone) {
      throw reader->wrong(rank.ops[stuck].mark, "what it requires requires it in turn, or such a circle");
    }
    graphs.first = graphs.ranks++ == 0 ? rank.rank : graphs.first;
  }
  Loaded loaded;
  loaded.program = builder.finish();
  if (graphs.ranks == 0) {
    return loaded;
  }
  GraphBuilder graph(sequence.posts(), compute);
  for (reader = reader_of(bytes, name); reader->next(rank);) {
    dependencies.set(rank, *reader);
    graph.add(rank, dependencies);
  }
  graph.finish(loaded.program);
  loaded.notes.push_back(graphs.note(ranks));
  return loaded;
}

}  // namespace wulf::replay
