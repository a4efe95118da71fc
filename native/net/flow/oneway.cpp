#include "net/flow/oneway.hpp"

#include <algorithm>
#include <functional>

namespace wulf::net {
namespace {

constexpr double kNano = 1e-9;

using Part = std::function<Nanoseconds(const Stamps&)>;

std::vector<Nanoseconds> sorted(const std::vector<Stamps>& exchanges, const Part& part) {
  std::vector<Nanoseconds> values;
  values.reserve(exchanges.size());
  std::transform(exchanges.begin(), exchanges.end(), std::back_inserter(values), part);
  std::sort(values.begin(), values.end());
  return values;
}

double quantile(const std::vector<Nanoseconds>& values, double q) {
  const auto at = static_cast<std::size_t>(q * static_cast<double>(values.size() - 1));
  return static_cast<double>(values[at]) * kNano;
}

Json seconds(double value) { return {{"unit", "s"}, {"value", value}}; }

Json unknown(const std::string& reason) { return {{"unit", "s"}, {"value", nullptr}, {"reason", reason}}; }

Json varies(const std::vector<Nanoseconds>& values) {
  constexpr double kTail = 0.99;
  return seconds(quantile(values, kTail) - quantile(values, 0));
}

}  // namespace

ClockBound clock_bound(const Json& client, const Json& server, const std::vector<Stamps>& exchanges) {
  if (!client.at("boot_id").is_null() && client.at("boot_id") == server.value("boot_id", Json(nullptr))) {
    return {0, "one clock"};
  }
  if (client.at("synchronised").get<bool>() && server.value("synchronised", false)) {
    return {from_seconds(client.at("max_error").get<double>() + server.at("max_error").get<double>()),
            "clock discipline"};
  }
  const auto rounds = sorted(exchanges, [](const Stamps& each) { return each.round(); });
  return {rounds.empty() ? 0 : rounds.front() / 2, "two-way"};
}

Json oneway_metrics(const std::vector<Stamps>& exchanges, const ClockBound& bound) {
  constexpr double kMedian = 0.5;
  const auto there = sorted(exchanges, [](const Stamps& each) { return each.there(); });
  const auto home = sorted(exchanges, [](const Stamps& each) { return each.home(); });
  const auto lean = sorted(exchanges, [](const Stamps& each) { return each.there() - each.home(); });
  const auto round = sorted(exchanges, [](const Stamps& each) { return each.round(); });
  Json metrics{{"rtt", seconds(quantile(round, kMedian))},
               {"clock_error", seconds(static_cast<double>(bound.bound) * kNano)},
               {"there_varies", varies(there)},
               {"home_varies", varies(home)}};
  if (bound.source == "two-way") {
    const std::string reason =
        "the two clocks are not synchronised (NTP, PTP): exchanges alone cannot tell one way from "
        "the other";
    metrics["asymmetry"] = metrics["there"] = metrics["home"] = unknown(reason);
    return metrics;
  }
  metrics["there"] = seconds(quantile(there, kMedian));
  metrics["home"] = seconds(quantile(home, kMedian));
  metrics["asymmetry"] = seconds(quantile(lean, kMedian));
  return metrics;
}

}  // namespace wulf::net
