#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace wulf::mpi {

/// What a work unit gives: 20 bytes, as of SHA-1.
inline constexpr std::size_t kDigestBytes = 20;
using Digest = std::array<std::byte, kDigestBytes>;

/// `sum` ^= each of the digests that stand one after the other in `digests`.
void fold(Digest& sum, std::span<const std::byte> digests) noexcept;

[[nodiscard]] std::string hex(const Digest& digest);

/// Word `index` of the data that is rebuilt from a unit's four bytes of input: MurmurHash3's finaliser
/// (Appleby, public domain) of input + index * 0x9e3779b9, modulo 2^32.
[[nodiscard]] constexpr std::uint32_t rebuilt_word(std::uint32_t input, std::uint32_t index) noexcept {
  std::uint32_t word = input + (index * 0x9e3779b9U);
  word = (word ^ (word >> 16U)) * 0x85ebca6bU;
  word = (word ^ (word >> 13U)) * 0xc2b2ae35U;
  return word ^ (word >> 16U);
}

/// The whole of it: words in little-endian order, the last one cut where `data` ends.
void rebuild(std::uint32_t input, std::span<std::byte> data) noexcept;

/// The digest of a spin: the first 20 bytes of what is rebuilt from the input, however long was spun.
[[nodiscard]] Digest spin_digest(std::uint32_t input) noexcept;

/// One kind of work, with the memory that it needs.
class Work {
 public:
  Work() = default;
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;
  Work(Work&&) = delete;
  Work& operator=(Work&&) = delete;
  virtual ~Work() = default;

  /// A batch done: the digest of each input, one after the other, to `digests`.
  virtual void done(std::span<const std::uint32_t> inputs, std::byte* digests) = 0;
  /// What it must give, by the shortest way.
  [[nodiscard]] virtual Digest expected(std::uint32_t input) = 0;
  /// Seconds a unit takes on this CPU alone: the least of several tries just before.
  [[nodiscard]] virtual double seconds() const = 0;
  /// Who computes it.
  [[nodiscard]] virtual std::string by() const = 0;
};

/// SHA-1 of `bytes` rebuilt from the input: libcrypto's where there is one, else our own.
[[nodiscard]] std::unique_ptr<Work> sha1_work(std::size_t bytes);

/// A loop without memory and without clock, calibrated here and now to last `seconds`.
[[nodiscard]] std::unique_ptr<Work> spin_work(double seconds);

/// The XOR of what `count` units from `first` on must give.
[[nodiscard]] Digest expected_sum(Work& work, std::uint32_t first, std::uint32_t count);

/// A run of units, to be done by one worker.
struct Batch {
  std::uint32_t first;
  std::uint32_t count;  ///< 0 = nothing is left
};

/// Deals the units 0 … units - 1 out, in batches of which only the last may be smaller.
class Handout {
 public:
  Handout(std::uint32_t units, std::uint32_t batch) : units_(units), batch_(batch) {}

  [[nodiscard]] Batch next() noexcept {
    const std::uint32_t left = units_ - dealt_;
    const Batch batch{dealt_, left < batch_ ? left : batch_};
    dealt_ += batch.count;
    return batch;
  }

 private:
  std::uint32_t units_;
  std::uint32_t batch_;
  std::uint32_t dealt_ = 0;
};

/// The part of `units` that rank `rank` of `ranks` has when they are cut into contiguous shares.
[[nodiscard]] Batch share(std::uint32_t units, int rank, int ranks) noexcept;

/// Throws Error("wrong-result", …) unless as many units as were dealt came back, and their digests' XOR is
/// right.
void check_results(std::uint32_t units, std::uint64_t came_back, const Digest& expected, const Digest& got);

/// How many batches apart a worker reads the clock, so that the two readings cost less than a five-hundredth
/// of the time between them.
[[nodiscard]] std::uint32_t sampling_stride(double batch_seconds, double clock_seconds) noexcept;

}  // namespace wulf::mpi
