#include <vector>

#include "net/flow/outstanding.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf;
using namespace wulf::net;

std::uint64_t ask(Outstanding& requests, Nanoseconds at) {
  const std::uint64_t number = requests.next();
  requests.asked(at);
  return number;
}

TEST_CASE("answers are matched by number, in whatever order they come") {
  Outstanding requests(3, 8);
  const std::uint64_t first = ask(requests, 10);
  const std::uint64_t second = ask(requests, 20);
  const std::uint64_t third = ask(requests, 30);
  CHECK_FALSE(requests.has_room());
  CHECK(requests.answered(third) == 30);
  CHECK(requests.answered(first) == 10);
  CHECK(requests.answered(second) == 20);
  CHECK(requests.on_the_way() == 0);
}

TEST_CASE("an answer counts once, and a stranger's number never") {
  Outstanding requests(2, 8);
  const std::uint64_t number = ask(requests, 10);
  CHECK(requests.answered(number) == 10);
  CHECK(requests.answered(number) == std::nullopt);
  CHECK(requests.answered(number + 1) == std::nullopt);
  CHECK(requests.answered(UINT64_MAX) == std::nullopt);
}

TEST_CASE("what is given up leaves room, and its answer comes late") {
  Outstanding requests(2, 8);
  const std::uint64_t lost = ask(requests, 10);
  const std::uint64_t kept = ask(requests, 20);
  CHECK(requests.give_up(20) == 1);
  CHECK(requests.on_the_way() == 1);
  const std::uint64_t again = ask(requests, 30);
  CHECK(again != lost);
  CHECK(requests.answered(lost) == std::nullopt);
  CHECK(requests.answered(again) == 30);
  CHECK(requests.answered(kept) == 20);
}

TEST_CASE("numbers that travel in one byte are told apart while they wrap, and one is lost now and then") {
  constexpr std::size_t kWindow = 16;
  constexpr std::uint64_t kByte = 0xff;
  Outstanding requests(kWindow, 1);
  for (Nanoseconds at = 0; at < 5000; ++at) {
    const std::uint64_t number = ask(requests, at);
    if (at % 100 == 0) {
      REQUIRE(requests.give_up(at + 1) == 1);
    } else {
      REQUIRE(requests.answered(number & kByte) == at);
    }
  }
}

TEST_CASE("a window is bounded by the numbers that a message can carry") {
  CHECK(Outstanding::can_tell_apart(128, 1));
  CHECK_FALSE(Outstanding::can_tell_apart(129, 1));
  CHECK(Outstanding::can_tell_apart(4096, 2));
  CHECK(Outstanding::can_tell_apart(4096, 8));
}

}  // namespace
