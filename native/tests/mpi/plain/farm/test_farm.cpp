#include <array>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "core/json/error.hpp"
#include "mpi/plain/farm/idle.hpp"
#include "mpi/plain/farm/libcrypto.hpp"
#include "mpi/plain/farm/sampled_time.hpp"
#include "mpi/plain/farm/work.hpp"
#include "tests/catch.hpp"

using namespace wulf::mpi;

namespace {

TEST_CASE("units are dealt out once each, the last batch being what is left") {
  for (const std::uint32_t batch : {1U, 3U, 7U, 100U}) {
    Handout handout(20, batch);
    std::uint32_t next = 0;
    for (Batch got = handout.next(); got.count > 0; got = handout.next()) {
      CHECK(got.first == next);
      CHECK(got.count == std::min(batch, 20 - next));
      next += got.count;
    }
    CHECK(next == 20);
    CHECK(handout.next().count == 0);
  }
}

TEST_CASE("shares are contiguous, and together all units") {
  for (const int ranks : {1, 3, 7, 64}) {
    std::uint32_t next = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      const Batch part = share(4'000'000'001U, rank, ranks);
      CHECK(part.first == next);
      next += part.count;
    }
    CHECK(next == 4'000'000'001U);
  }
}

TEST_CASE("what is rebuilt from a unit's input") {
  CHECK(rebuilt_word(0, 0) == 0);
  CHECK(rebuilt_word(1, 0) == 0x514e28b7U);  // MurmurHash3's finaliser of 1
  CHECK(rebuilt_word(7, 3) == rebuilt_word(7 + (3 * 0x9e3779b9U), 0));
  std::array<std::byte, 6> data{};
  rebuild(1, data);
  CHECK(data[0] == std::byte{0xb7});
  CHECK(data[3] == std::byte{0x51});
  const std::uint32_t second = rebuilt_word(1, 1);
  CHECK(std::to_integer<std::uint32_t>(data[4]) == (second & 0xffU));
  CHECK(std::to_integer<std::uint32_t>(data[5]) == ((second >> 8U) & 0xffU));
}

TEST_CASE("the library's SHA-1 and our own agree") {
  const LibrarySha1 library;
  std::vector<std::byte> data(1000);
  rebuild(42, data);
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{3}, std::size_t{64}, data.size()}) {
    const std::span<const std::byte> part(data.data(), bytes);
    CHECK(hex(library.digest(part)) == hex(own_sha1(part)));
  }
  CHECK(hex(own_sha1(std::as_bytes(std::span("abc", 3)))) == "a9993e364706816aba3e25717850c26c9cd0d89d");
}

TEST_CASE("digests are XORed") {
  std::array<std::byte, 2 * kDigestBytes> two{};
  two[0] = std::byte{0xf0};
  two[kDigestBytes] = std::byte{0x3c};
  two.back() = std::byte{1};
  Digest sum{};
  fold(sum, two);
  CHECK(hex(sum) == "cc00000000000000000000000000000000000001");
}

TEST_CASE("a spin's digest does not depend on how long it spins") {
  const auto none = spin_work(0);
  const auto some = spin_work(1e-6);
  const std::array<std::uint32_t, 2> inputs{5, 6};
  std::array<std::byte, 2 * kDigestBytes> quick{};
  std::array<std::byte, 2 * kDigestBytes> slow{};
  none->done(inputs, quick.data());
  some->done(inputs, slow.data());
  CHECK(quick == slow);
  Digest sum{};
  fold(sum, quick);
  CHECK(sum == expected_sum(*none, 5, 2));
  CHECK(expected_sum(*some, 3, 4) == expected_sum(*none, 3, 4));
  CHECK(some->seconds() == 1e-6);
}

TEST_CASE("sums of parts are the sum of all") {
  const auto work = sha1_work(100);
  Digest sum = expected_sum(*work, 0, 5);
  fold(sum, expected_sum(*work, 5, 6));
  CHECK(sum == expected_sum(*work, 0, 11));
  const std::array<std::uint32_t, 2> inputs{3, 4};
  std::array<std::byte, 2 * kDigestBytes> digests{};
  work->done(inputs, digests.data());
  Digest two{};
  fold(two, digests);
  CHECK(two == expected_sum(*work, 3, 2));
}

std::string words_of(std::uint64_t came_back, const Digest& got) {
  try {
    check_results(10, came_back, Digest{}, got);
  } catch (const wulf::Error& error) {
    return error.code() + ": " + error.what();
  }
  return "";
}

TEST_CASE("results that are wrong are refused") {
  Digest other{};
  other[19] = std::byte{2};
  CHECK(words_of(10, Digest{}).empty());
  CHECK(words_of(9, Digest{}) == "wrong-result: of 10 units dealt out, 9 came back");
  CHECK(words_of(10, other).find("0002, and must be 0000") != std::string::npos);
}

TEST_CASE("the clock costs at most a five-hundredth of a worker's time") {
  CHECK(sampling_stride(1e-3, 25e-9) == 1);
  CHECK(sampling_stride(1e-6, 25e-9) == 25);
  CHECK(sampling_stride(1e-7, 25e-9) == 250);
  CHECK(sampling_stride(0, 25e-9) == 256);
}

TEST_CASE("times that are not measured count as the later ones that are") {
  SampledTime all(1);
  SampledTime some(10);
  SampledTime few(100);
  for (int i = 0; i < 164; ++i) {
    const wulf::Nanoseconds time = i == 0 ? 1'000'000 : 10;
    for (SampledTime* each : {&all, &some}) {
      each->due() ? each->add(time, 2) : each->skip(2);
    }
    if (i < 70) {
      few.due() ? few.add(10) : few.skip();
    }
  }
  CHECK(all.seconds() == Approx(1'001'630e-9));
  CHECK(some.seconds() == Approx(1'001'630e-9));
  CHECK(few.seconds() == Approx(700e-9));
  CHECK(SampledTime(1).seconds() == 0);
}

TEST_CASE("idle time is the time of polls that fail") {
  Idle never(false);
  never.until([] { return true; });
  CHECK(never.seconds() == 0);
  Idle waited(false);
  const wulf::Nanoseconds end = wulf::now() + (5 * wulf::kMillisecond);
  waited.until([&] { return wulf::now() >= end; });
  CHECK(waited.seconds() > 0);
}

}  // namespace
