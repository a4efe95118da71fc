#include <algorithm>
#include <span>
#include <string_view>

#include "core/json/error.hpp"
#include "net/wire/address.hpp"
#include "net/wire/header.hpp"
#include "net/wire/key.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf;
using namespace wulf::net;

const Key kKey = parse_key("000102030405060708090a0b0c0d0eff");

Header example() {
  return {.kind = Kind::kData,
          .channel = 3,
          .run = 0x0123456789abcdef,
          .pattern = "pingpong",
          .params_length = 77};
}

TEST_CASE("a header survives the wire") {
  const auto header = Header::decode(example().encode(kKey));
  REQUIRE(header);
  CHECK(header->kind == Kind::kData);
  CHECK(header->channel == 3);
  CHECK(header->run == 0x0123456789abcdef);
  CHECK(header->pattern == "pingpong");
  CHECK(header->params_length == 77);
}

TEST_CASE("a pattern of the full sixteen letters needs no end mark") {
  Header header = example();
  header.pattern = "sixteen-letters!";
  CHECK(Header::decode(header.encode(kKey))->pattern == "sixteen-letters!");
}

TEST_CASE("the layout on the wire is the documented one, in network order") {
  const auto bytes = example().encode(kKey);
  CHECK(std::to_integer<char>(bytes[0]) == 'w');
  CHECK(std::to_integer<int>(bytes[9]) == Header::kVersion);
  CHECK(std::to_integer<int>(bytes[10]) == 2);
  CHECK(std::to_integer<int>(bytes[15]) == 3);
  CHECK(std::to_integer<int>(bytes[32]) == 0x01);
  CHECK(std::to_integer<int>(bytes[59]) == 77);
}

TEST_CASE("what is cut off, too long, or of another magic, version or kind is no header") {
  auto bytes = example().encode(kKey);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    REQUIRE_FALSE(Header::decode(std::span(bytes).first(size)));
  }
  std::array<std::byte, Header::kSize + 1> longer{};
  std::copy(bytes.begin(), bytes.end(), longer.begin());
  CHECK_FALSE(Header::decode(longer));
  for (const std::size_t at : {0U, 7U, 8U, 9U, 10U, 56U}) {
    auto broken = bytes;
    broken[at] ^= std::byte{0x40};
    INFO("byte " << at);
    CHECK_FALSE(Header::decode(broken));
  }
}

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

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

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

TEST_CASE("a header is sealed in all its bits, with its parameters, and shows nothing of the key") {
  constexpr std::string_view kParams = R"({"bytes":1})";
  const auto bytes = example().encode(kKey, bytes_of(kParams));
  CHECK(Header::is_sealed(bytes, kKey, bytes_of(kParams)));
  CHECK_FALSE(Header::is_sealed(bytes, kKey, bytes_of(R"({"bytes":2})")));
  CHECK_FALSE(Header::is_sealed(bytes, kKey));
  CHECK_FALSE(Header::is_sealed(bytes, Key{}, bytes_of(kParams)));
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    auto other = bytes;
    other[bit / 8] ^= std::byte{1} << (bit % 8);
    INFO("bit " << bit);
    REQUIRE_FALSE(Header::is_sealed(other, kKey, bytes_of(kParams)));
  }
  const auto key = std::as_bytes(std::span(kKey));
  CHECK(std::search(bytes.begin(), bytes.end(), key.begin(), key.end()) == bytes.end());
}

TEST_CASE("addresses are numeric, IPv4 or IPv6") {
  CHECK(Address::parse("10.0.0.1", 80).text() == "10.0.0.1");
  CHECK(Address::parse("10.0.0.1", 80).port() == 80);
  CHECK(Address::parse("::1", 81).text() == "::1");
  CHECK(Address::parse("fe80::1%lo", 81).text() == "fe80::1%lo");
  CHECK(Address::parse("0.0.0.0", 0).is_wildcard());
  CHECK(Address::parse("::", 0).is_wildcard());
  CHECK_FALSE(Address::parse("::1", 0).is_wildcard());
  CHECK(Address::parse("::1", 5).same_host(Address::parse("::1", 6)));
  CHECK_FALSE(Address::parse("::1", 5).same_host(Address::parse("::2", 5)));
  CHECK_FALSE(Address::parse("127.0.0.1", 5).same_host(Address::parse("::1", 5)));
  for (const std::string bad : {"", "localhost", "10.0.0", "10.0.0.256", "fe80::1%no-such-nic", "1.2.3.4 "}) {
    INFO(bad);
    CHECK_THROWS_AS(Address::parse(bad, 1), Error);
  }
}

}  // namespace
