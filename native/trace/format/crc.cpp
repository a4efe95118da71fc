#include "trace/format/crc.hpp"

namespace wulf::trace {

namespace {

constexpr std::size_t slices = 8;
constexpr std::uint32_t polynomial = 0xEDB88320U;

struct Tables {
  std::uint32_t of[slices][256];
};

/// Table i holds what a byte does to the remainder i bytes later (Kounavis and Berry, "slicing by 8", 2005).
constexpr Tables made() {
  Tables tables{};
  for (std::uint32_t byte = 0; byte < 256; byte++) {
    std::uint32_t rest = byte;
    for (int bit = 0; bit < 8; bit++) {
      rest = (rest >> 1U) ^ ((rest & 1U) != 0 ? polynomial : 0);
    }
    tables.of[0][byte] = rest;
  }
  for (std::size_t slice = 1; slice < slices; slice++) {
    for (std::size_t byte = 0; byte < 256; byte++) {
      const std::uint32_t before = tables.of[slice - 1][byte];
      tables.of[slice][byte] = (before >> 8U) ^ tables.of[0][before & 0xFFU];
    }
  }
  return tables;
}

constexpr Tables tables = made();

/// Four bytes as a little endian number, on any machine.
std::uint32_t little(const std::uint8_t* at) {
  return static_cast<std::uint32_t>(at[0]) | (static_cast<std::uint32_t>(at[1]) << 8U) |
         (static_cast<std::uint32_t>(at[2]) << 16U) | (static_cast<std::uint32_t>(at[3]) << 24U);
}

}  // namespace

std::uint32_t crc32(const std::uint8_t* data, std::size_t length) noexcept {
  std::uint32_t rest = ~0U;
  for (; length >= slices; data += slices, length -= slices) {
    const std::uint32_t low = little(data) ^ rest;
    const std::uint32_t high = little(data + 4);
    rest = tables.of[7][low & 0xFFU] ^ tables.of[6][(low >> 8U) & 0xFFU] ^
           tables.of[5][(low >> 16U) & 0xFFU] ^ tables.of[4][low >> 24U] ^ tables.of[3][high & 0xFFU] ^
           tables.of[2][(high >> 8U) & 0xFFU] ^ tables.of[1][(high >> 16U) & 0xFFU] ^
           tables.of[0][high >> 24U];
  }
  for (; length > 0; data++, length--) {
    rest = (rest >> 8U) ^ tables.of[0][(rest ^ *data) & 0xFFU];
  }
  return ~rest;
}

}  // namespace wulf::trace
