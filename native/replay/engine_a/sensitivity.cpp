#include "replay/engine_a/sensitivity.hpp"

#include <algorithm>
#include <utility>

#include "core/json/error.hpp"
#include "replay/engine_a/critical_path.hpp"
#include "replay/engine_a/workspace.hpp"
#include "replay/run/engine.hpp"

namespace wulf::replay {
namespace {

std::int64_t& parameter(LinkClass& link, Over over) {
  return over == Over::kLatency ? link.latency : link.byte_fp;
}

Fine floor_divided(Fine a, Fine b) { return (a / b) - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }

void append(std::vector<Segment>& segments, const Segment& segment) {
  if (!segments.empty() && segments.back().line == segment.line) {
    segments.back().to = segment.to;
  } else {
    segments.push_back(segment);
  }
}

}  // namespace

/// The line of a network's critical path.
class Sensitivity::Lines {
 public:
  Lines() = default;
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;
  Lines(Lines&&) = delete;
  Lines& operator=(Lines&&) = delete;
  virtual ~Lines() = default;
  virtual Line of(const Network& network, Over over, std::int64_t x) = 0;
};

template <typename Time>
class Sensitivity::LinesOf final : public Sensitivity::Lines {
 public:
  LinesOf(const Program& program, const Network& network)
      : program_(program), classes_(program, network.hosts), space_(program, Workspace<Time>::Keeps::kAll) {}

  Line of(const Network& network, Over over, std::int64_t x) override {
    classes_.check(network);
    const Network* const one = &network;
    space_.run(classes_, {&one, 1});
    CriticalPath<Time> path(program_, classes_, space_);
    Line line;
    path.walk([&](const Step<Time>& step) { line.slope += count(step, network, over); });
    line.base = space_.time() - (line.slope * x);
    return line;
  }

 private:
  /// How often the step has the parameter in it.
  [[nodiscard]] Fine count(const Step<Time>& step, const Network& network, Over over) const {
    if (step.kind != (over == Over::kLatency ? StepKind::kLatency : StepKind::kBytes) ||
        (network.own_intra && classes_.intra(classes_.of(step.message)))) {
      return 0;
    }
    if (over == Over::kLatency) {
      return 1;
    }
    const std::uint64_t bytes = program_.bytes_of(step.message);
    const LinkClass& link = classes_.link(network, classes_.of(step.message));
    const bool free = bytes <= link.eager_bytes && link.byte_fp + link.eager_more_fp < 0;
    return static_cast<Fine>(bytes == 0 || free ? 0 : bytes - 1);
  }

  const Program& program_;
  CostClasses classes_;
  Workspace<Time> space_;
};

Sensitivity::Sensitivity(const Program& program, Network network, Over over)
    : over_(over), network_(std::move(network)) {
  refuse_what_needs_b(program, {&network_, 1});
  if (over == Over::kLatency) {
    lines_ = std::make_unique<LinesOf<Lanes1>>(program, network_);
  } else {
    lines_ = std::make_unique<LinesOf<Fine>>(program, network_);
  }
}

Sensitivity::~Sensitivity() = default;

std::int64_t Sensitivity::given() const {
  return over_ == Over::kLatency ? network_.inter.latency : network_.inter.byte_fp;
}

Line Sensitivity::line(std::int64_t x) {
  Network varied = network_;
  parameter(varied.inter, over_) = x;
  if (!varied.own_intra) {
    parameter(varied.intra, over_) = x;
  }
  return lines_->of(varied, over_, x);
}

Line Sensitivity::measured(std::int64_t x) {
  if (++runs_ > most_) {
    throw Error("limit", "the time has more than " + std::to_string(segments_found_) +
                             " lines between 'from' and 'to', which took " + std::to_string(most_) +
                             " runs: narrow the range, or raise 'most'");
  }
  return line(x);
}

std::vector<Segment> Sensitivity::segments(std::int64_t from, std::int64_t to, std::size_t most) {
  runs_ = 0;
  most_ = most;
  std::vector<Segment> found;
  const End left{from, measured(from)};
  divide(left, {to, from == to ? left.line : measured(to)}, found);
  return found;
}

void Sensitivity::divide(const End& left, const End& right, std::vector<Segment>& into) {
  segments_found_ = into.size();
  // A line that touches a convex function at both ends of a range is the function in between.
  if (right.line.at(left.x) == left.line.at(left.x)) {
    append(into, {left.x, right.x, right.line});
    return;
  }
  if (left.line.at(right.x) == right.line.at(right.x)) {
    append(into, {left.x, right.x, left.line});
    return;
  }
  if (right.x - left.x == 1) {
    append(into, {left.x, left.x, left.line});
    append(into, {right.x, right.x, right.line});
    return;
  }
  const Fine meet = floor_divided(left.line.base - right.line.base, right.line.slope - left.line.slope);
  const auto x = static_cast<std::int64_t>(std::clamp<Fine>(meet, left.x + 1, right.x - 1));
  const End middle{x, measured(x)};
  divide(left, middle, into);
  divide(middle, right, into);
}

std::optional<std::int64_t> Sensitivity::reaches(Fine time, std::int64_t from, std::int64_t limit) {
  std::int64_t x = from;
  Line at = line(x);
  while (at.at(x) <= time) {  // up: a line that rises leads beyond, since the function lies above it
    if (x == limit) {
      return std::nullopt;
    }
    const std::int64_t twice = std::min(limit, std::max<std::int64_t>(2 * x, 1));
    const Fine next = at.slope > 0 ? floor_divided(time - at.base, at.slope) + 1 : Fine{twice};
    x = static_cast<std::int64_t>(std::min<Fine>(next, limit));
    at = line(x);
  }
  while (at.at(x) > time && x > from) {  // down: each line's crossing lies at or above the function's
    x = static_cast<std::int64_t>(std::max<Fine>(floor_divided(time - at.base, at.slope), from));
    at = line(x);
  }
  return x;
}

}  // namespace wulf::replay
