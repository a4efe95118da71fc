#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "node/stream/passes.hpp"

namespace wulf::node {

/// STREAM's kernels (McCalpin), and lmbench's read, write and copy.
struct StreamKernel {
  std::string name;
  std::size_t pass;    ///< its place in StreamPasses; kMemcpy for the C library's
  std::size_t reads;   ///< arrays read
  std::size_t writes;  ///< arrays written, before those read in memory

  [[nodiscard]] std::size_t arrays() const { return reads + writes; }
};

inline constexpr std::size_t kMemcpy = kPasses;

[[nodiscard]] const std::vector<StreamKernel>& stream_kernels();

/// The instruction sets of this program that this CPU has, the widest last.
[[nodiscard]] std::vector<const StreamPasses*> stream_passes();

/// The one whose triad is the fastest on 8 KiB arrays, tried once, in less than a millisecond: the widest is
/// not on CPUs that store its vectors in halves.
[[nodiscard]] const StreamPasses& fastest_passes();

/// One pass over arrays of `count` doubles, a multiple of kGrain; a[] is written, b[] and c[] are read, and
/// read() reads b[]. Returns what read() summed up, else 0.
[[nodiscard]] Pass stream_pass(const StreamPasses& passes, const StreamKernel& kernel, bool nontemporal);

/// Bytes that one element of each array moves, as STREAM counts: each array once.
[[nodiscard]] double counted_bytes(const StreamKernel& kernel);

/// The same as memory sees it: a normal store to a line that no cache holds reads the line before
/// (write-allocate). None for the C library's copy beyond the caches, which chooses its stores itself.
[[nodiscard]] std::optional<double> traffic_bytes(const StreamKernel& kernel, bool nontemporal, bool cached);

/// Where a kernel's arrays of `count` doubles lie in one piece of memory, from its begin: each on lines of
/// its own, the one written at another place within a page than those read, or a load would wait for a store
/// to an address that looks alike (4 KiB aliasing).
struct StreamLayout {
  std::size_t count = 0;
  std::size_t pieces = 0;  ///< passes work on count/pieces doubles at a time
  std::array<std::size_t, 3> places{};
  std::size_t bytes = 0;

  /// The largest that a share of `share` bytes of each array holds. Zero pieces: there is no room for one.
  static StreamLayout plan(const StreamKernel& kernel, std::size_t share);
};

}  // namespace wulf::node
