#include <cctype>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/stats/summary.hpp"
#include "core/time/clock.hpp"
#include "mpi/plain/lu/block_cyclic.hpp"
#include "mpi/probe.hpp"

namespace wulf::mpi {
namespace {

constexpr int kBlockTag = 51;
constexpr std::uint64_t kA = 1;
constexpr std::uint64_t kC = 2;

/// "2x3" as rows and columns. Throws bad-parameter for anything else.
Grid grid_of(const std::string& text, int ranks) {
  Grid grid{0, 0};
  const char* end = text.data() + text.size();
  const auto [middle, bad] = std::from_chars(text.data(), end, grid.rows);
  if (bad == std::errc{} && middle != end && *middle == 'x') {
    (void)std::from_chars(middle + 1, end, grid.columns);
  }
  if (grid.rows < 1 || grid.columns < 1 || grid.size() != ranks) {
    throw bad_parameter("grid", "'" + text + "' is no grid of " + std::to_string(ranks) +
                                    " ranks: write rows x columns, as 2x3 for 6");
  }
  return grid;
}

/// What one rank exchanges with another.
struct Parcel {
  int rank = 0;
  std::vector<Block> blocks;
  std::vector<double> elements;
};

/// C = Aᵀ + C, both dealt out in blocks over a grid of ranks, as HPCC's PTRANS (from ParkBench).
class Transpose : public Replicate {
 public:
  Transpose(const World& world, const Json& params, const Matrix& matrix)
      : world_(world),
        matrix_(matrix),
        seconds_(params.at("seconds").get<double>()),
        a_(filled(kA)),
        c_(filled(kC)),
        own_(blocks_between(matrix, world.rank(), world.rank())) {
    for (int other = 0; other < world.size(); ++other) {
      if (other != world.rank()) {
        add_parcel(out_, other, blocks_between(matrix, world.rank(), other));
        add_parcel(in_, other, blocks_between(matrix, other, world.rank()));
      }
    }
  }

  Outcome measure() override {
    transpose();  // connections are made, and buffers are in memory
    std::vector<double> rates;
    double spent = 0;
    int more = 1;
    while (more != 0) {
      MPI_Barrier(world_.comm());
      const Nanoseconds start = now();
      transpose();
      double slowest = to_seconds(now() - start);
      MPI_Allreduce(MPI_IN_PLACE, &slowest, 1, MPI_DOUBLE, MPI_MAX, world_.comm());
      const double n = matrix_.n;
      rates.push_back(n * n * sizeof(double) / slowest);
      spent += slowest;
      more = spent < seconds_ ? 1 : 0;  // the same sum on every rank
    }
    check(static_cast<double>(rates.size() + 1));
    Outcome outcome;
    outcome.seconds = spent;
    outcome.metrics["throughput"] = summary("B/s", rates, rates.size());
    outcome.info = {{"grid", std::to_string(matrix_.grid.rows) + "x" + std::to_string(matrix_.grid.columns)},
                    {"n", matrix_.n},
                    {"nb", matrix_.nb},
                    {"residual", 0.0}};
    return outcome;
  }

 private:
  void add_parcel(std::vector<Parcel>& parcels, int other, std::vector<Block> blocks) const {
    if (!blocks.empty()) {
      const std::size_t count = elements(matrix_, blocks);
      parcels.push_back({other, std::move(blocks), std::vector<double>(count)});
    }
  }

  void transpose() {
    std::vector<MPI_Request> receives(in_.size(), MPI_REQUEST_NULL);
    std::vector<MPI_Request> sends(out_.size(), MPI_REQUEST_NULL);
    for (std::size_t i = 0; i < in_.size(); ++i) {
      MPI_Irecv(in_[i].elements.data(), static_cast<int>(in_[i].elements.size()), MPI_DOUBLE, in_[i].rank,
                kBlockTag, world_.comm(), &receives[i]);
    }
    for (std::size_t i = 0; i < out_.size(); ++i) {
      Parcel& parcel = out_[i];
      pack_transposed(matrix_, world_.rank(), a_, parcel.blocks, parcel.elements);
      MPI_Isend(parcel.elements.data(), static_cast<int>(parcel.elements.size()), MPI_DOUBLE, parcel.rank,
                kBlockTag, world_.comm(), &sends[i]);
    }
    add_transposed(matrix_, world_.rank(), a_, own_, c_);  // while the others' are on their way
    add_arrivals(receives);
    MPI_Waitall(static_cast<int>(sends.size()), sends.data(), MPI_STATUSES_IGNORE);
  }

