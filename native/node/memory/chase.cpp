#include "node/memory/chase.hpp"

#include <unistd.h>

#include <array>
#include <numeric>
#include <string>
#include <utility>

#include "core/json/error.hpp"

namespace wulf::node {
namespace {

constexpr std::uint64_t kAhead = 16;  ///< how far writing prefetches: about what a core has in flight
/// Loads in a row, as many as lmbench's: a prefetcher that goes by the instruction sees each of them at so
/// many strides. By 128 B on a Zen 4, 8 took 6 to 14 ns each, 64 20, 100 40, and 128, of which it sees
/// nothing, 155.
constexpr std::uint64_t kUnrolled = 100;

void* next(void* place) noexcept { return *static_cast<void**>(place); }

/// Writes the links of places order(0) … order(count-1), chain by chain in parts, and returns the heads.
template <typename At>
std::vector<void*> link_parts(std::size_t count, std::size_t chains, At at) {
  if (count < chains) {
    throw bad_parameter("chains", std::to_string(chains) + " chains need as many lines, but there are " +
                                      std::to_string(count) + ": more bytes, or fewer chains");
  }
  std::vector<void*> heads;
  for (std::size_t chain = 0; chain < chains; ++chain) {
    const std::size_t first = count * chain / chains;
    const std::size_t end = count * (chain + 1) / chains;
    heads.push_back(at(first));
    for (std::size_t i = first; i < end; ++i) {
      __builtin_prefetch(at(std::min(i + kAhead, end - 1)), 1);
      *static_cast<void**>(at(i)) = at(i + 1 < end ? i + 1 : first);
    }
  }
  return heads;
}

/// All chains by a step.
template <std::size_t... I>
void step(std::array<void*, sizeof...(I)>& at, std::index_sequence<I...> /*chains*/) noexcept {
  ((at[I] = next(at[I])), ...);
}

template <std::size_t kChains>
void walk_chains(std::vector<void*>& heads, std::uint64_t steps) {
  constexpr std::uint64_t kSteps = kUnrolled / kChains;
  constexpr std::make_index_sequence<kChains> kEach;
  std::array<void*, kChains> at{};
  std::copy_n(heads.begin(), kChains, at.begin());
  for (; steps >= kSteps; steps -= kSteps) {
    [&]<std::size_t... S>(std::index_sequence<S...> /*steps*/) {
      ((static_cast<void>(S), step(at, kEach)), ...);
    }
    (std::make_index_sequence<kSteps>{});
  }
  for (; steps > 0; --steps) {
    step(at, kEach);
  }
  std::copy_n(at.begin(), kChains, heads.begin());
  keep_memory();
}

using Walk = void (*)(std::vector<void*>&, std::uint64_t);

template <std::size_t... I>
constexpr std::array<Walk, sizeof...(I)> walks(std::index_sequence<I...> /*chains*/) {
  return {walk_chains<I + 1>...};
}

}  // namespace

std::size_t line_bytes() {
  constexpr std::size_t kUsual = 64;
  const long line = sysconf(_SC_LEVEL1_DCACHE_LINESIZE);
  return line > 0 ? static_cast<std::size_t>(line) : kUsual;
}

std::vector<std::uint32_t> shuffled(std::size_t count, Random& random) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  for (std::size_t i = count; i > 1; --i) {
    std::swap(order[i - 1], order[random.below(i)]);
  }
  return order;
}

Chains link_in_order(std::byte* base, const std::vector<std::size_t>& places, std::size_t chains) {
  const auto at = [&](std::size_t i) -> void* { return base + places[i]; };
  return {link_parts(places.size(), chains, at), places.size()};
}

Chains link_random(std::span<std::byte> memory, std::size_t line, std::size_t chains, Random& random) {
  const std::vector<std::uint32_t> order = shuffled(memory.size() / line, random);
  const auto at = [&](std::size_t i) -> void* { return memory.data() + (order[i] * line); };
  return {link_parts(order.size(), chains, at), order.size()};
}

Chains link_ascending(std::span<std::byte> memory, std::size_t stride) {
  const auto at = [&](std::size_t i) -> void* { return memory.data() + (i * stride); };
  const std::size_t count = memory.size() / stride;
  return {link_parts(count, 1, at), count};
}

void walk(Chains& chains, std::uint64_t steps) {
  static constexpr auto kWalks = walks(std::make_index_sequence<kMostChains>{});
  kWalks.at(chains.heads.size() - 1)(chains.heads, steps);
}

Samples time_chase(Chains& chains, double seconds, Nanoseconds warm) {
  constexpr std::uint64_t kPart = 4096;
  const std::size_t count = chains.heads.size();
  const std::uint64_t round = (chains.places + count - 1) / count;
  const Nanoseconds end = now() + warm;
  for (std::uint64_t done = 0; done < round && now() < end; done += kPart) {
    walk(chains, std::min(kPart, round - done));
  }
  return time_batches([&](std::uint64_t steps) { walk(chains, steps); }, seconds).split(count);
}

}  // namespace wulf::node
