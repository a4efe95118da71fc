#pragma once

#include <cstdint>
#include <istream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/error.hpp"
#include "replay/program.hpp"

namespace wulf::replay {

/// An operation of a GOAL rank.
struct GoalOp {
  enum class Kind : std::uint8_t { kCalc, kSend, kRecv } kind = Kind::kCalc;
  std::uint64_t amount = 0;  ///< nanoseconds or bytes
  std::uint32_t peer = 0;    ///< kAnyPeer of a receive: whoever sends
  std::uint64_t tag = 0;     ///< kAnyTag of a receive: whatever it is
  std::uint32_t cpu = 0;
  std::uint32_t line = 0;
  std::vector<std::uint32_t> after_end;    ///< operations that must have ended before this one begins
  std::vector<std::uint32_t> after_begin;  ///< … that must have begun
};

struct GoalRank {
  std::uint32_t rank = 0;
  std::vector<GoalOp> ops;
};

/// Reads a GOAL text, rank by rank.
class GoalLines {
 public:
  /// Reads "num_ranks N", with which the text begins.
  GoalLines(std::istream& text, std::string name);

  [[nodiscard]] std::uint32_t ranks() const { return ranks_; }
  /// The next rank's block; false where the text ends.
  bool next(GoalRank& rank);
  /// For the caller's own complaints.
  [[nodiscard]] Error wrong(std::uint32_t line, const std::string& what) const;

 private:
  bool next_line();
  void drop_comments(std::string& line);
  void take_op(GoalRank& rank, const std::string& label, std::size_t at);
  void take_options(GoalOp& op, std::size_t at);
  void take_dependency(GoalRank& rank);
  [[nodiscard]] const std::string& word(std::size_t at) const;
  [[nodiscard]] std::uint64_t number(std::size_t at, std::uint64_t most, char unit = '\0') const;
  [[nodiscard]] bool is_any(std::size_t at) const { return word(at) == "-1"; }
  [[nodiscard]] std::uint32_t labelled(const std::string& label) const;
  void expect(std::size_t at, const char* wanted) const;

  std::istream& text_;
  std::string name_;
  std::uint32_t ranks_ = 0;
  std::uint32_t line_ = 0;
  bool in_comment_ = false;
  std::vector<std::string> words_;
  std::unordered_map<std::string, std::uint32_t> labels_;
};

}  // namespace wulf::replay