  void add_arrivals(std::vector<MPI_Request>& receives) {
    while (true) {
      int index = MPI_UNDEFINED;
      MPI_Waitany(static_cast<int>(receives.size()), receives.data(), &index, MPI_STATUS_IGNORE);
      if (index == MPI_UNDEFINED) {
        return;
      }
      const Parcel& parcel = in_[static_cast<std::size_t>(index)];
      add_packed(matrix_, world_.rank(), parcel.elements, parcel.blocks, c_);
    }
  }

  /// Calls `visit(place, i, j)` for every element that this rank has.
  template <typename Visit>
  void for_each(Visit visit) const {
    const Grid& grid = matrix_.grid;
    const int rows = matrix_.local_rows(world_.rank());
    for (int column = grid.column_of(world_.rank()); column < matrix_.blocks(); column += grid.columns) {
      for (int row = grid.row_of(world_.rank()); row < matrix_.blocks(); row += grid.rows) {
        const std::size_t corner = matrix_.at(world_.rank(), row, column);
        for (int j = 0; j < matrix_.width(column); ++j) {
          for (int i = 0; i < matrix_.width(row); ++i) {
            visit(corner + static_cast<std::size_t>(i) +
                      (static_cast<std::size_t>(j) * static_cast<std::size_t>(rows)),
                  (row * matrix_.nb) + i, (column * matrix_.nb) + j);
          }
        }
      }
    }
  }

  [[nodiscard]] std::vector<double> filled(std::uint64_t which) const {
    std::vector<double> values(static_cast<std::size_t>(matrix_.local_rows(world_.rank())) *
                               static_cast<std::size_t>(matrix_.local_columns(world_.rank())));
    for_each([&](std::size_t at, int i, int j) { values[at] = element(which, i, j); });
    return values;
  }

  /// C must be what it was plus so many times Aᵀ, exactly: all elements are multiples of 2⁻²⁰.
  void check(double times) const {
    for_each([&](std::size_t at, int i, int j) {
      const double expected = element(kC, i, j) + (times * element(kA, j, i));
      if (c_[at] != expected) {
        throw Error("wrong-result", "element (" + std::to_string(i) + ", " + std::to_string(j) +
                                        ") of C is " + std::to_string(c_[at]) + " instead of " +
                                        std::to_string(expected));
      }
    });
  }

  const World& world_;
  Matrix matrix_;
  double seconds_;
  std::vector<double> a_;
  std::vector<double> c_;
  std::vector<Block> own_;  ///< that stay on this rank
  std::vector<Parcel> out_;
  std::vector<Parcel> in_;
};

class TransposeProbe : public RankProbe {
 public:
  TransposeProbe()
      : RankProbe("ptrans", "pattern",
                  "A matrix is transposed over all ranks and added to another, as HPCC's PTRANS") {}

  [[nodiscard]] std::vector<Param> params() const override {
    constexpr int kMostRows = 1 << 20;
    constexpr int kPreset = 1000;
    constexpr int kBlock = 80;
    return {{"n", ParamType::kInt, "1", kPreset, 1, kMostRows, "rows and columns of the matrix"},
            {"nb", ParamType::kInt, "1", kBlock, 1, kMostRows, "rows and columns of its blocks"},
            {"grid", ParamType::kStr, "", nullptr, nullptr, nullptr,
             "rows x columns of ranks, as 2x3; as square as can be unless given"}};
  }
  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"throughput", "B/s", "higher", "bytes of the matrix by the slowest rank's time"}};
  }
  [[nodiscard]] int least_ranks() const override { return 1; }

  [[nodiscard]] std::unique_ptr<Replicate> prepare(const World& world, const Json& params) const override {
    const std::optional<std::string> given = optional_value<std::string>(params, "grid");
    const Matrix matrix{params.at("n").get<int>(), params.at("nb").get<int>(),
                        given ? grid_of(*given, world.size()) : Grid::squarest(world.size())};
    return std::make_unique<Transpose>(world, params, matrix);
  }
};

const Registered<RankProbe> registered_transpose_probe{std::make_unique<TransposeProbe>()};

}  // namespace
}  // namespace wulf::mpi
