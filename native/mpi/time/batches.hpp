#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/json/json.hpp"
#include "core/stats/summary.hpp"
#include "core/time/clock.hpp"
#include "mpi/ranks/world.hpp"

namespace wulf::mpi {

/// What the leader of a measurement tells those that take part: the next batch.
struct Order {
  std::int64_t count = 0;  ///< operations; 0 = no more batches
  std::int64_t what = 0;   ///< which of the probe's phases
  std::int64_t extra = 0;  ///< whatever a phase needs
};

/// So long that reading the clock at both its ends (some 50 ns) is less than a thousandth of it.
inline constexpr Nanoseconds kBatch = 100 * kMicrosecond;

/// The ranks of a measurement: one leads, who has the clock; the others follow. Orders are never under way
/// while the clock runs.
class Crew {
 public:
  Crew(const World& world, int leader, std::vector<int> followers)
      : comm_(world.comm()), leader_(leader), followers_(std::move(followers)) {}

  /// The leader: returns when all followers are ready, or at once when it was the last order.
  void tell(const Order& order) const;

  /// A follower: the next order; waits by MPI's own means, which spin.
  [[nodiscard]] Order told() const;

  /// A follower: it has prepared what the order needs, and will take part from now on.
  void ready() const;

 private:
  MPI_Comm comm_;
  int leader_;
  std::vector<int> followers_;
};

/// How long to measure.
struct Length {
  double seconds = 0;
  std::optional<std::int64_t> iterations;  ///< one batch of exactly so many, instead of `seconds`
  std::int64_t warmup = 0;                 ///< operations before such a batch
  Nanoseconds batch = kBatch;
};

/// Seconds an operation took, one figure a batch.
class Batches {
 public:
  void add(Nanoseconds spent, std::int64_t count) {
    each_.push_back(to_seconds(spent) / static_cast<double>(count));
    operations_ += count;
    spent_ += to_seconds(spent);
    count_ = count;
  }

  /// Seconds that all batches took together.
  [[nodiscard]] double spent() const { return spent_; }
  /// Operations of the last batch.
  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] std::int64_t operations() const { return operations_; }
  [[nodiscard]] const std::vector<double>& each() const { return each_; }

  /// The time of one part of an operation that has so many; see summary().
  [[nodiscard]] Json time(double parts = 1) const;

  /// `per_operation` (bytes, messages) by the time of one.
  [[nodiscard]] Json rate(const std::string& unit, double per_operation) const;

 private:
  std::vector<double> each_;
  std::int64_t operations_ = 0;
  std::int64_t count_ = 0;
  double spent_ = 0;
};

/// The leader: one batch, timed.
template <typename Body>
Nanoseconds timed(const Crew& crew, const Order& order, Body& body) {
  crew.tell(order);
  const Nanoseconds start = now();
  body(order);
  return now() - start;
}

/// The leader: how many operations a batch needs to last `least`. They double until it does, which warms up.
template <typename Body>
[[nodiscard]] std::int64_t calibrate(const Crew& crew, Order order, Nanoseconds least, Body& body) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  for (order.count = 1; order.count < kMost; order.count *= 2) {
    // it may have been long because something else ran
    if (timed(crew, order, body) >= least && timed(crew, order, body) >= least) {
      break;
    }
  }
  return order.count;
}

/// The leader: one batch of exactly so many iterations, after the warm-up.
template <typename Body>
[[nodiscard]] Batches time_exactly(const Crew& crew, Order order, std::int64_t warmup,
                                   std::int64_t iterations, Body& body) {
  order.count = warmup;
  if (order.count > 0) {
    timed(crew, order, body);
  }
  Batches batches;
  order.count = iterations;
  batches.add(timed(crew, order, body), order.count);
  return batches;
}

/// The leader: batches until `length.seconds` are over, at least one; `body(order)` does order.count
/// operations. Tells nobody that there are no more: crew.tell({0}) does.
template <typename Body>
[[nodiscard]] Batches time_batches(const Crew& crew, Order order, const Length& length, Body body) {
  if (length.iterations) {
    return time_exactly(crew, order, length.warmup, *length.iterations, body);
  }
  order.count = calibrate(crew, order, length.batch, body);
  Batches batches;
  const Nanoseconds end = now() + from_seconds(length.seconds);
  while (batches.each().empty() || now() < end) {
    const Nanoseconds spent = timed(crew, order, body);
    if (spent < length.batch / 2) {
      // what made the calibration long was something else: batches this short show the clock's own cost
      order.count *= 2;
      batches = {};
    } else {
      batches.add(spent, order.count);
    }
  }
  return batches;
}

/// A follower: does what it is told until there is no more. `prepare(order)` posts what has to be there
/// before the leader begins; `body(order)` takes part.
template <typename Prepare, typename Body>
void follow(const Crew& crew, Prepare prepare, Body body) {
  for (Order order = crew.told(); order.count > 0; order = crew.told()) {
    prepare(order);
    crew.ready();
    body(order);
  }
}

}  // namespace wulf::mpi
