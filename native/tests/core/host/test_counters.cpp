#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <utility>

#include "core/host/counters.hpp"
#include "core/host/frequency.hpp"
#include "core/host/proc_text.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf;

TEST_CASE("/proc/stat: times of every CPU in seconds, with softirq and steal") {
  const Json stat = proc_text::parse_stat(
      "cpu  220 4 180 40000 12 0 35 7 3 1\n"
      "cpu0 120 4 80 20000 6 0 30 2 3 1\n"
      "cpu17 100 0 100 20000 6 0 5 5 0 0\n"
      "intr 987654 0 9 0\n"
      "ctxt 1234567\nbtime 1700000000\nprocesses 4321\nprocs_running 2\n",
      100);
  CHECK(stat["cpu"]["all"]["softirq"] == 0.35);
  CHECK(stat["cpu"]["17"]["steal"] == 0.05);
  CHECK(stat["cpu"]["0"]["guest_nice"] == 0.01);
  CHECK(stat["cpu"].size() == 3);
  CHECK(stat["intr"] == 987654);
  CHECK(stat["ctxt"] == 1234567);
  CHECK(stat["processes"] == 4321);
  CHECK_FALSE(stat.contains("btime"));
}

TEST_CASE("/proc/stat of an old kernel has fewer columns") {
  const Json stat = proc_text::parse_stat("cpu 1 2 3 4\n", 100);
  CHECK(stat["cpu"]["all"].size() == 4);
}

TEST_CASE("/proc/interrupts: per CPU, with the device's name, CPUs with gaps") {
  const Json interrupts = proc_text::parse_interrupts(
      "           CPU0       CPU2       \n"
      "  1:          9          0   IO-APIC   1-edge      i8042\n"
      " 24:        100        250   PCI-MSIX-0000:00:03.0   0-edge      virtio0-input.0\n"
      "NMI:          1          2   Non-maskable interrupts\n"
      "ERR:          3\n");
  CHECK(interrupts["24:virtio0-input.0"] == Json({{"0", 100}, {"2", 250}}));
  CHECK(interrupts["1:i8042"]["2"] == 0);
  CHECK(interrupts["NMI:Non-maskable interrupts"] == Json({{"0", 1}, {"2", 2}}));
  CHECK(interrupts["ERR"]["0"] == 3);
}

TEST_CASE("/proc/net/softnet_stat: hexadecimal, the CPU from its own column where there is one") {
  const Json with_cpu = proc_text::parse_softnet(
      "0000ff10 00000002 0000000a 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 "
      "00000000 "
      "00000003 00000000 00000000\n");
  CHECK(with_cpu == Json({{"3", {{"processed", 65296}, {"dropped", 2}, {"squeezed", 10}}}}));
  const Json old =
      proc_text::parse_softnet("00000001 00000000 00000000 0 0 0 0 0 0 0 0\n00000002 00000000 00000001 0\n");
  CHECK(old["1"] == Json({{"processed", 2}, {"dropped", 0}, {"squeezed", 1}}));
}

TEST_CASE("/proc/net/snmp and netstat: names and figures in pairs of lines") {
  const Json snmp = proc_text::parse_protocols(
      "Tcp: RtoAlgorithm MaxConn RetransSegs\nTcp: 1 -1 42\nUdp: InDatagrams RcvbufErrors\nUdp: 7 3\n");
  CHECK(snmp["Tcp"] == Json({{"RtoAlgorithm", 1}, {"MaxConn", -1}, {"RetransSegs", 42}}));
  CHECK(snmp["Udp"]["RcvbufErrors"] == 3);
}

TEST_CASE("/proc/net/snmp6: a name and a figure a line") {
  CHECK(proc_text::parse_names("Ip6InReceives   \t7\nUdp6RcvbufErrors 3\nicmp6 x\ntorn\n") ==
        Json({{"Ip6InReceives", 7}, {"Udp6RcvbufErrors", 3}}));
}

