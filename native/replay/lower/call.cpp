#include "replay/lower/call.hpp"

#include <algorithm>
#include <cctype>

#include "core/json/error.hpp"

namespace wulf::replay {
namespace {

using trace::Op;

constexpr std::uint8_t kToBlocking =
    static_cast<std::uint8_t>(Op::Ibarrier) - static_cast<std::uint8_t>(Op::Barrier);

Op blocking_form(Op op) {
  return is_nonblocking(op) ? static_cast<Op>(static_cast<std::uint8_t>(op) - kToBlocking) : op;
}

bool of_neighbours(Op op) { return op >= Op::Neighbor_allgather && op <= Op::Neighbor_alltoallw; }

Blocks checked(const std::vector<std::uint64_t>& counts, std::size_t count) {
  if (counts.size() != count) {
    throw Error("trace", "it has " + std::to_string(counts.size()) + " counts, and its communicator " +
                             std::to_string(count) + " ranks or neighbours");
  }
  return Blocks::of(counts);
}

Blocks counted(const trace::Record& record, std::size_t count) { return checked(record.counts, count); }

/// What is got is told by traces since version 2 of the format, and by what was imported with it.
void set_exchange(const trace::Record& record, Call& call) {
  const auto size = static_cast<std::size_t>(call.size);
  call.give = counted(record, size);
  call.leaves_out_empty = !record.counts2.empty();
  // where it is not told, a message has the bytes of its sender
  call.take = call.leaves_out_empty ? checked(record.counts2, size) : Blocks::equal(0, call.size);
}

void set_neighbours(const trace::Record& record, const Comm& comm, Op op, Call& call) {
  call.sources.assign(comm.sources.begin(), comm.sources.end());
  call.destinations.assign(comm.destinations.begin(), comm.destinations.end());
  const std::size_t given = call.destinations.size();
  const std::size_t taken = call.sources.size();
  call.take = Blocks::equal(record.bytes2, static_cast<int>(taken));
  switch (op) {
    case Op::Neighbor_alltoallv:
    case Op::Neighbor_alltoallw:
      call.give = counted(record, given);
      break;
    case Op::Neighbor_allgatherv:
      call.take = counted(record, taken);
      [[fallthrough]];
    default:
      call.give = Blocks::equal(record.bytes, static_cast<int>(given));
  }
}

/// Gather and scatter, whose root has what the others have not.
void set_rooted(const trace::Record& record, Op op, Call& call) {
  const bool at_root = call.me == call.root;
  switch (op) {
    case Op::Gather:
      call.bytes = at_root ? record.bytes2 : record.bytes;
      call.take = Blocks::equal(record.bytes2, at_root ? call.size : 0);
      break;
    case Op::Gatherv:
      call.bytes = record.bytes;
      call.take = at_root ? counted(record, static_cast<std::size_t>(call.size)) : Blocks();
      break;
    case Op::Scatter:
      call.bytes = at_root ? record.bytes : record.bytes2;
      call.give = Blocks::equal(record.bytes, at_root ? call.size : 0);
      break;
    default:  // Scatterv
      call.bytes = record.bytes2;
      call.give = at_root ? counted(record, static_cast<std::size_t>(call.size)) : Blocks();
  }
}

void set_figures(const trace::Record& record, Op op, Call& call) {
  const auto size = static_cast<std::size_t>(call.size);
  switch (op) {
    case Op::Reduce_scatter_block:
      call.give = Blocks::equal(record.bytes, call.size);
      break;
    case Op::Reduce_scatter:
      call.give = counted(record, size);
      break;
    case Op::Allgather:
      call.take = Blocks::equal(record.bytes2, call.size);
      break;
    case Op::Allgatherv:
      call.take = counted(record, size);
      break;
    case Op::Alltoall:
      call.give = Blocks::equal(record.bytes, call.size);
      call.take = Blocks::equal(record.bytes2, call.size);
      break;
    case Op::Alltoallv:
    case Op::Alltoallw:
      set_exchange(record, call);
      break;
    default:
      call.bytes = record.bytes;
  }
}

}  // namespace

bool is_collective(Op op) { return op >= Op::Barrier && op <= Op::Ineighbor_alltoallw; }

bool is_nonblocking(Op op) { return op >= Op::Ibarrier && op <= Op::Ineighbor_alltoallw; }

std::string operation_of(Op op) {
  const Op blocking = blocking_form(op);
  if (of_neighbours(blocking)) {
    return "neighbor";
  }
  std::string name = std::string(trace::shape_of(blocking).name).substr(sizeof("MPI_") - 1);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

Call call_of(const trace::Record& record, Comm& comm) {
  const Op op = blocking_form(record.op);
  Call call;
  call.size = comm.size();
  call.me = comm.own_rank();
  if (trace::has(record.op, trace::Field::root)) {
    call.root = comm.rank_of(record.root);
    if (call.root < 0) {
      throw Error("trace", "its root, rank " + std::to_string(record.root) + ", is not in its communicator");
    }
  }
  if (of_neighbours(op)) {
    set_neighbours(record, comm, op, call);
  } else if (op >= Op::Gather && op <= Op::Scatterv) {
    set_rooted(record, op, call);
  } else {
    set_figures(record, op, call);
  }
  return call;
}

}  // namespace wulf::replay
