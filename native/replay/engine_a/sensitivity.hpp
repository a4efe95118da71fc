#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "replay/engine_a/costs.hpp"
#include "replay/program/program.hpp"
#include "replay/run/network.hpp"

namespace wulf::replay {

/// A parameter of the network between hosts that is varied: the latency in ps, or the cost per byte with 20
/// fractional bits.
enum class Over : std::uint8_t { kLatency, kByte };

/// A run's time as a function of that parameter x where one critical path holds: base + slope · x. In
/// picoseconds with 20 fractional bits over the byte, which makes nothing be rounded; else in picoseconds.
struct Line {
  Fine base = 0;
  Fine slope = 0;

  [[nodiscard]] Fine at(std::int64_t x) const { return base + (slope * x); }
  bool operator==(const Line&) const = default;
};

/// A line that holds from one x to the next.
struct Segment {
  std::int64_t from = 0;
  std::int64_t to = 0;
  Line line;
};

/// How a program's time depends on a parameter of its network: convex and piecewise linear, since it is the
/// longest of many paths, each an affine function of the parameter.
class Sensitivity {
 public:
  /// Errors as run_a.
  Sensitivity(const Program& program, Network network, Over over);
  Sensitivity(const Sensitivity&) = delete;
  Sensitivity& operator=(const Sensitivity&) = delete;
  Sensitivity(Sensitivity&&) = delete;
  Sensitivity& operator=(Sensitivity&&) = delete;
  ~Sensitivity();

  /// The line of the critical path at x.
  [[nodiscard]] Line line(std::int64_t x);

  /// All lines between two values, by the recursion of Eisner and Severance (Mathematical techniques for
  /// efficient record segmentation in large shared databases, 1976): where two lines meet, either the time is
  /// theirs, or there is a line between. Exact at every integer. Throws `limit` beyond `most` runs.
  [[nodiscard]] std::vector<Segment> segments(std::int64_t from, std::int64_t to, std::size_t most);

  /// The greatest x at which the time is at most `time` (in the unit of lines), by Newton's steps from above,
  /// which end since lines are finitely many. Nothing where not even `limit` exceeds it.
  [[nodiscard]] std::optional<std::int64_t> reaches(Fine time, std::int64_t from, std::int64_t limit);

  /// The network's own value of the parameter.
  [[nodiscard]] std::int64_t given() const;

 private:
  class Lines;
  template <typename Time>
  class LinesOf;
  struct End {
    std::int64_t x = 0;
    Line line;
  };
  void divide(const End& left, const End& right, std::vector<Segment>& into);
  Line measured(std::int64_t x);

  Over over_;
  Network network_;
  std::unique_ptr<Lines> lines_;
  std::size_t runs_ = 0;
  std::size_t most_ = SIZE_MAX;
  std::size_t segments_found_ = 0;
};

}  // namespace wulf::replay
