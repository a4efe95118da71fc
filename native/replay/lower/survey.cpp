#include "replay/lower/survey.hpp"

#include <algorithm>

namespace wulf::replay {
namespace {

using trace::Op;
using trace::Record;

bool is_isend(Op op) { return op >= Op::Isend && op <= Op::Irsend; }

/// Reads one rank's records.
class RankSurvey {
 public:
  RankSurvey(Survey& survey, std::uint32_t rank, std::uint32_t ranks)
      : survey_(survey), rank_(static_cast<std::int32_t>(rank)), comms_(rank, ranks, survey.names) {}

  void take(const Record& record) {
    comms_.take(record);
    if (record.op >= Op::Send && record.op <= Op::Startall) {
      take_post(record);
    } else if (record.op >= Op::Wait && record.op <= Op::Testsome) {
      for (const trace::Completion& each : record.completions) {
        complete(each);
      }
    } else if (record.op >= Op::Put && record.op <= Op::Win_sync) {
      take_window(record);
    } else if (record.op >= Op::Ibarrier && record.op <= Op::Ineighbor_alltoallw) {
      survey_.nonblocking_collectives = true;
    }
  }

  void finish() {
    for (const auto& [request, begun] : open_) {
      if (begun.wildcard) {
        fates()[begun.number] = {false};
      }
    }
    std::sort(cancelled_.begin(), cancelled_.end());
    std::for_each(cancelled_.rbegin(), cancelled_.rend(), [&](const Sent& each) { take_back(each); });
    for (const auto& [key, bytes] : moved_) {
      const auto& [window, epoch, target] = key;
      if (bytes.out > 0) {
        survey_.epochs[{window, epoch, rank_}].push_back({target, bytes.out, true});
        survey_.epochs[{window, epoch, target}].push_back({rank_, bytes.out, false});
      }
      if (bytes.in > 0) {
        survey_.epochs[{window, epoch, rank_}].push_back({target, bytes.in, false});
        survey_.epochs[{window, epoch, target}].push_back({rank_, bytes.in, true});
      }
    }
  }

 private:
  /// A message by peer, tag, and its number among these.
  using Sent = std::tuple<std::int32_t, std::uint64_t, std::uint64_t>;
  static constexpr Sent kNone{trace::nobody, 0, 0};
  struct Begun {
    std::uint64_t number = 0;
    bool wildcard = false;
    Sent sent = kNone;
  };
  struct Persistent {
    bool wildcard = false;
    std::int32_t peer = trace::nobody;  ///< of a synchronous send
    std::uint64_t tag = 0;
    std::uint64_t bytes = 0;
    bool sends = false;
    bool synchronous = false;
  };
  struct Bytes {
    std::uint64_t out = 0;
    std::uint64_t in = 0;
  };

  std::unordered_map<std::uint64_t, Fate>& fates() { return survey_.fates[static_cast<std::size_t>(rank_)]; }

  void begin(std::int32_t request, bool wildcard, const Sent& sent) {
    open_[request] = {begun_++, wildcard, sent};
  }

  Sent count_send(std::int32_t peer, std::uint64_t tag, std::uint64_t bytes, bool synchronous) {
    if (peer < 0) {
      return kNone;
    }
    const std::uint64_t number = sent_[{peer, tag}]++;
    if (synchronous) {
      survey_.synchronous[{rank_, peer, tag}].emplace(number, bytes);
    }
    return {peer, tag, number};
  }

  /// A cancelled send is no message: those after it have a number less.
  void take_back(const Sent& sent) {
    const auto& [peer, tag, number] = sent;
    const auto place = survey_.synchronous.find({rank_, peer, tag});
    if (place == survey_.synchronous.end()) {
      return;
    }
    std::map<std::uint64_t, std::uint64_t> left;
    for (const auto& [each, bytes] : place->second) {
      if (each != number) {
        left.emplace(each < number ? each : each - 1, bytes);
      }
    }
    place->second = std::move(left);
  }

