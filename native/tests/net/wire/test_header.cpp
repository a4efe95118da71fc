#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string_view>

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

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

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

}  // namespace
