#include "mpi/plain/time/clock_fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace wulf::mpi {
namespace {

/// Sums over sightings around their weighted means, relative to the first one: 64 bits hold times, doubles
/// only differences of them.
struct Line {
  double mean_at = 0;
  double mean_ahead = 0;
  double mean_error = 0;
  double slope = 0;
  double slope_noise = 0;  // two standard errors
};

struct Point {
  double at;
  double ahead;
  double error;
  double weight;
};

std::vector<Point> points_of(const std::vector<Sighting>& sightings) {
  std::vector<Point> points;
  for (const Sighting& each : sightings) {
    const double error = static_cast<double>(std::max<Nanoseconds>(each.error, 1));
    points.push_back({static_cast<double>(each.at - sightings.front().at),
                      static_cast<double>(each.ahead - sightings.front().ahead), error, 1 / (error * error)});
  }
  return points;
}

Line line_through(const std::vector<Point>& points) {
  Line line;
  double weight = 0;
  for (const Point& p : points) {
    weight += p.weight;
    line.mean_at += p.weight * p.at;
    line.mean_ahead += p.weight * p.ahead;
    line.mean_error += p.weight * p.error;
  }
  line.mean_at /= weight;
  line.mean_ahead /= weight;
  line.mean_error /= weight;
  double spread = 0;
  double product = 0;
  for (const Point& p : points) {
    spread += p.weight * (p.at - line.mean_at) * (p.at - line.mean_at);
    product += p.weight * (p.at - line.mean_at) * (p.ahead - line.mean_ahead);
  }
  constexpr std::size_t kLeast = 3;  // two points fit any line: its error would be unknown
  if (points.size() < kLeast || spread <= 0) {
    return line;
  }
  line.slope = product / spread;
  double residual = 0;
  for (const Point& p : points) {
    const double off = p.ahead - line.mean_ahead - (line.slope * (p.at - line.mean_at));
    residual += p.weight * off * off;
  }
  line.slope_noise = 2 * std::sqrt(residual / static_cast<double>(points.size() - 2) / spread);
  return line;
}

/// How far the slope may be from `slope`: every sighting bounds the line on both sides, whatever delayed it.
double slope_bound(const std::vector<Point>& points, double slope) {
  double above = std::numeric_limits<double>::infinity();
  double below = above;
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t j = i + 1; j < points.size(); ++j) {
      const double apart = points[j].at - points[i].at;
      if (apart > 0) {
        const double rise = points[j].ahead - points[i].ahead - (slope * apart);
        const double wide = points[i].error + points[j].error;
        above = std::min(above, (wide + rise) / apart);
        below = std::min(below, (wide - rise) / apart);
      }
    }
  }
  return std::max(above, below);
}

}  // namespace

Clock planted_clock(Clock base, Nanoseconds offset, double skew) {
  const Nanoseconds origin = base();
  return [base = std::move(base), offset, skew, origin] {
    const Nanoseconds time = base();
    return time + offset + std::llround(skew * static_cast<double>(time - origin));
  };
}

Sighting fastest(const std::vector<Exchange>& exchanges) {
  if (exchanges.empty()) {
    throw std::invalid_argument("no exchanges to compare two clocks by");
  }
  const auto trip = [](const Exchange& each) { return each.received - each.sent; };
  const Exchange& best = *std::min_element(exchanges.begin(), exchanges.end(),
                                           [&](const auto& a, const auto& b) { return trip(a) < trip(b); });
  const Nanoseconds middle = best.sent + (trip(best) / 2);
  return {middle, best.shown - middle, (trip(best) + 1) / 2};
}

Nanoseconds ClockModel::other(Nanoseconds own) const {
  return own + offset + std::llround(skew * static_cast<double>(own - origin));
}

Nanoseconds ClockModel::own(Nanoseconds other) const {
  return origin + std::llround(static_cast<double>(other - origin - offset) / (1 + skew));
}

ClockModel fit_clock(const std::vector<Sighting>& sightings) {
  if (sightings.empty()) {
    throw std::invalid_argument("no sightings to fit a clock to");
  }
  const std::vector<Point> points = points_of(sightings);
  const Line line = line_through(points);
  ClockModel model;
  model.origin = sightings.front().at + std::llround(line.mean_at);
  model.offset = sightings.front().ahead + std::llround(line.mean_ahead);
  model.error = static_cast<Nanoseconds>(std::ceil(line.mean_error));
  model.skew = std::abs(line.slope) > line.slope_noise ? line.slope : 0;
  model.skew_error = slope_bound(points, model.skew);
  return model;
}

ClockModel merged(const ClockModel& near, const ClockModel& far) {
  ClockModel whole;
  whole.origin = near.origin;
  whole.offset = far.other(near.other(near.origin)) - near.origin;
  whole.skew = near.skew + far.skew + (near.skew * far.skew);
  whole.error = near.error + far.error;
  whole.skew_error = near.skew_error + far.skew_error;
  return whole;
}

Sighting sight(const std::function<Exchange()>& exchange, int most, Nanoseconds longest) {
  std::vector<Exchange> burst{exchange()};
  while (static_cast<int>(burst.size()) < most && burst.back().received - burst.front().sent < longest) {
    burst.push_back(exchange());
  }
  return fastest(burst);
}

ClockModel learn_clock(const std::function<Exchange()>& exchange, const std::function<void(double)>& pause,
                       const LearnSettings& settings) {
  (void)exchange();  // the first one pays for connections and cold caches
  std::vector<Sighting> sightings;
  const Nanoseconds longest = from_seconds(settings.seconds);
  for (int point = 0; point < settings.points; ++point) {
    if (point > 0) {
      pause(settings.seconds / (settings.points - 1));
    }
    sightings.push_back(sight(exchange, settings.exchanges, longest));
  }
  return fit_clock(sightings);
}

std::vector<Lesson> lessons(int index, int count) {
  int step = 1;
  while (step < count) {
    step *= 2;
  }
  std::vector<Lesson> list;
  for (step /= 2; step > 0; step /= 2) {
    if (index % (2 * step) == 0 && index + step < count) {
      list.push_back({index + step, false});
    } else if (index % (2 * step) == step) {
      list.push_back({index - step, true});
    }
  }
  return list;
}

}  // namespace wulf::mpi
