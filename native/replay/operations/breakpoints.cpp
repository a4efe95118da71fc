#include "core/json/error.hpp"
#include "core/json/params.hpp"
#include "core/session/registry.hpp"
#include "replay/engine_a/sensitivity.hpp"
#include "replay/operations/answers.hpp"
#include "replay/run/network.hpp"
#include "replay/service.hpp"

namespace wulf::replay {
namespace {

constexpr std::int64_t kLargest = 1'000'000'000'000'000;
constexpr std::int64_t kMostRuns = 1'000'000;

Over parse_over(const Json& request) {
  const std::string over = text_field(request, "over");
  if (over != "latency" && over != "byte") {
    throw bad_parameter("over", "over is '" + over + "', but must be latency or byte");
  }
  return over == "latency" ? Over::kLatency : Over::kByte;
}

/// Of a line's times: those over the byte have 20 fractional bits.
Fine unit_of(Over over) { return over == Over::kByte ? Fine{1} << kFineBits : Fine{1}; }

/// Where two lines that follow each other meet, [x, T in ps].
Json meeting(const Line& left, const Line& right, Fine unit) {
  const Fine across = left.base - right.base;
  const Fine steeper = right.slope - left.slope;
  return Json::array(
      {number(across, steeper), number((left.base * steeper) + (left.slope * across), steeper * unit)});
}

Json points(const std::vector<Segment>& segments, std::int64_t to, Fine unit) {
  const Segment& first = segments.front();
  Json list = Json::array({Json::array({first.from, number(first.line.at(first.from), unit)})});
  for (std::size_t i = 1; i < segments.size(); ++i) {
    list.push_back(meeting(segments[i - 1].line, segments[i].line, unit));
  }
  if (to > first.from) {
    list.push_back(Json::array({to, number(segments.back().line.at(to), unit)}));
  }
  return list;
}

class Breakpoints final : public Question {
 public:
  Breakpoints()
      : Question("breakpoints",
                 "the time as an exact function of the latency between hosts [ps], or of the cost per "
                 "byte [ps with 20 fractional bits]: its corners, and the slopes between them") {}

  [[nodiscard]] Json answer(const Json& request, Programs& programs) const override {
    constexpr std::int64_t kUsual = 10'000;
    refuse_unknown_fields(request, {"id", "op", "program", "network", "over", "from", "to", "most"});
    const auto loaded = programs.of(request);
    const Network network = network_field(request, loaded->program.ranks());
    const Over over = parse_over(request);
    const std::int64_t from = int_field(request, "from", 0, kLargest);
    const std::int64_t to = int_field(request, "to", from, kLargest);
    const auto most = static_cast<std::size_t>(int_or(request, "most", kUsual, 2, kMostRuns));
    Sensitivity sensitivity(loaded->program, network, over);
    const std::vector<Segment> segments = sensitivity.segments(from, to, most);
    Json slopes = Json::array();
    for (const Segment& each : segments) {
      slopes.push_back(number(each.line.slope));
    }
    return {{"points", points(segments, to, unit_of(over))}, {"slopes", std::move(slopes)}};
  }
};

const Registered<Question> registered_breakpoints{std::make_unique<Breakpoints>()};

}  // namespace
}  // namespace wulf::replay
