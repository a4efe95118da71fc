#include <algorithm>
#include <random>
#include <vector>

#include "replay/engine_b/flows.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf::replay;

constexpr std::uint64_t kGigabyte = 1'000'000'000;  // a second: 1000 ps a byte

struct Given {
  Picoseconds begins;
  std::vector<LinkId> path;
  std::uint64_t bytes;
  std::uint64_t most;
};

/// When each flow ends, rounded down: what others leave is a little more than it should be, since shares are
/// rounded down too. Given in the order of their beginnings.
std::vector<Picoseconds> ends_of(const std::vector<std::uint64_t>& rates, const std::vector<Given>& given) {
  Flows flows(rates);
  std::vector<Picoseconds> ends(given.size(), -1);
  std::vector<std::uint32_t> tags;
  std::size_t begun = 0;
  while (begun < given.size() || flows.active() > 0) {
    const Picoseconds begin = begun < given.size() ? given[begun].begins : kNever;
    const Picoseconds now = std::min(begin, flows.next());
    tags.clear();
    flows.end(now, tags);
    for (const std::uint32_t tag : tags) {
      ends[tag] = now;
    }
    while (begun < given.size() && given[begun].begins == now) {
      const Given& each = given[begun];
      (void)flows.start(now, each.path, each.bytes, each.most, static_cast<std::uint32_t>(begun++));
    }
    flows.settle(now);
  }
  return ends;
}

TEST_CASE("replay flows: one flow has the link, or as much as it can use") {
  CHECK(ends_of({kGigabyte}, {{5, {0}, 1000, kAnyRate}}) == std::vector<Picoseconds>{1'000'005});
  CHECK(ends_of({kGigabyte}, {{0, {0}, 1000, to_rate(kGigabyte / 4)}}) ==
        std::vector<Picoseconds>{4'000'000});
  CHECK(ends_of({}, {{0, {}, 1000, to_rate(kGigabyte)}}) == std::vector<Picoseconds>{1'000'000});
  CHECK(ends_of({kGigabyte}, {{3, {0}, 0, kAnyRate}}) == std::vector<Picoseconds>{3});
  CHECK(ends_of({}, {{3, {}, 9, kAnyRate}}) == std::vector<Picoseconds>{3});
}

TEST_CASE("replay flows: what is shared is shared while it is, and no longer") {
  // alone for 1 µs, halves until the first one's other 1000 B are through, then alone again
  const auto ends = ends_of({kGigabyte}, {{0, {0}, 2000, kAnyRate}, {1'000'000, {0}, 2000, kAnyRate}});
  CHECK(ends == std::vector<Picoseconds>{3'000'000, 4'000'000});
}

TEST_CASE("replay flows: max-min fairness on a line of links") {
  // Bertsekas and Gallager's figure 6.10 in spirit: one flow over both links, two more on the first, one on
  // the second: a third each on the first, two thirds for the second's own
  const auto ends = ends_of({3 * kGigabyte, 3 * kGigabyte}, {{0, {0, 1}, 6000, kAnyRate},
                                                             {0, {0}, 6000, kAnyRate},
                                                             {0, {0}, 6000, kAnyRate},
                                                             {0, {1}, 6000, kAnyRate}});
  CHECK(ends == std::vector<Picoseconds>{6'000'000, 6'000'000, 6'000'000, 2'999'999});
}

TEST_CASE("replay flows: what one can't use goes to the others") {
  const auto ends =
      ends_of({3 * kGigabyte},
              {{0, {0}, 500, to_rate(kGigabyte / 2)}, {0, {0}, 1250, kAnyRate}, {0, {0}, 1250, kAnyRate}});
  CHECK(ends == std::vector<Picoseconds>{1'000'000, 999'999, 999'999});
}

