#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "node/memory/random.hpp"
#include "node/time/timing.hpp"

namespace wulf::node {

/// Bytes of a cache line, as the C library knows it; 64 where it does not.
[[nodiscard]] std::size_t line_bytes();

/// 0 … count-1 in random order, every order as likely as any other. At most 2³² of them.
[[nodiscard]] std::vector<std::uint32_t> shuffled(std::size_t count, Random& random);

/// Chains of pointers, each a cycle: `heads` has one place of every chain. What they visit lies in the memory
/// they were made in, which must outlive them.
struct Chains {
  std::vector<void*> heads;
  std::size_t places = 0;  ///< of all chains together
};

/// `chains` cycles that together visit each place once, in the order given: chain c has the c-th part of it.
/// Written in that order, so that a cache holds afterwards what it would after the chase went round, and the
/// measurement needs no round to warm up. Throws bad-parameter where there are fewer places than chains.
[[nodiscard]] Chains link_in_order(std::byte* base, const std::vector<std::size_t>& places,
                                   std::size_t chains);

/// Cycles over every line of `memory`, in random order. A cycle through an order that is uniform is uniform
/// among cyclic permutations, as Sattolo's algorithm's are. Set-up costs a few nanoseconds a line.
[[nodiscard]] Chains link_random(std::span<std::byte> memory, std::size_t line, std::size_t chains,
                                 Random& random);

/// lmbench's lat_mem_rd: every `stride` bytes in ascending order, then back to the first.
[[nodiscard]] Chains link_ascending(std::span<std::byte> memory, std::size_t stride);

/// Follows every chain by `steps` loads; a load of one chain waits for its last alone.
void walk(Chains& chains, std::uint64_t steps);

/// How long a set beyond the caches is walked before they hold what they hold from then on, however long it
/// is measured: in random order after 2.5 and 5 ms it was up to 10 and 4 % too fast, after 10, 20, 40 and 80
/// ms the same; ascending, where prefetchers learn, 5 % after 10 ms, and 2 after 20.
inline constexpr Nanoseconds kWarm = 10 * kMillisecond;
inline constexpr Nanoseconds kWarmAscending = 40 * kMillisecond;

/// Time per load of all chains together, of about `seconds`, after a walk once round, or of `warm`.
[[nodiscard]] Samples time_chase(Chains& chains, double seconds, Nanoseconds warm = kWarm);

inline constexpr std::size_t kMostChains = 32;

}  // namespace wulf::node
