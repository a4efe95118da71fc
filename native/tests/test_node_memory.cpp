#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/host/affinity.hpp"
#include "core/host/huge_pages.hpp"
#include "core/json/error.hpp"
#include "node/cpu/team.hpp"
#include "node/memory/caches.hpp"
#include "node/memory/chase.hpp"
#include "node/memory/line_size.hpp"
#include "node/memory/memory_node.hpp"
#include "node/memory/pages.hpp"
#include "node/memory/random_access.hpp"
#include "node/memory/working_set.hpp"
#include "node/os/scratch.hpp"
#include "node/os/unavailable.hpp"
#include "tests/catch.hpp"

using namespace wulf::node;
using wulf::Error;

namespace {

/// A made-up machine's /proc and /sys.
class Tree {
 public:
  Tree() {
    std::string name = (std::filesystem::temp_directory_path() / "wulf-tree-XXXXXX").string();
    root_ = mkdtemp(name.data());
  }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;
  Tree(Tree&&) = delete;
  Tree& operator=(Tree&&) = delete;
  ~Tree() { std::filesystem::remove_all(root_); }

  Tree& put(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
    return *this;
  }
  Tree& cache(const std::string& index, const std::string& level, const std::string& type,
              const std::string& size, const std::string& shared, int cpu = 0) {
    const std::string folder = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cache/index" + index;
    put(folder + "/level", level + "\n").put(folder + "/type", type + "\n");
    return put(folder + "/size", size + "\n").put(folder + "/shared_cpu_list", shared + "\n");
  }
  [[nodiscard]] const std::string& root() const { return root_; }

 private:
  std::string root_;
};

/// Every place that a chain visits until it is back, as offsets.
std::vector<std::size_t> visits(void* head, const std::byte* base) {
  std::vector<std::size_t> places;
  void* at = head;
  do {
    places.push_back(static_cast<std::size_t>(static_cast<std::byte*>(at) - base));
    at = *static_cast<void**>(at);
  } while (at != head && places.size() < 1'000'000);
  return places;
}

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code() + ": " + error.what();
  }
  return "";
}

constexpr std::size_t kLine = 64;

}  // namespace

TEST_CASE("a random chase is one cycle that visits every line once") {
  const std::size_t lines = GENERATE(as<std::size_t>{}, 1, 2, 3, 257, 4096);
  std::vector<std::uint64_t> memory(lines * kLine / sizeof(std::uint64_t));
  auto* base = reinterpret_cast<std::byte*>(memory.data());
  Random random(lines);
  const Chains chains = link_random({base, lines * kLine}, kLine, 1, random);
  REQUIRE(chains.heads.size() == 1);
  CHECK(chains.places == lines);
  const std::vector<std::size_t> places = visits(chains.heads[0], base);
  const std::set<std::size_t> distinct(places.begin(), places.end());
  CHECK(places.size() == lines);
  CHECK(distinct.size() == lines);
  CHECK(*distinct.begin() == 0);
  CHECK(*distinct.rbegin() == (lines - 1) * kLine);
}

