#include <cstdint>
#include <random>
#include <set>
#include <tuple>

#include "replay/engine_b/queue.hpp"
#include "tests/catch.hpp"

namespace wulf::replay {
namespace {

struct Earlier {
  bool operator()(const Event& a, const Event& b) const {
    return std::tie(a.time, a.key) < std::tie(b.time, b.key);
  }
};

using Sorted = std::multiset<Event, Earlier>;

/// Takes the first of both, and says whether they are the same.
bool same_first(EventQueue& queue, Sorted& wanted) {
  const Event event = queue.pop();
  const Event first = *wanted.begin();
  wanted.erase(wanted.begin());
  return event.time == first.time && event.key == first.key;
}

TEST_CASE("replay b: events come in the order of time and key, few and many at one time") {
  std::mt19937_64 random(3);
  for (const std::uint64_t times : {1U, 3U, 1000U}) {
    for (const std::uint64_t keys : {std::uint64_t{1} << 10U, std::uint64_t{7} << 32U, ~std::uint64_t{0}}) {
      EventQueue queue;
      Sorted wanted;
      Picoseconds now = 0;
      for (int i = 0; i < 6000; ++i) {
        // the first ones all at once, so that those of one time are many; then at `now` and later
        const Event event{now + static_cast<Picoseconds>(random() % times), random() % keys};
        queue.push(event);
        wanted.insert(event);
        if (i > 3000 && random() % 3 != 0) {
          now = wanted.begin()->time;
          REQUIRE(same_first(queue, wanted));
        }
      }
      while (!wanted.empty()) {
        REQUIRE(same_first(queue, wanted));
      }
      CHECK(queue.empty());
    }
  }
}

TEST_CASE("replay b: events of one time and many kinds come by kind, then by number") {
  EventQueue queue;
  for (std::uint64_t number = 0; number < 5000; ++number) {
    queue.push({9, ((number % 7) << 32U) | (number * 7919 % 5000)});
  }
  std::uint64_t last = 0;
  for (int i = 0; i < 5000; ++i) {
    const Event event = queue.pop();
    REQUIRE(event.key >= last);
    last = event.key;
  }
  CHECK(last >> 32U == 6);
  CHECK(queue.empty());
}

}  // namespace
}  // namespace wulf::replay
