#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/stats/summary.hpp"
#include "core/time/clock.hpp"
#include "mpi/lu/lu.hpp"
#include "mpi/plain/lu/block_cyclic.hpp"
#include "mpi/probe.hpp"
#include "mpi/ranks/memory.hpp"

namespace wulf::mpi {
namespace {

/// HPL's: a solution with a greater residual is wrong.
constexpr double kThreshold = 16.0;

/// Rows and columns of ranks. Throws bad-parameter where they are not those that there are.
Grid grid_of(const Json& params, int ranks) {
  const auto p = optional_value<int>(params, "p");
  const auto q = optional_value<int>(params, "q");
  if (!p && !q) {
    return Grid::squarest(ranks);
  }
  const Grid grid{p ? *p : ranks / *q, q ? *q : ranks / *p};
  if (grid.rows < 1 || grid.columns < 1 || grid.size() != ranks) {
    throw bad_parameter(p ? "p" : "q", "a grid of " + std::to_string(grid.rows) + " x " +
                                           std::to_string(grid.columns) + " has not the " +
                                           std::to_string(ranks) + " ranks that there are: p times q must");
  }
  return grid;
}

/// HPL's count of operations of a solution.
double operations(double n) { return (2.0 / 3.0 * n * n * n) + (3.0 / 2.0 * n * n); }

Planted planted(const std::string& word) {
  return word == "singular" ? Planted::kSingular : word == "wrong" ? Planted::kWrong : Planted::kNothing;
}

class Linpack : public Replicate {
 public:
  /// Throws std::bad_alloc, on any rank.
  Linpack(std::shared_ptr<LuGrid> grid, std::unique_ptr<Blas> blas, const Json& params)
      : grid_(std::move(grid)),
        blas_(std::move(blas)),
        params_(params),
        lu_(*grid_, params.at("n").get<int>(), params.at("nb").get<int>(), params.at("lookahead").get<int>(),
            *blas_) {}

  Outcome measure() override {
    const auto seed = params_.at("seed").get<std::uint64_t>();
    const auto seconds = params_.at("seconds").get<double>();
    std::vector<double> times;
    std::vector<double> rates;
    double spent = 0;
    while (times.empty() || spent < seconds) {
      lu_.fill(seed, planted(params_.at("plant").get<std::string>()));
      times.push_back(solved());
      rates.push_back(operations(params_.at("n").get<int>()) / times.back());
      spent += times.back();  // the same sum on every rank
    }
    const LuCheck check = lu_.check(seed);
    judge(lu_.singular(), check);
    Outcome outcome;
    outcome.seconds = spent;
    outcome.info = info(check);
    outcome.metrics["rate"] = summary("flop/s", rates, rates.size());
    outcome.metrics["time"] = summary("s", times, times.size());
    return outcome;
  }

 private:
  /// Seconds of the slowest rank, the same on all.
  double solved() {
    MPI_Barrier(grid_->all());
    const Nanoseconds start = now();
    lu_.factor();
    lu_.solve();
    double slowest = to_seconds(now() - start);
    MPI_Allreduce(MPI_IN_PLACE, &slowest, 1, MPI_DOUBLE, MPI_MAX, grid_->all());
    return slowest;
  }

  /// Throws wrong-result, on every rank.
  static void judge(int singular, const LuCheck& check) {
    if (singular >= 0) {
      throw Error("wrong-result", "the matrix is singular: column " + std::to_string(singular) +
                                      " has no pivot other than 0; another seed makes another matrix");
    }
    if (!(check.residual < kThreshold)) {
      throw Error("wrong-result", "the scaled residual is " + std::to_string(check.residual) +
                                      ", which must be below " + std::to_string(kThreshold) +
                                      ": the BLAS, the MPI or the memory computes wrongly; try blas=own");
    }
  }

