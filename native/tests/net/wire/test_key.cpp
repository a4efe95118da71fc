#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/json/error.hpp"
#include "net/wire/key.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf;
using namespace wulf::net;

const Key kKey = parse_key("000102030405060708090a0b0c0d0eff");

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

TEST_CASE("keys: 32 hex digits, nothing else, and the error does not repeat them") {
  CHECK(parse_key("FFfF0000000000000000000000000001")[0] == 0xff);
  for (const std::string bad :
       {"", "00", "0102030405060708090a0b0c0d0e0f1", "0102030405060708090a0b0c0d0e0f1g",
        "0102030405060708090a0b0c0d0e0f1011", "+1+2+3+4+5+6+7+8+9+a+b+c+d+e+f+0"}) {
    INFO(bad);
    try {
      (void)parse_key(bad);
      FAIL("accepted");
    } catch (const Error& error) {
      CHECK(error.field() == "key");
      CHECK((bad.size() < 3 || std::string(error.what()).find(bad) == std::string::npos));
    }
  }
}

TEST_CASE("a seal is keyed BLAKE2b of both parts, of 128 bits") {
  // as Python's hashlib.blake2b(b"wulf-net", digest_size=16, key=…) has it
  const Seal expected{0x99, 0x58, 0xbd, 0xba, 0xbc, 0x11, 0x6b, 0xab,
                      0xd4, 0xb4, 0x5c, 0xd6, 0x85, 0x2b, 0x96, 0x3d};
  CHECK(seal_of(bytes_of("wulf"), bytes_of("-net"), kKey) == expected);
  CHECK(seal_of(bytes_of("wulf-net"), {}, kKey) == expected);
  CHECK(seal_of(bytes_of("wulf-net"), {}, Key{}) != expected);
}

TEST_CASE("seals that differ in any one bit differ") {
  const Seal seal = seal_of(bytes_of("x"), {}, kKey);
  CHECK(same_seal(seal, seal));
  for (std::size_t bit = 0; bit < 128; ++bit) {
    Seal other = seal;
    other[bit / 8] = static_cast<std::uint8_t>(other[bit / 8] ^ (1U << (bit % 8)));
    REQUIRE_FALSE(same_seal(seal, other));
  }
}

}  // namespace
