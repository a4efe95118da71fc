#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "net/channel/transport.hpp"
#include "net/wire/options.hpp"

namespace wulf::net {

/// Bytes from one process to another in memory that both have mapped. All zeros = empty. Scheme: the
/// single-producer, single-consumer queue of Lamport (1983), counts on cache lines of their own, and a
/// futex(2) to sleep on.
class Ring {
 public:
  static constexpr std::size_t kCapacity = std::size_t{256} << 10U;

  /// Ends the calls of both processes, in progress and to come.
  void close() noexcept;

  [[nodiscard]] std::uint64_t written() const noexcept { return head_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t read() const noexcept { return tail_.load(std::memory_order_relaxed); }

 private:
  friend class RingWriter;
  friend class RingReader;
  static constexpr std::size_t kLine = 64;

  /// What a side sleeps on until the other side rings.
  struct Bell {
    std::atomic<std::uint32_t> rings;
    std::atomic<std::uint32_t> sleepers;
    /// Wakes who sleeps; nobody does where both wait busily.
    void ring(Waiting waiting) noexcept;
    template <typename Ready>
    void await(const Ready& ready, Waiting waiting) noexcept;
    [[nodiscard]] bool anybody_asleep() noexcept;
  };

  [[nodiscard]] bool closed() const noexcept { return closed_.load(std::memory_order_relaxed) != 0; }

  alignas(kLine) std::atomic<std::uint64_t> head_;  ///< bytes ever written
  alignas(kLine) std::atomic<std::uint64_t> tail_;  ///< bytes ever read
  alignas(kLine) Bell filled_;
  alignas(kLine) Bell drained_;
  alignas(kLine) std::atomic<std::uint32_t> closed_;
  alignas(kLine) std::byte bytes_[kCapacity]{};  // NOLINT: an array that both processes see
};

/// The one writer of a ring. It asks how much was read only when there seems to be no room: so the reader's
/// count stays in the reader's cache. The other side's counts are not trusted.
class RingWriter {
 public:
  explicit RingWriter(Ring& ring, Waiting waiting) : ring_(ring), waiting_(waiting) {}

  /// Writes all of it; kClosed once the ring was closed.
  Io write(std::span<const std::byte> bytes) noexcept;

 private:
  /// Bytes that may be written now, having waited until there are some; 0 when the ring was closed.
  std::size_t await_room() noexcept;

  Ring& ring_;
  Waiting waiting_;
  std::uint64_t head_ = 0;
  std::uint64_t seen_tail_ = 0;
};

/// The one reader of a ring.
class RingReader {
 public:
  explicit RingReader(Ring& ring, Waiting waiting) : ring_(ring), waiting_(waiting) {}

  /// Reads what is there, at least one byte; kClosed when the ring was closed and nothing is left.
  Io read_some(std::span<std::byte> buffer, std::size_t& got) noexcept;

 private:
  Ring& ring_;
  Waiting waiting_;
  std::uint64_t tail_ = 0;
  std::uint64_t seen_head_ = 0;
};

}  // namespace wulf::net
