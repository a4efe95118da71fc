#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/error.hpp"
#include "replay/program/operation.hpp"

namespace wulf::replay {

/// An operation of a GOAL rank.
struct GoalOp {
  enum class Kind : std::uint8_t { kCalc, kSend, kRecv } kind = Kind::kCalc;
  std::uint32_t peer = 0;    ///< kAnyPeer of a receive: whoever sends
  std::uint64_t amount = 0;  ///< nanoseconds or bytes
  std::uint64_t tag = 0;     ///< kAnyTag of a receive: whatever it is
  std::uint32_t cpu = 0;
  std::uint32_t mark = 0;  ///< for people: its line of a text, or its number, from 1
};

/// That an operation must not begin before another has ended, or begun.
struct GoalEdge {
  std::uint32_t op = 0;
  std::uint32_t on = 0;
  bool begin = false;
};

struct GoalRank {
  std::uint32_t rank = 0;
  std::vector<GoalOp> ops;
  std::vector<GoalEdge> edges;
};

/// Reads a GOAL schedule, rank by rank.
class GoalReader {
 public:
  GoalReader() = default;
  GoalReader(const GoalReader&) = delete;
  GoalReader& operator=(const GoalReader&) = delete;
  GoalReader(GoalReader&&) = delete;
  GoalReader& operator=(GoalReader&&) = delete;
  virtual ~GoalReader() = default;

  [[nodiscard]] virtual std::uint32_t ranks() const = 0;
  /// The next rank; false after the last one. Throws `goal` with the place of what is wrong.
  virtual bool next(GoalRank& rank) = 0;
  /// For the caller's own complaints of an operation with that mark.
  [[nodiscard]] virtual Error wrong(std::uint32_t mark, const std::string& what) const = 0;
};

/// Calculations last no longer than this, in nanoseconds, nor are messages larger.
constexpr std::uint64_t kMostNanoseconds = INT64_MAX / 1000;
constexpr std::uint64_t kMostBytes = INT64_MAX;

/// A reader of the text, as txt2bin of LogGOPSim takes it. `name` is the file's, for messages.
[[nodiscard]] std::unique_ptr<GoalReader> read_goal_text(std::string_view text, std::string name);

/// Whether these bytes are what txt2bin writes.
[[nodiscard]] bool is_binary_goal(std::string_view bytes);
/// A reader of that.
[[nodiscard]] std::unique_ptr<GoalReader> read_binary_goal(std::string_view bytes, std::string name);

}  // namespace wulf::replay
