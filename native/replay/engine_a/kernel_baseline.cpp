#include "replay/engine_a/kernel.hpp"
#include "replay/engine_a/kernel_sets.hpp"

namespace wulf::replay {
namespace {

struct Baseline {};

}  // namespace

template <typename V>
PassFunction<V> baseline_pass(PassKind kind) {
  return kernel_of<Baseline, V>(kind);
}

template PassFunction<Lanes1> baseline_pass<Lanes1>(PassKind kind);
template PassFunction<Lanes4> baseline_pass<Lanes4>(PassKind kind);
template PassFunction<Lanes8> baseline_pass<Lanes8>(PassKind kind);
template PassFunction<Fine> baseline_pass<Fine>(PassKind kind);

}  // namespace wulf::replay
