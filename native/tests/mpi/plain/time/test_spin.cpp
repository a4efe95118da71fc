#include "mpi/plain/time/spin.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf::mpi;

TEST_CASE("Spinning takes time in proportion to its steps", "[mpi]") {
  CHECK(spin_rate() > 0);
  CHECK(spin(2, 1) == spin(1, spin(1, 1)));
  CHECK(spin(0, 7) == 7);
}

}  // namespace
