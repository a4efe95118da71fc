#include <array>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "mpi/plain/farm/nearness.hpp"
#include "mpi/plain/farm/team.hpp"
#include "tests/catch.hpp"

using namespace wulf::mpi;

namespace {

TEST_CASE("a team's digests are those of one thread, whatever the batch") {
  const auto alone = sha1_work(100);
  for (const int threads : {2, 3, 8}) {
    TeamWork team(threads, [] { return sha1_work(100); });
    CHECK(team.by() == alone->by());
    for (const std::size_t units : {1U, 2U, 5U, 8U, 100U}) {
      std::vector<std::uint32_t> inputs(units);
      std::iota(inputs.begin(), inputs.end(), 7U);
      std::vector<std::byte> one(units * kDigestBytes);
      std::vector<std::byte> other(units * kDigestBytes);
      alone->done(inputs, one.data());
      for (int again = 0; again < 20; ++again) {
        std::fill(other.begin(), other.end(), std::byte{0});
        team.done(inputs, other.data());
        REQUIRE(other == one);
      }
    }
  }
}

TEST_CASE("a team that has had no work ends") {
  const TeamWork team(4, [] { return spin_work(1e-6); });
  CHECK(team.seconds() == 1e-6);
}

/// Two sockets of two cores of two CPUs each: 0 and 4 share a core, 0-1 and 4-5 a socket.
std::string machine() {
  const auto folder = std::filesystem::temp_directory_path() / "wulf-nearness";
  for (int cpu = 0; cpu < 8; ++cpu) {
    const auto topology = folder / ("cpu" + std::to_string(cpu)) / "topology";
    std::filesystem::create_directories(topology);
    std::ofstream(topology / "core_cpus_list") << cpu % 4 << ',' << (cpu % 4) + 4 << '\n';
    std::ofstream(topology / "physical_package_id") << (cpu % 4) / 2 << '\n';
  }
  return folder;
}

TEST_CASE("how near a worker is to its master") {
  const std::string cpus = machine();
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
  std::filesystem::remove_all(cpus);
}

}  // namespace