  [[nodiscard]] Json info(const LuCheck& check) const {
    const LuTimes& times = lu_.times();
    Json json{{"label", "wulf linpack; not HPL"},
              {"grid", std::to_string(grid_->rows()) + "x" + std::to_string(grid_->columns())},
              {"residual", check.residual},
              {"threshold", kThreshold},
              {"passed", true},
              {"blas", blas_->identity().name},
              {"blas_version", blas_->identity().version},
              {"threads", nullptr},
              {"memory_per_rank", Lu::bytes(*grid_, params_.at("n").get<int>(), params_.at("nb").get<int>())},
              {"x", {{"sum", check.sum}, {"weighted", check.weighted}}},
              {"rank_0_seconds",
               {{"panel", times.panel},
                {"exchange", times.exchange},
                {"update", times.update},
                {"wait", times.wait},
                {"solve", times.solve}}}};
    if (blas_->identity().threads) {
      json["threads"] = *blas_->identity().threads;
    }
    for (const char* each : {"n", "nb", "order", "lookahead", "seed"}) {
      json[each] = params_.at(each);
    }
    return json;
  }

  std::shared_ptr<LuGrid> grid_;
  std::unique_ptr<Blas> blas_;
  Json params_;
  Lu lu_;
};

class LinpackProbe : public RankProbe {
 public:
  LinpackProbe()
      : RankProbe("linpack", "pattern",
                  "A random system of linear equations is solved by all ranks, as HPL does; it is not HPL") {}

  [[nodiscard]] std::vector<Param> params() const override {
    constexpr int kMostRows = 1 << 20;
    constexpr int kMostWide = 1024;
    constexpr int kRows = 2000;
    constexpr int kWide = 128;
    constexpr int kMostRanks = 1 << 20;
    constexpr int kMostThreads = 4096;
    constexpr std::int64_t kMostSeed = (std::int64_t{1} << 53) - 1;
    return {{"n", ParamType::kInt, "1", kRows, 1, kMostRows, "rows and columns of the matrix"},
            {"nb", ParamType::kInt, "1", kWide, 1, kMostWide, "rows and columns of its blocks"},
            {"p", ParamType::kInt, "1", nullptr, 1, kMostRanks,
             "rows of ranks; as square a grid as can be unless given"},
            {"q", ParamType::kInt, "1", nullptr, 1, kMostRanks, "columns of ranks"},
            {"order",
             ParamType::kStr,
             "",
             "row",
             nullptr,
             nullptr,
             "how ranks are numbered in the grid",
             {"row", "column"}},
            {"lookahead", ParamType::kInt, "1", 1, 0, 1,
             "panels that are factored while the one before is still used"},
            {"blas", ParamType::kStr, "", nullptr, nullptr, nullptr,
             "library of linear algebra: a path, or a name for the dynamic linker; own: portable code; the "
             "first that is found unless given"},
            {"threads", ParamType::kInt, "1", 1, 1, kMostThreads,
             "that the library may use in each rank, where it can be told"},
            {"seed", ParamType::kInt, "1", 1, 0, kMostSeed, "of the matrix"},
            {"plant",
             ParamType::kStr,
             "",
             "nothing",
             nullptr,
             nullptr,
             "a fault, to see that it is found: an empty column, or an element that is altered",
             {"nothing", "singular", "wrong"}}};
  }
  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"rate", "flop/s", "higher", "2/3 n^3 + 3/2 n^2 operations by the slowest rank's time"},
            {"time", "s", "lower", "of the slowest rank, from a barrier to the solution"}};
  }
  [[nodiscard]] int least_ranks() const override { return 1; }

  [[nodiscard]] std::unique_ptr<Replicate> prepare(const World& world, const Json& params) const override {
    const Grid shape = grid_of(params, world.size());
    auto grid = std::make_shared<LuGrid>(world, shape.rows, shape.columns, params.at("order") == "row");
    require_memory(world, Lu::bytes(*grid, params.at("n").get<int>(), params.at("nb").get<int>()));
    std::unique_ptr<Blas> blas;
    std::unique_ptr<Replicate> replicate;
    std::optional<Error> wrong;
    try {
      blas = load_blas(optional_value<std::string>(params, "blas"), params.at("threads").get<int>());
      replicate = std::make_unique<Linpack>(grid, std::move(blas), params);
    } catch (const Error& error) {
      wrong = error;
    } catch (const std::bad_alloc&) {
      wrong = Error("limit", "not enough memory for this matrix: give a smaller n, or more ranks");
    }
    world.agree(wrong ? &*wrong : nullptr);  // before anything is freed, which ranks do together
    return replicate;
  }
};

const Registered<RankProbe> registered_linpack_probe{std::make_unique<LinpackProbe>()};

}  // namespace
}  // namespace wulf::mpi