TEST_CASE("/proc/net/dev: receive and transmit, names next to the colon and aliases") {
  const Json nic = proc_text::parse_interfaces(
      "Inter-|   Receive                                                |  Transmit\n"
      " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo\n"
      "    lo: 10 1 0 0 0 0 0 0 10 1 0 0 0 0 0 0\n"
      "eth0:99:123 4 5 6 7 8 0 0 789 10 11 12 13 14 15 0\n");
  CHECK(nic["lo"]["tx_bytes"] == 10);
  CHECK(nic["eth0:99"] == Json({{"rx_bytes", 123},
                                {"rx_packets", 4},
                                {"rx_errors", 5},
                                {"rx_dropped", 6},
                                {"rx_fifo", 7},
                                {"rx_frame", 8},
                                {"tx_bytes", 789},
                                {"tx_packets", 10},
                                {"tx_errors", 11},
                                {"tx_dropped", 12},
                                {"tx_fifo", 13},
                                {"collisions", 14},
                                {"tx_carrier", 15}}));
}

TEST_CASE("text that is cut off or garbage gives what can be read, and nothing else") {
  CHECK(proc_text::parse_stat("cpu\nctxt x\n", 100).empty());
  CHECK(proc_text::parse_interrupts("").empty());
  CHECK(proc_text::parse_interrupts("CPU0\n").empty());
  CHECK(proc_text::parse_softnet("zz yy xx\n").empty());
  CHECK(proc_text::parse_protocols("Tcp: A B\n").empty());
  CHECK(proc_text::parse_protocols("Tcp: A B\nTcp: 5\n")["Tcp"] == Json({{"A", 5}}));
  CHECK(proc_text::parse_interfaces("eth0: 1 2\n")["eth0"] == Json({{"rx_bytes", 1}, {"rx_packets", 2}}));
}

TEST_CASE("a delta holds what changed and nothing else") {
  const Json before{
      {"cpu", {{"0", {{"user", 1.10}, {"idle", 5.0}}}}}, {"ctxt", 10}, {"nic", {{"lo", {{"rx_bytes", 4}}}}}};
  const Json after{{"cpu", {{"0", {{"user", 1.12}, {"idle", 5.0}}}}},
                   {"ctxt", 10},
                   {"nic", {{"lo", {{"rx_bytes", 4}}}, {"eth1", {{"rx_bytes", 7}}}}},
                   {"missing", {"/proc/net/snmp"}}};
  const Json delta = counters_delta(before, after);
  CHECK(delta == Json({{"cpu", {{"0", {{"user", 0.02}}}}},
                       {"nic", {{"eth1", {{"rx_bytes", 7}}}}},
                       {"missing", {"/proc/net/snmp"}}}));
  CHECK(counters_delta(after, before)["cpu"]["0"]["user"] == -0.02);
}

TEST_CASE("files that are not there are named, the others are read") {
  const auto root = std::filesystem::temp_directory_path() / ("wulf-counters-" + std::to_string(getpid()));
  std::filesystem::create_directories(root / "proc/net");
  std::ofstream(root / "proc/stat") << "ctxt 5\n";
  std::ofstream(root / "proc/net/dev") << "h\nh\n lo: 1 2 3 4 0 0 0 0 5 6 7 8\n";
  const CounterTexts before = CounterTexts::read(root.string());
  const Json counters = before.parse();
  std::ofstream(root / "proc/stat") << "ctxt 9\n";
  const CounterTexts after = CounterTexts::read(root.string());
  std::filesystem::remove_all(root);
  CHECK(counters["ctxt"] == 5);
  CHECK(counters["nic"]["lo"]["tx_dropped"] == 8);
  CHECK(counters["missing"] == Json({"/proc/interrupts", "/proc/softirqs", "/proc/net/softnet_stat",
                                     "/proc/net/snmp", "/proc/net/snmp6", "/proc/net/netstat"}));
  CHECK(before.delta(after) == counters_delta(counters, after.parse()));
  CHECK(before.delta(after) == Json({{"ctxt", 4}, {"missing", counters["missing"]}}));
}

