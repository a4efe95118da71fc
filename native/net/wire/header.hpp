#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "net/wire/key.hpp"

namespace wulf::net {

/// What a connection is for.
enum class Kind : std::uint8_t {
  kControl = 1,  ///< the run's conversation: opens the run, `params_length` bytes of JSON parameters follow
  kData = 2,     ///< one data channel of a run that is open
};

/// The fixed 64 bytes with which every connection and every UDP hello opens, integers in network order:
///
///     0  magic "wulf-net"    8  version, 2 bytes   10  kind, 1 byte   11  zero
///    12  channel, 4 bytes   16  seal, 16 bytes     32  run, 8 bytes   40  pattern, 16 bytes, padded with
///    zeros 56  params_length, 4 bytes                    60  zero, 4 bytes
///
/// The seal is of these bytes, with zeros in its own place, and of the parameters that follow them.
struct Header {
  Kind kind = Kind::kControl;
  std::uint32_t channel = 0;
  /// chosen by the client at random, for one run alone: joins its channels to its control connection
  std::uint64_t run = 0;
  std::string pattern;
  std::uint32_t params_length = 0;

  static constexpr std::size_t kSize = 64;
  static constexpr std::uint16_t kVersion = 2;
  static constexpr std::size_t kLongestPattern = 16;
  static constexpr std::uint32_t kLongestParams = 4096;

  using Bytes = std::array<std::byte, kSize>;

  /// Sealed, with the parameters that follow: `params_length` bytes.
  [[nodiscard]] Bytes encode(const Key& key, std::span<const std::byte> params = {}) const;

  /// Nothing where the bytes are no header of this version. Whether the seal is right is not asked here.
  [[nodiscard]] static std::optional<Header> decode(std::span<const std::byte> bytes);

  /// Whether who encoded these bytes, which are a header's, had the key, and these parameters.
  [[nodiscard]] static bool is_sealed(std::span<const std::byte> bytes, const Key& key,
                                      std::span<const std::byte> params = {});
};

/// A channel's header as it travels.
struct Opening {
  Header header;
  Header::Bytes bytes{};
};

/// What a UDP server answers to a good hello, from the socket that is the client's own: names run and
/// channel.
[[nodiscard]] std::array<std::byte, 20> encode_welcome(std::uint64_t run, std::uint32_t channel);

}  // namespace wulf::net
