#pragma once

// Included by recording.hpp: the functions of collectives, which blocking and others share.

namespace wulf::trace {

/// The request of a call that does not wait; none of one that does.
struct Pending {
  Pending() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): a call hands over MPI's own request
  Pending(MPI_Request of) : request(of), there(true) {}
  MPI_Request request = MPI_REQUEST_NULL;
  bool there = false;
};

/// Counts for each rank, and their types: one, or one for each. A type is looked at where its count means
/// something.
class Each {
 public:
  Each(const int* counts, MPI_Datatype type) : _counts(counts), _type(type) {}
  Each(const int* counts, Types types) : _counts(counts), _types(types.at) {}
  Each(const int* counts, FortranTypes types) : _counts(counts), _types_f(types.at) {}

  [[nodiscard]] std::uint64_t bytes(int i) const {
    return _counts[i] > 0 ? static_cast<std::uint64_t>(_counts[i]) * size(i) : 0;
  }

  [[nodiscard]] std::uint64_t sum(int ranks) const {
    std::uint64_t all = 0;
    for (int i = 0; i < ranks; i++) {
      all += bytes(i);
    }
    return all;
  }

 private:
  [[nodiscard]] std::uint64_t size(int i) const {
    if (_types != nullptr) {
      return size_of(_types[i]);
    }
    if (_types_f != nullptr) {
      return size_of(MPI_Type_f2c(_types_f[i]));
    }
    if (!_known) {
      _size = size_of(_type);
      _known = true;
    }
    return _size;
  }

  const int* _counts;
  MPI_Datatype _type = MPI_DATATYPE_NULL;
  const MPI_Datatype* _types = nullptr;
  const MPI_Fint* _types_f = nullptr;
  mutable std::uint64_t _size = 0;
  mutable bool _known = false;
};

void barrier(const Span&, MPI_Comm, Pending = {});
void bcast(const Span&, int, MPI_Datatype, int root, MPI_Comm, Pending = {});
void allreduce(const Span&, int, MPI_Datatype, MPI_Comm, Pending = {});
void reduce_scatter(const Span&, const int*, MPI_Datatype, MPI_Comm, Pending = {});
void gather(const Span&, bool in_place, int, MPI_Datatype, int, MPI_Datatype, int root, MPI_Comm,
            Pending = {});
void gatherv(const Span&, bool in_place, int, MPI_Datatype, const int*, MPI_Datatype, int root, MPI_Comm,
             Pending = {});
void scatter(const Span&, bool in_place, int, MPI_Datatype, int, MPI_Datatype, int root, MPI_Comm,
             Pending = {});
void scatterv(const Span&, bool in_place, const int*, MPI_Datatype, int, MPI_Datatype, int root, MPI_Comm,
              Pending = {});
void allgather(const Span&, bool in_place, int, MPI_Datatype, int, MPI_Datatype, MPI_Comm, Pending = {});
void allgatherv(const Span&, bool in_place, int, MPI_Datatype, const int*, MPI_Datatype, MPI_Comm,
                Pending = {});
void neighborgv(const Span&, int, MPI_Datatype, const int*, MPI_Datatype, MPI_Comm, Pending = {});

/// Bytes for each rank: what is given, and what is got, which may be the same.
void exchange(const Span&, const Each& given, const Each& got, bool same, const Group*, Pending);

/// Bytes for each neighbour.
void exchange_near(const Span&, const Each& given, int out, const Each& got, int in, const Group*, Pending);

template <typename Sent, typename Got>
void alltoallv(const Span& span, bool in_place, const int* sns, Sent sent, const int* rns, Got got,
               MPI_Comm comm, Pending pending = {}) {
  const Each in(rns, got);
  exchange(span, in_place ? in : Each(sns, sent), in, in_place, group_of(comm), pending);
}

template <typename Sent, typename Got>
void neighborv(const Span& span, const int* sns, Sent sent, const int* rns, Got got, MPI_Comm comm,
               Pending pending = {}) {
  const Group* group = group_of(comm);
  const int out = group == nullptr ? 0 : group->destinations;
  exchange_near(span, Each(sns, sent), out, Each(rns, got), group == nullptr ? 0 : group->sources, group,
                pending);
}

}  // namespace wulf::trace
