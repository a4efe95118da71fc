#include <string>

#include "mpi/plain/farm/nearness.hpp"
#include "tests/catch.hpp"
#include "tests/tree.hpp"

using namespace wulf::mpi;

namespace {

/// Two sockets of two cores of two CPUs each: 0 and 4 share a core, 0-1 and 4-5 a socket.
void put_machine(wulf::tests::Tree& cpus) {
  for (int cpu = 0; cpu < 8; ++cpu) {
    const std::string topology = "/cpu" + std::to_string(cpu) + "/topology";
    cpus.put(topology + "/core_cpus_list",
             std::to_string(cpu % 4) + "," + std::to_string((cpu % 4) + 4) + "\n");
    cpus.put(topology + "/physical_package_id", std::to_string((cpu % 4) / 2) + "\n");
  }
}

TEST_CASE("how near a worker is to its master") {
  wulf::tests::Tree tree;
  put_machine(tree);
  const std::string& cpus = tree.path();
  const auto near = [&](const std::string& master, const std::string& worker) {
    return nearness("n1", master, "n1", worker, cpus);
  };
  CHECK(nearness("n1", "0", "n2", "0", cpus) == "other node");
  CHECK(near("0", "0") == "same CPU");
  CHECK(near("0", "4") == "same core");
  CHECK(near("0,4", "0,4") == "same core");
  CHECK(near("0,4", "1,5") == "same socket");
  CHECK(near("0-1", "0-1") == "same socket");
  CHECK(near("0,4", "2") == "other socket");
  CHECK(near("0-7", "0-7") == "same node");
  CHECK(near("0", "9") == "same node");
  CHECK(nearness("n1", "", "n1", "", cpus) == "same node");
}

}  // namespace