/// Max-min shares of all flows at once, by filling all at one pace: no components, no heap, floating point.
std::vector<long double> plain_shares(const std::vector<std::uint64_t>& rates,
                                      const std::vector<Given>& given, const std::vector<bool>& active) {
  std::vector<long double> share(given.size(), 0);
  std::vector<bool> open = active;
  while (std::find(open.begin(), open.end(), true) != open.end()) {
    long double step = INFINITY;
    std::vector<long double> rest(rates.size());
    std::vector<int> users(rates.size(), 0);
    for (std::size_t l = 0; l < rates.size(); ++l) {
      rest[l] = static_cast<long double>(to_rate(rates[l]));
    }
    for (std::size_t f = 0; f < given.size(); ++f) {
      for (const LinkId l : given[f].path) {
        rest[l] -= active[f] ? share[f] : 0;
        users[l] += open[f] ? 1 : 0;
      }
      if (open[f]) {
        step = std::min(step, static_cast<long double>(given[f].most) - share[f]);
      }
    }
    for (std::size_t l = 0; l < rates.size(); ++l) {
      step = users[l] > 0 ? std::min(step, rest[l] / users[l]) : step;
    }
    const auto full = [&](LinkId l) { return rest[l] / users[l] <= step * (1 + 1e-12L); };
    std::vector<bool> still = open;
    for (std::size_t f = 0; f < given.size(); ++f) {
      if (open[f]) {
        share[f] += step;
        still[f] = share[f] < static_cast<long double>(given[f].most) * (1 - 1e-12L) &&
                   std::none_of(given[f].path.begin(), given[f].path.end(), full);
      }
    }
    open = still;
  }
  return share;
}

std::vector<long double> plain_ends(const std::vector<std::uint64_t>& rates,
                                    const std::vector<Given>& given) {
  std::vector<long double> left;
  std::vector<long double> ends(given.size(), 0);
  std::vector<bool> active(given.size(), false);
  left.reserve(given.size());
  for (const Given& each : given) {
    left.push_back(std::ldexp(static_cast<long double>(each.bytes), kWorkBits));
  }
  std::size_t begun = 0;
  long double now = 0;
  while (begun < given.size() || std::find(active.begin(), active.end(), true) != active.end()) {
    const auto share = plain_shares(rates, given, active);
    long double next = begun < given.size() ? static_cast<long double>(given[begun].begins) : INFINITY;
    for (std::size_t f = 0; f < given.size(); ++f) {
      next = active[f] ? std::min(next, now + (left[f] / share[f])) : next;
    }
    for (std::size_t f = 0; f < given.size(); ++f) {
      left[f] -= active[f] ? share[f] * (next - now) : 0;
      if (active[f] && left[f] <= share[f] * 1e-6L) {
        active[f] = false;
        ends[f] = next;
      }
    }
    now = next;
    while (begun < given.size() && static_cast<long double>(given[begun].begins) <= now) {
      active[begun++] = true;
    }
  }
  return ends;
}

TEST_CASE("replay flows: random flows end when plain max-min filling says, to a few picoseconds") {
  std::mt19937_64 random(5);
  for (int round = 0; round < 150; ++round) {
    std::vector<std::uint64_t> rates;
    rates.reserve(2 + (random() % 8));
    for (std::size_t l = 0; l < 2 + (random() % 8); ++l) {
      rates.push_back(kGigabyte * (1 + (random() % 9)));
    }
    std::vector<Given> given;
    Picoseconds begins = 0;
    for (std::size_t f = 0; f < 1 + (random() % 40); ++f) {
      begins += random() % 3 == 0 ? 0 : static_cast<Picoseconds>(random() % 3'000'000);
      std::vector<LinkId> path;
      for (LinkId l = 0; l < rates.size(); ++l) {
        if (random() % 3 == 0) {
          path.push_back(l);
        }
      }
      const std::uint64_t most = to_rate(kGigabyte * (1 + (random() % 9)));
      given.push_back({begins, path, 1 + (random() % 20'000),
                       random() % 4 == 0 && !path.empty() ? to_rate(1ULL << 40U) : most});
    }
    const auto ends = ends_of(rates, given);
    const auto plain = plain_ends(rates, given);
    for (std::size_t f = 0; f < given.size(); ++f) {
      INFO("round " << round << ", flow " << f << " of " << given.size());
      // an end is rounded down by less than 1 ps, which frees its share so much sooner
      REQUIRE(std::fabs(static_cast<long double>(ends[f]) - plain[f]) <=
              2 + (2 * static_cast<long double>(given.size())));
    }
  }
}

TEST_CASE("replay flows: flows that share no full link are left alone") {
  Flows flows({kGigabyte, kGigabyte, 100 * kGigabyte});
  const std::uint64_t most = to_rate(kGigabyte);
  for (std::uint32_t i = 0; i < 50; ++i) {
    (void)flows.start(0, {2}, 1000, most, i);
  }
  flows.settle(0);
  CHECK(flows.computed() == 50);
  (void)flows.start(0, {0, 2}, 1000, most, 50);
  (void)flows.start(0, {0, 2}, 1000, most, 51);
  (void)flows.start(0, {1, 2}, 1000, most, 52);
  flows.settle(0);
  CHECK(flows.computed() == 53);
}

}  // namespace
