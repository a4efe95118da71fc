#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>

#include "core/json/json.hpp"

namespace wulf::mpi {

/// Hands work from the session's threads to the main thread, the only one that calls MPI. One job at a time:
/// two runs would measure each other.
class Jobs {
 public:
  /// A session's thread: waits for its turn, then for the main thread's answer; throws what the work threw.
  [[nodiscard]] Json ask(const std::function<Json()>& work);

  /// The main thread: does what is asked until close() is called.
  void serve();

  /// The session's end: no further job is taken. True when none is left in progress within `patience`.
  [[nodiscard]] bool close(std::chrono::milliseconds patience);

 private:
  std::mutex one_at_a_time_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> job_;
  bool busy_ = false;
  bool closed_ = false;
};

}  // namespace wulf::mpi
