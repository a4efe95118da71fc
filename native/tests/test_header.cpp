#include <algorithm>

#include "core/error.hpp"
#include "net/address.hpp"
#include "net/header.hpp"
#include "net/key.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf;
using namespace wulf::net;

Header example() {
  return {.kind = Kind::kData,
          .channel = 3,
          .key = parse_key("000102030405060708090a0b0c0d0eff"),
          .run = 0x0123456789abcdef,
          .pattern = "pingpong",
          .params_length = 77};
}

TEST_CASE("a header survives the wire") {
  const auto header = Header::decode(example().encode());
  REQUIRE(header);
  CHECK(header->kind == Kind::kData);
  CHECK(header->channel == 3);
  CHECK(header->key == example().key);
  CHECK(header->run == 0x0123456789abcdef);
  CHECK(header->pattern == "pingpong");
  CHECK(header->params_length == 77);
}

TEST_CASE("a pattern of the full sixteen letters needs no end mark") {
  Header header = example();
  header.pattern = "sixteen-letters!";
  CHECK(Header::decode(header.encode())->pattern == "sixteen-letters!");
}

TEST_CASE("the layout on the wire is the documented one, in network order") {
  const auto bytes = example().encode();
  CHECK(std::to_integer<char>(bytes[0]) == 'w');
  CHECK(std::to_integer<int>(bytes[9]) == Header::kVersion);
  CHECK(std::to_integer<int>(bytes[10]) == 2);
  CHECK(std::to_integer<int>(bytes[15]) == 3);
  CHECK(std::to_integer<int>(bytes[31]) == 0xff);
  CHECK(std::to_integer<int>(bytes[32]) == 0x01);
  CHECK(std::to_integer<int>(bytes[59]) == 77);
}

TEST_CASE("what is cut off, too long, or of another magic, version or kind is no header") {
  auto bytes = example().encode();
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

TEST_CASE("keys that differ in any one bit differ") {
  const Key key = example().key;
  CHECK(same_key(key, key));
  for (std::size_t bit = 0; bit < 128; ++bit) {
    Key other = key;
    other[bit / 8] = static_cast<std::uint8_t>(other[bit / 8] ^ (1U << (bit % 8)));
    REQUIRE_FALSE(same_key(key, other));
  }
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
