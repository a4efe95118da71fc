#include <cmath>
#include <filesystem>
#include <string>

#include "node/power/energy.hpp"
#include "tests/catch.hpp"
#include "tests/tree.hpp"

namespace {

using namespace wulf::node;
using wulf::Json;
using wulf::tests::Tree;

bool near(double value, double expected) { return std::abs(value - expected) <= 1e-9 * std::abs(expected); }

/// One RAPL zone; `name` is "intel-rapl:0" or the like.
void put_zone(Tree& tree, const std::string& name, const std::string& what, const std::string& microjoules) {
  const std::string folder = "/sys/class/powercap/" + name + "/";
  tree.put(folder + "name", what + "\n").put(folder + "energy_uj", microjoules + "\n");
  tree.put(folder + "max_energy_range_uj", "262143328850\n");
}

TEST_CASE("a counter of energy that went through its end") {
  CHECK(energy_between(5, 12, 100) == 7);
  CHECK(energy_between(95, 3, 100) == 8);
  CHECK(energy_between(7, 7, 100) == 0);
}

TEST_CASE("RAPL: packages and memory are added up, cores and the second way to the same are not") {
  Tree tree;
  put_zone(tree, "intel-rapl:0", "package-0", "262143328000");
  put_zone(tree, "intel-rapl:0:0", "core", "100");
  put_zone(tree, "intel-rapl:0:1", "dram", "1000000");
  put_zone(tree, "intel-rapl:1", "package-1", "5000000");
  put_zone(tree, "intel-rapl:2", "psys", "5000000");
  put_zone(tree, "intel-rapl-mmio:0", "package-0", "9");
  const EnergyMeter meter(tree.path());
  CHECK(meter.counters().size() == 5);
  EnergyMeter::Reading before = meter.read();
  put_zone(tree, "intel-rapl:0", "package-0", "1999150");  // 2 J later, beyond its end
  put_zone(tree, "intel-rapl:0:0", "core", "800100");
  put_zone(tree, "intel-rapl:0:1", "dram", "1500000");
  put_zone(tree, "intel-rapl:1", "package-1", "8000000");
  EnergyMeter::Reading after = meter.read();
  before.at = 0;
  after.at = 500'000'000;
  const Json used = meter.used(before, after);
  CHECK(near(used.at("value").get<double>(), 5.5));
  CHECK(near(used.at("counters").at("package-0").get<double>(), 2.0));
  CHECK(near(used.at("counters").at("package-0/core").get<double>(), 0.8));
  CHECK(used.at("seconds") == 0.5);
  CHECK(near(meter.power("package", before, after).at("value").get<double>(), 10.0));
  CHECK(near(meter.power("memory", before, after).at("value").get<double>(), 1.0));
}

TEST_CASE("the driver amd_energy: sockets, not their cores") {
  Tree tree;
  const std::string device = "/sys/class/hwmon/hwmon3/";
  tree.put("/sys/class/hwmon/hwmon0/name", "nvme\n");
  tree.put(device + "name", "amd_energy\n");
  tree.put(device + "energy1_label", "Ecore000\n");
  tree.put(device + "energy1_input", "17\n");
  tree.put(device + "energy65_label", "Esocket0\n");
  tree.put(device + "energy65_input", "4000000\n");
  const EnergyMeter meter(tree.path());
  REQUIRE(meter.counters().size() == 1);
  CHECK(meter.counters()[0].name == "socket0");
  const EnergyMeter::Reading before = meter.read();
  tree.put(device + "energy65_input", "4250000\n");
  EnergyMeter::Reading after = meter.read();
  after.at = before.at + 1'000'000'000;
  CHECK(near(meter.power("package", before, after).at("value").get<double>(), 0.25));
  const Json memory = meter.power("memory", before, after);
  CHECK(memory.at("value").is_null());
  CHECK(memory.at("reason").get<std::string>().find("memory") != std::string::npos);
}

TEST_CASE("no energy: the reason tells a host without counters from one that does not let us read") {
  const Tree tree;
  const EnergyMeter none(tree.path());
  CHECK(none.used(none.read(), none.read()).at("reason").get<std::string>().find("no counter") == 0);
  // a directory in the file's place cannot be read by root either, whom modes do not stop
  std::filesystem::create_directories(tree.path() + "/sys/class/powercap/intel-rapl:0/energy_uj");
  const EnergyMeter refused(tree.path());
  const Json used = refused.used(refused.read(), refused.read());
  CHECK(used.at("value").is_null());
  CHECK(used.at("reason").get<std::string>().find("intel-rapl:0/energy_uj cannot be read") !=
        std::string::npos);
}

}  // namespace
