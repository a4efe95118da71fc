#pragma once

#include <vector>

#include "net/wire/options.hpp"

namespace wulf::net {

/// Waits for a descriptor as the parameter `waiting` says, before or between the calls that would block.
class Waiter {
 public:
  /// The descriptor is made non-blocking unless calls are to block. Throws `limit`.
  Waiter(const Socket& socket, Waiting waiting);

  /// Before a receiving call. A signal ends the wait early.
  void before_receive() const noexcept {
    if (waiting_ == Waiting::kEpoll) [[unlikely]] {
      wait(readable_.fd());
    }
  }

  /// After a sending call that found no room. A signal ends the wait early.
  void for_room() const noexcept {
    if (waiting_ == Waiting::kEpoll) {
      wait(writable_.fd());
    }
  }

  /// That a call returns EAGAIN is no error but its way to say "not yet".
  [[nodiscard]] bool polls() const noexcept { return waiting_ != Waiting::kBlock; }

  /// Calls are repeated without a pause.
  [[nodiscard]] bool spins() const noexcept { return waiting_ == Waiting::kBusy; }

  /// What a thread has to keep open beside the descriptor itself.
  [[nodiscard]] std::vector<int> files() const;

 private:
  static void wait(int epoll) noexcept;
  [[nodiscard]] static Socket watch(const Socket& socket, unsigned events);

  Waiting waiting_;
  Socket readable_;  ///< an epoll
  Socket writable_;
};

}  // namespace wulf::net
