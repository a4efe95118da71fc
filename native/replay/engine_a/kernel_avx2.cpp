#include "replay/engine_a/kernel.hpp"
#include "replay/engine_a/kernel_sets.hpp"

#ifdef __x86_64__
namespace wulf::replay {
namespace {

struct Avx2 {};

}  // namespace

template <typename V>
PassFunction<V> avx2_pass(PassKind kind) {
  return kernel_of<Avx2, V>(kind);
}

template PassFunction<Lanes4> avx2_pass<Lanes4>(PassKind kind);
template PassFunction<Lanes8> avx2_pass<Lanes8>(PassKind kind);

}  // namespace wulf::replay
#endif
