#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "core/host/file.hpp"
#include "node/os/files.hpp"
#include "node/os/unavailable.hpp"
#include "node/probe.hpp"
#include "node/time/timing.hpp"

namespace wulf::node {
namespace {

constexpr long kSetup = 425;  // io_uring_setup and io_uring_enter, of every architecture
constexpr long kEnter = 426;
constexpr unsigned kEntries = 8;

/// Memory that the kernel shares with us.
class Shared {
 public:
  Shared(int fd, std::size_t bytes, std::uint64_t offset)
      : bytes_(bytes),
        memory_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd,
                     static_cast<off_t>(offset))) {
    if (memory_ == MAP_FAILED) {
      throw Unavailable("the rings of io_uring cannot be mapped", errno);
    }
  }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  Shared(Shared&&) = delete;
  Shared& operator=(Shared&&) = delete;
  ~Shared() { munmap(memory_, bytes_); }

  template <typename T>
  [[nodiscard]] T* at(std::size_t offset) const {
    return reinterpret_cast<T*>(static_cast<std::byte*>(memory_) + offset);
  }

 private:
  std::size_t bytes_;
  void* memory_;
};

/// One ring, used for operations that do nothing. By system calls alone: liburing would only wrap them.
class IoUring {
 public:
  IoUring()
      : ring_(set_up(params_)),
        submissions_(ring_.fd(), params_.sq_off.array + (params_.sq_entries * sizeof(unsigned)),
                     IORING_OFF_SQ_RING),
        completions_(ring_.fd(), params_.cq_off.cqes + (params_.cq_entries * sizeof(io_uring_cqe)),
                     IORING_OFF_CQ_RING),
        entries_(ring_.fd(), params_.sq_entries * sizeof(io_uring_sqe), IORING_OFF_SQES) {}

  /// Submits one and waits until it is complete.
  void nothing() {
    auto* tail = submissions_.at<unsigned>(params_.sq_off.tail);
    const unsigned slot = *tail & *submissions_.at<unsigned>(params_.sq_off.ring_mask);
    entries_.at<io_uring_sqe>(0)[slot] = {};
    entries_.at<io_uring_sqe>(0)[slot].opcode = IORING_OP_NOP;
    submissions_.at<unsigned>(params_.sq_off.array)[slot] = slot;
    std::atomic_ref(*tail).store(*tail + 1, std::memory_order_release);
    if (syscall(kEnter, ring_.fd(), 1, 1, IORING_ENTER_GETEVENTS, nullptr, 0) != 1) {
      throw Unavailable("io_uring_enter(2) does not take an operation", errno);
    }
    const std::atomic_ref head(*completions_.at<unsigned>(params_.cq_off.head));
    const std::atomic_ref end(*completions_.at<unsigned>(params_.cq_off.tail));
    const unsigned first = head.load(std::memory_order_relaxed);
    if (end.load(std::memory_order_acquire) == first) {
      throw Unavailable("io_uring did not complete an operation that does nothing");
    }
    head.store(first + 1, std::memory_order_release);
  }

 private:
  static File set_up(io_uring_params& params) {
    File ring(static_cast<int>(syscall(kSetup, kEntries, &params)));
    if (ring.fd() < 0) {
      const bool forbidden = errno == EPERM || errno == EACCES;
      throw Unavailable(forbidden
                            ? "io_uring is forbidden here (sysctl kernel.io_uring_disabled, or a filter "
                              "of system calls, as containers have)"
                            : "no io_uring here",
                        errno);
    }
    return ring;
  }

  io_uring_params params_{};
  File ring_;
  Shared submissions_;
  Shared completions_;
  Shared entries_;
};

class IoUringProbe final : public HostProbe {
 public:
  IoUringProbe() : HostProbe("io-uring", "os", "an operation that does nothing, by io_uring(7)") {}

  [[nodiscard]] std::vector<Param> params() const override { return {}; }

  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"latency", "s", "lower", "submitted and waited for with one system call"}};
  }

  [[nodiscard]] Outcome measure(const Json& params) const override {
    private_files();
    IoUring ring;
    const Samples samples = time_batches(
        [&](std::uint64_t count) {
          for (std::uint64_t i = 0; i < count; ++i) {
            ring.nothing();
          }
        },
        params.at("seconds").get<double>());
    return {.metrics = {{"latency", samples.metric()}}, .seconds = samples.spent(), .info = Json::object()};
  }
};

const Registered<HostProbe> registered_io_uring_probe{std::make_unique<IoUringProbe>()};

}  // namespace
}  // namespace wulf::node
