#pragma once

namespace wulf::mpi {

/// One dimension of a matrix that is dealt out in blocks (block-cyclic, first block at place 0), as the
/// process `place` of `places` sees it: block I lies at place I mod places.
struct Deal {
  int count = 0;
  int nb = 1;
  int places = 1;
  int place = 0;

  /// How many of the first `global` indices lie here; where index `global` lies, if it does.
  [[nodiscard]] int before(int global) const {
    const int block = global / nb;
    const int extra = block % places;
    const int more = place < extra ? nb : place == extra ? global % nb : 0;
    return (block / places * nb) + more;
  }
  /// How many lie here.
  [[nodiscard]] int local() const { return before(count); }
  /// Where an index lies.
  [[nodiscard]] int owner(int global) const { return global / nb % places; }
  /// The index in the whole of a local one.
  [[nodiscard]] int global(int index) const { return (((index / nb * places) + place) * nb) + (index % nb); }
};

}  // namespace wulf::mpi
