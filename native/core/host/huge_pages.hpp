#pragma once

#include <cstddef>

namespace wulf {

/// What a huge page of this architecture's default size holds.
constexpr std::size_t kHugePage = std::size_t{2} << 20U;

/// Fresh anonymous memory of at least `bytes`, which begins and ends at multiples of kHugePage, so that the
/// kernel can lay all of it on huge pages. Null, and errno is set, where it gives none. Whether it does lie
/// on them is the system's choice, and madvise's.
[[nodiscard]] void* map_aligned(std::size_t bytes) noexcept;

/// Returns what map_aligned gave for so many bytes; nothing for null.
void unmap_aligned(void* place, std::size_t bytes) noexcept;

/// Asks for huge pages (or for none, where `wanted` is false) under such memory. Advice: where the kernel has
/// none, it is refused in silence, and the memory lies on small ones.
void advise_huge_pages(void* place, std::size_t bytes, bool wanted = true) noexcept;

/// Has the kernel lay such memory on pages at once, for half the time that a fault for each of them takes
/// (Linux 5.14; an older one refuses in silence, and does so fault by fault as the memory is first written).
void populate(void* place, std::size_t bytes) noexcept;

/// Such memory is not needed for now: the kernel takes its pages where it runs short of memory, and no child
/// process is given them, so that forking takes as long as without. What it held is lost.
void rest(void* place, std::size_t bytes) noexcept;

}  // namespace wulf
