#include <algorithm>
#include <array>
#include <vector>

#include "core/json/params.hpp"
#include "core/session/registry.hpp"
#include "replay/engine_a/detailed.hpp"
#include "replay/run/network.hpp"
#include "replay/service.hpp"

namespace wulf::replay {
namespace {

constexpr std::array kSpentOn{"compute", "overhead", "waiting"};
enum class Kind : std::uint8_t { kCompute, kOverhead, kWaiting };

/// What some ranks do, bucket by bucket, in ps of all of them together.
class Row {
 public:
  Row(std::size_t buckets, Picoseconds width)
      : width_(width), sums_(kSpentOn.size() * buckets), buckets_(buckets) {}

  /// Shares a stretch of time out to its buckets.
  void add(Kind kind, Picoseconds begin, Picoseconds end) {
    while (begin < end) {
      const auto bucket = static_cast<std::size_t>(begin / width_);
      const Picoseconds until = std::min(end, (static_cast<Picoseconds>(bucket) + 1) * width_);
      sums_[(static_cast<std::size_t>(kind) * buckets_) + bucket] += until - begin;
      begin = until;
    }
  }

  void describe_into(Json& json) const {
    for (std::size_t kind = 0; kind < kSpentOn.size(); ++kind) {
      const auto begin = sums_.begin() + static_cast<std::ptrdiff_t>(kind * buckets_);
      json[kSpentOn.at(kind)] =
          std::vector<Picoseconds>(begin, begin + static_cast<std::ptrdiff_t>(buckets_));
    }
  }

 private:
  Picoseconds width_;
  std::vector<Picoseconds> sums_;
  std::size_t buckets_;
};

class Drawn {
 public:
  Drawn(const Program& program, const CostClasses& classes, const Workspace<Lanes1>& space)
      : program_(program), classes_(classes), space_(space) {}

  void draw(std::uint32_t rank, Row& row) const {
    Picoseconds before = 0;
    for (std::uint32_t op = program_.first[rank]; op < program_.first[rank + 1]; ++op) {
      const Picoseconds end = space_.end(op);
      draw(op, before, end, row);
      before = end;
    }
  }

 private:
  void draw(std::uint32_t op, Picoseconds begin, Picoseconds end, Row& row) const {
    switch (program_.kind[op]) {
      case OpKind::kCalc:
        row.add(Kind::kCompute, begin, end);
        return;
      case OpKind::kWaitSend:
        row.add(Kind::kWaiting, begin, end);
        return;
      case OpKind::kWaitRecv: {
        const Picoseconds arrived = end - space_.cost(classes_.of(program_.arg[op])).receive;
        row.add(Kind::kWaiting, begin, arrived);
        row.add(Kind::kOverhead, arrived, end);
        return;
      }
      default:
        row.add(Kind::kOverhead, begin, end);
        return;
    }
  }

  const Program& program_;
  const CostClasses& classes_;
  const Workspace<Lanes1>& space_;
};

class Timeline final : public Question {
 public:
  Timeline()
      : Question("timeline",
                 "what ranks do over time, in buckets: computing, overhead, waiting. Many ranks are put "
                 "together, so that there are at most 'rows'") {}

  [[nodiscard]] Json answer(const Json& request, Programs& programs) const override {
    constexpr std::int64_t kUsualBuckets = 200;
    constexpr std::int64_t kUsualRows = 256;
    constexpr std::int64_t kMost = 100'000;
    refuse_unknown_fields(request, {"id", "op", "program", "network", "buckets", "rows"});
    const auto loaded = programs.of(request);
    const Program& program = loaded->program;
    const Network network = network_field(request, program.ranks());
    const auto buckets = static_cast<std::size_t>(int_or(request, "buckets", kUsualBuckets, 1, kMost));
    const auto rows = static_cast<std::uint32_t>(int_or(request, "rows", kUsualRows, 1, kMost));
    const Detailed pass(program, network);
    const Picoseconds last = pass.space.time();
    const Picoseconds width = (last / static_cast<Picoseconds>(buckets)) + 1;
    return {
        {"ps", last},
        {"bucket_ps", width},
        {"rows", drawn_rows(program, Drawn(program, pass.classes, pass.space), rows, Row(buckets, width))}};
  }

 private:
  static Json drawn_rows(const Program& program, const Drawn& drawn, std::uint32_t rows, const Row& empty) {
    const std::uint32_t together = (program.ranks() + rows - 1) / rows;
    Json list = Json::array();
    for (std::uint32_t begin = 0; begin < program.ranks(); begin += together) {
      const std::uint32_t end = std::min(program.ranks(), begin + together);
      Row row = empty;
      for (std::uint32_t rank = begin; rank < end; ++rank) {
        drawn.draw(rank, row);
      }
      Json json{{"rank", begin}, {"ranks", end - begin}};
      row.describe_into(json);
      list.push_back(std::move(json));
    }
    return list;
  }
};

const Registered<Question> registered_timeline{std::make_unique<Timeline>()};

}  // namespace
}  // namespace wulf::replay