TEST_CASE("what changed is the same whether or not the lines that did not are parsed") {
  const auto root = std::filesystem::temp_directory_path() / ("wulf-changes-" + std::to_string(getpid()));
  std::filesystem::create_directories(root / "proc/net");
  const auto read = [&](const std::string& stat, const std::string& interrupts, const std::string& snmp,
                        const std::string& softnet) {
    std::ofstream(root / "proc/stat") << stat;
    std::ofstream(root / "proc/interrupts") << "  CPU0 CPU1\n" << interrupts;
    std::ofstream(root / "proc/net/snmp") << snmp;
    std::ofstream(root / "proc/net/softnet_stat") << softnet;
    return CounterTexts::read(root.string());
  };
  const CounterTexts first = read("cpu 1 2\ncpu0 1 2\nctxt 5\n", " 1: 4 5 eth0\n 2: 6 7 eth1\nERR: 1\n",
                                  "Ip: A B\nIp: 1 2\nTcp: C\nTcp: 3\n", "1 0 0\n2 0 0\n");
  const CounterTexts second = read("cpu 1 3\ncpu0 1 2\nctxt 6\n", " 1: 4 5 eth0\n 2: 6 9 eth1\nERR: 1\n",
                                   "Ip: A B\nIp: 1 2\nTcp: C\nTcp: 8\n", "1 0 0\n5 0 0\n");
  const CounterTexts moved = read("cpu 1 3\n", " 2: 8 9 eth1\n 1: 4 5 eth0\nERR: 2", "Tcp: C\nTcp: 9\n", "");
  std::filesystem::remove_all(root);
  for (const auto& [before, after] : {std::pair(&first, &second), std::pair(&second, &moved),
                                      std::pair(&moved, &first), std::pair(&first, &first)}) {
    CHECK(before->delta(*after) == counters_delta(before->parse(), after->parse()));
  }
  const Json delta = first.delta(second);
  CHECK(delta["interrupts"] == Json({{"2:eth1", {{"1", 2}}}}));
  CHECK(delta["snmp"] == Json({{"Tcp", {{"C", 5}}}}));
  CHECK(delta["softnet"] == Json({{"1", {{"processed", 3}}}}));
  CHECK(delta["ctxt"] == 1);
}

TEST_CASE("frequency: cpufreq before cpuinfo, and the reason where there is neither") {
  const auto root = std::filesystem::temp_directory_path() / ("wulf-frequency-" + std::to_string(getpid()));
  CHECK(cpu_frequency(root.string())["value"].is_null());
  CHECK(cpu_frequency(root.string())["reason"].get<std::string>().find("cpufreq") != std::string::npos);
  std::filesystem::create_directories(root / "proc");
  std::ofstream(root / "proc/cpuinfo") << "processor\t: 0\nmodel\nprocessor\t: 3\ncpu MHz\t\t: 2596.5\n";
  CHECK(cpu_frequency(root.string()) ==
        Json({{"unit", "Hz"}, {"source", "cpuinfo"}, {"value", {{"3", 2596.5e6}}}}));
  std::filesystem::create_directories(root / "sys/devices/system/cpu/cpu0/cpufreq");
  std::ofstream(root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq") << "3200000\n";
  CHECK(cpu_frequency(root.string())["value"] == Json({{"0", 3.2e9}}));
  std::filesystem::remove_all(root);
}

TEST_CASE("this machine's counters can be read") {
  const Json counters = CounterTexts::read().parse();
  CHECK(counters["cpu"]["all"]["user"].get<double>() > 0);
  CHECK(counters["ctxt"].get<std::int64_t>() > 0);
}

TEST_CASE("counters that wrap, or go to the ends of their range, differ by what is defined") {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  CHECK(counters_delta({{"n", kMost}}, {{"n", -kMost - 1}}) == Json({{"n", 1}}));
  CHECK(counters_delta({{"n", -1}}, {{"n", kMost}}) == Json({{"n", -kMost - 1}}));
}

}  // namespace
