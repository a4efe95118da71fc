#pragma once

#include <atomic>
#include <deque>
#include <exception>
#include <functional>
#include <optional>
#include <thread>

#include "net/channel/lane.hpp"
#include "net/run/control.hpp"

namespace wulf::net {

/// The threads that work a client's lanes, one each, and the watch over them.
class Crew {
 public:
  using Body = std::function<void(Lane& lane)>;

  /// What a thread's calls can reach.
  enum class Files : std::uint8_t {
    kOwn,  ///< its lane's alone, in a table of its own, which makes calls cheaper
    kAll,
  };

  /// Starts `body` for every lane, pinned to `cpu` where one is given.
  Crew(Lanes& lanes, std::optional<int> cpu, const Body& body, Files files = Files::kOwn);
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  Crew(Crew&&) = delete;
  Crew& operator=(Crew&&) = delete;
  /// Interrupts whoever still works, and waits for him.
  ~Crew();

  struct Watch {
    Nanoseconds until = 0;  ///< return by then
    double patience =
        0;  ///< seconds without any movement, after which `timeout` is thrown; infinity = for ever
    const std::atomic<bool>* done = nullptr;  ///< return soon after it is set
    bool nudge = false;  ///< wake threads that stand still at every tick, so that they see the time
  };

  /// Watches until all have ended, the peer says something (which is returned), or the time has come.
  /// Throws `timeout`, what the peer threw, or what a body threw.
  std::optional<Json> watch(Peer& peer, const Watch& watch);

  [[nodiscard]] bool ended() const { return working_.load(std::memory_order_acquire) == 0; }

  /// Waits for all to end by themselves, and throws what a body threw.
  void join();

 private:
  void work(std::size_t index, std::optional<int> cpu, const Body& body, Files files) noexcept;
  void end_all();
  void nudge();

  struct Worker {
    std::thread thread;
    std::exception_ptr failure;
    std::uint64_t seen = 0;  ///< messages at the last tick
  };
  Lanes& lanes_;
  Socket ended_;  ///< an eventfd: readable when the last has ended
  std::atomic<std::size_t> working_;
  std::deque<Worker> workers_;
};

}  // namespace wulf::net
