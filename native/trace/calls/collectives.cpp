// Collectives: communicator, root, bytes; docs/reference/trace-format.md says which bytes.

#include "trace/calls/recording.hpp"

namespace wulf::trace {

namespace {

std::int32_t number_of(const Group* group) { return group == nullptr ? 0 : group->number; }

/// Of an intercommunicator the root names itself MPI_ROOT, and its neighbours name nobody.
std::int32_t root_of(const Group* group, int root) {
  if (root < 0 && root != MPI_PROC_NULL && group != nullptr) {
    return group->own == nullptr ? group->rank : group->own[group->rank];
  }
  return world_rank(group, root);
}

bool is_root(const Group* group, int root) {
  return group != nullptr && (group->two_sides ? root == MPI_ROOT : root == group->rank);
}

/// Whether this rank gives to the root, or gets of it, as all but the root do; in an intercommunicator those
/// of the other side.
bool takes_part(const Group* group, int root) { return group != nullptr && (!group->two_sides || root >= 0); }

void end_collective(std::uint8_t* at, const Pending& pending) {
  end_record(pending.there ? put_tag(at, open_request(pending.request)) : at);
}

std::uint8_t* put_comm(std::uint8_t* at, const Group* group) {
  return put_varint(at, static_cast<std::uint64_t>(number_of(group)));
}

std::size_t room_for(int counts) { return (static_cast<std::size_t>(counts) + 2) * varint_most; }

std::uint8_t* put_each(std::uint8_t* at, const Each& each, int count) {
  return put_counts(at, static_cast<std::size_t>(count),
                    [&](std::size_t i) { return each.bytes(static_cast<int>(i)); });
}

bool are_same(const Each& given, const Each& got, int count) {
  int i = 0;
  while (i < count && given.bytes(i) == got.bytes(i)) {
    i++;
  }
  return i == count;
}

void rooted(const Span& span, const Group* group, int root, std::uint64_t bytes, std::uint64_t bytes2,
            Pending pending) {
  if (std::uint8_t* at = begin_record(span)) {
    at = put_peer(put_comm(at, group), root_of(group, root));
    end_collective(put_varint(put_varint(at, bytes), bytes2), pending);
  }
}

/// Bytes of this rank, and at the root the counts of all.
void rooted_v(const Span& span, const Group* group, int root, std::uint64_t bytes, const Each& each,
              Pending pending) {
  const int count = is_root(group, root) ? group->size : 0;
  if (std::uint8_t* at = begin_record(span, room_for(count))) {
    at = put_varint(put_peer(put_comm(at, group), root_of(group, root)), bytes);
    end_collective(put_each(at, each, count), pending);
  }
}

}  // namespace

void barrier(const Span& span, MPI_Comm comm, Pending pending) {
  const Group* group = group_of(comm);
  if (std::uint8_t* at = begin_record(span)) {
    end_collective(put_comm(at, group), pending);
  }
}

void bcast(const Span& span, int count, MPI_Datatype type, int root, MPI_Comm comm, Pending pending) {
  const Group* group = group_of(comm);
  const std::uint64_t bytes = root == MPI_PROC_NULL ? 0 : bytes_of(count, type);
  if (std::uint8_t* at = begin_record(span)) {
    at = put_peer(put_comm(at, group), root_of(group, root));
    end_collective(put_varint(at, bytes), pending);
  }
}

void allreduce(const Span& span, int count, MPI_Datatype type, MPI_Comm comm, Pending pending) {
  const Group* group = group_of(comm);
  if (std::uint8_t* at = begin_record(span)) {
    end_collective(put_varint(put_comm(at, group), bytes_of(count, type)), pending);
  }
}

void reduce_scatter(const Span& span, const int* counts, MPI_Datatype type, MPI_Comm comm, Pending pending) {
  const Group* group = group_of(comm);
  const int count = group == nullptr ? 0 : group->own_size;
  if (std::uint8_t* at = begin_record(span, room_for(count))) {
    end_collective(put_each(put_comm(at, group), Each(counts, type), count), pending);
  }
}

void gather(const Span& span, bool in_place, int sn, MPI_Datatype st, int rn, MPI_Datatype rt, int root,
            MPI_Comm comm, Pending pending) {
  const Group* group = group_of(comm);
  const bool gets = is_root(group, root);
  const std::uint64_t got = gets ? bytes_of(rn, rt) : 0;
  const std::uint64_t given = gets && in_place ? got : takes_part(group, root) ? bytes_of(sn, st) : 0;
  rooted(span, group, root, given, got, pending);
}

void scatter(const Span& span, bool in_place, int sn, MPI_Datatype st, int rn, MPI_Datatype rt, int root,
             MPI_Comm comm, Pending pending) {
  const Group* group = group_of(comm);
  const bool gives = is_root(group, root);
  const std::uint64_t given = gives ? bytes_of(sn, st) : 0;
  const std::uint64_t got = gives && in_place ? given : takes_part(group, root) ? bytes_of(rn, rt) : 0;
  rooted(span, group, root, given, got, pending);
}

void gatherv(const Span& span, bool in_place, int sn, MPI_Datatype st, const int* rns, MPI_Datatype rt,
             int root, MPI_Comm comm, Pending pending) {
  const Group* group = group_of(comm);
  const Each got(rns, rt);
  const bool own = is_root(group, root) && in_place;
  const std::uint64_t given = own ? got.bytes(group->rank) : takes_part(group, root) ? bytes_of(sn, st) : 0;
  rooted_v(span, group, root, given, got, pending);
}

void scatterv(const Span& span, bool in_place, const int* sns, MPI_Datatype st, int rn, MPI_Datatype rt,
              int root, MPI_Comm comm, Pending pending) {
  const Group* group = group_of(comm);
  const Each given(sns, st);
  const bool own = is_root(group, root) && in_place;
  const std::uint64_t got = own ? given.bytes(group->rank) : takes_part(group, root) ? bytes_of(rn, rt) : 0;
  rooted_v(span, group, root, got, given, pending);
}

void allgather(const Span& span, bool in_place, int sn, MPI_Datatype st, int rn, MPI_Datatype rt,
               MPI_Comm comm, Pending pending) {
  const Group* group = group_of(comm);
  const std::uint64_t got = bytes_of(rn, rt);
  const std::uint64_t given = in_place ? got : bytes_of(sn, st);
  if (std::uint8_t* at = begin_record(span)) {
    end_collective(put_varint(put_varint(put_comm(at, group), given), got), pending);
  }
}

void allgatherv(const Span& span, bool in_place, int sn, MPI_Datatype st, const int* rns, MPI_Datatype rt,
                MPI_Comm comm, Pending pending) {
  const Group* group = group_of(comm);
  const int count = group == nullptr ? 0 : group->size;
  const Each got(rns, rt);
  const std::uint64_t given = in_place && group != nullptr ? got.bytes(group->rank) : bytes_of(sn, st);
  if (std::uint8_t* at = begin_record(span, room_for(count))) {
    end_collective(put_each(put_varint(put_comm(at, group), given), got, count), pending);
  }
}

void neighborgv(const Span& span, int sn, MPI_Datatype st, const int* rns, MPI_Datatype rt, MPI_Comm comm,
                Pending pending) {
  const Group* group = group_of(comm);
  const int count = group == nullptr ? 0 : group->sources;
  const Each got(rns, rt);
  if (std::uint8_t* at = begin_record(span, room_for(count))) {
    at = put_varint(put_varint(put_comm(at, group), bytes_of(sn, st)), got.sum(count));
    end_collective(put_each(at, got, count), pending);
  }
}

void exchange(const Span& span, const Each& given, const Each& got, bool same, const Group* group,
              Pending pending) {
  const int count = group == nullptr ? 0 : group->size;
  if (std::uint8_t* at = begin_record(span, 2 * room_for(count))) {
    at = put_varint(put_varint(put_comm(at, group), given.sum(count)), got.sum(count));
    at = put_each(at, given, count);
    end_collective(put_counts2(at, same || are_same(given, got, count), static_cast<std::size_t>(count),
                               [&](std::size_t i) { return got.bytes(static_cast<int>(i)); }),
                   pending);
  }
}

void exchange_near(const Span& span, const Each& given, int out, const Each& got, int in, const Group* group,
                   Pending pending) {
  if (std::uint8_t* at = begin_record(span, room_for(out))) {
    at = put_varint(put_varint(put_comm(at, group), given.sum(out)), got.sum(in));
    end_collective(put_each(at, given, out), pending);
  }
}

}  // namespace wulf::trace
