#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/json/json.hpp"
#include "core/json/params.hpp"
#include "net/wire/socket.hpp"

namespace wulf::net {

/// How a thread waits until it can go on.
enum class Waiting : std::uint8_t {
  kBlock,  ///< in the call itself
  kEpoll,  ///< in epoll_wait; calls never block
  kBusy,   ///< calls again and again
};

/// How a message is handed to the system.
enum class Sending : std::uint8_t {
  kCopy,      ///< send(2)
  kSendfile,  ///< sendfile(2) from a file in memory
  kZeroCopy,  ///< send(2) with MSG_ZEROCOPY
  kSegments,  ///< several datagrams as one that the kernel or the device cuts (UDP_SEGMENT)
};

/// What a run's parameters ask of its channels; nothing = the system's choice.
struct ChannelOptions {
  std::optional<int> sndbuf;
  std::optional<int> rcvbuf;
  std::optional<double> busy_poll;  ///< seconds
  std::optional<int> mss;
  std::optional<int> tos;
  std::string congestion;
  bool nodelay = true;
  bool cork = false;
  Waiting waiting = Waiting::kBlock;
  Sending sending = Sending::kCopy;

  /// From resolved parameters that include channel_params().
  static ChannelOptions from(const Json& params);

  /// Buffers, SO_BUSY_POLL and type of service, where the socket is of the internet; before connecting, so
  /// that the window can be announced. Throws `internal` where the system refuses.
  void apply(const Socket& socket) const;

  /// TCP's own, and apply(). Throws `bad-parameter` where the system refuses a value.
  void apply_tcp(const Socket& socket) const;
};

/// The parameters that every pattern shares, as far as the transport has them (Transport::Spec::options).
[[nodiscard]] std::vector<Param> channel_params(bool nodelay);

}  // namespace wulf::net