TEST_CASE("the order is random: neighbours seldom follow one another, and seeds differ") {
  Random one(1);
  Random two(2);
  const auto order = shuffled(10'000, one);
  CHECK(order != shuffled(10'000, two));
  int ascending = 0;
  for (std::size_t i = 1; i < order.size(); ++i) {
    ascending += order[i] == order[i - 1] + 1 ? 1 : 0;
  }
  CHECK(ascending < 20);  // one is expected
}

TEST_CASE("chains are disjoint, alike in length, and together visit every line") {
  constexpr std::size_t kLines = 1000;
  std::vector<std::uint64_t> memory(kLines * kLine / sizeof(std::uint64_t));
  auto* base = reinterpret_cast<std::byte*>(memory.data());
  Random random(7);
  const Chains chains = link_random({base, kLines * kLine}, kLine, 7, random);
  std::set<std::size_t> all;
  for (void* head : chains.heads) {
    const auto places = visits(head, base);
    CHECK((places.size() == 142 || places.size() == 143));
    for (const std::size_t place : places) {
      CHECK(all.insert(place).second);
    }
  }
  CHECK(all.size() == kLines);
}

TEST_CASE("a stride ascends and comes back to the first") {
  std::vector<std::uint64_t> memory(1024 / sizeof(std::uint64_t));
  auto* base = reinterpret_cast<std::byte*>(memory.data());
  const Chains chains = link_ascending({base, 1024}, 256);
  CHECK(visits(chains.heads[0], base) == std::vector<std::size_t>{0, 256, 512, 768});
}

TEST_CASE("a walk follows each chain by as many loads as it says") {
  constexpr std::size_t kLines = 640;
  std::vector<std::uint64_t> memory(kLines * kLine / sizeof(std::uint64_t));
  auto* base = reinterpret_cast<std::byte*>(memory.data());
  const std::size_t count = GENERATE(as<std::size_t>{}, 1, 2, 5, 16, 31, 32);
  Random random(3);
  Chains chains = link_random({base, kLines * kLine}, kLine, count, random);
  const Chains before = chains;
  constexpr std::uint64_t kSteps = 131;
  walk(chains, kSteps);
  for (std::size_t i = 0; i < count; ++i) {
    const auto cycle = visits(before.heads[i], base);
    CHECK(chains.heads[i] == base + cycle[kSteps % cycle.size()]);
  }
}

TEST_CASE("more chains than lines are refused with both figures") {
  std::vector<std::uint64_t> memory(2 * kLine / sizeof(std::uint64_t));
  Random random(1);
  const std::string message = message_of([&] {
    (void)link_random({reinterpret_cast<std::byte*>(memory.data()), 2 * kLine}, kLine, 3, random);
  });
  CHECK(message ==
        "bad-parameter: 3 chains need as many lines, but there are 2: more bytes, or fewer chains");
}

TEST_CASE("available memory: the system's, or what control groups leave, whichever is less") {
  Tree tree;
  CHECK(available_memory(tree.root()) == std::numeric_limits<std::size_t>::max());  // nothing is known
  tree.put("/proc/meminfo", "MemTotal: 2000 kB\nMemAvailable:    1000 kB\nHugePages_Total: 0\n");
  CHECK(available_memory(tree.root()) == 1'024'000);
  tree.put("/proc/self/cgroup", "1:cpu:/old\n0::/job/step\n");
  CHECK(available_memory(tree.root()) == 1'024'000);
  tree.put("/sys/fs/cgroup/job/memory.max", "600000\n").put("/sys/fs/cgroup/job/memory.current", "100000\n");
  tree.put("/sys/fs/cgroup/job/step/memory.max", "max\n");
  CHECK(available_memory(tree.root()) == 500'000);
  tree.put("/sys/fs/cgroup/job/step/memory.max", "1000\n")
      .put("/sys/fs/cgroup/job/step/memory.current", "2000\n");
  CHECK(available_memory(tree.root()) == 0);
}

TEST_CASE("too much memory is refused with both figures") {
  Tree tree;
  tree.put("/proc/meminfo", "MemAvailable: 1 kB\n");
  CHECK_NOTHROW(check_memory(1024, tree.root()));
  CHECK(message_of([&] { check_memory(1025, tree.root()); }) ==
        "limit: an array of 1025 B is more than the 1024 B of memory that are available here");
}

TEST_CASE("pages tell what they lie on") {
  constexpr std::size_t kBytes = std::size_t{3} << 20U;
  const Pages pages(kBytes, "small");
  const wulf::Json info = pages.info();
  CHECK(info.at("asked") == "small");
  CHECK(info.at("huge") == 0);
  CHECK(info.at("small").get<std::size_t>() >= kBytes);
  CHECK(info.at("small").get<std::size_t>() < 2 * kBytes);
  const wulf::Json huge = Pages(kBytes, "huge").info();  // where the kernel gives none, all are small
  CHECK(huge.at("small").get<std::size_t>() + huge.at("huge").get<std::size_t>() >= kBytes);
}

TEST_CASE("pages touched by several CPUs are all touched, and every byte of them is 1") {
  constexpr std::size_t kBytes = (std::size_t{37} << 20U) + 5;  // no multiple of what one takes at a time
  for (const std::vector<int>& helpers : {std::vector<int>{}, wulf::process_cpus(), std::vector<int>{8191}}) {
    const Pages pages(kBytes, "small", helpers);  // who can't be bound to a CPU leaves its part to the others
    const auto bytes = pages.as<std::byte>();
    CHECK(std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) { return byte == std::byte{1}; }));
    CHECK(pages.info().at("small").get<std::size_t>() >= kBytes);
  }
}

TEST_CASE("room is touched as it is needed, and no more") {
  constexpr std::size_t kBytes = std::size_t{16} << 20U;
  Pages pages = Pages::room(kBytes, "small");
  pages.touch((kBytes / 4) + 1, {});
  CHECK(pages.info().at("small").get<std::size_t>() < kBytes / 2);
  std::ranges::fill(pages.as<std::byte>().first(kBytes / 4), std::byte{2});
  pages.touch(kBytes / 8, {});
  pages.touch(kBytes, wulf::process_cpus());
  CHECK(pages.info().at("small") == kBytes);
  const auto bytes = pages.as<std::byte>();
  CHECK(std::ranges::count(bytes, std::byte{2}) == kBytes / 4);  // what was there stays
  CHECK(std::ranges::count(bytes, std::byte{1}) == kBytes - (kBytes / 4));
}

namespace {

/// Where the memory of a request lies, and the second byte of it, which is then made 3.
struct Answered {
  std::byte* place;
  std::byte found;
};

Answered answer(const SharedSet& set, const std::string& request, std::size_t bytes,
                Contents contents = Contents::kAny, int cpu = 0) {
  begin_request(set, cpu, request);
  const WorkingSet memory(bytes, "small", contents, {});
  CHECK(memory.info().contains("set") == !set.name.empty());
  return {memory.data(), std::exchange(memory.data()[1], std::byte{3})};
}

}  // namespace

TEST_CASE("requests that name a set share its memory, each of them once") {
  constexpr std::size_t kBytes = std::size_t{4} << 20U;
  const SharedSet set{"small", kBytes};
  CHECK(answer(set, "a", 4096).found == std::byte{1});
  CHECK(answer(set, "b", kBytes).found == std::byte{3});
  CHECK(answer(set, "c", 64).found == std::byte{3});
  CHECK(answer(set, "b", kBytes).found == std::byte{1});  // another replicate: a set of its own
  CHECK(answer(set, "a", 4096).found == std::byte{3});
  CHECK(answer({"huge", kBytes}, "d", 4096).found == std::byte{1});
  CHECK(answer({"huge", 2 * kBytes}, "e", 4096).found == std::byte{1});
  CHECK(answer({"huge", 2 * kBytes}, "f", 4096, Contents::kNormal).found == std::byte{1});
  CHECK(answer({"huge", 2 * kBytes}, "g", 4096, Contents::kNormal).found == std::byte{3});
  CHECK(answer({"huge", 2 * kBytes}, "h", 4096).found == std::byte{3});  // it can use numbers
  CHECK(answer({"huge", 2 * kBytes}, "i", 4096, Contents::kAny, 1).found == std::byte{1});  // far from it
  CHECK(answer({}, "a", 4096).found == std::byte{1});
  CHECK(answer({}, "b", 4096).found == std::byte{1});
  CHECK(answer(set, "a", 4096).found == std::byte{1});  // what comes between ends it
  CHECK_THROWS_AS(answer(set, "g", kBytes + 1), Error);
  begin_request({}, 0, "");
}

namespace {

/// Bytes of this process that the kernel may take as they are.
std::size_t resting_bytes() {
  std::ifstream file("/proc/self/smaps_rollup");
  for (std::string word; file >> word;) {
    if (std::size_t kib = 0; word == "LazyFree:" && file >> kib) {
      return kib * 1024;
    }
  }
  return 0;
}

}  // namespace

TEST_CASE(
    "memory that rests is the kernel's to take, no child's, and laid on pages again where it is touched") {
  constexpr std::size_t kBytes = std::size_t{8} << 20U;
  const std::size_t before = resting_bytes();
  Pages pages(kBytes, "small");
  CHECK(resting_bytes() == before);
  pages.rest();
  CHECK(resting_bytes() > before + (kBytes / 2));  // a CPU's last pages are marked with the next ones
  std::ifstream file("/proc/self/smaps");
  std::string flags;
  for (std::string line; std::getline(file, line) && flags.empty();) {
    if (line.starts_with("LazyFree:") && std::stoul(line.substr(9)) >= kBytes / 2048) {
      while (std::getline(file, flags) && !flags.starts_with("VmFlags:")) {
      }
    }
  }
  CHECK(flags.find(" dc") != std::string::npos);  // "do not copy area on fork"
  pages.touch(kBytes, {});
  CHECK(resting_bytes() == before);
  CHECK(std::ranges::count(pages.as<std::byte>(), std::byte{1}) == kBytes);
}

TEST_CASE("the last set on huge pages rests until the next is laid") {
  constexpr std::size_t kBytes = std::size_t{8} << 20U;
  const std::size_t before = resting_bytes();
  const auto lay = [](const std::string& request) {
    begin_request({"huge", kBytes}, 0, request);
    return WorkingSet(kBytes, "huge", Contents::kAny, {}).info().at("asked") == "huge";
  };
  CHECK(lay("a"));
  CHECK(resting_bytes() == before);
  begin_request({}, 0, "b");
  CHECK(resting_bytes() > before + (kBytes / 2));
  begin_request({"small", kBytes}, 0, "c");
  CHECK(WorkingSet(kBytes, "small", Contents::kAny, {}).size() == kBytes);
  CHECK(resting_bytes() > before + (kBytes / 2));
  CHECK(lay("a"));
  CHECK(resting_bytes() == before);
  begin_request({}, 0, "d");
}

TEST_CASE("a set is asked for by name and bytes") {
  CHECK(SharedSet::of({{"id", 1}}).name.empty());
  const SharedSet set = SharedSet::of({{"set", {{"name", "set"}, {"bytes", 4096}}}});
  CHECK(set.name == "set");
  CHECK(set.bytes == 4096);
  for (const wulf::Json& wrong : {wulf::Json(4096), wulf::Json({{"name", "set"}}), wulf::Json({{"bytes", 1}}),
                                  wulf::Json({{"name", "set"}, {"bytes", 0}}),
                                  wulf::Json({{"name", "set"}, {"bytes", 1}, {"kind", "huge"}})}) {
    CHECK_THROWS_AS(SharedSet::of({{"set", wrong}}), Error);
  }
}

TEST_CASE("who helps is another CPU of this process, and there are few") {
  const std::vector<int> own = wulf::process_cpus();
  const std::vector<int> helpers = helpers_of(own.front());
  CHECK(helpers.size() <= std::min<std::size_t>(own.size() - 1, 7));
  for (const int cpu : helpers) {
    CHECK(cpu != own.front());
    CHECK(std::find(own.begin(), own.end(), cpu) != own.end());
  }
}

TEST_CASE("the CPUs beside one are those of its NUMA node") {
  Tree tree;
  const std::vector<int> cpus{0, 1, 2, 3, 5, 8};
  CHECK(cpus_beside(2, cpus, tree.root()) == cpus);  // nothing is told: all lie together
  tree.put("/sys/devices/system/node/has_memory", "0-1\n")
      .put("/sys/devices/system/node/node0/cpulist", "0-1,4-5\n")
      .put("/sys/devices/system/node/node1/cpulist", "2-3,6-7\n");
  CHECK(cpus_beside(0, cpus, tree.root()) == std::vector<int>{0, 1, 5});
  CHECK(cpus_beside(2, cpus, tree.root()) == std::vector<int>{2, 3});
  CHECK(cpus_beside(8, cpus, tree.root()) == cpus);  // of a node without memory: whose it is, is not told
}

TEST_CASE("pages keep their place as they are moved, and give way to others") {
  Pages pages(std::size_t{3} << 20U, "default");
  const std::byte* const place = pages.data();
  Pages moved(std::move(pages));
  CHECK(moved.data() == place);
  moved = Pages(0, "huge");
  CHECK(moved.size() == 0);
  CHECK(std::bit_cast<std::uintptr_t>(moved.data()) % wulf::kHugePage == 0);
}

TEST_CASE("caches are read by level, instructions' left out, shared ones counted once") {
  Tree tree;
  tree.cache("0", "1", "Data", "48K", "0").cache("1", "1", "Instruction", "32K", "0");
  tree.cache("2", "2", "Unified", "2M", "0").cache("3", "3", "Unified", "32768K", "0-1");
  tree.cache("0", "3", "Unified", "32768K", "0-1", 1).cache("0", "3", "Unified", "16M", "2", 2);
  const auto caches = caches_of(0, tree.root());
  REQUIRE(caches.size() == 3);
  CHECK(caches[0].bytes == 48U << 10U);
  CHECK(caches[1].bytes == 2U << 20U);
  CHECK(caches[2].shared == "0-1");
  CHECK(last_caches({0, 1}, tree.root()) == 32U << 20U);
  CHECK(last_caches({0, 1, 2}, tree.root()) == 48U << 20U);
  CHECK(last_caches({9}, tree.root()) == 0);
}

TEST_CASE("nodes with memory are listed, and there is one where the system tells of none") {
  Tree tree;
  CHECK(memory_nodes(tree.root()) == std::vector<int>{0});
  tree.put("/sys/devices/system/node/has_memory", "0-1,4\n");
  CHECK(memory_nodes(tree.root()) == std::vector<int>{0, 1, 4});
}

TEST_CASE("a line's length is where second loads begin to miss") {
  const double hit = 10e-9;
  CHECK(find_line({{8, hit}, {16, hit}, {32, hit}, {64, 2 * hit}, {128, 2 * hit}}).line == 64);
  // the neighbour comes along, and costs less
  CHECK(find_line({{8, hit}, {32, hit}, {64, 1.2 * hit}, {128, 2 * hit}, {256, 2 * hit}}).line == 64);
  const LineFound flat = find_line({{8, hit}, {64, 1.1 * hit}, {128, 1.1 * hit}});
  CHECK(flat.line == 0);
  CHECK(!flat.reason.empty());
  CHECK(find_line({{8, hit}, {32, 1.5 * hit}, {64, hit}, {128, 2 * hit}}).line == 0);
}

TEST_CASE("tracks are added up where they share time, and a thread that did not run spoils one figure") {
  constexpr wulf::Nanoseconds kStep = 1'000'000;
  Track steady;
  Track late;
  for (int i = 0; i <= 10; ++i) {
    steady.push_back({i * kStep, static_cast<std::uint64_t>(i) * 100});
    late.push_back({(i + 5) * kStep, static_cast<std::uint64_t>(i) * 300});
  }
  CHECK(std::abs((together({steady}).median() / 1e-5) - 1) < 1e-9);
  const Samples both = together({steady, late});
  CHECK(both.size() == 5);
  CHECK(std::abs((both.median() / 2.5e-6) - 1) < 1e-9);
  for (std::size_t i = 5; i < steady.size(); ++i) {
    steady[i].at += 100 * kStep;
  }
  CHECK(std::abs((together({steady}).median() / 1e-5) - 1) < 1e-9);
  for (Mark& mark : late) {
    mark.at += 1000 * kStep;
  }
  CHECK(together({steady, late}).empty());
}

TEST_CASE("a team has the CPU that measures first, and no CPU twice") {
  const auto allowed = wulf::process_cpus();
  const auto cpus = team_cpus(0, allowed.back());
  CHECK(cpus.size() == allowed.size());
  CHECK(cpus.front() == allowed.back());
  CHECK(std::set<int>(cpus.begin(), cpus.end()).size() == cpus.size());
  CHECK(team_cpus(1, allowed.front()) == std::vector<int>{allowed.front()});
  const std::string message = message_of([&] { (void)team_cpus(8000, allowed.front()); });
  CHECK(message.find("8000") != std::string::npos);
  CHECK(message.find(wulf::cpu_list(allowed)) != std::string::npos);
}

TEST_CASE("who fails in a team ends the others' waiting, and is heard of") {
  const std::vector<int> cpus = team_cpus(0, wulf::process_cpus().back());
  Window window(cpus.size() + 1, 60);  // one thread more than will ever begin
  const auto body = [&](std::size_t rank) {
    if (rank == 0) {
      throw Error("limit", "none left");
    }
    auto nothing = [](std::uint64_t) {};
    (void)follow(window, nothing, 1);
  };
  CHECK(message_of([&] { run_team(cpus, body, [&] { window.abort(); }); }) == "limit: none left");
}

TEST_CASE("HPCC's sequence can be entered anywhere") {
  std::uint64_t x = 1;
  for (std::uint64_t n = 0; n < 1000; ++n) {
    REQUIRE(update_at(n) == x);
    x = next_update(x);
  }
  CHECK(next_update(1ULL << 63U) == 7);
}

TEST_CASE("updates made twice leave every word its number") {
  std::vector<std::uint64_t> table(1024);
  for (std::size_t i = 0; i < table.size(); ++i) {
    table[i] = i;
  }
  Updates updates(table, 3);
  updates.run(5);
  updates.run(6);
  CHECK(wrong_words(table) > 500);
  updates.repeat(11);
  CHECK(wrong_words(table) == 0);
}

TEST_CASE("a scratch file is where it was asked for, and without a folder there is none") {
  const ScratchFile file("/tmp", 4096);
  CHECK(lseek(file.file(), 0, SEEK_END) == 4096);
  CHECK_THROWS_AS(ScratchFile("/no/such/folder", 1), Unavailable);
}
