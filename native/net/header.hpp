#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "net/key.hpp"

namespace wulf::net {

/// What a connection is for.
enum class Kind : std::uint8_t {
  kControl = 1,  ///< the run's conversation: opens the run, `params_length` bytes of JSON parameters follow
  kData = 2,     ///< one data channel of a run that is open
};

/// The fixed 64 bytes with which every connection and every UDP hello opens, integers in network order:
///
///     0  magic "wulf-net"    8  version, 2 bytes   10  kind, 1 byte   11  zero
///    12  channel, 4 bytes   16  key, 16 bytes      32  run, 8 bytes   40  pattern, 16 bytes, padded with
///    zeros 56  params_length, 4 bytes                    60  zero, 4 bytes
struct Header {
  Kind kind = Kind::kControl;
  std::uint32_t channel = 0;
  Key key{};
  std::uint64_t run =
      0;  ///< chosen by the client at random: joins a run's channels to its control connection
  std::string pattern;
  std::uint32_t params_length = 0;

  static constexpr std::size_t kSize = 64;
  static constexpr std::uint16_t kVersion = 1;
  static constexpr std::size_t kLongestPattern = 16;
  static constexpr std::uint32_t kLongestParams = 4096;

  [[nodiscard]] std::array<std::byte, kSize> encode() const;

  /// Nothing where the bytes are no header of this version. Whether the key is right is not asked here.
  [[nodiscard]] static std::optional<Header> decode(std::span<const std::byte> bytes);
};

/// What a UDP server answers to a good hello, from the socket that is the client's own: names run and
/// channel.
[[nodiscard]] std::array<std::byte, 20> encode_welcome(std::uint64_t run, std::uint32_t channel);

}  // namespace wulf::net
