#include <array>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstring>
#include <limits>
#include <numbers>
#include <string>
#include <thread>
#include <vector>

#include "core/host/affinity.hpp"
#include "core/json/error.hpp"
#include "core/kernels/sha1.hpp"
#include "core/session/registry.hpp"
#include "node/cpu/arithmetic_kernels.hpp"
#include "node/cpu/brown.hpp"
#include "node/cpu/fft.hpp"
#include "node/cpu/fma_kernels.hpp"
#include "node/cpu/team.hpp"
#include "node/probe.hpp"
#include "node/time/timing.hpp"
#include "tests/catch.hpp"

using namespace wulf::node;
using wulf::Json;
using wulf::Registry;
using wulf::sha1;

namespace {

/// One short replicate, on a CPU that this process has.
Json run(const std::string& name, Json given) {
  const Probe* probe = Registry<Probe>::find(name);
  REQUIRE(probe != nullptr);
  given["seconds"] = 0.001;
  given["cpu"] = wulf::process_cpus().front();
  return probe->measure(resolve(probe->all_params(), given)).metrics;
}

std::string digest_of(const std::string& text) {
  std::string hex;
  for (const std::uint32_t word : sha1(std::as_bytes(std::span(text)))) {
    std::array<char, 9> digits{};
    (void)std::snprintf(digits.data(), digits.size(), "%08x", word);
    hex += digits.data();
  }
  return hex;
}

/// The largest distance of an FFT of `n` random numbers from the sum that defines it, by the largest number.
double fft_error(std::size_t n) {
  std::vector<Complex> in(n);
  std::vector<Complex> out(n);
  std::vector<Complex> other(n);
  std::vector<Complex> roots(n);
  std::vector<double> random(2 * n);
  brown_reset(random);
  for (std::size_t i = 0; i < n; ++i) {
    in[i] = {random[2 * i] - 1.5, random[(2 * i) + 1] - 1.5};
  }
  const std::vector<Complex> before = in;
  fft_roots(roots);
  fft(in, out, other, roots);
  CHECK(std::memcmp(in.data(), before.data(), n * sizeof(Complex)) == 0);
  double worst = 0;
  double largest = 0;
  for (std::size_t k = 0; k < n; ++k) {
    std::complex<double> sum = 0;
    for (std::size_t j = 0; j < n; ++j) {
      const double turns = static_cast<double>(j * k % n) / static_cast<double>(n);
      sum += std::complex<double>(in[j].re, in[j].im) * std::polar(1.0, -2 * std::numbers::pi * turns);
    }
    worst = std::max(worst, std::abs(sum - std::complex<double>(out[k].re, out[k].im)));
    largest = std::max(largest, std::abs(sum));
  }
  return worst / largest;
}

/// A kernel's sums for a = 1.5, b, c and a start of 2, after `rounds`: those of all lanes, one after the
/// other.
template <typename T>
std::vector<T> fma_sums(const FmaKernel& kernel, T b, T c, std::uint64_t rounds) {
  alignas(kVectorStride) std::array<std::byte, 4 * kVectorStride> in{};
  alignas(kVectorStride) std::array<std::byte, kMostSums * kVectorStride> out{};
  const std::array<T, 4> values{static_cast<T>(1.5), b, c, static_cast<T>(2)};
  for (std::size_t i = 0; i < in.size(); i += sizeof(T)) {
    std::memcpy(&in[i], &values[i / kVectorStride], sizeof(T));
  }
  kernel.run(in.data(), out.data(), rounds);
  std::vector<T> sums(kernel.sums * lanes(kernel));
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const std::size_t place = (i / lanes(kernel) * kVectorStride) + (i % lanes(kernel) * sizeof(T));
    std::memcpy(&sums[i], &out[place], sizeof(T));
  }
  return sums;
}

/// Each sum gets a · b and a · c by turns: exact, since all are few halves.
template <typename T>
void check_fused(const FmaKernel& kernel) {
  constexpr std::uint64_t kRounds = 3;
  const double times = static_cast<double>(kRounds * kFmaSteps) / static_cast<double>(2 * kernel.sums);
  for (const T sum : fma_sums<T>(kernel, static_cast<T>(0.5), static_cast<T>(4), kRounds)) {
    CHECK(static_cast<double>(sum) == 2 + (times * 1.5 * 4.5));
  }
}

/// Each sum is multiplied by a, and b is added: 96 / 12 / 2 times a round.
template <typename T>
void check_plain(const FmaKernel& kernel) {
  T expected = 2;
  for (std::size_t i = 0; i < kFmaSteps / kernel.sums / 2; ++i) {
    expected = (expected * static_cast<T>(1.5)) + static_cast<T>(0.5);
  }
  for (const T sum : fma_sums<T>(kernel, static_cast<T>(0.5), 0, 1)) {
    CHECK(std::abs((sum / expected) - 1) < 1e-6);
  }
}

}  // namespace

