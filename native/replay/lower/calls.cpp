#include <algorithm>

#include "replay/lower/call.hpp"
#include "replay/lower/rank.hpp"

namespace wulf::replay {
namespace {

using trace::Op;
using trace::Record;

constexpr std::uint64_t kCollective = 1ULL << 63U;  ///< in a tag
constexpr std::uint64_t kEpoch = 1ULL << 61U;
constexpr std::uint32_t kWorld = 0;  ///< id of MPI_COMM_WORLD
constexpr const char* kNotAmongUs =
    "collectives between two groups, or with processes that have no trace, are not modelled";

std::uint64_t collective_tag(const Comm& comm) {
  return kCollective | (std::uint64_t{comm.id} << 32U) | (comm.collectives & UINT32_MAX);
}

/// Whether `bytes` must be the same on all ranks.
bool has_common_bytes(Op op) {
  switch (op) {
    case Op::Bcast:
    case Op::Reduce:
    case Op::Allreduce:
    case Op::Scan:
    case Op::Exscan:
    case Op::Reduce_scatter_block:
    case Op::Ibcast:
    case Op::Ireduce:
    case Op::Iallreduce:
    case Op::Iscan:
    case Op::Iexscan:
    case Op::Ireduce_scatter_block:
      return true;
    default:
      return false;
  }
}

std::string told(const Signature& signature) {
  return std::string(trace::shape_of(signature.op).name) + " of " + std::to_string(signature.bytes) +
         " B by root " + std::to_string(signature.root);
}

}  // namespace

/// Ranks that disagree would leave messages without a partner; here it is known which call it is.
void RankLowering::check_signature(const Record& record, const Comm& comm) {
  const Signature mine{record.op, record.root, has_common_bytes(record.op) ? record.bytes : 0, rank_,
                       file_.number()};
  const auto [place, is_first] = shared_.signatures.try_emplace({comm.id, comm.collectives}, mine);
  const Signature& first = place->second;
  if (is_first || (first.op == mine.op && first.root == mine.root && first.bytes == mine.bytes)) {
    return;
  }
  throw Error("trace", "as collective " + std::to_string(comm.collectives) +
                           " of its communicator it calls " + told(mine) + ", and rank " +
                           std::to_string(first.rank) + ", in record " + std::to_string(first.record) + ", " +
                           told(first) + "; the traces are of different runs, or calls of one are missing");
}

void RankLowering::collective(const Record& record) {
  Comm& comm = comms_.at(record.comm);
  const bool pending = is_nonblocking(record.op);
  if (comm.inter) {
    keep_time(record, kNotAmongUs);
    return;
  }
  check_signature(record, comm);
  Call call = call_of(record, comm);
  const std::string operation = operation_of(record.op);
  if (const auto kept = shared_.rules.kept(operation); kept && comm.id == kWorld) {
    ++comm.collectives;
    const KeptCall stays{*kept, rank_, 0, record.root, record.bytes, record.bytes2};
    if (pending) {
      Request& request = requests_[record.request];
      request = Request{};
      request.active = true;
      request.kept = stays;
    } else {
      keep(stays);
    }
    return;
  }
  const Algorithm& algorithm = shared_.rules.algorithm_of(operation, call);
  const std::uint64_t tag = collective_tag(comm);
  ++comm.collectives;
  if (!pending) {
    DirectSteps steps(emitter_, comm, tag, shared_.rules.reduction_fp());
    algorithm.expand(call, steps);
    return;
  }
  auto steps = std::make_unique<PendingCollective>(comm, tag, shared_.rules.reduction_fp());
  algorithm.expand(call, *steps);
  steps->begin(emitter_, shared_.post_all);
  Request& request = requests_[record.request];
  request = Request{};
  request.active = true;
  request.collective = std::move(steps);
}

/// The rank's next step is that call.
void RankLowering::keep(KeptCall call) {
  call.op = emitter_.position();
  shared_.kept.push_back(call);
}

/// What a call does beside its purpose: agree with all ranks.
void RankLowering::synchronise(const std::string& op, Comm& comm, std::uint64_t bytes) {
  Call call;
  call.size = comm.size();
  call.me = comm.own_rank();
  if (op == "allgather") {
    call.take = Blocks::equal(bytes, call.size);
  } else {
    call.bytes = bytes;
  }
  const Algorithm& algorithm = shared_.rules.algorithm_of(op, call);
  DirectSteps steps(emitter_, comm, collective_tag(comm), shared_.rules.reduction_fp());
  ++comm.collectives;
  algorithm.expand(call, steps);
}

void RankLowering::one_sided(const Record& record) {
  const bool creates = trace::has(record.op, trace::Field::newwin);
  if (creates) {
    comms_.take(record);
  }
  Comm& ranks = creates ? comms_.at(record.comm) : comms_.window(record.window);
  if (ranks.inter) {
    keep_time(record, kNotAmongUs);
    return;
  }
  if (creates) {
    synchronise("barrier", ranks, 0);
    return;
  }
  Window& window = windows_[record.window];
  const bool moves = moves_out(record.op) || moves_in(record.op);
  const Epoch epoch = window.state.epoch();
  if (record.op == Op::Win_free) {
    synchronise("barrier", ranks, 0);
  } else if (moves && epoch == Epoch::kFence) {
    return;  // its bytes are messages of the fence after it: the survey has them
  } else if (moves && epoch == Epoch::kStarted && !moves_in(record.op)) {
    window.put[record.peer] += record.bytes;
  } else if (record.op == Op::Win_fence) {
    fence(record);
  } else if (record.op == Op::Win_post || record.op == Op::Win_start || record.op == Op::Win_complete ||
             record.op == Op::Win_wait || record.op == Op::Win_test) {
    open_or_close(record);
  } else if (record.op != Op::Win_sync) {
    if (trace::has(record.op, trace::Field::request)) {
      requests_[record.request] = Request{};
    }
    keep_time(record, moves && epoch == Epoch::kStarted
                          ? "what a target answers within its own epoch is not modelled"
                          : "its target takes no part in it, and no call of its own tells when");
  }
  window.state.take(record.op);
}

/// All that was put and got since the fence before; then all ranks agree.
void RankLowering::fence(const Record& record) {
  Comm& window = comms_.window(record.window);
  const std::uint64_t fences = windows_[record.window].state.fences;
  const auto found = shared_.survey.epochs.find({window.id, fences, static_cast<std::int32_t>(rank_)});
  if (found != shared_.survey.epochs.end()) {
    const std::uint64_t tag = kEpoch | (std::uint64_t{window.id} << 32U) | (fences & UINT32_MAX);
    std::vector<std::uint32_t> slots;
    for (const bool sends : {false, true}) {
      for (const Transfer& each : found->second) {
        const auto peer = static_cast<std::uint32_t>(each.peer);
        if (each.sends == sends) {
          slots.push_back(sends ? emitter_.send(peer, each.bytes, tag)
                                : emitter_.receive(peer, each.bytes, tag));
        }
      }
    }
    for (const std::uint32_t slot : slots) {
      emitter_.wait(slot);
    }
  }
  synchronise("barrier", window, 0);
}

/// Post lets origins in, who wait for it as they start; complete brings each target what was put, and it
/// waits for them all.
void RankLowering::open_or_close(const Record& record) {
  Window& window = windows_[record.window];
  const std::uint64_t tag = kEpoch | (std::uint64_t{comms_.window(record.window).id} << 32U) | UINT32_MAX;
  const auto peer = [](std::int32_t rank) { return static_cast<std::uint32_t>(rank); };
  switch (record.op) {
    case Op::Win_post:
      window.posted = record.members;
      for (const std::int32_t each : window.posted) {
        emitter_.wait(emitter_.send(peer(each), 0, tag));
      }
      break;
    case Op::Win_start:
      window.started = record.members;
      for (const std::int32_t each : window.started) {
        emitter_.wait(emitter_.receive(peer(each), 0, tag));
      }
      break;
    case Op::Win_complete:
      for (const std::int32_t each : window.started) {
        emitter_.wait(emitter_.send(peer(each), window.put[each], tag - 1));
      }
      window.started.clear();
      window.put.clear();
      break;
    default:  // Win_wait, and Win_test that found it done
      for (const std::int32_t each : window.posted) {
        emitter_.wait(emitter_.receive(peer(each), 0, tag - 1));
      }
      window.posted.clear();
  }
}

}  // namespace wulf::replay
