#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "net/options.hpp"
#include "net/transport.hpp"

namespace wulf::net {

/// Bytes from one process to another in memory that both have mapped: one writer, one reader. Neither trusts
/// the other's counts. All zeros = empty. Scheme: the single-producer, single-consumer queue of Lamport
/// (1983), counts on cache lines of their own, and a futex(2) to sleep on.
class Ring {
 public:
  static constexpr std::size_t kCapacity = std::size_t{256} << 10U;

  /// Writes all of it; kClosed once close() was called.
  Io write(std::span<const std::byte> bytes, Waiting waiting) noexcept;

  /// Reads what is there, at least one byte; kClosed when close() was called and nothing is left.
  Io read_some(std::span<std::byte> buffer, std::size_t& got, Waiting waiting) noexcept;

  /// Ends the calls of both processes, in progress and to come.
  void close() noexcept;

  [[nodiscard]] std::uint64_t written() const noexcept { return head_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t read() const noexcept { return tail_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::size_t kLine = 64;

  /// What a side sleeps on until the other side rings.
  struct Bell {
    std::atomic<std::uint32_t> rings;
    std::atomic<std::uint32_t> sleepers;
    void ring() noexcept;
    template <typename Ready>
    void await(const Ready& ready, Waiting waiting) noexcept;
  };

  alignas(kLine) std::atomic<std::uint64_t> head_;  ///< bytes ever written
  alignas(kLine) std::atomic<std::uint64_t> tail_;  ///< bytes ever read
  alignas(kLine) Bell filled_;
  alignas(kLine) Bell drained_;
  std::atomic<std::uint32_t> closed_;
  alignas(kLine) std::byte bytes_[kCapacity]{};  // NOLINT: shared memory has no constructors
};

}  // namespace wulf::net
