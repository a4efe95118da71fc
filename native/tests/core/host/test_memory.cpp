#include <cstdint>

#include "core/host/memory.hpp"
#include "tests/catch.hpp"
#include "tests/tree.hpp"

namespace {

using namespace wulf;
using wulf::tests::Tree;

TEST_CASE("Memory left is the least of the host's and the control groups'") {
  constexpr std::uint64_t kMebi = 1 << 20;
  Tree root;
  CHECK_FALSE(memory_left(root.path()).has_value());
  root.put("/proc/meminfo", "MemTotal: 9000 kB\nMemAvailable:    8192 kB\n");
  CHECK(memory_left(root.path()) == 8 * kMebi);
  root.put("/proc/self/cgroup", "0::/job/step\n");
  root.put("/sys/fs/cgroup/job/step/memory.max", "max\n");
  root.put("/sys/fs/cgroup/job/step/memory.current", "5\n");
  root.put("/sys/fs/cgroup/job/memory.max", "6291456\n");
  root.put("/sys/fs/cgroup/job/memory.current", "3145728\n");
  CHECK(memory_left(root.path()) == 3 * kMebi);
  root.put("/sys/fs/cgroup/job/memory.stat", "anon 2097152\ninactive_file 1048576\n");
  CHECK(memory_left(root.path()) == 4 * kMebi);
}

TEST_CASE("The largest cache counts") {
  Tree root;
  CHECK(largest_cache(root.path()) == 0);
  root.put("/sys/devices/system/cpu/cpu0/cache/index0/size", "32K\n");
  root.put("/sys/devices/system/cpu/cpu0/cache/index3/size", "32768K\n");
  CHECK(largest_cache(root.path()) == 32U << 20U);
}

}  // namespace
