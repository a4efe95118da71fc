#include "mpi/plain/messages/pattern.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>

namespace wulf::mpi {
namespace {

using Word = std::array<std::byte, sizeof(std::uint64_t)>;

/// The eight bytes at position 8 · `index`.
Word word_of(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t mixed = (seed << 40U) + ((index + 1) * 0x9e3779b97f4a7c15U);
  mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
  mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
  auto word = std::bit_cast<Word>(mixed ^ (mixed >> 31U));
  if (index == 0) {
    // a buffer that nothing arrived in holds zeros
    word[0] |= std::byte{1};
  }
  return word;
}

}  // namespace

void fill_pattern(std::span<std::byte> message, std::uint64_t seed) {
  for (std::size_t at = 0; at < message.size(); at += sizeof(Word)) {
    const Word word = word_of(seed, at / sizeof(Word));
    const std::size_t count = std::min(sizeof(Word), message.size() - at);
    std::copy_n(word.begin(), count, message.begin() + static_cast<std::ptrdiff_t>(at));
  }
}

std::optional<Difference> difference(std::span<const std::byte> message, std::uint64_t seed) {
  for (std::size_t at = 0; at < message.size(); at += sizeof(Word)) {
    const Word word = word_of(seed, at / sizeof(Word));
    const std::size_t count = std::min(sizeof(Word), message.size() - at);
    for (std::size_t i = 0; i < count; ++i) {
      if (message[at + i] != word.at(i)) {
        return Difference{at + i, std::to_integer<unsigned>(message[at + i]),
                          std::to_integer<unsigned>(word.at(i))};
      }
    }
  }
  return std::nullopt;
}

std::string describe(const Difference& wrong, std::size_t bytes) {
  std::array<char, 96> text{};
  (void)std::snprintf(text.data(), text.size(), "byte %zu of %zu is 0x%02x instead of 0x%02x", wrong.at,
                      bytes, wrong.got, wrong.expected);
  return text.data();
}

}  // namespace wulf::mpi
