#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>

#include "node/probe.hpp"
#include "node/timing.hpp"

namespace wulf::node {
namespace {

constexpr int kSignal = SIGUSR2;  // the program itself waits for SIGUSR1

void handle(int) {}

void install() {
  struct sigaction action {};
  action.sa_handler = handle;
  sigaction(kSignal, &action, nullptr);
}

/// The handler while it is needed; what was there before comes back.
class OwnHandler {
 public:
  OwnHandler() {
    sigaction(kSignal, nullptr, &before_);
    install();
    sigset_t own;
    sigemptyset(&own);
    sigaddset(&own, kSignal);
    pthread_sigmask(SIG_UNBLOCK, &own, &mask_);
  }
  OwnHandler(const OwnHandler&) = delete;
  OwnHandler& operator=(const OwnHandler&) = delete;
  OwnHandler(OwnHandler&&) = delete;
  OwnHandler& operator=(OwnHandler&&) = delete;
  ~OwnHandler() {
    pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
    sigaction(kSignal, &before_, nullptr);
  }

 private:
  struct sigaction before_ {};
  sigset_t mask_{};
};

Samples time_install(double seconds) {
  return time_batches(
      [](std::uint64_t count) {
        for (std::uint64_t i = 0; i < count; ++i) {
          install();
        }
      },
      seconds);
}

/// Sent to the thread itself, so that the handler has run when the call returns.
Samples time_handle(double seconds) {
  const long process = getpid();
  const long thread = syscall(SYS_gettid);
  return time_batches(
      [=](std::uint64_t count) {
        for (std::uint64_t i = 0; i < count; ++i) {
          syscall(SYS_tgkill, process, thread, kSignal);
        }
      },
      seconds);
}

class Signal final : public Probe {
 public:
  Signal() : Probe("signal", "os", "a signal: its handler is installed, or sent one and run") {}

  [[nodiscard]] std::vector<Param> params() const override {
    return {{"action",
             ParamType::kStr,
             "",
             "install",
             nullptr,
             nullptr,
             "sigaction(2); or a signal to the own thread, its handler and the way back",
             {"install", "handle"}}};
  }

  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"latency", "s", "lower", "one installation, or one signal with its sending"}};
  }

  [[nodiscard]] Outcome measure(const Json& params) const override {
    const OwnHandler handler;
    const auto seconds = params.at("seconds").get<double>();
    const Samples samples = params.at("action") == "install" ? time_install(seconds) : time_handle(seconds);
    return {.metrics = {{"latency", samples.metric()}}, .seconds = samples.spent(), .info = Json::object()};
  }
};

const Registered<Probe> registered_signal{std::make_unique<Signal>()};

}  // namespace
}  // namespace wulf::node
