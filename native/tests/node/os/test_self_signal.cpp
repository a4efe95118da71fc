#include <unistd.h>

#include <csignal>

#include "node/os/self_signal.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf::node;

#ifdef __SANITIZE_THREAD__
constexpr bool kHeldBack = true;  // ThreadSanitizer runs handlers at the next call that it intercepts
#else
constexpr bool kHeldBack = false;
#endif

TEST_CASE("a signal to oneself reaches its handler though the program blocks all, and leaves no trace") {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all,
                  &before);  // as end_with_parent() has its one signal blocked in every thread
  {
    const SelfSignal signal;
    const auto handled = SelfSignal::handled();
    signal.send(100);
    usleep(1);
    const auto reached = SelfSignal::handled() - handled;
    CHECK(reached >= (kHeldBack ? 1 : 100));
    CHECK(reached <= 100);
    signal.send_none(100);
    CHECK(SelfSignal::handled() - handled == reached);
  }
  sigset_t after;
  pthread_sigmask(SIG_SETMASK, &before, &after);
  CHECK(sigismember(&after, SelfSignal::kSignal) == 1);
}

}  // namespace
