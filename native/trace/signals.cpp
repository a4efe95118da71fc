// A process that a signal ends leaves a trace of all that it had recorded. What the signal does, to whom and
// with what it says, stays as it would be without a trace: who handles faults, as a garbage collector or a
// checkpointer, goes on.

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "trace/file/buffer.hpp"
#include "trace/life.hpp"

namespace wulf::trace {

namespace {

/// Faults of the program itself: whoever else handles them does so after the trace is written.
constexpr int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

/// From outside: a program that handles them is left alone, since it may go on.
constexpr int requests[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGXCPU, SIGUSR1, SIGUSR2};

constexpr std::size_t most_signal = 65;
struct sigaction before[most_signal];

/// Whether the instruction that faulted is run again when its handler returns, and so faults again.
bool comes_again(const siginfo_t& info) {
  switch (info.si_signo) {
    case SIGSEGV:
#ifdef SEGV_MTEAERR
      return info.si_code > 0 && info.si_code != SEGV_MTEAERR;
#else
      return info.si_code > 0;
#endif
    case SIGBUS:
      return info.si_code > 0 && info.si_code != BUS_MCEERR_AO;
    case SIGFPE:
    case SIGILL:
      return info.si_code > 0;
    default:
      return false;  // somebody sent it
  }
}

/// To this thread, which has it blocked until the handler returns, with its sender and its value.
void send_again(int signal, siginfo_t* info) {
  if (syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), signal, info) != 0) {
    (void)raise(signal);
  }
}

void write_and_pass_on(int signal, siginfo_t* info, void* context) {
  const int error = errno;
  if (Buffer::ours()) {
    buffer.finish_for_now(Ended::signal, static_cast<std::uint64_t>(signal), take_stock);
  }
  errno = error;
  const struct sigaction& found = before[signal];
  struct sigaction now {};
  sigaction(signal, nullptr, &now);
  if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == write_and_pass_on) {
    sigaction(signal, &found, nullptr);
    if (!comes_again(*info)) {
      send_again(signal, info);
    }
  } else if ((found.sa_flags & SA_SIGINFO) != 0) {
    // a later handler of the program calls the one that it found, which is this
    found.sa_sigaction(signal, info, context);
  } else if (found.sa_handler != SIG_DFL) {
    found.sa_handler(signal);
  } else {
    sigaction(signal, &found, nullptr);
    (void)raise(signal);
  }
}

void watch(int signal, bool handled_too) {
  struct sigaction now {};
  if (sigaction(signal, nullptr, &now) != 0 || now.sa_handler == SIG_IGN ||
      (now.sa_handler != SIG_DFL && !handled_too)) {
    return;
  }
  before[signal] = now;
  struct sigaction ours {};
  ours.sa_sigaction = write_and_pass_on;
  sigemptyset(&ours.sa_mask);
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
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
