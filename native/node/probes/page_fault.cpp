#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <optional>

#include "core/error.hpp"
#include "node/private_folder.hpp"
#include "node/probe.hpp"
#include "node/scratch.hpp"
#include "node/timing.hpp"

namespace wulf::node {
namespace {

constexpr std::size_t kTouches = 64;
constexpr std::size_t kFaultAround = std::size_t{64}
                                     << 10U;  ///< the kernel maps so much around a file's fault
constexpr std::size_t kMapped = kTouches * kFaultAround;

/// Page faults of this thread that needed no disk, since it began.
std::uint64_t faults() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-union-access): the C library's own way
  return static_cast<std::uint64_t>(usage.ru_minflt);
}

/// Memory mapped until it goes.
class Mapping {
 public:
  /// Private memory, or where `file` is not -1, that file's.
  Mapping(std::size_t bytes, int protection, int file)
      : bytes_(bytes),
        place_(
            mmap(nullptr, bytes, protection, file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, file, 0)) {
    if (place_ == MAP_FAILED) {
      throw system_error("limit", "cannot map " + std::to_string(bytes) + " B", errno);
    }
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  Mapping(Mapping&&) = delete;
  Mapping& operator=(Mapping&&) = delete;
  ~Mapping() { munmap(place_, bytes_); }
  [[nodiscard]] volatile char* data() const { return static_cast<volatile char*>(place_); }
  void small_pages() const { (void)madvise(place_, bytes_, MADV_NOHUGEPAGE); }

 private:
  std::size_t bytes_;
  void* place_;
};

struct Faults {
  Samples samples;
  std::uint64_t counted = 0;  ///< by the kernel
};

/// Times touches of pages that are not mapped yet, in mappings that are made afresh outside measured time.
Faults time_touches(int file, std::size_t step, double seconds) {
  constexpr std::size_t kLeast = 3;
  Faults result;
  const Nanoseconds end = now() + from_seconds(seconds);
  for (bool warm = false; result.samples.size() < kLeast || now() < end; warm = true) {
    const Mapping mapping(kTouches * step, file < 0 ? PROT_READ | PROT_WRITE : PROT_READ, file);
    mapping.small_pages();
    const std::uint64_t before = faults();
    const Nanoseconds start = now();
    for (std::size_t i = 0; i < kTouches; ++i) {
      if (file < 0) {
        mapping.data()[i * step] = 1;
      } else {
        (void)mapping.data()[i * step];
      }
    }
    const Nanoseconds stop = now();
    if (warm) {  // the first brings the file into the page cache
      result.samples.add(to_seconds(stop - start) / kTouches, kTouches);
      result.counted += faults() - before;
    }
  }
  return result;
}

// What the handler of a protection fault knows: it can be told nothing else.
thread_local sigjmp_buf fault_exit;                   // NOLINT: a handler reaches nothing else
thread_local volatile std::uint64_t faults_left = 0;  // NOLINT: as above

/// Returns into the store that failed, which fails again, until enough did.
void on_fault(int /*signal*/) {
  if (faults_left == 0) {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-bounds-array-to-pointer-decay): what jmp_buf is
    siglongjmp(fault_exit, 1);
  }
  faults_left = faults_left - 1;
}

void on_signal(int /*signal*/) {}

/// A signal's handler while it lives.
class Handler {
 public:
  Handler(int signal, void (*handle)(int)) : signal_(signal) {
    struct sigaction action {};
    action.sa_handler = handle;
    sigaction(signal_, &action, &before_);
  }
  Handler(const Handler&) = delete;
  Handler& operator=(const Handler&) = delete;
  Handler(Handler&&) = delete;
  Handler& operator=(Handler&&) = delete;
  ~Handler() { sigaction(signal_, &before_, nullptr); }

 private:
  int signal_;
  struct sigaction before_ {};
};

Samples time_protection(double seconds) {
  const Mapping mapping(static_cast<std::size_t>(sysconf(_SC_PAGESIZE)), PROT_READ, -1);
  const Handler handler(SIGSEGV, on_fault);
  volatile char* place = mapping.data();
  return time_batches(
      [place](std::uint64_t count) {
        faults_left = count;
        // NOLINTNEXTLINE(cppcoreguidelines-pro-bounds-array-to-pointer-decay): what jmp_buf is
        if (sigsetjmp(fault_exit, 1) == 0) {
          *place = 1;
        }
      },
      seconds);
}

/// What a signal costs that a thread sends itself.
Samples time_signal(double seconds) {
  const Handler handler(SIGUSR1, on_signal);
  return time_batches(
      [](std::uint64_t count) {
        const auto thread = static_cast<pid_t>(syscall(SYS_gettid));
        for (std::uint64_t i = 0; i < count; ++i) {
          syscall(SYS_tgkill, getpid(), thread, SIGUSR1);
        }
      },
      seconds);
}

Outcome measure_protection(double seconds) {
  const Samples whole = time_protection(seconds);
  const Samples signal = time_signal(seconds / 4);
  const double excess = whole.median() - signal.median();
  Json difference = no_value("s", "a fault with its signal took no longer than a signal alone");
  if (excess > 0) {
    difference = {{"unit", "s"}, {"value", excess}, {"n", whole.operations()}};
  }
  return {.metrics = {{"latency", whole.metric()}, {"excess", std::move(difference)}},
          .seconds = whole.spent() + signal.spent(),
          .info = {{"counts", "store to a read-only page, SIGSEGV's handler, and its return"},
                   {"signal", signal.metric()}}};
}

/// First touches of pages, and stores to a page that may not be written (lmbench's lat_pagefault, lat_sig).
class PageFault final : public Probe {
 public:
  PageFault() : Probe("page-fault", "memory", "cost of a page fault") {}

  [[nodiscard]] std::vector<Param> params() const override {
    return {
        {"kind",
         ParamType::kStr,
         "",
         "anonymous",
         nullptr,
         nullptr,
         "first store to private memory, first load from a file in the page cache, or a store that is not "
         "allowed, with its signal",
         {"anonymous", "file", "protection"}},
        folder_param()};
  }

  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"latency", "s", "lower", "a fault"},
            {"excess", "s", "lower", "protection: a fault, less what a signal to oneself costs, as lmbench"}};
  }

  [[nodiscard]] Outcome measure(const Json& params) const override {
    const auto seconds = params.at("seconds").get<double>();
    const auto kind = params.at("kind").get<std::string>();
    if (kind == "protection") {
      return measure_protection(seconds);
    }
    std::optional<ScratchFile> file;
    if (kind == "file") {
      file.emplace(params.at("folder").get<std::string>(), kMapped);
    }
    // one touch in each stretch that the kernel maps at once, or most touches would be no faults
    const std::size_t step = file ? kFaultAround : static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const Faults found = time_touches(file ? file->file() : -1, step, seconds);
    const auto touches = static_cast<double>(found.samples.operations());
    Json info{{"counts", file ? "load from a page in the page cache" : "store to a page, which is zeroed"},
              {"faults_per_touch", static_cast<double>(found.counted) / touches}};
    if (file) {
      info["folder"] = file->folder();
    }
    return {.metrics = {{"latency", found.samples.metric()},
                        {"excess", no_value("s", "only a protection fault sends a signal")}},
            .seconds = found.samples.spent(),
            .info = std::move(info)};
  }
};

const Registered<Probe> registered_page_fault{std::make_unique<PageFault>()};

}  // namespace
}  // namespace wulf::node
