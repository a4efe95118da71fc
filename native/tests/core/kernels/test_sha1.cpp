#include <array>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>

#include "core/kernels/sha1.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf;

std::string digest_of(const std::string& text) {
  std::string hex;
  for (const std::uint32_t word : sha1(std::as_bytes(std::span(text)))) {
    std::array<char, 9> digits{};
    (void)std::snprintf(digits.data(), digits.size(), "%08x", word);
    hex += digits.data();
  }
  return hex;
}

TEST_CASE("SHA-1 is that of the standard") {
  // FIPS 180-4's examples; 55, 56, 63, 64 and 65 bytes are where the padding changes (by coreutils' sha1sum)
  CHECK(digest_of("") == "da39a3ee5e6b4b0d3255bfef95601890afd80709");
  CHECK(digest_of("abc") == "a9993e364706816aba3e25717850c26c9cd0d89d");
  CHECK(digest_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
  CHECK(digest_of(std::string(1'000'000, 'a')) == "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
  CHECK(digest_of(std::string(55, 'a')) == "c1c8bbdc22796e28c0e15163d20899b65621d65a");
  CHECK(digest_of(std::string(56, 'a')) == "c2db330f6083854c99d4b5bfb6e8f29f201be699");
  CHECK(digest_of(std::string(63, 'a')) == "03f09f5b158a7a8cdad920bddc29b81c18a551f5");
  CHECK(digest_of(std::string(64, 'a')) == "0098ba824b5c16427bd7a1122a5a442a25ec644d");
  CHECK(digest_of(std::string(65, 'a')) == "11655326c708d70319be2610e8a57d9a5b959d3b");
}

}  // namespace
