#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "core/json/json.hpp"
#include "net/channel/lane.hpp"

namespace wulf::net {

/// Watches one end while a measurement runs, from a thread of its own that sleeps nearly always: what the
/// connections did between the first moment and the last, and what was seen of them and of the CPUs between.
class During {
 public:
  /// Every channel must be open, and stay so until end().
  explicit During(const Lanes& lanes);
  During(const During&) = delete;
  During& operator=(const During&) = delete;
  During(During&&) = delete;
  During& operator=(During&&) = delete;
  ~During() { stop(); }

  /// Ends the watch. {"samples": n, "tcp": {"channels": n, "counts": {…: what was added, all channels
  /// together}, "gauges": {"rtt": {"min", "median", "max"}, …}}, "busy": {"0": the busiest half second, as a
  /// share}, "frequency": as cpu_frequency}. "tcp" is there for TCP alone, "busy" in windows of a second and
  /// more.
  [[nodiscard]] Json end();

 private:
  /// A channel's question costs a lock that its own calls need, too: a few times a second is nothing.
  static constexpr auto kPeriod = std::chrono::milliseconds(50);
  static constexpr std::size_t kSampled = 8;                     ///< channels whose gauges are watched
  static constexpr Nanoseconds kCpuPeriod = 500 * kMillisecond;  ///< 50 ticks of a CPU's clock

  void stop() noexcept;
  void watch();
  void sample();
  void sample_cpus();
  [[nodiscard]] Json counts() const;
  [[nodiscard]] Json tcp() const;

  const Lanes& lanes_;
  Json first_;  ///< the counts at the start; null where channels have none
  std::map<std::string, std::vector<double>> gauges_;
  Json cpus_;  ///< /proc/stat at the last look
  std::map<std::string, double> busy_;
  std::size_t samples_ = 0;

  std::mutex mutex_;
  std::condition_variable ended_changed_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace wulf::net
