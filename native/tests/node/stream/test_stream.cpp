#include <algorithm>
#include <array>
#include <string>

#include "node/stream/stream.hpp"
#include "tests/catch.hpp"

using namespace wulf::node;

namespace {

constexpr std::size_t kLine = 64;

}  // namespace

TEST_CASE("every kernel computes what it should, on every instruction set and with both kinds of stores") {
  constexpr std::size_t kCount = 3 * kGrain;
  for (const StreamPasses* passes : stream_passes()) {
    for (const StreamKernel& kernel : stream_kernels()) {
      for (const bool nontemporal : {false, true}) {
        const Pass pass = stream_pass(*passes, kernel, nontemporal);
        if (pass == nullptr) {
          CHECK(kernel.name == "read");
          continue;
        }
        INFO(passes->isa << " " << kernel.name << " " << nontemporal);
        alignas(64) std::array<double, kCount> a{};
        alignas(64) std::array<double, kCount> b{};
        alignas(64) std::array<double, kCount> c{};
        double total = 0;
        for (std::size_t i = 0; i < kCount; ++i) {
          b.at(i) = static_cast<double>(i) + 1;
          c.at(i) = 1000 * (static_cast<double>(i) + 1);
          total += b.at(i);
        }
        const double result = pass(a.data(), b.data(), c.data(), 3, kCount);
        CHECK(result == (kernel.name == "read" ? total : 0));
        for (std::size_t i = 0; i < kCount; ++i) {
          const double x = b.at(i);
          const double y = c.at(i);
          const double wanted = kernel.name == "read"                              ? 0
                                : kernel.name == "write"                           ? 3
                                : kernel.name == "copy" || kernel.name == "memcpy" ? x
                                : kernel.name == "scale"                           ? 3 * x
                                : kernel.name == "add"                             ? x + y
                                                                                   : x + (3 * y);
          REQUIRE(a.at(i) == wanted);
        }
      }
    }
  }
}

TEST_CASE("the kernels that are used are some that this CPU has, and stay the same") {
  const auto all = stream_passes();
  CHECK(std::find(all.begin(), all.end(), &fastest_passes()) != all.end());
  CHECK(&fastest_passes() == &fastest_passes());
}

TEST_CASE("STREAM counts each array once; memory reads what is written through the caches") {
  struct Row {
    const char* name;
    double counted;
    double allocating;
  };
  const auto& kernels = stream_kernels();
  for (const Row& row : {Row{"read", 8, 8}, Row{"write", 8, 16}, Row{"copy", 16, 24}, Row{"scale", 16, 24},
                         Row{"add", 24, 32}, Row{"triad", 24, 32}}) {
    INFO(row.name);
    const auto& kernel =
        *std::find_if(kernels.begin(), kernels.end(), [&](const auto& k) { return k.name == row.name; });
    CHECK(counted_bytes(kernel) == row.counted);
    CHECK(traffic_bytes(kernel, /*nontemporal=*/false, /*cached=*/false) == row.allocating);
    CHECK(traffic_bytes(kernel, false, true) == row.counted);
    CHECK(traffic_bytes(kernel, true, false) == row.counted);
  }
  CHECK(traffic_bytes(kernels.back(), false, true) == 16.0);
  CHECK(!traffic_bytes(kernels.back(), false, false));  // the C library's own choice
}

TEST_CASE("arrays lie apart, are whole grains, and long ones are worked off in equal pieces") {
  const StreamKernel& triad = stream_kernels()[5];
  const StreamLayout small = StreamLayout::plan(triad, 1100);
  CHECK(small.count == 128);
  CHECK(small.pieces == 1);
  const StreamLayout large = StreamLayout::plan(triad, 10'000'000);
  CHECK(large.pieces > 1);
  CHECK(large.count % large.pieces == 0);
  CHECK(large.count / large.pieces % kGrain == 0);
  CHECK(large.count * sizeof(double) <= 10'000'000);
  CHECK(large.count * sizeof(double) > 9'900'000);
  CHECK(large.places[1] >= large.count * sizeof(double));
  CHECK(large.places[2] >= large.places[1] + (large.count * sizeof(double)));
  CHECK(large.places[1] % kLine == 0);
  CHECK(large.bytes < 30'000'000 + (1U << 14U));
  CHECK(StreamLayout::plan(triad, 511).pieces == 0);
}
