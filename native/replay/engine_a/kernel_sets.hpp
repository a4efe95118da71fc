#pragma once

#include "replay/engine_a/lanes.hpp"

namespace wulf::replay {

// Engine A's passes, compiled for what every processor has, and for wider vectors.

template <typename V>
[[nodiscard]] PassFunction<V> baseline_pass(PassKind kind);

#ifdef __x86_64__
template <typename V>
[[nodiscard]] PassFunction<V> avx2_pass(PassKind kind);
template <typename V>
[[nodiscard]] PassFunction<V> avx512_pass(PassKind kind);
#endif

}  // namespace wulf::replay
