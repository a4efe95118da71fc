#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "core/stats/summary.hpp"
#include "core/time/clock.hpp"
#include "mpi/plain/messages/orders.hpp"
#include "mpi/plain/messages/pieces.hpp"
#include "mpi/probe.hpp"
#include "mpi/time/batches.hpp"

namespace wulf::mpi {
namespace {

constexpr int kPairTag = 41;

/// Ping-pong between every two ranks, in rounds of disjoint pairs. No barrier is between the rounds: every
/// rank has one partner at a time anyway, and a fast pair need not wait for a slow one.
class AllPairs : public Replicate {
 public:
  AllPairs(const World& world, const Json& params)
      : world_(world),
        rounds_(rounds_of_pairs(world.size())),
        seconds_(params.at("seconds").get<double>() / rounds_),
        out_(params.at("bytes").get<std::size_t>()),
        in_(out_.size()) {}

  Outcome measure() override {
    const Nanoseconds start = now();
    for (int round = 0; round < rounds_; ++round) {
      if (const std::optional<int> partner = partner_in(round, world_.rank(), world_.size())) {
        meet(*partner);
      }
    }
    const Nanoseconds spent = now() - start;
    const std::vector<std::string> rows = world_.to_root(row_.dump());
    if (wrong_) {
      throw Error("wrong-result", *wrong_);
    }
    Outcome outcome = world_.root() ? outcome_of(rows) : Outcome{};
    outcome.seconds = to_seconds(spent);
    return outcome;
  }

 private:
  void meet(int partner) {
    const std::size_t bytes = out_.size();
    fill(out_, {{world_.rank(), partner, bytes}});
    std::fill(in_.begin(), in_.end(), std::byte{0});
    const int length = static_cast<int>(bytes);
    const auto send = [&] { MPI_Send(out_.data(), length, MPI_BYTE, partner, kPairTag, world_.comm()); };
    const auto receive = [&] {
      MPI_Recv(in_.data(), length, MPI_BYTE, partner, kPairTag, world_.comm(), MPI_STATUS_IGNORE);
    };
    if (world_.rank() < partner) {
      const Crew crew(world_, world_.rank(), {partner});
      Length lasting;
      lasting.seconds = seconds_;
      const Batches batches = time_batches(crew, {1}, lasting, [&](const Order& order) {
        for (std::int64_t i = 0; i < order.count; ++i) {
          send();
          receive();
        }
      });
      crew.tell({0});
      row_.push_back(Json::array({partner, batches.time().at("value")}));
    } else {
      const Crew crew(world_, partner, {world_.rank()});
      follow(
          crew, [](const Order&) {},
          [&](const Order& order) {
            for (std::int64_t i = 0; i < order.count; ++i) {
              receive();
              send();
            }
          });
    }
    if (!wrong_) {
      wrong_ = wrong_byte(in_, {{partner, world_.rank(), bytes}});
    }
  }

  /// The upper half of the matrix, row by row: the times of rank i with i+1, i+2, …
  [[nodiscard]] Outcome outcome_of(const std::vector<std::string>& rows) const {
    constexpr double kDigits = 1e10;  // a tenth of a nanosecond: a thousand ranks have half a million figures
    std::vector<double> all;
    Json matrix = Json::array();
    for (std::size_t rank = 0; rank + 1 < rows.size(); ++rank) {
      std::vector<double> row(rows.size() - rank - 1);
      for (const Json& entry : Json::parse(rows[rank])) {
        row.at(entry.at(0).get<std::size_t>() - rank - 1) =
            std::round(entry.at(1).get<double>() * kDigits) / kDigits;
      }
      all.insert(all.end(), row.begin(), row.end());
      matrix.push_back(row);
    }
    Outcome outcome;
    outcome.metrics["rtt"] = summary("s", all, all.size());
    outcome.info = {{"rounds", rounds_}, {"seconds_a_pair", seconds_}, {"matrix", std::move(matrix)}};
    return outcome;
  }

  const World& world_;
  int rounds_;
  double seconds_;
  std::vector<std::byte> out_;
  std::vector<std::byte> in_;
  Json row_ = Json::array();
  std::optional<std::string> wrong_;
};

class PairsProbe : public RankProbe {
 public:
  PairsProbe()
      : RankProbe("pairs", "pattern",
                  "Round trips between every two ranks, in rounds of disjoint pairs at the same time") {}

  [[nodiscard]] std::vector<Param> params() const override {
    constexpr int kMost = 1 << 30;
    return {{"bytes", ParamType::kInt, "B", 8, 0, kMost, "of a message"}};
  }
  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"rtt", "s", "lower",
             "there and back: the median over pairs of each pair's median; info.matrix has all"}};
  }
  [[nodiscard]] std::unique_ptr<Replicate> prepare(const World& world, const Json& params) const override {
    return std::make_unique<AllPairs>(world, params);
  }
};

const Registered<RankProbe> registered_pairs_probe{std::make_unique<PairsProbe>()};

}  // namespace
}  // namespace wulf::mpi
