#include "net/key.hpp"

#include <charconv>

#include "core/error.hpp"

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

bool same_key(const Key& a, const Key& b) noexcept {
  volatile std::uint8_t difference = 0;  // volatile: the compiler may not leave the loop early
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference = static_cast<std::uint8_t>(difference | (a[i] ^ b[i]));
  }
  return difference == 0;
}

}  // namespace wulf::net
