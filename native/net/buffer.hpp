#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>

#include "net/lane.hpp"

namespace wulf::net {

/// Memory for messages: page-aligned, and written to once, so that no page is missing when the clock runs.
class Buffer {
 public:
  explicit Buffer(std::size_t size)
      : size_(size),
        bytes_(static_cast<std::byte*>(std::aligned_alloc(kPage, (size + kPage - 1) / kPage * kPage))) {
    if (!bytes_) {
      throw std::bad_alloc();
    }
    std::memset(bytes_.get(), 'w', size_);
  }
  [[nodiscard]] std::span<std::byte> span() const { return {bytes_.get(), size_}; }

 private:
  static constexpr std::size_t kPage = 4096;
  struct Free {
    // Memory from aligned_alloc goes back by free.
    // NOLINTNEXTLINE(cppcoreguidelines-no-malloc,cppcoreguidelines-owning-memory)
    void operator()(std::byte* bytes) const { std::free(bytes); }
  };
  std::size_t size_;
  std::unique_ptr<std::byte, Free> bytes_;
};

/// The largest buffer a thread holds. A longer message passes through it piece by piece: the process stays
/// below 16 MiB, and 4 MiB is beyond most L2 caches already.
inline constexpr std::size_t kLargestBuffer = std::size_t{4} << 20U;

/// Sends a message of `bytes` from the buffer, piece by piece where it is longer.
inline Io send_message(Channel& channel, std::span<const std::byte> buffer, std::size_t bytes) noexcept {
  while (bytes > buffer.size()) {
    if (const Io io = channel.send(buffer); io != Io::kDone) {
      return io;
    }
    bytes -= buffer.size();
  }
  return channel.send(buffer.first(bytes));
}

/// Receives a message of `bytes` over a byte stream, likewise.
inline Io receive_message(Channel& channel, std::span<std::byte> buffer, std::size_t bytes) noexcept {
  std::size_t got = 0;
  while (bytes > buffer.size()) {
    if (const Io io = channel.receive(buffer, got); io != Io::kDone) {
      return io;
    }
    bytes -= buffer.size();
  }
  return channel.receive(buffer.first(bytes), got);
}

}  // namespace wulf::net
