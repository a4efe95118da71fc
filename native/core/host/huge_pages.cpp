#include "core/host/huge_pages.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdint>

namespace wulf {
namespace {

constexpr int kPopulateWrite = 23;  ///< MADV_POPULATE_WRITE, which older headers lack

std::size_t whole_pages(std::size_t bytes) noexcept {
  return (std::max<std::size_t>(bytes, 1) + kHugePage - 1) / kHugePage * kHugePage;
}

}  // namespace

void* map_aligned(std::size_t bytes) noexcept {
  const std::size_t whole = whole_pages(bytes);
  void* taken = mmap(nullptr, whole + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (taken == MAP_FAILED) {
    return nullptr;
  }
  // what lies before the first multiple, and behind the last, is returned
  auto* const begin = static_cast<std::byte*>(taken);
  const std::size_t before = (kHugePage - (std::bit_cast<std::uintptr_t>(taken) % kHugePage)) % kHugePage;
  if (before > 0) {
    munmap(begin, before);
  }
  munmap(begin + before + whole, kHugePage - before);
  return begin + before;
}

void unmap_aligned(void* place, std::size_t bytes) noexcept {
  if (place != nullptr) {
    munmap(place, whole_pages(bytes));
  }
}

void advise_huge_pages(void* place, std::size_t bytes, bool wanted) noexcept {
  madvise(place, whole_pages(bytes), wanted ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
}

void populate(void* place, std::size_t bytes) noexcept { madvise(place, bytes, kPopulateWrite); }

void rest(void* place, std::size_t bytes) noexcept {
  madvise(place, whole_pages(bytes), MADV_DONTFORK);
  madvise(place, whole_pages(bytes), MADV_FREE);
}

}  // namespace wulf
