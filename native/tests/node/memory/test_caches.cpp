#include <string>

#include "node/memory/caches.hpp"
#include "tests/catch.hpp"
#include "tests/tree.hpp"

namespace {

using namespace wulf::node;
using wulf::tests::Tree;

/// One cache of a CPU, as /sys tells of it.
void put_cache(Tree& tree, const std::string& index, const std::string& level, const std::string& type,
               const std::string& size, const std::string& shared, int cpu = 0) {
  const std::string folder = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cache/index" + index;
  tree.put(folder + "/level", level + "\n").put(folder + "/type", type + "\n");
  tree.put(folder + "/size", size + "\n").put(folder + "/shared_cpu_list", shared + "\n");
}

TEST_CASE("caches are read by level, instructions' left out, shared ones counted once") {
  Tree tree;
  put_cache(tree, "0", "1", "Data", "48K", "0");
  put_cache(tree, "1", "1", "Instruction", "32K", "0");
  put_cache(tree, "2", "2", "Unified", "2M", "0");
  put_cache(tree, "3", "3", "Unified", "32768K", "0-1");
  put_cache(tree, "0", "3", "Unified", "32768K", "0-1", 1);
  put_cache(tree, "0", "3", "Unified", "16M", "2", 2);
  const auto caches = caches_of(0, tree.path());
  REQUIRE(caches.size() == 3);
  CHECK(caches[0].bytes == 48U << 10U);
  CHECK(caches[1].bytes == 2U << 20U);
  CHECK(caches[2].shared == "0-1");
  CHECK(last_caches({0, 1}, tree.path()) == 32U << 20U);
  CHECK(last_caches({0, 1, 2}, tree.path()) == 48U << 20U);
  CHECK(last_caches({9}, tree.path()) == 0);
}

}  // namespace
