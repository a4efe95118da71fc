#include <sys/mman.h>
#include <sys/resource.h>

#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/host/memory.hpp"
#include "core/json/error.hpp"
#include "node/memory/random.hpp"
#include "node/os/private_folder.hpp"
#include "node/os/scratch.hpp"
#include "node/os/self_signal.hpp"
#include "node/probe.hpp"
#include "node/time/timing.hpp"

namespace wulf::node {
namespace {

constexpr std::size_t kTouches = 64;
constexpr std::size_t kFaultAround = std::size_t{64}
                                     << 10U;  ///< the kernel maps so much around a file's fault
constexpr std::size_t kMapped = kTouches * kFaultAround;
constexpr std::size_t kPagesMapped = std::size_t{8} << 20U;  ///< the file of lmbench's summary

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
  /// Asks for what the file holds by now, as lmbench does after each mapping.
  void invalidate() const { (void)msync(place_, bytes_, MS_INVALIDATE); }

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

/// Stores to a page that may not be written, `count` of them; each is one more fault of the same store.
void fault_times(volatile char* place, std::uint64_t count) {
  faults_left = count;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-bounds-array-to-pointer-decay): what jmp_buf is
  if (sigsetjmp(fault_exit, 1) == 0) {
    *place = 1;
  }
}

/// As lmbench takes them off: a fault with its signal, less a signal to oneself, whose sending is no part of
/// a fault.
Json excess_of(const Samples& whole, const Samples& handled, const Samples& sending) {
  return whole.less(handled.median() - sending.median())
      .metric_above_zero("a fault with its signal took no longer than a signal alone");
}

Outcome measure_protection(double seconds) {
  const Mapping mapping(page_bytes(), PROT_READ, -1);
  const Handler handler(SIGSEGV, on_fault);
  const SelfSignal signal;
  const std::uint64_t before = SelfSignal::handled();
  std::uint64_t sent = 0;
  const auto [whole, handled, sending] =
      time_in_turn<3>({[&](std::uint64_t count) { fault_times(mapping.data(), count); },
                       [&](std::uint64_t count) {
                         signal.send(count);
                         sent += count;
                       },
                       [&](std::uint64_t count) { signal.send_none(count); }},
                      seconds);
  return {.metrics = {{"latency", whole.metric()}, {"excess", excess_of(whole, handled, sending)}},
          .seconds = whole.spent() + handled.spent() + sending.spent(),
          .info = {{"counts", "store to a read-only page, SIGSEGV's handler, and its return"},
                   {"signals", {{"sent", sent}, {"handled", SelfSignal::handled() - before}}},
                   {"signal", handled.metric()},
                   {"sending", sending.metric()}}};
}

/// The pages of a file in random order, as offsets.
std::vector<std::size_t> shuffled_pages(std::size_t bytes) {
  const std::size_t page = page_bytes();
  std::vector<std::size_t> places;
  for (std::size_t at = 0; at < bytes; at += page) {
    places.push_back(at);
  }
  Random random;
  for (std::size_t i = places.size(); i > 1; --i) {
    std::swap(places[i - 1], places[random.below(i)]);
  }
  return places;
}

/// lmbench's lat_pagefault: every page of a mapped file is read in random order, less mapping it; a page.
Outcome measure_pages(const ScratchFile& file, std::size_t bytes, double seconds) {
  const std::vector<std::size_t> places = shuffled_pages(bytes);
  const auto map_and_read = [&](std::uint64_t count, std::span<const std::size_t> read) {
    for (; count > 0; --count) {
      const Mapping mapping(bytes, PROT_READ, file.file());
      mapping.invalidate();
      for (const std::size_t at : read) {
        (void)mapping.data()[at];
      }
    }
  };
  const auto [whole, mapping] = time_in_turn<2>({[&](std::uint64_t count) { map_and_read(count, places); },
                                                 [&](std::uint64_t count) { map_and_read(count, {}); }},
                                                seconds);
  return {.metrics = {{"latency", whole.less(mapping.median()).split(places.size()).metric()},
                      {"excess", no_value("s", "only a protection fault sends a signal")}},
          .seconds = whole.spent() + mapping.spent(),
          .info = {{"counts",
                    "a page of a mapped file in the page cache, pages in random order, less the mapping"},
                   {"pages", places.size()},
                   {"mapping", mapping.metric()},
                   {"folder", file.folder()}}};
}

/// First touches of pages, and stores to a page that may not be written (lmbench's lat_pagefault, lat_sig).
class PageFault final : public HostProbe {
 public:
  PageFault() : HostProbe("page-fault", "memory", "cost of a page fault") {}

  [[nodiscard]] std::vector<Param> params() const override {
    return {
        {"kind",
         ParamType::kStr,
         "",
         "anonymous",
         nullptr,
         nullptr,
         "first store to private memory, first load from a file in the page cache, every page of such a file "
         "in random order, or a store that is not allowed, with its signal",
         {"anonymous", "file", "pages", "protection"}},
        folder_param()};
  }

  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"latency", "s", "lower", "a fault; pages: a page, since one fault maps several"},
            {"excess", "s", "lower", "protection: a fault, less what a signal to oneself costs, as lmbench"}};
  }

  [[nodiscard]] Outcome measure(const Json& params) const override {
    const auto seconds = params.at("seconds").get<double>();
    const auto kind = params.at("kind").get<std::string>();
    if (kind == "protection") {
      return measure_protection(seconds);
    }
    const auto folder = params.at("folder").get<std::string>();
    if (kind == "pages") {
      return measure_pages(ScratchFile(folder, kPagesMapped), kPagesMapped, seconds);
    }
    std::optional<ScratchFile> file;
    if (kind == "file") {
      file.emplace(folder, kMapped);
    }
    // one touch in each stretch that the kernel maps at once, or most touches would be no faults
    const std::size_t step = file ? kFaultAround : page_bytes();
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

const Registered<HostProbe> registered_page_fault{std::make_unique<PageFault>()};

}  // namespace
}  // namespace wulf::node
