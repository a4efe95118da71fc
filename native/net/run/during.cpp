#include "net/run/during.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <system_error>

#include "core/host/counters.hpp"
#include "core/host/frequency.hpp"
#include "core/host/proc_text.hpp"

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
  for (const auto& [kind, time] : times.members()) {
    if (kind == "guest" || kind == "guest_nice") {
      continue;
    }
    const auto value = time.get<double>();
    all += value;
    idle += kind == "idle" || kind == "iowait" ? value : 0;
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
    for (const auto& [name, value] : gauges.members()) {
      gauges_[name].push_back(value.get<double>());
    }
  }
  ++samples_;
}

void During::sample_cpus() {
  Json times = cpu_times();
  const Json spent = counters_delta(cpus_, times);
  for (const auto& [cpu, used] : spent.members()) {
    double& most = busy_[cpu];
    most = std::max(most, busy_share(used));
  }
  cpus_ = std::move(times);
}

Json During::counts() const {
  Json sum = Json::object();
  for (const Lane& lane : lanes_) {
    const Json counts = lane.channel->state().value("counts", Json::object());
    for (const auto& [name, count] : counts.members()) {
      sum[name] = count.is_integer() ? Json(sum.value(name, std::uint64_t{0}) + count.get<std::uint64_t>())
                                     : Json(sum.value(name, 0.0) + count.get<double>());
    }
  }
  return sum.empty() ? Json(nullptr) : sum;
}

Json During::tcp() const {
  Json added = counts();
  for (const auto& [name, first] : first_.members()) {
    Json& value = added[name];
    value = first.is_integer() ? Json(value.get<std::uint64_t>() - first.get<std::uint64_t>())
                               : Json(value.get<double>() - first.get<double>());
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
    Json& busy = json["busy"];
    for (const auto& [cpu, share] : busy_) {
      busy[cpu] = share;
    }
  }
  return json;
}

}  // namespace wulf::net
