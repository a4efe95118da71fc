#include "net/wire/header.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace wulf::net {
namespace {

constexpr std::string_view kMagic = "wulf-net";
constexpr std::string_view kWelcome = "wulf-ok!";

constexpr std::size_t kVersionAt = 8;
constexpr std::size_t kKindAt = 10;
constexpr std::size_t kChannelAt = 12;
constexpr std::size_t kSealAt = 16;
constexpr std::size_t kRunAt = 32;
constexpr std::size_t kPatternAt = 40;
constexpr std::size_t kParamsLengthAt = 56;

template <typename T>
void put(std::span<std::byte> bytes, std::size_t at, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    bytes[at + i] = static_cast<std::byte>(static_cast<std::uint64_t>(value) >> (8 * (sizeof(T) - 1 - i)));
  }
}

template <typename T>
T get(std::span<const std::byte> bytes, std::size_t at) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    value = (value << 8U) | std::to_integer<std::uint64_t>(bytes[at + i]);
  }
  return static_cast<T>(value);
}

void put_text(std::span<std::byte> bytes, std::size_t at, std::string_view text) {
  std::memcpy(&bytes[at], text.data(), text.size());
}

}  // namespace

Header::Bytes Header::encode(const Key& key, std::span<const std::byte> params) const {
  Bytes bytes{};
  put_text(bytes, 0, kMagic);
  put(bytes, kVersionAt, kVersion);
  put(bytes, kKindAt, static_cast<std::uint8_t>(kind));
  put(bytes, kChannelAt, channel);
  put(bytes, kRunAt, run);
  put_text(bytes, kPatternAt, std::string_view(pattern).substr(0, kLongestPattern));
  put(bytes, kParamsLengthAt, params_length);
  const Seal seal = seal_of(bytes, params, key);
  std::memcpy(&bytes[kSealAt], seal.data(), seal.size());
  return bytes;
}

std::optional<Header> Header::decode(std::span<const std::byte> bytes) {
  if (bytes.size() != kSize || std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0 ||
      get<std::uint16_t>(bytes, kVersionAt) != kVersion) {
    return std::nullopt;
  }
  const auto kind = get<std::uint8_t>(bytes, kKindAt);
  Header header;
  header.params_length = get<std::uint32_t>(bytes, kParamsLengthAt);
  if ((kind != static_cast<std::uint8_t>(Kind::kControl) && kind != static_cast<std::uint8_t>(Kind::kData)) ||
      header.params_length > kLongestParams) {
    return std::nullopt;
  }
  header.kind = static_cast<Kind>(kind);
  header.channel = get<std::uint32_t>(bytes, kChannelAt);
  header.run = get<std::uint64_t>(bytes, kRunAt);
  const auto* text = reinterpret_cast<const char*>(&bytes[kPatternAt]);
  header.pattern.assign(text, std::find(text, text + kLongestPattern, '\0'));
  return header;
}

bool Header::is_sealed(std::span<const std::byte> bytes, const Key& key, std::span<const std::byte> params) {
  Bytes unsealed{};
  std::memcpy(unsealed.data(), bytes.data(), std::min(bytes.size(), unsealed.size()));
  Seal seal{};
  std::memcpy(seal.data(), &unsealed[kSealAt], seal.size());
  std::memset(&unsealed[kSealAt], 0, seal.size());
  return same_seal(seal, seal_of(unsealed, params, key));
}

std::array<std::byte, 20> encode_welcome(std::uint64_t run, std::uint32_t channel) {
  constexpr std::size_t kWelcomeRunAt = 8;
  constexpr std::size_t kWelcomeChannelAt = 16;
  std::array<std::byte, 20> bytes{};
  put_text(bytes, 0, kWelcome);
  put(bytes, kWelcomeRunAt, run);
  put(bytes, kWelcomeChannelAt, channel);
  return bytes;
}

}  // namespace wulf::net
