#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/host/schedstat.hpp"
#include "core/json/error.hpp"
#include "node/cpu/placement.hpp"
#include "node/os/child.hpp"
#include "node/os/files.hpp"
#include "node/os/private_folder.hpp"
#include "node/os/self_signal.hpp"
#include "node/os/unavailable.hpp"
#include "node/power/energy.hpp"
#include "node/time/noise.hpp"
#include "node/time/timing.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf::node;
using wulf::File;
using wulf::Json;

bool near(double value, double expected) { return std::abs(value - expected) <= 1e-9 * std::abs(expected); }

/// A folder that goes with the test.
class Tree {
 public:
  Tree() : path_(std::filesystem::temp_directory_path() / ("wulf-test-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path_);
  }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;
  Tree(Tree&&) = delete;
  Tree& operator=(Tree&&) = delete;
  ~Tree() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  void write(const std::string& name, const std::string& text) const {
    const auto path = path_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << '\n';
  }

  /// One RAPL zone; `name` is "intel-rapl:0" or the like.
  void zone(const std::string& name, const std::string& what, const std::string& microjoules) const {
    const std::string folder = "sys/class/powercap/" + name + "/";
    write(folder + "name", what);
    write(folder + "energy_uj", microjoules);
    write(folder + "max_energy_range_uj", "262143328850");
  }

  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

TEST_CASE("a counter of energy that went through its end") {
  CHECK(energy_between(5, 12, 100) == 7);
  CHECK(energy_between(95, 3, 100) == 8);
  CHECK(energy_between(7, 7, 100) == 0);
}

TEST_CASE("RAPL: packages and memory are added up, cores and the second way to the same are not") {
  const Tree tree;
  tree.zone("intel-rapl:0", "package-0", "262143328000");
  tree.zone("intel-rapl:0:0", "core", "100");
  tree.zone("intel-rapl:0:1", "dram", "1000000");
  tree.zone("intel-rapl:1", "package-1", "5000000");
  tree.zone("intel-rapl:2", "psys", "5000000");
  tree.zone("intel-rapl-mmio:0", "package-0", "9");
  const EnergyMeter meter(tree.path());
  CHECK(meter.counters().size() == 5);
  EnergyMeter::Reading before = meter.read();
  tree.zone("intel-rapl:0", "package-0", "1999150");  // 2 J later, beyond its end
  tree.zone("intel-rapl:0:0", "core", "800100");
  tree.zone("intel-rapl:0:1", "dram", "1500000");
  tree.zone("intel-rapl:1", "package-1", "8000000");
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
  const Tree tree;
  const std::string device = "sys/class/hwmon/hwmon3/";
  tree.write("sys/class/hwmon/hwmon0/name", "nvme");
  tree.write(device + "name", "amd_energy");
  tree.write(device + "energy1_label", "Ecore000");
  tree.write(device + "energy1_input", "17");
  tree.write(device + "energy65_label", "Esocket0");
  tree.write(device + "energy65_input", "4000000");
  const EnergyMeter meter(tree.path());
  REQUIRE(meter.counters().size() == 1);
  CHECK(meter.counters()[0].name == "socket0");
  const EnergyMeter::Reading before = meter.read();
  tree.write(device + "energy65_input", "4250000");
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

TEST_CASE("detours: what gaps took beyond an ordinary step, the longest, and how often") {
  const std::vector<Gap> gaps{{100, 60}, {500, 210}};
  const Detours detours = analyse_detours(gaps, 10, 20, 1000, 1e-3);
  CHECK(near(detours.lost, 0.25));
  CHECK(near(detours.worst, 0.21));
  CHECK(near(detours.rate, 2.0));
  const Detours calm = analyse_detours({}, 10, 20, 1000, 1e-3);
  CHECK(calm.lost == 0);
  CHECK(calm.rate == 0);
  CHECK(near(calm.worst, 0.02));
  const Json longest = longest_gaps(gaps, 1, 1e-3);
  REQUIRE(longest.size() == 1);
  CHECK(near(longest[0].at("at").get<double>(), 0.5));
}

TEST_CASE("fixed time quanta: the best one shows what could be done") {
  const std::vector<std::uint64_t> work{100, 100, 50, 100, 0};
  const Quanta quanta = analyse_quanta(work, 1e-3);
  CHECK(near(quanta.lost, 0.3));
  CHECK(near(quanta.worst, 1e-3));
  const std::vector<std::uint64_t> absence{100, 50, 0, 0, 30, 90};  // one, longer than a quantum
  CHECK(near(analyse_quanta(absence, 1e-3).worst, 3.2e-3));
  const std::vector<std::uint64_t> even{7, 7};
  CHECK(analyse_quanta(even, 1e-3).lost == 0);
}

TEST_CASE("schedstat, and its absence") {
  const auto stat = wulf::parse_schedstat("1032634 32009093 2\n");
  REQUIRE(stat);
  CHECK(stat->waited == 32009093);
  CHECK(stat->turns == 2);
  CHECK_FALSE(wulf::parse_schedstat(""));
  CHECK_FALSE(wulf::parse_schedstat("12 x"));
}

TEST_CASE("osnoise: the lines of one CPU, added up") {
  const std::string trace =
      "# tracer: osnoise\n"
      "#           TASK-PID      CPU# ||||    TIMESTAMP    RUNTIME       NOISE  % OF CPU  NOISE    +-\n"
      "           <...>-859     [000] ....    81.637220: 1000000        190  99.98100       9     18\n"
      "           <...>-860     [001] ....    81.638154: 1000000        656  99.93440      74     23\n"
      "           <...>-859     [000] ....    82.638157: 1000000        310  99.96900      12      0\n";
  const Json found = parse_osnoise(trace, 0);
  CHECK(near(found.at("share").get<double>(), 250e-6));
  CHECK(near(found.at("worst").get<double>(), 12e-6));
  CHECK(parse_osnoise(trace, 7).is_null());
  const Tree tree;
  CHECK(osnoise(tree.path(), 0).at("reason").get<std::string>().find("cannot be read") != std::string::npos);
  tree.write("sys/kernel/tracing/current_tracer", "nop");
  CHECK(osnoise(tree.path(), 0).at("reason").get<std::string>().find("'nop'") != std::string::npos);
  tree.write("sys/kernel/tracing/current_tracer", "osnoise");
  tree.write("sys/kernel/tracing/trace", trace);
  CHECK(near(osnoise(tree.path(), 1).at("value").get<double>(), 656e-6));
}

TEST_CASE("the mount that holds a path: the deepest, and of several at one place the last") {
  const std::string mounts =
      "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"
      "30 22 0:26 / /tmp rw shared:9 master:2 - tmpfs tmpfs rw\n"
      "31 22 0:27 / /tmp rw - xfs /dev/sdb rw\n"
      "32 22 0:28 / /with\\040space rw - nfs4 server:/x rw\n";
  CHECK(mount_of(mounts, "/tmp/x").at("type") == "xfs");
  CHECK(mount_of(mounts, "/tmpfiles").at("type") == "ext4");
  CHECK(mount_of(mounts, "/with space/y").at("mount") == "/with space");
  CHECK(mount_of("", "/tmp").at("type").is_null());
}

TEST_CASE("what stands behind a name") {
  const Tree tree;
  tree.write("busybox", "");
  std::filesystem::create_symlink("busybox", tree.path() + "/sh");
  const Json shell = behind(tree.path() + "/sh");
  CHECK(shell.at("is").get<std::string>().ends_with("/busybox"));
  CHECK(behind("/no/shell").at("is") == "/no/shell");
}

TEST_CASE("processes on one CPU, or round robin from the one that measures") {
  const std::vector<int> allowed{0, 2, 5};
  CHECK(place("same", {3}, 3, 2) == std::vector<int>{3, 3});
  CHECK(place("spread", allowed, 2, 4) == std::vector<int>{2, 5, 0, 2});
  CHECK_THROWS_AS(place("spread", {4}, 4, 2), Unavailable);
}

TEST_CASE("samples less a cost, and those of operations that were several") {
  Samples samples;
  samples.add(10e-6, 2);
  samples.add(14e-6, 2);
  CHECK(near(samples.less(4e-6).median(), 8e-6));
  CHECK(near(samples.less(4e-6).spent(), 32e-6));
  CHECK(near(samples.split(2).median(), 6e-6));
  CHECK(samples.split(2).operations() == 8);
  CHECK(near(samples.split(2).spent(), samples.spent()));
}

TEST_CASE("a child ends with the object that stands for it, and is waited for") {
  {
    const Child sleeper([] { return pause(); });
  }
  CHECK(waitpid(-1, nullptr, WNOHANG) == -1);  // none is left
  Child done([] { return 3; });
  CHECK(WEXITSTATUS(done.wait()) == 3);
}

TEST_CASE("a private folder goes with all its files, however many") {
  const Tree tree;
  {
    const PrivateFolder folder(tree.path());
    for (int i = 0; i < 1000; ++i) {
      const File file(openat(folder.fd(), std::to_string(i).c_str(), O_CREAT | O_WRONLY, 0600));
      REQUIRE(file.fd() >= 0);
    }
    CHECK(std::distance(std::filesystem::directory_iterator(tree.path()), {}) == 1);
  }
  CHECK(std::filesystem::is_empty(tree.path()));
  CHECK_THROWS_AS(PrivateFolder("relative"), wulf::Error);
  CHECK_THROWS_AS(PrivateFolder(tree.path() + "/absent"), Unavailable);
  CHECK(waitpid(-1, nullptr, WNOHANG) == -1);
}

#ifdef __SANITIZE_THREAD__
constexpr bool kHeldBack = true;  // ThreadSanitizer runs handlers at the next call that it intercepts
#else
constexpr bool kHeldBack = false;
#endif

}  // namespace

TEST_CASE("a signal to oneself reaches its handler though the program blocks all, and leaves no trace") {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all,
                  &before);  // as end_with_parent() has its one signal blocked in every thread
  {
    const SelfSignal signal;
    const auto handled = SelfSignal::handled();
    signal.send(100);
    usleep(1);
    const auto reached = SelfSignal::handled() - handled;
    CHECK(reached >= (kHeldBack ? 1 : 100));
    CHECK(reached <= 100);
    signal.send_none(100);
    CHECK(SelfSignal::handled() - handled == reached);
  }
  sigset_t after;
  pthread_sigmask(SIG_SETMASK, &before, &after);
  CHECK(sigismember(&after, SelfSignal::kSignal) == 1);
}

TEST_CASE("bodies that are timed in turn have as many batches each, and each its own count") {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  const auto count_first = [&](std::uint64_t count) { first += count; };
  const auto count_second = [&](std::uint64_t count) { second += count; };
  const auto [one, other] = time_in_turn<2>({count_first, count_second}, 0.002);
  CHECK(one.size() == other.size());
  CHECK(one.size() >= 3);
  CHECK(first > one.operations());  // the calibration comes on top
  CHECK(second > other.operations());
}
