#include "net/ring.hpp"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>

namespace wulf::net {
namespace {

/// A pause for the other hyperthread, and less power, between two looks.
void relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) noexcept {
  return syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, nullptr, nullptr, 0);
}

}  // namespace

void Ring::Bell::ring() noexcept {
  // The order of the two counts: a sleeper counts himself before his last look, so either he sees what was
  // just published, or he is seen here.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (sleepers.load(std::memory_order_relaxed) != 0) {
    rings.fetch_add(1, std::memory_order_release);
    futex(rings, FUTEX_WAKE, INT_MAX);
  }
}

template <typename Ready>
void Ring::Bell::await(const Ready& ready, Waiting waiting) noexcept {
  constexpr int kLooks = 1000;
  while (waiting == Waiting::kBusy && !ready()) {
    for (int look = 0; look < kLooks && !ready(); ++look) {
      relax();
    }
    sched_yield();  // costs nothing where the other side has a CPU of its own
  }
  while (!ready()) {
    const std::uint32_t seen = rings.load(std::memory_order_acquire);
    sleepers.fetch_add(1);
    if (!ready()) {
      futex(rings, FUTEX_WAIT, seen);
    }
    sleepers.fetch_sub(1);
  }
}

Io Ring::write(std::span<const std::byte> bytes, Waiting waiting) noexcept {
  constexpr std::size_t kMostAtOnce = kCapacity / 4;  // so that the reader copies while the writer does
  std::uint64_t head = head_.load(std::memory_order_relaxed);
  while (!bytes.empty()) {
    const auto room = [&] { return kCapacity - (head - tail_.load(std::memory_order_acquire)); };
    const auto ready = [&] { return room() != 0 || closed_.load(std::memory_order_relaxed) != 0; };
    drained_.await(ready, waiting);
    const std::size_t free = room();
    if (closed_.load(std::memory_order_relaxed) != 0 || free > kCapacity) {
      return Io::kClosed;
    }
    const std::size_t at = head % kCapacity;
    const std::size_t count = std::min({bytes.size(), free, kCapacity - at, kMostAtOnce});
    std::memcpy(&bytes_[at], bytes.data(), count);
    head += count;
    head_.store(head, std::memory_order_release);
    filled_.ring();
    bytes = bytes.subspan(count);
  }
  return Io::kDone;
}

Io Ring::read_some(std::span<std::byte> buffer, std::size_t& got, Waiting waiting) noexcept {
  const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
  const auto there = [&] { return head_.load(std::memory_order_acquire) - tail; };
  filled_.await([&] { return there() != 0 || closed_.load(std::memory_order_relaxed) != 0; }, waiting);
  const std::uint64_t filled = there();
  if (filled == 0 || filled > kCapacity) {
    return Io::kClosed;
  }
  const std::size_t at = tail % kCapacity;
  got = std::min({buffer.size(), static_cast<std::size_t>(filled), kCapacity - at});
  std::memcpy(buffer.data(), &bytes_[at], got);
  tail_.store(tail + got, std::memory_order_release);
  drained_.ring();
  return Io::kDone;
}

void Ring::close() noexcept {
  closed_.store(1);
  for (Bell* bell : {&filled_, &drained_}) {
    bell->rings.fetch_add(1, std::memory_order_release);
    futex(bell->rings, FUTEX_WAKE, INT_MAX);
  }
}

}  // namespace wulf::net
