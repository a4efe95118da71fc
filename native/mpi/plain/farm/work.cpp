#include "mpi/plain/farm/work.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "core/json/error.hpp"
#include "core/kernels/opaque.hpp"
#include "core/time/clock.hpp"
#include "mpi/plain/farm/libcrypto.hpp"

namespace wulf::mpi {
namespace {

constexpr int kTries = 5;

/// The least that `body` takes in several tries, in seconds: what else runs can only make it longer.
template <typename Body>
double least_seconds(Body body) {
  Nanoseconds least = std::numeric_limits<Nanoseconds>::max();
  for (int i = 0; i < kTries; ++i) {
    const Nanoseconds start = now();
    body();
    least = std::min(least, now() - start);
  }
  return to_seconds(least);
}

/// A digest as words, which a CPU combines at once; bytes may lie anywhere.
using DigestWords = std::array<std::uint32_t, kDigestBytes / sizeof(std::uint32_t)>;

DigestWords words_of(const std::byte* digest) noexcept {
  DigestWords words;
  std::memcpy(words.data(), digest, kDigestBytes);
  return words;
}

class Sha1Work final : public Work {
 public:
  explicit Sha1Work(std::size_t bytes) : data_(bytes), seconds_(least_seconds([this] { (void)done(0); })) {}

  Digest done(std::uint32_t input) {
    rebuild(input, data_);
    return sha1_.digest(data_);
  }
  void done(std::span<const std::uint32_t> inputs, std::byte* digests) override {
    for (const std::uint32_t input : inputs) {
      std::memcpy(digests, done(input).data(), kDigestBytes);
      digests += kDigestBytes;
    }
  }
  Digest expected(std::uint32_t input) override { return done(input); }
  [[nodiscard]] double seconds() const override { return seconds_; }
  [[nodiscard]] std::string by() const override { return sha1_.name(); }

 private:
  LibrarySha1 sha1_;
  std::vector<std::byte> data_;
  double seconds_;
};

/// A chain of multiplications and additions, each of which waits for the one before.
void spin_for(std::uint64_t iterations) noexcept {
  std::uint64_t x = iterations;
  for (std::uint64_t i = 0; i < iterations; ++i) {
    x = (x * 6364136223846793005U) + 1442695040888963407U;
    opaque(x);
  }
}

class SpinWork final : public Work {
 public:
  explicit SpinWork(double seconds) : seconds_(seconds) {
    constexpr std::uint64_t kCalibration = 1U << 18U;  // a third of a millisecond
    const double each = least_seconds([] { spin_for(kCalibration); }) / static_cast<double>(kCalibration);
    iterations_ = static_cast<std::uint64_t>(std::llround(seconds / each));
  }

  void done(std::span<const std::uint32_t> inputs, std::byte* digests) override {
    for (const std::uint32_t input : inputs) {
      spin_for(iterations_);
      rebuild(input, {digests, kDigestBytes});
      digests += kDigestBytes;
    }
  }
  Digest expected(std::uint32_t input) override { return spin_digest(input); }
  [[nodiscard]] double seconds() const override { return seconds_; }
  [[nodiscard]] std::string by() const override { return "a loop"; }

 private:
  double seconds_;
  std::uint64_t iterations_;
};

}  // namespace

void fold(Digest& sum, std::span<const std::byte> digests) noexcept {
  DigestWords words = words_of(sum.data());
  for (std::size_t start = 0; start + kDigestBytes <= digests.size(); start += kDigestBytes) {
    const DigestWords each = words_of(digests.data() + start);
    for (std::size_t i = 0; i < words.size(); ++i) {
      words[i] ^= each[i];
    }
  }
  std::memcpy(sum.data(), words.data(), kDigestBytes);
}

std::string hex(const Digest& digest) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : digest) {
    const auto value = std::to_integer<unsigned>(byte);
    text += {kDigits[value >> 4U], kDigits[value & 0xfU]};
  }
  return text;
}

void rebuild(std::uint32_t input, std::span<std::byte> data) noexcept {
  static_assert(std::endian::native == std::endian::little, "words are laid down as they stand in memory");
  constexpr std::size_t kWord = sizeof(std::uint32_t);
  const std::size_t words = data.size() / kWord;
  for (std::size_t i = 0; i < words; ++i) {
    const std::uint32_t word = rebuilt_word(input, static_cast<std::uint32_t>(i));
    std::memcpy(data.data() + (i * kWord), &word, kWord);
  }
  const std::uint32_t last = rebuilt_word(input, static_cast<std::uint32_t>(words));
  if (const std::size_t rest = data.size() % kWord; rest != 0) {
    std::memcpy(data.data() + (words * kWord), &last, rest);
  }
}

Digest spin_digest(std::uint32_t input) noexcept {
  Digest digest;
  rebuild(input, digest);
  return digest;
}

std::unique_ptr<Work> sha1_work(std::size_t bytes) { return std::make_unique<Sha1Work>(bytes); }

std::unique_ptr<Work> spin_work(double seconds) { return std::make_unique<SpinWork>(seconds); }

Digest expected_sum(Work& work, std::uint32_t first, std::uint32_t count) {
  Digest sum{};
  for (std::uint32_t i = 0; i < count; ++i) {
    fold(sum, work.expected(first + i));
  }
  return sum;
}

Batch share(std::uint32_t units, int rank, int ranks) noexcept {
  const auto edge = [&](int at) {
    return static_cast<std::uint32_t>(std::uint64_t{units} * static_cast<std::uint64_t>(at) /
                                      static_cast<std::uint64_t>(ranks));
  };
  return {edge(rank), edge(rank + 1) - edge(rank)};
}

void check_results(std::uint32_t units, std::uint64_t came_back, const Digest& expected, const Digest& got) {
  if (came_back != units) {
    throw Error("wrong-result", "of " + std::to_string(units) + " units dealt out, " +
                                    std::to_string(came_back) + " came back");
  }
  if (got != expected) {
    throw Error("wrong-result", "the XOR of " + std::to_string(units) + " digests is " + hex(got) +
                                    ", and must be " + hex(expected));
  }
}

std::uint32_t sampling_stride(double batch_seconds, double clock_seconds) noexcept {
  constexpr double kShare = 0.002;
  constexpr double kMost = 256;
  const double wanted = batch_seconds > 0 ? 2 * clock_seconds / (kShare * batch_seconds) : kMost;
  return static_cast<std::uint32_t>(std::clamp(std::ceil(wanted), 1.0, kMost));
}

}  // namespace wulf::mpi
