#include "net/during.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <system_error>

#include "core/counters.hpp"
#include "core/frequency.hpp"
#include "core/proc_text.hpp"

namespace wulf::net {
namespace {

Json cpu_times() {
  const std::ifstream file("/proc/stat");
  std::ostringstream text;
  text << file.rdbuf();
  return proc_text::parse_stat(text.str(), sysconf(_SC_CLK_TCK)).value("cpu", Json::object());
}

/// The share of one CPU's time that was not idle; what a guest uses stands in its host's user time already.
double busy_share(const Json& times) {
  double all = 0;
  double idle = 0;
  for (const auto& item : times.items()) {
    if (item.key() == "guest" || item.key() == "guest_nice") {
      continue;
    }
    const auto value = item.value().get<double>();
    all += value;
    idle += item.key() == "idle" || item.key() == "iowait" ? value : 0;
  }
  return all > 0 ? 1 - (idle / all) : 0;
}

Json spread(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {{"min", values.front()}, {"median", values[values.size() / 2]}, {"max", values.back()}};
}

}  // namespace

During::During(const Lanes& lanes) : lanes_(lanes), first_(counts()) {
  sample();
  try {
    thread_ = std::thread([this] { watch(); });
  } catch (const std::system_error&) {
    samples_ = 0;  // without a thread there is the difference of both ends, and no more: samples says so
  }
}

void During::stop() noexcept {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  ended_changed_.notify_all();
  if (thread_.joinable()) {
    thread_.join();
  }
}

void During::watch() {
  cpus_ = cpu_times();
  Nanoseconds looked = now();
  std::unique_lock lock(mutex_);
  while (!ended_changed_.wait_for(lock, kPeriod, [this] { return ended_; })) {
    sample();
    if (now() - looked >= kCpuPeriod) {
      sample_cpus();
      looked = now();
    }
  }
}

void During::sample() {
  for (std::size_t i = 0; i < std::min(lanes_.size(), kSampled); ++i) {
    const Json gauges = lanes_[i].channel->state().value("gauges", Json::object());
    for (const auto& item : gauges.items()) {
      gauges_[item.key()].push_back(item.value().get<double>());
    }
  }
  ++samples_;
}

void During::sample_cpus() {
  Json times = cpu_times();
  const Json spent = counters_delta(cpus_, times);
  for (const auto& item : spent.items()) {
    double& most = busy_[item.key()];
    most = std::max(most, busy_share(item.value()));
  }
  cpus_ = std::move(times);
}

Json During::counts() const {
  Json sum = Json::object();
  for (const Lane& lane : lanes_) {
    const Json counts = lane.channel->state().value("counts", Json::object());
    for (const auto& item : counts.items()) {
      sum[item.key()] =
          item.value().is_number_float()
              ? Json(sum.value(item.key(), 0.0) + item.value().get<double>())
              : Json(sum.value(item.key(), std::uint64_t{0}) + item.value().get<std::uint64_t>());
    }
  }
  return sum.empty() ? Json(nullptr) : sum;
}

Json During::tcp() const {
  Json added = counts();
  for (const auto& item : first_.items()) {
    Json& value = added[item.key()];
    value = item.value().is_number_float()
                ? Json(value.get<double>() - item.value().get<double>())
                : Json(value.get<std::uint64_t>() - item.value().get<std::uint64_t>());
  }
  Json gauges = Json::object();
  for (const auto& [name, values] : gauges_) {
    gauges[name] = spread(values);
  }
  return {{"channels", lanes_.size()}, {"counts", added}, {"gauges", gauges}};
}

Json During::end() {
  stop();
  Json json{{"samples", samples_}, {"frequency", cpu_frequency()}};
  if (!first_.is_null()) {
    sample();
    json["tcp"] = tcp();
  }
  if (!busy_.empty()) {
    json["busy"] = busy_;
  }
  return json;
}

}  // namespace wulf::net
