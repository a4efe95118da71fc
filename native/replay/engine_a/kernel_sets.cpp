#include "replay/engine_a/kernel_sets.hpp"

namespace wulf::replay {

template <typename V>
PassFunction<V> pass_function(PassKind kind) {
#ifdef __x86_64__
  if constexpr (kLanes < V >> 1) {
    if (__builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
        __builtin_cpu_supports("avx512vl") != 0) {
      return avx512_pass<V>(kind);
    }
    if (__builtin_cpu_supports("avx2") != 0) {
      return avx2_pass<V>(kind);
    }
  }
#endif
  return baseline_pass<V>(kind);
}

template PassFunction<Lanes1> pass_function<Lanes1>(PassKind kind);
template PassFunction<Lanes4> pass_function<Lanes4>(PassKind kind);
template PassFunction<Lanes8> pass_function<Lanes8>(PassKind kind);
template PassFunction<Fine> pass_function<Fine>(PassKind kind);

}  // namespace wulf::replay
