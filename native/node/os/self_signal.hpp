#pragma once

#include <csignal>
#include <cstdint>

namespace wulf::node {

/// A signal that the calling thread may send itself while this object lives: it is let through, and its
/// handler counts. What was there before comes back.
class SelfSignal {
 public:
  static constexpr int kSignal = SIGUSR2;  ///< the program itself waits for SIGUSR1 (end_with_parent)

  SelfSignal();
  SelfSignal(const SelfSignal&) = delete;
  SelfSignal& operator=(const SelfSignal&) = delete;
  SelfSignal(SelfSignal&&) = delete;
  SelfSignal& operator=(SelfSignal&&) = delete;
  ~SelfSignal();

  /// sigaction(2) of the handler so many times more, each of which tells what was there, as lmbench asks it
  /// to. The loop is beside the call, as in lmbench: where the kernel empties the predictor of returns, each
  /// function that returns behind a system call costs 30 ns.
  static void install(std::uint64_t count);

  /// So many, to the thread itself: the handler has run when each call returns.
  void send(std::uint64_t count) const { send(count, kSignal); }

  /// The call that sends, without a signal (number 0): what sending alone costs.
  void send_none(std::uint64_t count) const { send(count, 0); }

  /// How often the handler ran in this thread, ever.
  [[nodiscard]] static std::uint64_t handled() noexcept;

 private:
  void send(std::uint64_t count, int signal) const;

  long process_;
  long thread_;
  struct sigaction before_ {};
  sigset_t mask_{};
};

}  // namespace wulf::node
