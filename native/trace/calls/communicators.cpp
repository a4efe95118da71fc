// Communicators, windows, one-sided calls, and what is recorded by its time alone.

#include <algorithm>
#include <cstdlib>

#include "trace/calls/recording.hpp"
#include "trace/file/buffer.hpp"

namespace wulf::trace {

namespace {

std::size_t room_for_members(int count) { return (static_cast<std::size_t>(count) + 1) * 2 * varint_most; }

/// A group's members; null: rank i is rank i.
std::uint8_t* put_ranks(std::uint8_t* at, const std::int32_t* ranks, int count) {
  if (ranks != nullptr || count == 0) {
    return put_members(at, ranks, static_cast<std::size_t>(count));
  }
  at = put_varint(put_peer(put_varint(at, 1), 0), static_cast<std::uint64_t>(count));
  return count > 1 ? put_varint(at, zigzag(1)) : at;
}

std::size_t room_of(const Group* made) {
  return made == nullptr ? room_for_members(0) : room_for_members(made->own_size + made->size + 1);
}

/// The new communicator's number, its members, and those of the other side.
std::uint8_t* put_made(std::uint8_t* at, const Group* made) {
  at = put_tag(at, made == nullptr ? none : made->number);
  at = made == nullptr ? put_members(at, nullptr, 0) : put_ranks(at, made->own, made->own_size);
  return made == nullptr || !made->two_sides ? put_members(at, nullptr, 0)
                                             : put_ranks(at, made->world, made->size);
}

/// Numbers of neighbours as MPI tells them, which this frees.
struct Neighbours {
  int* sources = nullptr;
  int* destinations = nullptr;
  int in = 0;
  int out = 0;
};

bool allocate(Neighbours& of, int in, int out) {
  of.in = in;
  of.out = out;
  of.sources = static_cast<int*>(std::calloc(static_cast<std::size_t>(in) + 1, sizeof(int)));
  of.destinations = static_cast<int*>(std::calloc(static_cast<std::size_t>(out) + 1, sizeof(int)));
  return of.sources != nullptr && of.destinations != nullptr;
}

/// Of each dimension the rank below and the one above (MPI 3.1, 7.6).
void of_grid(MPI_Comm comm, Neighbours& found) {
  int dimensions = 0;
  PMPI_Cartdim_get(comm, &dimensions);
  if (!allocate(found, 2 * dimensions, 2 * dimensions)) {
    return;
  }
  std::fill(found.sources, found.sources + found.in, MPI_PROC_NULL);
  for (int i = 0; i < dimensions; i++) {
    int* both = found.sources + (2 * static_cast<std::ptrdiff_t>(i));
    PMPI_Cart_shift(comm, i, 1, both, both + 1);
  }
  std::copy(found.sources, found.sources + found.in, found.destinations);
}

void of_graph(MPI_Comm comm, int rank, Neighbours& found) {
  int count = 0;
  PMPI_Graph_neighbors_count(comm, rank, &count);
  if (allocate(found, count, count)) {
    PMPI_Graph_neighbors(comm, rank, count, found.sources);
    PMPI_Graph_neighbors(comm, rank, count, found.destinations);
  }
}

void of_distributed_graph(MPI_Comm comm, Neighbours& found) {
  int in = 0;
  int out = 0;
  int weighted = 0;
  PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
  auto* weights = static_cast<int*>(
      std::malloc((static_cast<std::size_t>(in) + static_cast<std::size_t>(out) + 1) * sizeof(int)));
  if (allocate(found, in, out) && weights != nullptr) {
    PMPI_Dist_graph_neighbors(comm, in, found.sources, weights, out, found.destinations, weights + in);
  }
  std::free(weights);
}

void to_world(const Group* group, int* ranks, int count) {
  for (int i = 0; i < count; i++) {
    ranks[i] = world_rank(group, ranks[i]);
  }
}

void note_neighbours(MPI_Comm comm, Group* made) {
  int kind = MPI_UNDEFINED;
  if (made == nullptr || made->two_sides || PMPI_Topo_test(comm, &kind) != MPI_SUCCESS ||
      kind == MPI_UNDEFINED) {
    return;
  }
  Neighbours found;
  if (kind == MPI_CART) {
    of_grid(comm, found);
  } else if (kind == MPI_GRAPH) {
    of_graph(comm, made->rank, found);
  } else {
    of_distributed_graph(comm, found);
  }
  made->sources = found.in;
  made->destinations = found.out;
  std::uint8_t* at = found.sources == nullptr || found.destinations == nullptr
                         ? nullptr
                         : buffer.room(32 + room_for_members(found.in + found.out + 1));
  if (at != nullptr) {
    to_world(made, found.sources, found.in);
    to_world(made, found.destinations, found.out);
    *at++ = static_cast<std::uint8_t>(Op::neighbours);
    at = put_varint(at, static_cast<std::uint64_t>(made->number));
    at = put_members(at, found.sources, static_cast<std::size_t>(found.in));
    at = put_members(at, found.destinations, static_cast<std::size_t>(found.out));
    buffer.commit(at, 1, 0);
  }
  std::free(found.sources);
  std::free(found.destinations);
}

bool is_copy(Op op) { return op == Op::Comm_dup || op == Op::Comm_dup_with_info || op == Op::Comm_idup; }

std::uint64_t number_of(const Window* window) {
  return window == nullptr ? 0 : static_cast<std::uint64_t>(window->number);
}

const Group* group_of(const Window* window) { return window == nullptr ? nullptr : window->group; }

std::uint8_t* put_target(std::uint8_t* at, int peer, const Window* window) {
  return put_varint(put_peer(at, world_rank(group_of(window), peer)), number_of(window));
}

void record_window(const Span& span, const Window* window) {
  if (std::uint8_t* at = begin_record(span)) {
    end_record(put_varint(at, number_of(window)));
  }
}

void end_put(std::uint8_t* at, const Pending& pending) {
  end_record(pending.there ? put_tag(at, open_request(pending.request)) : at);
}

}  // namespace

void note_found(const Group* group) {
  std::uint8_t* at = group == nullptr ? nullptr : buffer.room(32 + room_of(group));
  if (at != nullptr) {
    *at++ = static_cast<std::uint8_t>(Op::found_comm);
    buffer.commit(put_made(at, group), 1, 0);
  }
}

void newcomm(const Span& span, MPI_Comm parent, MPI_Comm made_comm, Pending pending) {
  const Group* from = group_of(parent);
  Group* made = learn(made_comm, is_copy(span.op()) ? from : nullptr);
  if (std::uint8_t* at = begin_record(span, room_of(made))) {
    at = put_varint(at, from == nullptr ? 0 : static_cast<std::uint64_t>(from->number));
    at = put_made(at, made);
    end_record(pending.there ? put_tag(at, open_request(pending.request)) : at);
  }
  if (!pending.there) {  // of one that is being made MPI can't be asked
    note_neighbours(made_comm, made);
  }
}

void freecomm(const Span& span) {
  const Group* gone = group_of(span.kept_comm());
  if (std::uint8_t* at = begin_record(span)) {
    end_record(put_varint(at, gone == nullptr ? 0 : static_cast<std::uint64_t>(gone->number)));
  }
  forget(span.kept_comm());
}

void newwin(const Span& span, MPI_Comm comm, MPI_Win win) {
  const Window* made = learn_window(win, comm);
  const Group* group = group_of(comm);
  if (std::uint8_t* at = begin_record(span)) {
    at = put_varint(at, group == nullptr ? 0 : static_cast<std::uint64_t>(group->number));
    end_record(put_tag(at, made == nullptr ? none : made->number));
  }
}

void freewin(const Span& span) {
  record_window(span, window_of(span.kept_window()));
  forget_window(span.kept_window());
}

void put(const Span& span, int count, MPI_Datatype type, int peer, MPI_Win win, Pending pending) {
  if (std::uint8_t* at = begin_record(span)) {
    end_put(put_varint(put_target(at, peer, window_of(win)), bytes_of(count, type)), pending);
  }
}

void get_accumulate(const Span& span, int count, MPI_Datatype type, int got, MPI_Datatype got_type, int peer,
                    MPI_Win win, Pending pending) {
  // what is only fetched (MPI_NO_OP) may have no type
  const std::uint64_t given = bytes_of(count, type);
  if (std::uint8_t* at = begin_record(span)) {
    at = put_varint(put_target(at, peer, window_of(win)), given);
    end_put(put_varint(at, bytes_of(got, got_type)), pending);
  }
}

void single(const Span& span, MPI_Datatype type, int peer, MPI_Win win) { put(span, 1, type, peer, win); }

void epoch(const Span& span, MPI_Win win) { record_window(span, window_of(win)); }

void epoch_peer(const Span& span, int peer, MPI_Win win) {
  if (std::uint8_t* at = begin_record(span)) {
    end_record(put_target(at, peer, window_of(win)));
  }
}

void epoch_group(const Span& span, MPI_Group group, MPI_Win win) {
  int count = 0;
  std::int32_t* ranks = members_of(group, &count);
  count = ranks == nullptr ? 0 : count;
  if (std::uint8_t* at = begin_record(span, room_for_members(count))) {
    end_record(
        put_members(put_varint(at, number_of(window_of(win))), ranks, static_cast<std::size_t>(count)));
  }
  std::free(ranks);
}

void epoch_test(const Span& span, MPI_Win win, int flag) {
  if (flag != 0) {
    epoch(span, win);
  } else {
    failed_test(span);
  }
}

void plain(const Span& span) {
  if (std::uint8_t* at = begin_record(span)) {
    end_record(at);
  }
}

void io(const Span& span, int count, MPI_Datatype type) {
  if (std::uint8_t* at = begin_record(span)) {
    end_record(put_varint(at, bytes_of(count, type)));
  }
}

}  // namespace wulf::trace
