#include <bit>
#include <cstdint>
#include <numeric>

#include "core/host/huge_pages.hpp"
#include "replay/program/array.hpp"
#include "tests/catch.hpp"

namespace wulf::replay {
namespace {

std::uintptr_t address_of(const Array<std::uint32_t>& array) {
  return std::bit_cast<std::uintptr_t>(array.data());
}

TEST_CASE("every array begins with a line of a cache") {
  for (const std::size_t count : {1U, 100U, 1U << 16U, 1U << 17U, 1U << 20U}) {
    CHECK(address_of(Array<std::uint32_t>(count)) % kArrayAlignment == 0);
  }
}

TEST_CASE("a large array begins with a huge page") {
  CHECK(address_of(Array<std::uint32_t>(kHugePage / 4 / sizeof(std::uint32_t))) % kHugePage == 0);
  CHECK(address_of(Array<std::uint32_t>((3 * kHugePage) + 1)) % kHugePage == 0);
}

TEST_CASE("an array keeps what it holds as it grows from one kind of memory to the other") {
  Array<std::uint32_t> grows;
  for (std::uint32_t i = 0; i < (1U << 19U); ++i) {
    grows.push_back(i);
  }
  CHECK(std::accumulate(grows.begin(), grows.end(), std::uint64_t{0}) ==
        (std::uint64_t{1} << 18U) * ((1U << 19U) - 1));
  grows.resize(7);
  grows.shrink_to_fit();
  CHECK(grows == Array<std::uint32_t>{0, 1, 2, 3, 4, 5, 6});
}

}  // namespace
}  // namespace wulf::replay
