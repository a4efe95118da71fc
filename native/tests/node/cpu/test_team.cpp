#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/host/affinity.hpp"
#include "core/json/error.hpp"
#include "node/cpu/team.hpp"
#include "tests/catch.hpp"
#include "tests/refusal.hpp"

namespace {

using namespace wulf::node;
using wulf::Error;
using wulf::tests::refusal;

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
  const std::string message = refusal([&] { (void)team_cpus(8000, allowed.front()); });
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
  CHECK(refusal([&] { run_team(cpus, body, [&] { window.abort(); }); }) == "limit: none left");
}

TEST_CASE("a thread that fails ends the run with its error, and no other waits for it") {
  bool told = false;
  const std::vector<int> cpus(2, wulf::process_cpus().front());
  CHECK_THROWS_AS(run_team(
                      cpus,
                      [](std::size_t rank) {
                        if (rank == 1) {
                          throw Error("internal", "broken");
                        }
                      },
                      [&] { told = true; }),
                  Error);
  CHECK(told);
}

}  // namespace
