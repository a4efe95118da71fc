#include <cstddef>
#include <string>
#include <utility>

#include "core/json/error.hpp"
#include "node/memory/working_set.hpp"
#include "tests/catch.hpp"
#include "tests/node/memory/resting.hpp"

namespace {

using namespace wulf::node;
using wulf::Error;
using wulf::tests::resting_bytes;

/// Where the memory of a request lies, and the second byte of it, which is then made 3.
struct Answered {
  std::byte* place;
  std::byte found;
};

Answered answer(const SharedSet& set, const std::string& request, std::size_t bytes,
                Contents contents = Contents::kAny, int cpu = 0) {
  begin_request(set, cpu, request);
  const WorkingSet memory(bytes, "small", contents, {});
  CHECK(memory.info().contains("set") == !set.name.empty());
  return {memory.data(), std::exchange(memory.data()[1], std::byte{3})};
}

TEST_CASE("requests that name a set share its memory, each of them once") {
  constexpr std::size_t kBytes = std::size_t{4} << 20U;
  const SharedSet set{"small", kBytes};
  CHECK(answer(set, "a", 4096).found == std::byte{1});
  CHECK(answer(set, "b", kBytes).found == std::byte{3});
  CHECK(answer(set, "c", 64).found == std::byte{3});
  CHECK(answer(set, "b", kBytes).found == std::byte{1});  // another replicate: a set of its own
  CHECK(answer(set, "a", 4096).found == std::byte{3});
  CHECK(answer({"huge", kBytes}, "d", 4096).found == std::byte{1});
  CHECK(answer({"huge", 2 * kBytes}, "e", 4096).found == std::byte{1});
  CHECK(answer({"huge", 2 * kBytes}, "f", 4096, Contents::kNormal).found == std::byte{1});
  CHECK(answer({"huge", 2 * kBytes}, "g", 4096, Contents::kNormal).found == std::byte{3});
  CHECK(answer({"huge", 2 * kBytes}, "h", 4096).found == std::byte{3});  // it can use numbers
  CHECK(answer({"huge", 2 * kBytes}, "i", 4096, Contents::kAny, 1).found == std::byte{1});  // far from it
  CHECK(answer({}, "a", 4096).found == std::byte{1});
  CHECK(answer({}, "b", 4096).found == std::byte{1});
  CHECK(answer(set, "a", 4096).found == std::byte{1});  // what comes between ends it
  CHECK_THROWS_AS(answer(set, "g", kBytes + 1), Error);
  begin_request({}, 0, "");
}

TEST_CASE("the last set on huge pages rests until the next is laid") {
  constexpr std::size_t kBytes = std::size_t{8} << 20U;
  const std::size_t before = resting_bytes();
  const auto lay = [](const std::string& request) {
    begin_request({"huge", kBytes}, 0, request);
    return WorkingSet(kBytes, "huge", Contents::kAny, {}).info().at("asked") == "huge";
  };
  CHECK(lay("a"));
  CHECK(resting_bytes() == before);
  begin_request({}, 0, "b");
  CHECK(resting_bytes() > before + (kBytes / 2));
  begin_request({"small", kBytes}, 0, "c");
  CHECK(WorkingSet(kBytes, "small", Contents::kAny, {}).size() == kBytes);
  CHECK(resting_bytes() > before + (kBytes / 2));
  CHECK(lay("a"));
  CHECK(resting_bytes() == before);
  begin_request({}, 0, "d");
}

TEST_CASE("a set is asked for by name and bytes") {
  CHECK(SharedSet::of({{"id", 1}}).name.empty());
  const SharedSet set = SharedSet::of({{"set", {{"name", "set"}, {"bytes", 4096}}}});
  CHECK(set.name == "set");
  CHECK(set.bytes == 4096);
  for (const wulf::Json& wrong : {wulf::Json(4096), wulf::Json({{"name", "set"}}), wulf::Json({{"bytes", 1}}),
                                  wulf::Json({{"name", "set"}, {"bytes", 0}}),
                                  wulf::Json({{"name", "set"}, {"bytes", 1}, {"kind", "huge"}})}) {
    CHECK_THROWS_AS(SharedSet::of({{"set", wrong}}), Error);
  }
}

}  // namespace
