#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/json/json.hpp"

namespace wulf::node {

/// A time without us: two successive looks at the counter that were further apart than they should be.
struct Gap {
  std::uint64_t at;      ///< ticks since the start, of the first look
  std::uint64_t length;  ///< ticks
};

struct Detours {
  double lost;   ///< share of the time that gaps took beyond the minimum
  double worst;  ///< seconds: the longest time between two looks
  double rate;   ///< gaps a second
};

/// The selfish detour benchmark's account (Beckman, Iskra, Yoshii, Coghlan 2006): every gap longer than the
/// threshold is a detour, and what it took beyond an ordinary step of the loop is lost.
///
/// `minimum` and `longest` are an ordinary step and the longest one that was no detour, `elapsed` the whole,
/// in ticks of `tick` seconds.
[[nodiscard]] Detours analyse_detours(std::span<const Gap> gaps, std::uint64_t minimum, std::uint64_t longest,
                                      std::uint64_t elapsed, double tick);

/// The `count` longest, longest first: [{"at": seconds, "length": seconds}, …].
[[nodiscard]] Json longest_gaps(std::span<const Gap> gaps, std::size_t count, double tick);

struct Quanta {
  double lost;   ///< share of the work that could have been done
  double worst;  ///< seconds: the most that one quantum lacks, or several about empty ones
};

/// The fixed time quanta account (Sottile and Minnich 2004): `work` is what was done in each of equal times
/// of `quantum` seconds; the best of them shows what can be done in one. Needs one quantum with work.
[[nodiscard]] Quanta analyse_quanta(std::span<const std::uint64_t> work, double quantum);

/// The trace of the tracer osnoise (the kernel's Documentation/trace/osnoise-tracer.rst): what it says of
/// `cpu`, {"runtime": s, "noise": s, "worst": s, "share": 1}, or null where it says nothing.
[[nodiscard]] Json parse_osnoise(const std::string& trace, int cpu);

/// What osnoise found, where somebody runs it; null with the reason elsewhere. Starting it would change the
/// host. Looks below `root`.
[[nodiscard]] Json osnoise(const std::string& root, int cpu);

}  // namespace wulf::node
