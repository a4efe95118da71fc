#include "mpi/lu/panel.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace wulf::mpi {
namespace {

constexpr int kPanelTag = 61;

/// MPI's operation: the better one of two candidates, each one element of a type of all its words.
void keep_better(void* in, void* kept, int* /*count*/, MPI_Datatype* type) {
  int bytes = 0;
  MPI_Type_size(*type, &bytes);
  if (Candidate::is_better(static_cast<const double*>(in), static_cast<const double*>(kept))) {
    std::memcpy(kept, in, static_cast<std::size_t>(bytes));
  }
}

/// The ranks of one column of the grid agree, by one reduction a column; two of them by one message each way,
/// which takes half the time.
class Together : public Agreement {
 public:
  Together(MPI_Comm comm, int width) : comm_(comm), other_(width) {
    MPI_Comm_size(comm, &ranks_);
    MPI_Comm_rank(comm, &rank_);
    MPI_Type_contiguous(width + static_cast<int>(Candidate::kHead), MPI_DOUBLE, &type_);
    MPI_Type_commit(&type_);
    MPI_Op_create(keep_better, /*commute=*/1, &operation_);
  }
  Together(const Together&) = delete;
  Together& operator=(const Together&) = delete;
  Together(Together&&) = delete;
  Together& operator=(Together&&) = delete;
  ~Together() override {
    MPI_Op_free(&operation_);
    MPI_Type_free(&type_);
  }

  void best(Candidate& candidate) override {
    if (ranks_ == 2) {
      MPI_Sendrecv(candidate.words().data(), 1, type_, 1 - rank_, kPanelTag, other_.words().data(), 1, type_,
                   1 - rank_, kPanelTag, comm_, MPI_STATUS_IGNORE);
      if (Candidate::is_better(other_.words().data(), candidate.words().data())) {
        std::swap(candidate.words(), other_.words());
      }
      return;
    }
    MPI_Allreduce(MPI_IN_PLACE, candidate.words().data(), 1, type_, operation_, comm_);
  }

 private:
  MPI_Comm comm_;
  int ranks_ = 0;
  int rank_ = 0;
  Candidate other_;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  MPI_Op operation_ = MPI_OP_NULL;
};

/// Where the columns begin in the memory: behind the pivots, at a whole cache line.
std::size_t head(int nb) { return (static_cast<std::size_t>(nb) + 7) / 8 * 8; }

}  // namespace

std::size_t LuPanel::elements(const LuGrid& grid, int n, int nb) {
  const int width = std::min(n, nb);
  const int rows = grid.deal_rows(n, nb).local();
  return head(width) +
         (static_cast<std::size_t>(width) * static_cast<std::size_t>(leading_dimension(rows + width)));
}

LuPanel::LuPanel(const LuGrid& grid, int n, int nb)
    : grid_(grid), n_(n), nb_(nb), memory_(elements(grid, n, nb)) {}

void LuPanel::begin(int block) {
  const Deal deal = grid_.deal_rows(n_, nb_);
  const int first = block * nb_;
  part_.width = std::min(nb_, n_ - first);
  part_.first = first;
  part_.rows = part_.width + deal.local() - deal.before(first + part_.width);
  part_.ld = leading_dimension(part_.rows);
  part_.at = memory_.data() + head(part_.width);
  part_.owns_top = deal.owner(first) == deal.place;
  part_.deal = deal;
  pivots_.assign(static_cast<std::size_t>(part_.width), 0);
  owner_ = block % grid_.columns();
}

int LuPanel::factor(double* at, int ld, const Blas& blas) {
  const int begin = part_.owns_top ? 0 : part_.width;
  const auto count = static_cast<std::size_t>(part_.rows - begin);
  for (int j = 0; j < part_.width; ++j) {
    std::copy_n(at + (static_cast<std::ptrdiff_t>(j) * ld), count, part_.place(begin, j));
  }
  int singular = -1;
  if (grid_.rows() == 1) {
    Alone alone;
    singular = factor_panel(part_, blas, alone, pivots_);
  } else {
    share_top();
    Together together(grid_.down(), part_.width);
    singular = factor_panel(part_, blas, together, pivots_);
  }
  for (int j = 0; part_.owns_top && j < part_.width; ++j) {
    std::copy_n(part_.place(0, j), part_.width, at + (static_cast<std::ptrdiff_t>(j) * ld));
  }
  std::copy(pivots_.begin(), pivots_.end(), memory_.data());
  return singular;
}

/// The top block on all ranks of the column.
void LuPanel::share_top() {
  const auto width = static_cast<std::size_t>(part_.width);
  top_.resize(width * width);
  for (int j = 0; part_.owns_top && j < part_.width; ++j) {
    std::copy_n(part_.place(0, j), width, &top_[static_cast<std::size_t>(j) * width]);
  }
  MPI_Bcast(top_.data(), static_cast<int>(top_.size()), MPI_DOUBLE, part_.deal.owner(part_.first),
            grid_.down());
  for (int j = 0; !part_.owns_top && j < part_.width; ++j) {
    std::copy_n(&top_[static_cast<std::size_t>(j) * width], width, part_.place(0, j));
  }
}

int LuPanel::place() const { return (grid_.column() - owner_ + grid_.columns()) % grid_.columns(); }

int LuPanel::source() const {
  return place() <= 2 ? owner_ : (grid_.column() + grid_.columns() - 1) % grid_.columns();
}

int LuPanel::elements_under_way() const {
  return static_cast<int>(head(part_.width) +
                          (static_cast<std::size_t>(part_.ld) * static_cast<std::size_t>(part_.width)));
}

void LuPanel::hand_on() {
  here_ = place() == 0;
  if (here_) {
    forward();
  }
}

void LuPanel::receive() {
  MPI_Recv(memory_.data(), elements_under_way(), MPI_DOUBLE, source(), kPanelTag, grid_.across(),
           MPI_STATUS_IGNORE);
  here_ = true;
  forward();
}

/// It is here: to whoever gets it from this rank.
void LuPanel::forward() {
  const int columns = grid_.columns();
  if (place() != 1 && place() + 1 < columns) {
    MPI_Send(memory_.data(), elements_under_way(), MPI_DOUBLE, (grid_.column() + 1) % columns, kPanelTag,
             grid_.across());
  }
  if (place() == 0 && columns > 2) {
    MPI_Send(memory_.data(), elements_under_way(), MPI_DOUBLE, (grid_.column() + 2) % columns, kPanelTag,
             grid_.across());
  }
  for (std::size_t i = 0; i < pivots_.size(); ++i) {
    pivots_[i] = static_cast<int>(memory_.data()[i]);
  }
  moves_ = net_moves(part_.first, pivots_);
}

bool LuPanel::pump() {
  if (!here_) {
    int under_way = 0;
    MPI_Iprobe(source(), kPanelTag, grid_.across(), &under_way, MPI_STATUS_IGNORE);
    if (under_way != 0) {
      receive();
    }
  }
  return here_;
}

void LuPanel::arrive() {
  if (!here_) {
    receive();
  }
}

}  // namespace wulf::mpi
