#pragma once

#include <cstddef>
#include <new>
#include <string>
#include <vector>

namespace wulf::replay {

/// Arrays of at least this many bytes are kept in files, where a folder for them is set.
constexpr std::size_t kSpilledFrom = std::size_t{4} << 20U;

/// Of every array: a line of a cache, and a vector register.
constexpr std::size_t kArrayAlignment = 64;

/// From now on, large arrays lie in files of `folder` that have no name (the kernel writes them out and reads
/// them again as memory gets short); none with an empty one. Arrays that exist stay where they are. For the
/// whole process.
///
/// Throws `spill` where no file can be made there.
void spill_arrays_to(const std::string& folder);

/// Memory, which is of huge pages where it is much and the kernel has them, or a file's. Throws `spill` when
/// there is no room in the file system, std::bad_alloc when there is none in memory.
[[nodiscard]] void* take_array(std::size_t bytes);
void give_array_back(void* place, std::size_t bytes) noexcept;

/// Memory of arrays that go by the size of a program.
template <typename T>
struct ArrayAllocator {
  using value_type = T;
  ArrayAllocator() = default;
  template <typename U>
  explicit ArrayAllocator(const ArrayAllocator<U>& /*other*/) {}

  [[nodiscard]] T* allocate(std::size_t count) {
    static_assert(alignof(T) <= kArrayAlignment);
    return static_cast<T*>(take_array(count * sizeof(T)));
  }
  void deallocate(T* place, std::size_t count) noexcept { give_array_back(place, count * sizeof(T)); }
  bool operator==(const ArrayAllocator& /*other*/) const { return true; }
};

/// A vector whose memory can be a file.
template <typename T>
using Array = std::vector<T, ArrayAllocator<T>>;

}  // namespace wulf::replay