TEST_CASE("SHA-1 is that of the standard") {
  // FIPS 180-4's examples; 55, 56, 63, 64 and 65 bytes are where the padding changes (by coreutils' sha1sum)
  CHECK(digest_of("") == "da39a3ee5e6b4b0d3255bfef95601890afd80709");
  CHECK(digest_of("abc") == "a9993e364706816aba3e25717850c26c9cd0d89d");
  CHECK(digest_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
  CHECK(digest_of(std::string(1'000'000, 'a')) == "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
  CHECK(digest_of(std::string(55, 'a')) == "c1c8bbdc22796e28c0e15163d20899b65621d65a");
  CHECK(digest_of(std::string(56, 'a')) == "c2db330f6083854c99d4b5bfb6e8f29f201be699");
  CHECK(digest_of(std::string(63, 'a')) == "03f09f5b158a7a8cdad920bddc29b81c18a551f5");
  CHECK(digest_of(std::string(64, 'a')) == "0098ba824b5c16427bd7a1122a5a442a25ec644d");
  CHECK(digest_of(std::string(65, 'a')) == "11655326c708d70319be2610e8a57d9a5b959d3b");
}

TEST_CASE("the FFT is the discrete Fourier transform") {
  for (std::size_t n = 1; n <= 512; n *= 2) {
    INFO(n);
    CHECK(fft_error(n) < 1e-13);
  }
}

TEST_CASE("every arithmetic kernel stays among ordinary numbers for ever") {
  CHECK(arithmetic_kernels().size() == 18);
  for (const ArithmeticKernel& kernel : arithmetic_kernels()) {
    INFO(kernel.type << " " << kernel.op);
    const bool whole = kernel.type.starts_with("int");
    const double least = whole ? 1 : 0x1p-20;
    for (const auto body : {kernel.dependent, kernel.independent}) {
      for (std::uint64_t rounds = 0; rounds < 2000; rounds += 1 + (rounds / 3)) {
        const double end = body(rounds);
        CHECK(std::isfinite(end));
        CHECK(std::abs(end) >= least);
        CHECK((whole || std::abs(end) < 0x1p20));
      }
    }
    CHECK(!kernel.policy.empty());
  }
}

TEST_CASE("sums, products and quotients return to where they were, however often") {
  for (const ArithmeticKernel& kernel : arithmetic_kernels()) {
    const bool whole = kernel.type.starts_with("int");
    if (kernel.op == "add" || kernel.op == "div" || (kernel.op == "mul" && !whole)) {
      INFO(kernel.type << " " << kernel.op);
      CHECK(kernel.dependent(1) == kernel.dependent(20'000));  // after the first round's rounding
      CHECK(kernel.independent(1) == kernel.dependent(1));
    }
  }
}

TEST_CASE("a chain does the operations that it says, as often as it says") {
  constexpr Operands<std::int32_t> kDivided{46'000, std::numeric_limits<std::int32_t>::max(), 0};
  CHECK(divide(kDivided.a, kDivided.start).quotient == 46'684);
  CHECK(divide<std::int64_t>(-7, 2).quotient == -3);
  CHECK(divide<std::int64_t>(-7, 2).remainder == -1);
  std::int32_t x = 1 << 30U;
  for (std::size_t i = 0; i < kDependentSteps; ++i) {
    x = (x % 65'537) + (1 << 30U);
  }
  CHECK(dependent<std::int32_t, Modulo>({1 << 30U, 65'537, 1 << 30U}, 1) == x);
  CHECK(dependent<std::int64_t, Add>({0, 3, 4}, 2) == 7 * kDependentSteps);
  CHECK(independent<std::int64_t, Add>({0, 3, 4}, 2) == 7 * kIndependentSteps / 8);
  CHECK(dependent<std::int64_t, Bit>({5, 3, 3}, 1) == 5);
  volatile double value = 1.3;
  for (std::size_t i = 0; i < kBogoSteps; ++i) {
    value = (1 + value) * (1.5 - value) / value;
  }
  CHECK(dependent<double, Bogo>({1.3, 1.0, 1.5}, 1) == value);
  CHECK(dependent<double, Bogo>({1.3, 1.0, 1.5}, 7) == value);  // from its start again each round
}

TEST_CASE("Bogo's chains never come near zero, where a quotient would be none of an ordinary number") {
  double wide = 1.3;
  float narrow = 1.3F;
  for (std::size_t i = 0; i < kBogoSteps; ++i) {
    wide = (1 + wide) * (1.5 - wide) / wide;
    narrow = (1 + narrow) * (1.5F - narrow) / narrow;
    INFO(i);
    CHECK((std::abs(wide) > 0x1p-10 && std::abs(wide) < 0x1p10));
    CHECK((std::abs(narrow) > 0x1p-10F && std::abs(narrow) < 0x1p10F));
  }
}

TEST_CASE("Brown's numbers lie in [1, 2), are the same each time, and are not all alike") {
  std::vector<double> x(1000);
  std::vector<double> again(1000);
  brown_reset(x);
  brown_reset(again);
  CHECK(x == again);
  double sum = 0;
  for (const double each : x) {
    CHECK((each >= 1 && each < 2));
    sum += each;
  }
  CHECK(std::abs((sum / 1000) - 1.5) < 0.05);
  brown_pass(x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    CHECK(x[i] == (1 + again[i]) * (1.5 - again[i]) / again[i]);
  }
}

TEST_CASE("vector kernels multiply and add in every lane of every sum, as often as they say") {
  CHECK(!fma_kernels().empty());
  for (const FmaKernel& kernel : fma_kernels()) {
    if (!kernel.supported()) {
      continue;
    }
    INFO(kernel.isa << " " << kernel.type);
    CHECK(flops(kernel) == static_cast<double>(kFmaSteps * lanes(kernel) * (kernel.fused ? 2 : 1)));
    if (kernel.fused) {
      kernel.type == "float" ? check_fused<float>(kernel) : check_fused<double>(kernel);
    } else {
      kernel.type == "float" ? check_plain<float>(kernel) : check_plain<double>(kernel);
    }
  }
}

TEST_CASE("an instruction set that is not there has no value, but a reason") {
  std::size_t missing = 0;
  for (const char* isa : {"sse2", "avx2", "avx512", "neon"}) {
    const Json rate = run("fma", {{"isa", isa}}).at("rate");
    CHECK(rate.at("unit") == "flop/s");
    if (rate.at("value").is_null()) {
      ++missing;
      CHECK(rate.at("reason").get<std::string>().find(isa) != std::string::npos);
    } else {
      CHECK(rate.at("value").get<double>() > 0);
    }
  }
  CHECK(missing >= 1);  // no CPU has both x86's and ARM's
  CHECK(run("fma", {{"isa", "auto"}, {"type", "float"}}).at("rate").at("value").get<double>() > 0);
}

TEST_CASE("each probe of the CPU gives every metric that it describes") {
  for (const ArithmeticKernel& kernel : arithmetic_kernels()) {
    INFO(kernel.type << " " << kernel.op);
    const Json metrics = run("arithmetic", {{"type", kernel.type}, {"op", kernel.op}});
    CHECK(metrics.at("latency").at("value").get<double>() > 0);
    CHECK(metrics.at("throughput").at("value").get<double>() > 0);
  }
  const Json rate = run("cpu-rate", {{"bytes", 4096}, {"runs", 5}});
  CHECK(rate.at("deviation").at("n") == 5);
  const double product =
      rate.at("rate").at("value").get<double>() * rate.at("time").at("value").get<double>();
  CHECK(std::abs(product - 1) < 1e-9);
  CHECK(run("sha1", {{"bytes", 100}}).at("throughput").at("value").get<double>() > 0);
  CHECK(run("fft", {{"points", 64}}).at("rate").at("value").get<double>() > 0);
}

TEST_CASE("what the probes of the CPU can't do is refused") {
  CHECK_THROWS_AS(run("arithmetic", {{"type", "float"}, {"op", "mod"}}), wulf::Error);
  CHECK_THROWS_AS(run("arithmetic", {{"type", "int"}, {"op", "bogo"}}), wulf::Error);
  CHECK_THROWS_AS(run("fft", {{"points", 1000}}), wulf::Error);
  CHECK_THROWS_AS(run("fma", {{"threads", 8192}}), wulf::Error);
}

TEST_CASE("the peak of all CPUs is measured, too, or busy CPUs are the reason why not") {
  const Json rate = run("fma", {{"threads", 0}}).at("rate");
  if (rate.at("value").is_null()) {
    CHECK(rate.at("reason") == "the threads shared no time: the CPUs are busy");
  } else {
    CHECK(rate.at("value").get<double>() > 0);
  }
}

TEST_CASE("a thread that fails ends the run with its error, and no other waits for it") {
  bool told = false;
  const std::vector<int> cpus(2, wulf::process_cpus().front());
  CHECK_THROWS_AS(run_team(
                      cpus,
                      [](std::size_t rank) {
                        if (rank == 1) {
                          throw wulf::Error("internal", "broken");
                        }
                      },
                      [&] { told = true; }),
                  wulf::Error);
  CHECK(told);
}
