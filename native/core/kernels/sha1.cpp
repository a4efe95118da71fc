#include "core/kernels/sha1.hpp"

#include <bit>
#include <cstring>

#include "core/kernels/opaque.hpp"

namespace wulf {
namespace {

constexpr std::size_t kBlock = 64;
constexpr std::size_t kRounds = 80;
constexpr std::size_t kWords = 16;

using Block = std::array<std::byte, kBlock>;

std::uint32_t big_endian(const std::byte* bytes) noexcept {
  std::uint32_t word = 0;
  std::memcpy(&word, bytes, sizeof(word));
  return std::endian::native == std::endian::little ? __builtin_bswap32(word) : word;
}

/// The message schedule of a block, FIPS 180-4, 6.1.2, step 1.
std::array<std::uint32_t, kRounds> schedule(const std::byte* block) noexcept {
  std::array<std::uint32_t, kRounds> words;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  for (std::size_t t = 0; t < kWords; ++t) {
    words[t] = big_endian(block + (t * sizeof(std::uint32_t)));
  }
  for (std::size_t t = kWords; t < kRounds; ++t) {
    std::uint32_t word = std::rotl(words[t - 3] ^ words[t - 8] ^ words[t - 14] ^ words[t - 16], 1);
    opaque(word);  // two at once would wait for the last ones to reach the cache: four times as slow
    words[t] = word;
  }
  return words;
}

/// The working variables of the standard.
struct State {
  std::uint32_t a;
  std::uint32_t b;
  std::uint32_t c;
  std::uint32_t d;
  std::uint32_t e;
};

/// One round. Instead of shifting all variables by one, the next round takes them one place on.
template <typename Mix>
[[gnu::always_inline]] inline void round(Mix mix, std::uint32_t addend, std::uint32_t a, std::uint32_t& b,
                                         std::uint32_t c, std::uint32_t d, std::uint32_t& e) noexcept {
  e += mix(b, c, d) + addend;
  e += std::rotl(a, 5);  // last, since `a` is what the round before has just made
  b = std::rotl(b, 30);
}

/// Twenty rounds with one function and one constant.
template <typename Mix>
[[gnu::always_inline]] inline void twenty(State& s, Mix mix, std::uint32_t constant,
                                          const std::uint32_t* words) noexcept {
  for (std::size_t t = 0; t < 20; t += 5) {
    round(mix, constant + words[t], s.a, s.b, s.c, s.d, s.e);
    round(mix, constant + words[t + 1], s.e, s.a, s.b, s.c, s.d);
    round(mix, constant + words[t + 2], s.d, s.e, s.a, s.b, s.c);
    round(mix, constant + words[t + 3], s.c, s.d, s.e, s.a, s.b);
    round(mix, constant + words[t + 4], s.b, s.c, s.d, s.e, s.a);
  }
}

void compress(Sha1Digest& digest, const std::byte* block) noexcept {
  using Word = std::uint32_t;
  const auto choose = [](Word b, Word c, Word d) { return d ^ (b & (c ^ d)); };
  const auto parity = [](Word b, Word c, Word d) { return b ^ c ^ d; };
  const auto majority = [](Word b, Word c, Word d) { return (b & c) + (d & (b ^ c)); };
  const std::array<Word, kRounds> words = schedule(block);
  State s{digest[0], digest[1], digest[2], digest[3], digest[4]};
  twenty(s, choose, 0x5a827999, words.data());
  twenty(s, parity, 0x6ed9eba1, words.data() + 20);
  twenty(s, majority, 0x8f1bbcdc, words.data() + 40);
  twenty(s, parity, 0xca62c1d6, words.data() + 60);
  digest = {digest[0] + s.a, digest[1] + s.b, digest[2] + s.c, digest[3] + s.d, digest[4] + s.e};
}

/// What follows the last whole block: the rest, a one, zeros, and the length in bits. One block, or two where
/// the length no longer fits into the first.
void finish(Sha1Digest& digest, std::span<const std::byte> rest, std::uint64_t length) noexcept {
  std::array<std::byte, 2 * kBlock> last{};
  if (!rest.empty()) {
    std::memcpy(last.data(), rest.data(), rest.size());
  }
  last[rest.size()] = std::byte{0x80};
  const std::size_t size = rest.size() < kBlock - sizeof(length) ? kBlock : 2 * kBlock;
  for (std::size_t i = 0; i < sizeof(length); ++i) {
    last[size - 1 - i] = static_cast<std::byte>((length * 8) >> (8 * i));
  }
  for (std::size_t i = 0; i < size; i += kBlock) {
    compress(digest, &last[i]);
  }
}

}  // namespace

Sha1Digest sha1(std::span<const std::byte> data) noexcept {
  Sha1Digest digest{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  const std::size_t whole = data.size() / kBlock * kBlock;
  for (std::size_t i = 0; i < whole; i += kBlock) {
    compress(digest, &data[i]);
  }
  finish(digest, data.subspan(whole), data.size());
  return digest;
}

}  // namespace wulf
