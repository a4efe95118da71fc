// Fortran's named constants that are places: MPI_IN_PLACE, MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE.

#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "trace/calls/recording.hpp"

namespace wulf::trace {

namespace {

constexpr std::size_t most_names = 6;

/// The places that a constant may be, as each MPI and each compiler names it: variables, and variables that
/// keep the address.
class Places {
 public:
  constexpr Places(const char* const (&names)[most_names], const char* const (&keepers)[2])
      : _names(names), _keepers(keepers) {}

  bool has(const void* place) {
    if (!_known) {
      look();
    }
    return place != nullptr && std::find(std::begin(_places), std::end(_places), place) != std::end(_places);
  }

 private:
  void look() {
    std::size_t at = 0;
    for (const char* name : _names) {
      _places[at++] = dlsym(RTLD_DEFAULT, name);
    }
    for (const char* name : _keepers) {
      auto* keeper = static_cast<void**>(dlsym(RTLD_DEFAULT, name));
      _places[at++] = keeper == nullptr ? nullptr : *keeper;
    }
    _known = true;
  }

  const char* const (&_names)[most_names];
  const char* const (&_keepers)[2];
  const void* _places[most_names + 2] = {};
  bool _known = false;
};

constexpr const char* in_place_names[most_names] = {"mpi_fortran_in_place_",     "mpi_fortran_in_place",
                                                    "mpi_fortran_in_place__",    "MPI_FORTRAN_IN_PLACE",
                                                    "mpi_fortran_in_place_f08_", "MPIR_F08_MPI_IN_PLACE"};
constexpr const char* in_place_keepers[2] = {"MPIR_F_MPI_IN_PLACE", "MPIR_C_MPI_IN_PLACE"};
constexpr const char* status_names[most_names] = {
    "mpi_fortran_status_ignore_", "mpi_fortran_status_ignore",      "mpi_fortran_status_ignore__",
    "MPI_FORTRAN_STATUS_IGNORE",  "mpi_fortran_status_ignore_f08_", "MPIR_F08_MPI_STATUS_IGNORE_OBJ"};
constexpr const char* status_keepers[2] = {"MPI_F_STATUS_IGNORE", "MPI_F08_STATUS_IGNORE"};
constexpr const char* statuses_names[most_names] = {
    "mpi_fortran_statuses_ignore_", "mpi_fortran_statuses_ignore",      "mpi_fortran_statuses_ignore__",
    "MPI_FORTRAN_STATUSES_IGNORE",  "mpi_fortran_statuses_ignore_f08_", "MPIR_F08_MPI_STATUSES_IGNORE_OBJ"};
constexpr const char* statuses_keepers[2] = {"MPI_F_STATUSES_IGNORE", "MPI_F08_STATUSES_IGNORE"};

Places in_places(in_place_names, in_place_keepers);
Places status_ignored(status_names, status_keepers);
Places statuses_ignored(statuses_names, statuses_keepers);

}  // namespace

bool in_place_f(const void* place) { return in_places.has(place) || place == MPI_IN_PLACE; }

MPI_Fint* Span::status_f(MPI_Fint* given) const {
  return _traced && status_ignored.has(given) ? reinterpret_cast<MPI_Fint*>(&thread.status) : given;
}

MPI_Fint* Span::statuses_f(int count, MPI_Fint* given) {
  return _traced && statuses_ignored.has(given)
             ? reinterpret_cast<MPI_Fint*>(statuses(count, MPI_STATUSES_IGNORE))
             : given;
}

}  // namespace wulf::trace
