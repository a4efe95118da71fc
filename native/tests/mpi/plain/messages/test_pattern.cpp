#include <cstddef>
#include <vector>

#include "mpi/plain/messages/pattern.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf::mpi;

TEST_CASE("A message is right as long as no byte of it is another", "[mpi]") {
  for (const std::size_t bytes : {0U, 1U, 7U, 8U, 9U, 4097U}) {
    std::vector<std::byte> message(bytes);
    fill_pattern(message, 3);
    CHECK_FALSE(difference(message, 3).has_value());
  }
}

TEST_CASE("A wrong byte is found wherever it is", "[mpi]") {
  for (const std::size_t at : {0U, 6U, 8U, 99U}) {
    std::vector<std::byte> message(100);
    fill_pattern(message, 3);
    const auto before = std::to_integer<unsigned>(message[at]);
    message[at] ^= std::byte{0x10};
    const auto wrong = difference(message, 3);
    REQUIRE(wrong.has_value());
    CHECK(wrong->at == at);
    CHECK(wrong->expected == before);
    CHECK(wrong->got == (before ^ 0x10U));
  }
}

TEST_CASE("Another sender's message, and none at all, are wrong", "[mpi]") {
  std::vector<std::byte> message(16);
  CHECK(difference(message, 1).has_value());
  CHECK(difference(std::vector<std::byte>(1), 1).has_value());
  fill_pattern(message, 1);
  CHECK(difference(message, 2).has_value());
}

TEST_CASE("A difference is told in words", "[mpi]") {
  CHECK(describe({7, 0, 31}, 1024) == "byte 7 of 1024 is 0x00 instead of 0x1f");
}

}  // namespace
