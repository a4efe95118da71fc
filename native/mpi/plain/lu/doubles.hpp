#pragma once

#include <cstddef>

namespace wulf::mpi {

/// Zeroes in memory of their own, in large pages where the kernel gives them: what is read with a stride
/// misses fewer translations of addresses.
class Doubles {
 public:
  Doubles() = default;
  /// Throws std::bad_alloc.
  explicit Doubles(std::size_t count);
  Doubles(const Doubles&) = delete;
  Doubles& operator=(const Doubles&) = delete;
  Doubles(Doubles&& other) noexcept;
  Doubles& operator=(Doubles&& other) noexcept;
  ~Doubles();

  [[nodiscard]] double* data() { return at_; }
  [[nodiscard]] const double* data() const { return at_; }

 private:
  double* at_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Elements from one column to the next of so many rows: whole cache lines, and never such that neighbours of
/// a row are some pages apart exactly, which a cache keeps in the same few places.
[[nodiscard]] int leading_dimension(int rows);

}  // namespace wulf::mpi
