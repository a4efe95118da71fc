#include "net/client/throughput.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

namespace wulf::net {
namespace {

Json rate_metric(double rate) {
  if (rate == 0) {
    return {{"unit", "B/s"}, {"value", nullptr}, {"reason", "nothing arrived in the measured time"}};
  }
  return {{"unit", "B/s"}, {"value", rate}};
}

Json count_metric(std::uint64_t count) { return {{"unit", "1"}, {"value", count}}; }

void add_rates(Outcome& outcome, const ClientRun& run, const Window& window) {
  const auto out = window.finished.at("streams").get<std::vector<double>>();
  const auto back =
      rates(window.first.came, window.last.came, to_seconds(window.last.passed.at - window.first.passed.at));
  const double out_sum = std::accumulate(out.begin(), out.end(), 0.0);
  const double back_sum = std::accumulate(back.begin(), back.end(), 0.0);
  outcome.metrics["throughput"] = rate_metric(out_sum + back_sum);
  if (!out.empty()) {
    outcome.metrics["sent"] = {{"unit", "B/s"},
                               {"value", window.last.passed.rate_since(window.first.passed)}};
  }
  if (run.params().at("direction") == "both") {
    outcome.metrics["out"] = rate_metric(out_sum);
    outcome.metrics["back"] = rate_metric(back_sum);
  }
  outcome.info["streams"] = out;
  for (const double each : back) {
    outcome.info["streams"].push_back(each);
  }
}

}  // namespace

Ways::Ways(const Json& params) {
  const auto streams = params.at("streams").get<std::size_t>();
  const auto direction = params.at("direction").get<std::string>();
  out = {0, direction == "back" ? 0 : streams};
  back = {out.last, direction == "out" ? out.last : out.last + streams};
}

std::vector<std::uint64_t> bytes_by_lane(const Lanes& lanes, const Range& range) {
  std::vector<std::uint64_t> bytes;
  for (std::size_t i = range.first; i < range.last; ++i) {
    bytes.push_back(lanes[i].channel->arrived().value_or(lanes[i].bytes.load(std::memory_order_relaxed)));
  }
  return bytes;
}

std::vector<double> rates(const std::vector<std::uint64_t>& first, const std::vector<std::uint64_t>& last,
                          double seconds) {
  std::vector<double> list;
  list.reserve(last.size());
  for (std::size_t i = 0; i < last.size(); ++i) {
    list.push_back(static_cast<double>(last[i] - first[i]) / seconds);
  }
  return list;
}

std::optional<std::uint64_t> retransmits_of(const Lanes& lanes, const Range& range) {
  std::optional<std::uint64_t> sum;
  for (std::size_t i = range.first; i < range.last; ++i) {
    if (const auto repeated = lanes[i].channel->retransmits()) {
      sum = sum.value_or(0) + *repeated;
    }
  }
  return sum;
}

Received Received::by_now(const Lanes& lanes, const Range& range) noexcept {
  Received sum;
  for (std::size_t i = range.first; i < range.last; ++i) {
    sum.messages += lanes[i].messages.load(std::memory_order_relaxed);
    sum.spanned += lanes[i].spanned.load(std::memory_order_relaxed);
    sum.reordered += lanes[i].reordered.load(std::memory_order_relaxed);
    sum.duplicates += lanes[i].duplicates.load(std::memory_order_relaxed);
  }
  return sum;
}

Sent Sent::by_now(const Lanes& lanes, const Ways& ways) {
  return {Passed::by_now(lanes, ways.out), bytes_by_lane(lanes, ways.back), retransmits_of(lanes, ways.out)};
}

Outcome throughput_of(ClientRun& run, Window window) {
  Outcome outcome;
  outcome.info = run.lanes().front().channel->info();
  outcome.info["server"] = window.finished.at("info");
  add_rates(outcome, run, window);
  auto repeated = optional_value<std::uint64_t>(window.finished, "retransmits");
  if (window.first.retransmits && window.last.retransmits) {
    repeated = repeated.value_or(0) + *window.last.retransmits - *window.first.retransmits;
  }
  if (repeated) {
    outcome.metrics["retransmits"] = count_metric(*repeated);
  }
  outcome.seconds = window.finished.at("seconds").get<double>();
  outcome.counters = {{"client", std::move(window.counters)}, {"server", window.finished.at("counters")}};
  outcome.during = {{"client", std::move(window.during)}, {"server", window.finished.at("during")}};
  return outcome;
}

void add_datagram_metrics(Json& metrics, ClientRun& run, const Json& total) {
  const Ways ways(run.params());
  const Received back = Received::by_now(run.lanes(), ways.back);
  const std::uint64_t duplicates = total.at("duplicates").get<std::uint64_t>() + back.duplicates;
  const std::uint64_t sent = Passed::by_now(run.lanes(), ways.out).messages +
                             std::max(back.spanned, back.messages - back.duplicates);
  const std::uint64_t received = total.at("datagrams").get<std::uint64_t>() + back.messages - duplicates;
  const double share =
      1 - (static_cast<double>(received) / static_cast<double>(std::max<std::uint64_t>(sent, 1)));
  metrics["loss"] = {{"unit", "1"}, {"value", std::max(share, 0.0)}, {"sent", sent}, {"received", received}};
  if (run.param<std::size_t>("bytes") >= sizeof(std::uint64_t)) {
    metrics["reordered"] = count_metric(total.at("reordered").get<std::uint64_t>() + back.reordered);
    metrics["duplicates"] = count_metric(duplicates);
  }
}

}  // namespace wulf::net
