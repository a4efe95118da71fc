#include <vector>

#include "node/memory/memory_node.hpp"
#include "tests/catch.hpp"
#include "tests/tree.hpp"

namespace {

using namespace wulf::node;
using wulf::tests::Tree;

TEST_CASE("the CPUs beside one are those of its NUMA node") {
  Tree tree;
  const std::vector<int> cpus{0, 1, 2, 3, 5, 8};
  CHECK(cpus_beside(2, cpus, tree.path()) == cpus);  // nothing is told: all lie together
  tree.put("/sys/devices/system/node/has_memory", "0-1\n")
      .put("/sys/devices/system/node/node0/cpulist", "0-1,4-5\n")
      .put("/sys/devices/system/node/node1/cpulist", "2-3,6-7\n");
  CHECK(cpus_beside(0, cpus, tree.path()) == std::vector<int>{0, 1, 5});
  CHECK(cpus_beside(2, cpus, tree.path()) == std::vector<int>{2, 3});
  CHECK(cpus_beside(8, cpus, tree.path()) == cpus);  // of a node without memory: whose it is, is not told
}

TEST_CASE("nodes with memory are listed, and there is one where the system tells of none") {
  Tree tree;
  CHECK(memory_nodes(tree.path()) == std::vector<int>{0});
  tree.put("/sys/devices/system/node/has_memory", "0-1,4\n");
  CHECK(memory_nodes(tree.path()) == std::vector<int>{0, 1, 4});
}

}  // namespace
