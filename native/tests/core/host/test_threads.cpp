#include <fcntl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <thread>

#include "core/host/threads.hpp"
#include "tests/catch.hpp"

namespace wulf {
namespace {

bool is_open(int file) { return fcntl(file, F_GETFD) != -1; }

bool kernel_can() {
  utsname name{};
  uname(&name);
  char* rest = nullptr;
  const long major = std::strtol(static_cast<const char*>(name.release), &rest, 10);
  return major > 5 || (major == 5 && std::strtol(rest + 1, nullptr, 10) >= 9);
}

}  // namespace

TEST_CASE("a thread with files of its own keeps what it asked for, and takes nothing from the others") {
  std::array<int, 2> first{};
  std::array<int, 2> second{};
  REQUIRE(pipe(first.data()) == 0);
  REQUIRE(pipe(second.data()) == 0);
  bool kept = false;
  bool dropped = false;
  bool standard = false;
  std::thread([&] {
    own_files({second[0], first[1]});
    kept = is_open(first[1]) && is_open(second[0]);
    dropped = !is_open(first[0]) && !is_open(second[1]);
    standard = is_open(STDERR_FILENO);
  }).join();
  CHECK(kept);
  CHECK(dropped == kernel_can());
  CHECK(standard);
  for (const int file : {first[0], first[1], second[0], second[1]}) {
    CHECK(is_open(file));
    close(file);
  }
}

TEST_CASE("a channel without a file leaves the thread's files alone") {
  std::array<int, 2> ends{};
  REQUIRE(pipe(ends.data()) == 0);
  bool kept = false;
  std::thread([&] {
    own_files({-1, ends[0]});
    kept = is_open(ends[0]) && is_open(ends[1]);
  }).join();
  CHECK(kept);
  close(ends[0]);
  close(ends[1]);
}

}  // namespace wulf
