#include <cmath>
#include <vector>

#include "core/json/error.hpp"
#include "core/json/params.hpp"
#include "core/session/registry.hpp"
#include "replay/engine_a/sensitivity.hpp"
#include "replay/operations/answers.hpp"
#include "replay/run/network.hpp"
#include "replay/service.hpp"

namespace wulf::replay {
namespace {

/// Beyond any network: a second of latency, or 1 µs a byte.
constexpr std::int64_t kLatencyLimit = 1'000'000'000'000;
constexpr std::int64_t kByteLimit = 1'000'000LL << kFractionBits;

std::vector<double> parse_shares(const Json& request) {
  const Json given = request.value("shares", Json::array({0.01, 0.05}));
  if (!given.is_array() || given.empty()) {
    throw bad_parameter("shares", "shares must be a list of numbers such as 0.01");
  }
  std::vector<double> shares;
  for (const Json& each : given) {
    constexpr double kMost = 1000;
    if (!each.is_number() || !(each.get<double>() >= 0) || each.get<double>() > kMost) {
      throw bad_parameter("shares", "shares has " + each.dump() + ", but must hold numbers from 0 to 1000");
    }
    shares.push_back(each.get<double>());
  }
  return shares;
}

/// How much of a parameter can be added for each share; null: more than its limit.
class Tolerance {
 public:
  Tolerance(const Program& program, const Network& network, Over over)
      : sensitivity_(program, network, over),
        limit_(std::max(sensitivity_.given(), over == Over::kLatency ? kLatencyLimit : kByteLimit)),
        now_(sensitivity_.line(sensitivity_.given())) {}

  [[nodiscard]] Json more(double share) {
    constexpr double kParts = 1e9;  // shares are read to the billionth
    const Fine time = now_.at(sensitivity_.given());
    const Fine allowed = time + (time * std::llround(share * kParts) / static_cast<std::int64_t>(kParts));
    const auto reached = sensitivity_.reaches(allowed, sensitivity_.given(), limit_);
    return reached ? Json(*reached - sensitivity_.given()) : Json(nullptr);
  }

  [[nodiscard]] Json slope() const { return number(now_.slope); }

 private:
  Sensitivity sensitivity_;
  std::int64_t limit_;
  Line now_;
};

class ToleranceQuestion final : public Question {
 public:
  ToleranceQuestion()
      : Question("tolerance",
                 "how much latency [ps] and cost per byte [ps with 20 fractional bits] between hosts can "
                 "be added until the time grows by a share; null: beyond 1 s, 1 µs/B") {}

  [[nodiscard]] Json answer(const Json& request, Programs& programs) const override {
    refuse_unknown_fields(request, {"id", "op", "program", "network", "shares"});
    const auto loaded = programs.of(request);
    const Network network = network_field(request, loaded->program.ranks());
    const std::vector<double> shares = parse_shares(request);
    Tolerance latency(loaded->program, network, Over::kLatency);
    Tolerance byte(loaded->program, network, Over::kByte);
    Json list = Json::array();
    for (const double share : shares) {
      list.push_back({{"share", share}, {"latency_ps", latency.more(share)}, {"byte_fp", byte.more(share)}});
    }
    return {{"tolerances", std::move(list)},
            {"slopes", {{"latency", latency.slope()}, {"byte", byte.slope()}}}};
  }
};

const Registered<Question> registered_tolerance_question{std::make_unique<ToleranceQuestion>()};

}  // namespace
}  // namespace wulf::replay
