#pragma once

namespace wulf::node {

/// How many additions that each wait for the last a CPU does in a second: its clock rate now, on every CPU
/// that adds in one cycle, which all known ones do. Takes about 0.1 ms. Taken before and after a sample, it
/// shows whether the clock moved meanwhile, where no counter may be read.
[[nodiscard]] double dependent_adds_per_second() noexcept;

}  // namespace wulf::node
