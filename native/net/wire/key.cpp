#include "net/wire/key.hpp"

#include <monocypher.h>

#include <charconv>

#include "core/json/error.hpp"

namespace wulf::net {

Key parse_key(const std::string& hex) {
  Key key{};
  bool good = hex.size() == 2 * key.size();
  for (std::size_t i = 0; good && i < key.size(); ++i) {
    const char* digits = hex.data() + (2 * i);
    const auto [end, error] = std::from_chars(digits, digits + 2, key[i], 16);
    good = error == std::errc{} && end == digits + 2;
  }
  if (!good) {
    throw bad_parameter("key", "key must be 32 hex digits (128 bits)");
  }
  return key;
}

Seal seal_of(std::span<const std::byte> first, std::span<const std::byte> second, const Key& key) noexcept {
  Seal seal{};
  crypto_blake2b_ctx hash;
  crypto_blake2b_keyed_init(&hash, seal.size(), key.data(), key.size());
  for (const auto part : {first, second}) {
    crypto_blake2b_update(&hash, reinterpret_cast<const std::uint8_t*>(part.data()), part.size());
  }
  crypto_blake2b_final(&hash, seal.data());
  return seal;
}

bool same_seal(const Seal& a, const Seal& b) noexcept { return crypto_verify16(a.data(), b.data()) == 0; }

}  // namespace wulf::net
