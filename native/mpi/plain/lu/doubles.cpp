#include "mpi/plain/lu/doubles.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <utility>

namespace wulf::mpi {

Doubles::Doubles(std::size_t count) {
  constexpr std::size_t kLargePage = 2U << 20U;
  const std::size_t bytes = std::max<std::size_t>(count, 1) * sizeof(double);
  const std::size_t rounded = bytes < kLargePage ? bytes : (bytes + kLargePage - 1) / kLargePage * kLargePage;
  void* memory = mmap(nullptr, rounded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {  // NOLINT: a macro of the system's
    throw std::bad_alloc();
  }
  at_ = static_cast<double*>(memory);
  bytes_ = rounded;
  (void)madvise(memory, rounded, MADV_HUGEPAGE);  // refused where there are none: then small ones
  std::fill_n(at_, rounded / sizeof(double), 0.0);
}

Doubles::Doubles(Doubles&& other) noexcept
    : at_(std::exchange(other.at_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

Doubles& Doubles::operator=(Doubles&& other) noexcept {
  std::swap(at_, other.at_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Doubles::~Doubles() {
  if (at_ != nullptr) {
    (void)munmap(at_, bytes_);
  }
}

int leading_dimension(int rows) {
  constexpr int kLine = 8;
  constexpr int kPage = 512;
  const int whole = (std::max(rows, 1) + kLine - 1) / kLine * kLine;
  return whole % kPage == 0 ? whole + kLine : whole;
}

}  // namespace wulf::mpi
