#include "replay/engine_a/kernel.hpp"
#include "replay/engine_a/kernel_sets.hpp"

#ifdef __x86_64__
namespace wulf::replay {
namespace {

struct Avx512 {};

}  // namespace

template <typename V>
PassFunction<V> avx512_pass(PassKind kind) {
  return kernel_of<Avx512, V>(kind);
}

template PassFunction<Lanes4> avx512_pass<Lanes4>(PassKind kind);
template PassFunction<Lanes8> avx512_pass<Lanes8>(PassKind kind);

}  // namespace wulf::replay
#endif
