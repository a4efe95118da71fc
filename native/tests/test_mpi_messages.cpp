#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "core/host/memory.hpp"
#include "mpi/plain/messages/layout.hpp"
#include "mpi/plain/messages/pattern.hpp"
#include "mpi/plain/time/spin.hpp"
#include "tests/catch.hpp"

using wulf::mpi::difference;
using wulf::mpi::fill_pattern;
using wulf::mpi::Layout;

namespace {

/// A folder with files in it, as a machine's root; removed at the end.
class FakeRoot {
 public:
  FakeRoot() {
    std::string name = (std::filesystem::temp_directory_path() / "wulf-root-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  FakeRoot(const FakeRoot&) = delete;
  FakeRoot& operator=(const FakeRoot&) = delete;
  FakeRoot(FakeRoot&&) = delete;
  FakeRoot& operator=(FakeRoot&&) = delete;
  ~FakeRoot() { std::filesystem::remove_all(path_); }

  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = path_ + name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

TEST_CASE("A message is right as long as no byte of it is another", "[mpi]") {
  for (const std::size_t bytes : {0U, 1U, 7U, 8U, 9U, 4097U}) {
    std::vector<std::byte> message(bytes);
    fill_pattern(message, 3);
    CHECK_FALSE(difference(message, 3).has_value());
  }
}

TEST_CASE("A wrong byte is found wherever it is", "[mpi]") {
  for (const std::size_t at : {0U, 6U, 8U, 99U}) {
    std::vector<std::byte> message(100);
    fill_pattern(message, 3);
    const auto before = std::to_integer<unsigned>(message[at]);
    message[at] ^= std::byte{0x10};
    const auto wrong = difference(message, 3);
    REQUIRE(wrong.has_value());
    CHECK(wrong->at == at);
    CHECK(wrong->expected == before);
    CHECK(wrong->got == (before ^ 0x10U));
  }
}

TEST_CASE("Another sender's message, and none at all, are wrong", "[mpi]") {
  std::vector<std::byte> message(16);
  CHECK(difference(message, 1).has_value());
  CHECK(difference(std::vector<std::byte>(1), 1).has_value());
  fill_pattern(message, 1);
  CHECK(difference(message, 2).has_value());
}

TEST_CASE("A difference is told in words", "[mpi]") {
  CHECK(wulf::mpi::describe({7, 0, 31}, 1024) == "byte 7 of 1024 is 0x00 instead of 0x1f");
}

TEST_CASE("Warm messages share one slot, cold ones take more than the cache", "[mpi]") {
  const Layout warm(1000, 1, 0);
  CHECK(warm.slots() == 1);
  CHECK(warm.total() == 1024);
  CHECK(warm.after(0) == 0);
  CHECK(Layout(0, 1, 0).total() > 0);
  const Layout cold(1000, 1, 1 << 20);
  CHECK(cold.total() > (1 << 20));
  CHECK(Layout(1 << 20, 1, 1000).slots() == 1);
  CHECK(Layout(8, 100, 0).slots() == 128);
}

TEST_CASE("All slots are used before one is used again, and neighbours are far apart", "[mpi]") {
  const Layout layout(64, 1, (256 * 64) - 1);
  REQUIRE(layout.slots() == 256);
  std::set<std::size_t> seen;
  std::size_t slot = 0;
  for (std::size_t i = 0; i < layout.slots(); ++i) {
    const std::size_t next = layout.after(slot);
    CHECK(next < layout.slots());
    CHECK((next > slot ? next - slot : slot - next) > 64);
    seen.insert(slot = next);
  }
  CHECK(seen.size() == layout.slots());
}

TEST_CASE("The first half of the ranks is paired with the second", "[mpi]") {
  using Expected = std::vector<std::pair<int, int>>;
  CHECK(wulf::mpi::halves(4, 2) == Expected{{0, 2}, {1, 3}});
  CHECK(wulf::mpi::halves(5, 9) == Expected{{0, 2}, {1, 3}});
  CHECK(wulf::mpi::halves(6, 1) == Expected{{0, 3}});
  CHECK(wulf::mpi::halves(1, 1).empty());
}

TEST_CASE("The share hidden is what was saved of what could be", "[mpi]") {
  CHECK(wulf::mpi::overlap_share(2.0, 2.0, 2.0).value() == 1.0);
  CHECK(wulf::mpi::overlap_share(2.0, 2.0, 4.0).value() == 0.0);
  CHECK(wulf::mpi::overlap_share(2.0, 4.0, 5.0).value() == 0.5);
  CHECK(wulf::mpi::overlap_share(2.0, 4.0, 9.0).value() == 0.0);
  CHECK_FALSE(wulf::mpi::overlap_share(0.0, 4.0, 4.0).has_value());
}

TEST_CASE("Memory left is the least of the host's and the control groups'", "[mpi]") {
  constexpr std::uint64_t kMebi = 1 << 20;
  const FakeRoot root;
  CHECK_FALSE(wulf::memory_left(root.path()).has_value());
  root.write("/proc/meminfo", "MemTotal: 9000 kB\nMemAvailable:    8192 kB\n");
  CHECK(wulf::memory_left(root.path()) == 8 * kMebi);
  root.write("/proc/self/cgroup", "0::/job/step\n");
  root.write("/sys/fs/cgroup/job/step/memory.max", "max\n");
  root.write("/sys/fs/cgroup/job/step/memory.current", "5\n");
  root.write("/sys/fs/cgroup/job/memory.max", "6291456\n");
  root.write("/sys/fs/cgroup/job/memory.current", "3145728\n");
  CHECK(wulf::memory_left(root.path()) == 3 * kMebi);
  root.write("/sys/fs/cgroup/job/memory.stat", "anon 2097152\ninactive_file 1048576\n");
  CHECK(wulf::memory_left(root.path()) == 4 * kMebi);
}

TEST_CASE("The largest cache counts", "[mpi]") {
  const FakeRoot root;
  CHECK(wulf::largest_cache(root.path()) == 0);
  root.write("/sys/devices/system/cpu/cpu0/cache/index0/size", "32K\n");
  root.write("/sys/devices/system/cpu/cpu0/cache/index3/size", "32768K\n");
  CHECK(wulf::largest_cache(root.path()) == 32U << 20U);
}

TEST_CASE("Spinning takes time in proportion to its steps", "[mpi]") {
  CHECK(wulf::mpi::spin_rate() > 0);
  CHECK(wulf::mpi::spin(2, 1) == wulf::mpi::spin(1, wulf::mpi::spin(1, 1)));
  CHECK(wulf::mpi::spin(0, 7) == 7);
}
