#include "mpi/lu/grid.hpp"

#include "mpi/ranks/world.hpp"

namespace wulf::mpi {

LuGrid::LuGrid(const World& world, int rows, int columns, bool by_rows)
    : rows_(rows),
      columns_(columns),
      row_(by_rows ? world.rank() / columns : world.rank() % rows),
      column_(by_rows ? world.rank() % columns : world.rank() / rows),
      all_(world.comm()) {
  MPI_Comm_split(all_, row_, column_, &across_);
  MPI_Comm_split(all_, column_, row_, &down_);
}

LuGrid::~LuGrid() {
  MPI_Comm_free(&down_);
  MPI_Comm_free(&across_);
}

}  // namespace wulf::mpi
