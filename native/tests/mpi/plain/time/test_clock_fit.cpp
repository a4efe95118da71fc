#include <cmath>
#include <map>
#include <random>
#include <set>

#include "mpi/plain/time/clock_fit.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf;
using namespace wulf::mpi;

constexpr Nanoseconds kYear = 365LL * 24 * 3600 * kSecond;

/// Two clocks and the way between them, all simulated: what an exchange shows is known to the nanosecond.
class Pair {
 public:
  Pair(Nanoseconds offset, double skew, double mean_queue)
      : other_(planted_clock([this] { return time_; }, offset, skew)), queue_(1 / mean_queue) {}

  Exchange operator()() {
    Exchange exchange;
    exchange.sent = time_;
    time_ += kWay + wait();
    exchange.shown = other_();
    time_ += kWay + wait();
    exchange.received = time_;
    return exchange;
  }
  void pause(double seconds) { time_ += from_seconds(seconds); }
  [[nodiscard]] Nanoseconds own() const { return time_; }
  [[nodiscard]] Nanoseconds other() const { return other_(); }

 private:
  static constexpr Nanoseconds kWay = 5 * kMicrosecond;

  Nanoseconds wait() { return static_cast<Nanoseconds>(queue_(random_)); }

  Nanoseconds time_ = 3600 * kSecond;
  Clock other_;
  std::mt19937_64 random_{7};  // NOLINT: the same noise in every run
  std::exponential_distribution<double> queue_;
};

ClockModel learned(Pair& pair, double seconds) {
  return learn_clock([&] { return pair(); }, [&](double pause) { pair.pause(pause); },
                     {.points = 16, .exchanges = 10, .seconds = seconds});
}

TEST_CASE("of several exchanges the fastest counts, with half its round trip as error") {
  const Sighting sighting = fastest({{0, 5000, 900}, {1000, 1350, 1100}, {2000, 9000, 2500}});
  CHECK(sighting.at == 1050);
  CHECK(sighting.ahead == 300);
  CHECK(sighting.error == 50);
  CHECK_THROWS_AS(fastest({}), std::invalid_argument);
}

TEST_CASE("a planted offset and skew are found within the errors stated") {
  for (const Nanoseconds offset : {Nanoseconds{0}, 1234567 * kMicrosecond, -3 * kYear}) {
    for (const double skew : {0.0, 2e-5, -3e-4}) {
      Pair pair(offset, skew, 300);
      const ClockModel model = learned(pair, 0.02);
      INFO("offset " << offset << " skew " << skew);
      CHECK(model.error < 6 * kMicrosecond);
      CHECK(std::abs(model.other(pair.own()) - pair.other()) <= model.error);
      CHECK(std::abs(model.skew - skew) <= model.skew_error);
      CHECK(model.skew_error < 7e-4);  // some 6 us and 6 us, 20 ms apart
      pair.pause(1);                   // a second later the drift counts a hundred times as much
      const double drifted = model.skew_error * 1e9;
      CHECK(std::abs(model.other(pair.own()) - pair.other()) <=
            model.error + static_cast<Nanoseconds>(drifted));
    }
  }
}

TEST_CASE("a drift that can't be told from none is none") {
  Pair pair(kSecond, 0, 2000);
  CHECK(learned(pair, 0.001).skew == 0);
}

TEST_CASE("a sighting that was held up hardly counts") {
  std::vector<Sighting> sightings;
  sightings.reserve(10);
  for (int i = 0; i < 10; ++i) {
    sightings.push_back({i * kMillisecond, 1000, 100});
  }
  sightings[5].ahead = 900'000;
  sightings[5].error = 1'000'000;
  const ClockModel model = fit_clock(sightings);
  CHECK(std::abs(model.offset - 1000) < model.error);
  CHECK(model.error < 220);
  CHECK_THROWS_AS(fit_clock({}), std::invalid_argument);
}

TEST_CASE("ways whose difference changes meanwhile bend the line, and the error stated holds it") {
  std::vector<Sighting> sightings;
  for (int i = 0; i < 10; ++i) {
    const Nanoseconds late =
        i < 5 ? -900 : 900;  // of a trip of 2 us: the answer took nearly none of it, or all
    sightings.push_back({i * kMillisecond, 1000 + late, 1000});
  }
  const ClockModel model = fit_clock(sightings);
  CHECK(model.skew != 0);  // there is none
  CHECK(std::abs(model.skew) <= model.skew_error);
  CHECK(model.skew_error < 2 * std::abs(model.skew));
}

TEST_CASE("a model and its inverse agree") {
  const ClockModel model{5 * kSecond, -2 * kYear, 3e-4, 10, 1e-7};
  for (const Nanoseconds own : {Nanoseconds{0}, 5 * kSecond, 7200 * kSecond}) {
    CHECK(std::abs(model.own(model.other(own)) - own) <= 1);
  }
}

TEST_CASE("models one after the other make one, with both errors") {
  const ClockModel near{1 * kSecond, 40 * kMillisecond, 1e-4, 3000, 1e-6};
  const ClockModel far{2 * kSecond, -70 * kMillisecond, -2e-4, 4000, 2e-6};
  const ClockModel whole = merged(near, far);
  for (const Nanoseconds own : {Nanoseconds{0}, 3 * kSecond, 100 * kSecond}) {
    CHECK(std::abs(whole.other(own) - far.other(near.other(own))) <= 2);
  }
  CHECK(whole.error == 7000);
  CHECK(whole.skew_error == Approx(3e-6));
}

TEST_CASE("in a hierarchy each learns once, from one that knows, in as few rounds as can be") {
  for (int count = 1; count <= 40; ++count) {
    std::set<int> taught;
    std::map<int, std::vector<Lesson>> open;
    for (int index = 0; index < count; ++index) {
      open[index] = lessons(index, count);
      CHECK(open[index].size() <= static_cast<std::size_t>(std::ceil(std::log2(count))));
    }
    // carried out as blocking calls would be: a lesson takes place when it is the next one of both
    taught.insert(0);
    for (bool moved = true; moved;) {
      moved = false;
      for (int index = 0; index < count; ++index) {
        if (open[index].empty() || open[index].front().learns) {
          continue;
        }
        const int pupil = open[index].front().partner;
        if (!open[pupil].empty() && open[pupil].front().learns && open[pupil].front().partner == index) {
          CHECK(taught.count(index) == 1);
          CHECK(taught.insert(pupil).second);
          open[index].erase(open[index].begin());
          open[pupil].erase(open[pupil].begin());
          moved = true;
        }
      }
    }
    CHECK(taught.size() == static_cast<std::size_t>(count));
  }
}

}  // namespace
