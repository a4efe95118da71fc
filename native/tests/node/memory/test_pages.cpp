#include <algorithm>
#include <bit>
#include <cstddef>
#include <fstream>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/host/affinity.hpp"
#include "core/host/huge_pages.hpp"
#include "node/memory/pages.hpp"
#include "tests/catch.hpp"
#include "tests/node/memory/resting.hpp"
#include "tests/refusal.hpp"
#include "tests/tree.hpp"

namespace {

using namespace wulf::node;
using wulf::tests::refusal;
using wulf::tests::resting_bytes;
using wulf::tests::Tree;

TEST_CASE("available memory: the system's, or what control groups leave, whichever is less") {
  Tree tree;
  CHECK(available_memory(tree.path()) == std::numeric_limits<std::size_t>::max());  // nothing is known
  tree.put("/proc/meminfo", "MemTotal: 2000 kB\nMemAvailable:    1000 kB\nHugePages_Total: 0\n");
  CHECK(available_memory(tree.path()) == 1'024'000);
  tree.put("/proc/self/cgroup", "1:cpu:/old\n0::/job/step\n");
  CHECK(available_memory(tree.path()) == 1'024'000);
  tree.put("/sys/fs/cgroup/job/memory.max", "600000\n").put("/sys/fs/cgroup/job/memory.current", "100000\n");
  tree.put("/sys/fs/cgroup/job/step/memory.max", "max\n");
  CHECK(available_memory(tree.path()) == 500'000);
  tree.put("/sys/fs/cgroup/job/step/memory.max", "1000\n")
      .put("/sys/fs/cgroup/job/step/memory.current", "2000\n");
  CHECK(available_memory(tree.path()) == 0);
}

TEST_CASE("too much memory is refused with both figures") {
  Tree tree;
  tree.put("/proc/meminfo", "MemAvailable: 1 kB\n");
  CHECK_NOTHROW(check_memory(1024, tree.path()));
  CHECK(refusal([&] { check_memory(1025, tree.path()); }) ==
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

TEST_CASE("pages keep their place as they are moved, and give way to others") {
  Pages pages(std::size_t{3} << 20U, "default");
  const std::byte* const place = pages.data();
  Pages moved(std::move(pages));
  CHECK(moved.data() == place);
  moved = Pages(0, "huge");
  CHECK(moved.size() == 0);
  CHECK(std::bit_cast<std::uintptr_t>(moved.data()) % wulf::kHugePage == 0);
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

}  // namespace