  void take_post(const Record& record) {
    const Op op = record.op;
    const bool sends = op <= Op::Irsend || op == Op::Sendrecv || op == Op::Sendrecv_replace;
    const Sent sent = sends ? count_send(record.peer, tag_of(comms_.at(record.comm).id, record.tag),
                                         record.bytes, is_synchronous(op))
                            : kNone;
    if (is_isend(op) || op == Op::Irecv || op == Op::Imrecv) {
      begin(record.request, op == Op::Irecv && trace::is_wildcard(trace::wanted(record)), sent);
    } else if ((op >= Op::Send_init && op <= Op::Rsend_init) || op == Op::Recv_init) {
      persistent_[record.request] = {op == Op::Recv_init && trace::is_wildcard(trace::wanted(record)),
                                     record.peer,
                                     tag_of(comms_.at(record.comm).id, record.tag),
                                     record.bytes,
                                     op != Op::Recv_init,
                                     op == Op::Ssend_init};
    } else if (op == Op::Start || op == Op::Startall) {
      start(record);
    }
  }

  void start(const Record& record) {
    for (const std::int32_t each : record.requests) {
      if (each < 0) {  // what made it is not recorded
        continue;
      }
      const Persistent& request = persistent_[each];
      begin(
          each, request.wildcard,
          request.sends ? count_send(request.peer, request.tag, request.bytes, request.synchronous) : kNone);
    }
  }

  void complete(const trace::Completion& completion) {
    const auto found = open_.find(completion.request);
    if (found == open_.end()) {
      return;
    }
    if (completion.cancelled) {
      fates()[found->second.number] = {false};
      if (found->second.sent != kNone) {
        cancelled_.push_back(found->second.sent);
      }
    } else if (found->second.wildcard) {
      const bool came = completion.source >= 0 || completion.source == trace::any;
      fates()[found->second.number] = {came, completion.source, completion.tag};
    }
    open_.erase(found);
  }

  void take_window(const Record& record) {
    WindowState& state = windows_[record.window];
    if ((moves_out(record.op) || moves_in(record.op)) && record.peer >= 0 && state.epoch() == Epoch::kFence) {
      Bytes& bytes = moved_[{comms_.window(record.window).id, state.fences, record.peer}];
      bytes.out += moves_out(record.op) ? record.bytes : 0;
      bytes.in += record.op == Op::Get_accumulate ? record.bytes2 : moves_in(record.op) ? record.bytes : 0;
    }
    state.take(record.op);
  }

  Survey& survey_;
  std::int32_t rank_;
  Comms comms_;
  std::uint64_t begun_ = 0;
  std::map<std::int32_t, Begun> open_;
  std::map<std::int32_t, Persistent> persistent_;
  std::map<std::pair<std::int32_t, std::uint64_t>, std::uint64_t> sent_;
  std::vector<Sent> cancelled_;
  std::map<std::int32_t, WindowState> windows_;
  std::map<std::tuple<std::uint32_t, std::uint64_t, std::int32_t>, Bytes> moved_;
};

}  // namespace

void WindowState::take(Op op) {
  switch (op) {
    case Op::Win_fence:
      ++fences;
      break;
    case Op::Win_lock:
    case Op::Win_lock_all:
      ++locks;
      break;
    case Op::Win_unlock:
    case Op::Win_unlock_all:
      --locks;
      break;
    case Op::Win_start:
      started = true;
      break;
    case Op::Win_complete:
      started = false;
      break;
    default:
      break;
  }
}

bool is_synchronous(Op op) { return op == Op::Ssend || op == Op::Issend || op == Op::Ssend_init; }

bool moves_out(Op op) {
  return op == Op::Put || op == Op::Accumulate || op == Op::Get_accumulate || op == Op::Fetch_and_op ||
         op == Op::Compare_and_swap;
}

bool moves_in(Op op) {
  return op == Op::Get || op == Op::Get_accumulate || op == Op::Fetch_and_op || op == Op::Compare_and_swap;
}

Survey survey_trace(const std::string& folder, std::uint32_t ranks) {
  Survey survey;
  survey.fates.resize(ranks);
  Record record;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    RankFile file(folder, rank);
    if (rank == 0) {
      survey.mpi = file.mpi();
    }
    RankSurvey one(survey, rank, ranks);
    while (file.next(record)) {
      one.take(record);
    }
    one.finish();
  }
  return survey;
}

}  // namespace wulf::replay
