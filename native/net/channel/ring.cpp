#include "net/channel/ring.hpp"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>

namespace wulf::net {
namespace {

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) noexcept {
  return syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, nullptr, nullptr, 0);
}

}  // namespace

/// The order of the two counts: a sleeper counts himself before his last look, so either he sees what was
/// just published, or he is seen here.
bool Ring::Bell::anybody_asleep() noexcept {
#ifdef __SANITIZE_THREAD__  // it knows no fences, and refuses them: the same order by a change that changes
                            // nothing
  return sleepers.fetch_add(0) != 0;
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return sleepers.load(std::memory_order_relaxed) != 0;
#endif
}

void Ring::Bell::ring(Waiting waiting) noexcept {
  if (waiting == Waiting::kBusy) {
    return;
  }
  if (anybody_asleep()) {
    rings.fetch_add(1, std::memory_order_release);
    futex(rings, FUTEX_WAKE, INT_MAX);
  }
}

template <typename Ready>
void Ring::Bell::await(const Ready& ready, Waiting waiting) noexcept {
  constexpr int kLooks = 4000;
  while (waiting == Waiting::kBusy) {
    for (int look = 0; look < kLooks; ++look) {
      if (ready()) {
        return;
      }
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

std::size_t RingWriter::await_room() noexcept {
  const auto room = [this] { return Ring::kCapacity - (head_ - seen_tail_); };
  if (room() == 0) {
    ring_.drained_.await(
        [&] {
          seen_tail_ = ring_.tail_.load(std::memory_order_acquire);
          return room() != 0 || ring_.closed();
        },
        waiting_);
  }
  return ring_.closed() || room() > Ring::kCapacity ? 0 : room();
}

Io RingWriter::write(std::span<const std::byte> bytes) noexcept {
  constexpr std::size_t kMostAtOnce = Ring::kCapacity / 4;  // so that the reader copies while the writer does
  while (!bytes.empty()) {
    const std::size_t room = await_room();
    if (room == 0) {
      return Io::kClosed;
    }
    const std::size_t at = head_ % Ring::kCapacity;
    const std::size_t count = std::min({bytes.size(), room, Ring::kCapacity - at, kMostAtOnce});
    std::memcpy(&ring_.bytes_[at], bytes.data(), count);
    head_ += count;
    ring_.head_.store(head_, std::memory_order_release);
    ring_.filled_.ring(waiting_);
    bytes = bytes.subspan(count);
  }
  return Io::kDone;
}

Io RingReader::read_some(std::span<std::byte> buffer, std::size_t& got) noexcept {
  const auto there = [this] { return seen_head_ - tail_; };
  if (there() == 0) {
    ring_.filled_.await(
        [&] {
          seen_head_ = ring_.head_.load(std::memory_order_acquire);
          return there() != 0 || ring_.closed();
        },
        waiting_);
  }
  if (there() == 0 || there() > Ring::kCapacity) {
    return Io::kClosed;
  }
  const std::size_t at = tail_ % Ring::kCapacity;
  got = std::min({buffer.size(), static_cast<std::size_t>(there()), Ring::kCapacity - at});
  std::memcpy(buffer.data(), &ring_.bytes_[at], got);
  tail_ += got;
  ring_.tail_.store(tail_, std::memory_order_release);
  ring_.drained_.ring(waiting_);
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
