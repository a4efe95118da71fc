#include "node/os/self_signal.hpp"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace wulf::node {
namespace {

thread_local volatile std::uint64_t times_handled = 0;  // NOLINT: a handler reaches nothing else

void count_signal(int /*signal*/) { times_handled = times_handled + 1; }

}  // namespace

void SelfSignal::install(std::uint64_t count) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): what matters is set, as lmbench does
  struct sigaction action;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): written by the call
  struct sigaction old;
  for (std::uint64_t i = 0; i < count; ++i) {
    action.sa_handler = count_signal;
    sigemptyset(&action.sa_mask);
    action.sa_flags = 0;
    sigaction(kSignal, &action, &old);
  }
}

SelfSignal::SelfSignal() : process_(getpid()), thread_(syscall(SYS_gettid)) {
  sigaction(kSignal, nullptr, &before_);
  install(1);
  sigset_t own;
  sigemptyset(&own);
  sigaddset(&own, kSignal);
  pthread_sigmask(SIG_UNBLOCK, &own, &mask_);
}

SelfSignal::~SelfSignal() {
  pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
  sigaction(kSignal, &before_, nullptr);
}

void SelfSignal::send(std::uint64_t count, int signal) const {
  for (std::uint64_t i = 0; i < count; ++i) {
    syscall(SYS_tgkill, process_, thread_, signal);
  }
}

std::uint64_t SelfSignal::handled() noexcept { return times_handled; }

}  // namespace wulf::node
