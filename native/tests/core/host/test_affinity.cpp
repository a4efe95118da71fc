#include <sched.h>

#include <string>
#include <thread>
#include <vector>

#include "core/host/affinity.hpp"
#include "core/json/error.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf;

TEST_CASE("CPU lists are written as the kernel writes them") {
  CHECK(cpu_list({}).empty());
  CHECK(cpu_list({4}) == "4");
  CHECK(cpu_list({0, 1, 2, 3, 8}) == "0-3,8");
  CHECK(cpu_list({0, 2, 3}) == "0,2-3");
}

TEST_CASE("a pinned thread runs where it was told") {
  const int cpu = allowed_cpus().back();
  std::thread([cpu] {
    pin_to_cpu(cpu, "cpu");
    CHECK(allowed_cpus() == std::vector<int>{cpu});
    CHECK(sched_getcpu() == cpu);
  }).join();
}

TEST_CASE("a CPU that is not allowed is refused by name") {
  try {
    pin_to_cpu(8000, "server_cpu");
    FAIL("CPU 8000 was accepted");
  } catch (const Error& error) {
    CHECK(error.code() == "bad-parameter");
    CHECK(error.field() == "server_cpu");
    CHECK(std::string(error.what()).find(cpu_list(allowed_cpus())) != std::string::npos);
  }
}

}  // namespace
