#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>

#include "core/json/params.hpp"
#include "net/channel/lane.hpp"

namespace wulf::net {

/// The largest buffer a thread holds. A longer message passes through it piece by piece: the process stays
/// below 16 MiB, and 4 MiB is beyond most L2 caches already.
inline constexpr std::size_t kLargestBuffer = std::size_t{4} << 20U;

/// Memory for messages: page-aligned, and written to once, so that no page is missing when the clock runs.
/// next() is where the next message lies: always the same, or ever further on where the memory is to be cold.
class Buffer {
 public:
  /// For messages of `size`, each in a place of its own until `room` is used up.
  explicit Buffer(std::size_t size, std::size_t room = 0)
      : size_(size),
        room_(std::max(room, size)),
        step_(room_ >= 2 * size ? (size + kLine - 1) / kLine * kLine : 0),
        bytes_(static_cast<std::byte*>(std::aligned_alloc(kPage, (room_ + kPage - 1) / kPage * kPage))) {
    if (!bytes_) {
      throw std::bad_alloc();
    }
    std::memset(bytes_.get(), 'w', room_);
  }

  /// As a run's parameters ask: pieces of at most `call_bytes`, `cold` or not. `share`: how many threads have
  /// one.
  static Buffer of(const Json& params, std::size_t bytes, std::size_t share = 1) {
    constexpr std::size_t kColdRoom = std::size_t{64} << 20U;
    const auto most = optional_value<std::size_t>(params, "call_bytes").value_or(kLargestBuffer);
    return Buffer(std::min({bytes, most, kLargestBuffer}),
                  params.at("cold").get<bool>() ? kColdRoom / share : 0);
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::span<std::byte> span() const noexcept { return {bytes_.get() + at_, size_}; }

  /// Goes on to the next message's place.
  std::span<std::byte> next() noexcept {
    at_ += step_;
    at_ = at_ + size_ > room_ ? 0 : at_;
    return span();
  }

 private:
  static constexpr std::size_t kPage = 4096;
  static constexpr std::size_t kLine = 64;
  struct Free {
    // Memory from aligned_alloc goes back by free.
    // NOLINTNEXTLINE(cppcoreguidelines-no-malloc,cppcoreguidelines-owning-memory)
    void operator()(std::byte* bytes) const { std::free(bytes); }
  };
  std::size_t size_;
  std::size_t room_;
  std::size_t step_;
  std::size_t at_ = 0;
  std::unique_ptr<std::byte, Free> bytes_;
};

/// Sends a message of `bytes` from the buffer, piece by piece where it is longer.
inline Io send_message(Channel& channel, std::span<const std::byte> buffer, std::size_t bytes) noexcept {
  if (bytes <= buffer.size()) [[likely]] {
    return channel.send(buffer.first(bytes));
  }
  channel.cork(true);
  Io io = Io::kDone;
  while (bytes > 0 && io == Io::kDone) {
    const std::size_t piece = std::min(bytes, buffer.size());
    io = channel.send(buffer.first(piece));
    bytes -= piece;
  }
  channel.cork(false);
  return io;
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

/// The server's side of a round trip: every message goes back as it came, until the channel closes.
inline void echo(Lane& lane, Buffer& buffer, std::size_t bytes, bool datagrams) noexcept {
  Channel& channel = *lane.channel;
  if (datagrams) {
    std::size_t got = 0;
    for (Io io = Io::kDone; io != Io::kClosed;) {
      io = channel.receive(buffer.next(), got);
      if (io == Io::kDone && got == bytes) {
        io = channel.send(buffer.span());
        lane.count(bytes);
      }
    }
    return;
  }
  while (receive_message(channel, buffer.next(), bytes) == Io::kDone &&
         send_message(channel, buffer.span(), bytes) == Io::kDone) {
    lane.count(bytes);
  }
}

}  // namespace wulf::net
