#pragma once

#include <cstdint>
#include <ctime>
#include <functional>
#include <vector>

#include "core/host/file.hpp"
#include "core/perf/sample.hpp"

namespace wulf {

/// Tracepoints of one CPU, recorded by the kernel into one ring; see perf_event_open(2).
///
/// Opening costs a fraction of a millisecond an event. Closing the last user of a tracepoint waits for a
/// grace period of RCU, some 30 ms each: whoever goes on elsewhere opens there first.
class EventRing {
 public:
  /// A ring of a power of two of pages, the next smaller one where the kernel allows no more. Times are of
  /// `clock`: CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW.
  EventRing(int cpu, clockid_t clock, std::size_t pages);
  EventRing(const EventRing&) = delete;
  EventRing& operator=(const EventRing&) = delete;
  EventRing(EventRing&&) = delete;
  EventRing& operator=(EventRing&&) = delete;
  ~EventRing();

  /// Adds a tracepoint by its number. Throws std::system_error where the kernel refuses it.
  void add(std::uint64_t tracepoint);

  [[nodiscard]] int cpu() const noexcept { return cpu_; }
  [[nodiscard]] std::size_t events() const noexcept { return events_.size(); }

  void enable() const noexcept;
  void disable() const noexcept;

  /// Hands out all records that are there, oldest first, and makes room.
  void drain(const std::function<void(const PerfRecord&)>& take);

 private:
  void map(int event);

  int cpu_;
  clockid_t clock_;
  std::size_t pages_;
  std::vector<File> events_;
  std::byte* memory_ = nullptr;
  std::size_t mapped_ = 0;
  std::vector<std::byte> joined_;  ///< a record that lies at both ends of the ring
};

}  // namespace wulf
