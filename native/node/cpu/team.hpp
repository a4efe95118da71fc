#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/json/params.hpp"
#include "core/time/clock.hpp"
#include "node/time/timing.hpp"

namespace wulf::node {

/// The parameter `threads`: 0 = one on every CPU allowed.
[[nodiscard]] Param threads_param(int preset);

/// The CPUs of `threads` threads (0 = all that this process may use): `first`, then the others in ascending
/// order. Throws bad-parameter with both figures where there are fewer.
[[nodiscard]] std::vector<int> team_cpus(int threads, int first);

/// Runs body(0) in the calling thread, which is bound to the first CPU already, and body(1), body(2) … in
/// threads bound to the others. Returns when all have; what one of them threw is thrown then. `failed` runs
/// as soon as one throws, so that nobody waits for it.
void run_team(const std::vector<int>& cpus, const std::function<void(std::size_t rank)>& body,
              const std::function<void()>& failed);

/// The time that the threads of a team share: it lasts `seconds` from when the last one has begun. Who begins
/// earlier works already, so that nobody is measured without the load of the others.
class Window {
 public:
  Window(std::size_t threads, double seconds) : missing_(threads), length_(from_seconds(seconds)) {}
  void begin() noexcept;
  /// Ends it at once.
  void abort() noexcept { aborted_.store(true); }
  [[nodiscard]] bool open(Nanoseconds time) const noexcept;

 private:
  std::atomic<std::size_t> missing_;
  std::atomic<Nanoseconds> last_begin_{0};
  std::atomic<bool> aborted_{false};
  Nanoseconds length_;
};

/// How much a thread had done when.
struct Mark {
  Nanoseconds at;
  std::uint64_t done;
};
using Track = std::vector<Mark>;

/// The calling thread's part of the window: body(count) in batches. `body` was warmed up by calibrate().
template <typename Body>
[[nodiscard]] Track follow(Window& window, Body& body, std::uint64_t count) {
  constexpr std::size_t kRoom = 4096;
  Track track;
  track.reserve(kRoom);
  window.begin();
  track.push_back({now(), 0});
  constexpr std::size_t kLeast = 3;
  while (track.size() <= kLeast || window.open(track.back().at)) {
    body(count);
    track.push_back({now(), track.back().done + count});
  }
  return track;
}

/// What all tracks did together in the time that they share: seconds per operation, one figure for every
/// batch of the thread that made fewest, from the sum of the threads' rates in batches of about that time. A
/// batch during which a thread did not run spoils one figure, not the time it lasted. Empty where the tracks
/// share no time.
[[nodiscard]] Samples together(const std::vector<Track>& tracks);

}  // namespace wulf::node
