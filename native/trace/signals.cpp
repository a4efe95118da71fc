// A process that a signal ends leaves a trace of all that it had recorded.

#include <csignal>

#include "trace/buffer.hpp"
#include "trace/life.hpp"

namespace wulf::trace {

namespace {

/// Faults of the program itself: whoever else handles them does so after the trace is written.
constexpr int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

/// From outside: a program that handles them is left alone, since it may go on.
constexpr int requests[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGXCPU};

constexpr std::size_t most_signal = 65;
struct sigaction before[most_signal];

void write_and_pass_on(int signal) {
  sigaction(signal, &before[signal], nullptr);
  if (Buffer::ours()) {
    finish(Ended::signal, static_cast<std::uint64_t>(signal));
  }
  (void)raise(signal);  // it is blocked until this returns, and then does what it would have done
}

void watch(int signal, bool handled_too) {
  struct sigaction now {};
  if (sigaction(signal, nullptr, &now) != 0 || now.sa_handler == SIG_IGN ||
      (now.sa_handler != SIG_DFL && !handled_too)) {
    return;
  }
  before[signal] = now;
  struct sigaction ours {};
  ours.sa_handler = write_and_pass_on;
  sigemptyset(&ours.sa_mask);
  ours.sa_flags = SA_ONSTACK | SA_RESTART;
  sigaction(signal, &ours, nullptr);
}

}  // namespace

void watch_signals() {
  for (const int signal : faults) {
    watch(signal, true);
  }
  for (const int signal : requests) {
    watch(signal, false);
  }
}

}  // namespace wulf::trace
