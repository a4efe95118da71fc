#include "replay/lower/rank.hpp"

#include "replay/lower/call.hpp"

namespace wulf::replay {
namespace {

using trace::Op;
using trace::Record;

constexpr std::uint64_t kContextBytes = 4;  ///< ranks agree on a new communicator's number: an int
constexpr std::uint64_t kColourBytes = 8;   ///< colour and key, which a split gathers

bool is_call(Op op) { return trace::has(op, trace::Field::times); }

/// A communicator of which its makers' processes, or others, may be elsewhere.
bool joins_groups(Op op) {
  return op == Op::Intercomm_create || op == Op::Intercomm_merge || op == Op::Comm_spawn ||
         op == Op::Comm_accept || op == Op::Comm_connect;
}

}  // namespace

RankLowering::RankLowering(Lowering& shared, ProgramBuilder& builder, RankFile& file, std::uint32_t rank)
    : shared_(shared),
      file_(file),
      rank_(rank),
      emitter_(builder, rank),
      comms_(rank, builder.ranks(), shared.survey.names),
      clock_(file.cost_ns()) {}

void RankLowering::run() {
  Record record;
  while (file_.next(record)) {
    try {
      take(record);
    } catch (const Error& error) {
      throw Error(error.code(),
                  "rank " + std::to_string(rank_) + ", record " + std::to_string(file_.number()) + " (" +
                      std::string(trace::shape_of(record.op).name) + "): " + error.what(),
                  error.field());
    }
  }
  finish();
}

void RankLowering::finish() {
  for (const std::uint32_t slot : loose_) {
    emitter_.wait(slot);
  }
  emitter_.finish();
  shared_.coverage.add_total(clock_.end_ns());
  if (clock_.threaded()) {
    shared_.coverage.note_once(
        "ranks have several threads: each rank's calls are one sequence, and what its threads compute at the "
        "same time counts once");
  }
  if (const auto cut = file_.cut()) {
    shared_.coverage.note("rank " + std::to_string(rank_) + " was cut short: " + *cut);
  }
}

void RankLowering::take(const Record& record) {
  emitter_.set_mark(file_.number());
  if (is_call(record.op)) {
    take_time(record);
  }
  if (record.op == Op::neighbours || record.op == Op::found_comm) {
    comms_.take(record);
  } else if (!take_message(record) && !take_other(record) && is_call(record.op)) {
    keep_time(record, "nothing is known of what it does with the network");
  }
}

void RankLowering::take_time(const Record& record) {
  emitter_.compute(static_cast<Picoseconds>(clock_.computed_before(record)) * kPerNanosecond);
  if (record.op == Op::tests) {
    const std::uint64_t computed = clock_.computed_between(record);
    emitter_.compute(static_cast<Picoseconds>(computed) * kPerNanosecond);
    shared_.coverage.add_polls(record.count, record.call_ns + (computed > 0 ? 0 : record.between_ns));
  }
}

/// What can't be modelled takes as long as it took.
void RankLowering::keep_time(const Record& record, const char* why) {
  emitter_.compute(static_cast<Picoseconds>(record.call_ns) * kPerNanosecond);
  shared_.coverage.leave_out(std::string(trace::shape_of(record.op).name), record.call_ns, why);
}

bool RankLowering::take_message(const Record& record) {
  const Op op = record.op;
  if (op >= Op::Send && op <= Op::Rsend) {
    send(record);
  } else if ((op >= Op::Isend && op <= Op::Irsend) || op == Op::Irecv || op == Op::Imrecv) {
    begin(record);
  } else if ((op >= Op::Send_init && op <= Op::Rsend_init) || op == Op::Recv_init) {
    make_persistent(record);
  } else if (op == Op::Recv || op == Op::Mrecv) {
    receive(record);
  } else if (op == Op::Sendrecv || op == Op::Sendrecv_replace) {
    exchange(record);
  } else if (op == Op::Start || op == Op::Startall) {
    start(record);
  } else if (op >= Op::Wait && op <= Op::Testsome) {
    complete(record);
  } else if (op == Op::Request_free) {
    free_request(record);
  } else {
    // a probe's wait is that of the receive after it; Cancel shows in the completion
    return (op >= Op::Probe && op <= Op::Improbe) || op == Op::Cancel || op == Op::Request_get_status;
  }
  return true;
}

bool RankLowering::take_other(const Record& record) {
  const Op op = record.op;
  if (is_collective(op)) {
    collective(record);
  } else if (op >= Op::Comm_dup && op <= Op::Comm_connect) {
    take_creation(record);
  } else if (op >= Op::Win_create && op <= Op::Win_sync) {
    one_sided(record);
  } else {
    return op == Op::tests || op == Op::finalize || op == Op::abort || op == Op::pcontrol;
  }
  return true;
}

void RankLowering::take_creation(const Record& record) {
  if (record.op == Op::Comm_free || record.op == Op::Comm_disconnect) {
    return;
  }
  comms_.take(record);
  if (joins_groups(record.op) || comms_.at(record.comm).inter) {
    keep_time(record, "groups of processes meet, some perhaps outside of the trace");
    return;
  }
  if (record.op == Op::Comm_idup) {
    requests_[record.request].active = true;
    shared_.coverage.note_once("MPI_Comm_idup is taken to cost nothing");
    return;
  }
  if (record.op == Op::Comm_create_group) {
    if (record.newcomm >= 0) {
      synchronise("allreduce", comms_.at(record.newcomm), kContextBytes);
    }
    return;
  }
  if (record.op == Op::Comm_split || record.op == Op::Comm_split_type) {
    synchronise("allgather", comms_.at(record.comm), kColourBytes);
  }
  synchronise("allreduce", comms_.at(record.comm), kContextBytes);
}

}  // namespace wulf::replay
