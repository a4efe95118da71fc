#include "replay/lower/rank.hpp"

namespace wulf::replay {
namespace {

using trace::Op;
using trace::Record;

/// Tags of the answers by which a synchronous send learns that its receive is there.
constexpr std::uint64_t kAnswer = 1ULL << 62U;
/// Tags of the messages that ask for an answer ahead of the synchronous message.
constexpr std::uint64_t kQuestion = 1ULL << 60U;

bool is_buffered(Op op) { return op == Op::Bsend || op == Op::Ibsend || op == Op::Bsend_init; }

}  // namespace

NamedMessage RankLowering::sent(const Record& record) {
  const std::uint32_t comm = comms_.at(record.comm).id;
  return {record.peer, tag_of(comm, record.tag), record.bytes, true, false, comm};
}

/// Whom a receive took its message from; where the trace does not tell, whom it was posted for, perhaps
/// anybody.
NamedMessage RankLowering::received(const Record& record) {
  const std::uint32_t comm = comms_.at(record.comm).id;
  if (trace::has(record.op, trace::Field::actual) && record.source != trace::any) {
    return {record.source, tag_of(comm, record.source_tag), record.bytes, false, false, comm};
  }
  const trace::Wanted posted = trace::wanted(record);
  const std::uint64_t tag = posted.tag == trace::any ? kAnyTag : tag_of(comm, posted.tag);
  return {posted.peer, tag, record.bytes, false, trace::is_wildcard(posted), comm};
}

/// Where the sender of this receive's message waits to hear of it: the message's bytes.
std::optional<std::uint64_t> RankLowering::awaits_answer(const NamedMessage& envelope) {
  if (shared_.survey.synchronous.empty()) {
    return std::nullopt;
  }
  const std::uint64_t number = came_[{envelope.peer, envelope.tag}]++;
  const auto sent =
      shared_.survey.synchronous.find({envelope.peer, static_cast<std::int32_t>(rank_), envelope.tag});
  if (sent == shared_.survey.synchronous.end()) {
    return std::nullopt;
  }
  const auto found = sent->second.find(number);
  return found == sent->second.end() ? std::nullopt : std::optional(found->second);
}

void RankLowering::answer(const NamedMessage& envelope) {
  emitter_.wait(emitter_.send(static_cast<std::uint32_t>(envelope.peer), 0, envelope.tag | kAnswer));
}

/// Posts, and gives the slots to wait for, in their order.
std::vector<std::uint32_t> RankLowering::post(const NamedMessage& envelope, bool synchronous, bool at_once) {
  const bool anybody = !envelope.sends && envelope.peer == trace::any;
  if (envelope.peer < 0 && !anybody) {
    if (envelope.peer == trace::elsewhere) {
      shared_.coverage.leave_out("messages of processes outside MPI_COMM_WORLD", 0,
                                 "those have no trace; the calls are taken to cost nothing");
    }
    return {};
  }
  return envelope.sends ? post_send(envelope, synchronous) : post_receive(envelope, at_once);
}

/// A synchronous send waits for an answer. One that a network makes wait for its receive asks for it ahead:
/// an answer after the message would be a way to and fro that the rendezvous has gone already.
std::vector<std::uint32_t> RankLowering::post_send(const NamedMessage& envelope, bool synchronous) {
  const auto peer = static_cast<std::uint32_t>(envelope.peer);
  if (!synchronous) {
    return {emitter_.send(peer, envelope.bytes, envelope.tag)};
  }
  if (envelope.bytes <= shared_.rules.eager_bytes()) {
    const std::uint32_t slot = emitter_.send(peer, envelope.bytes, envelope.tag);
    return {slot, emitter_.receive(peer, 0, envelope.tag | kAnswer)};
  }
  const std::uint32_t question = emitter_.send(peer, 0, envelope.tag | kQuestion);
  const std::uint32_t slot = emitter_.send(peer, envelope.bytes, envelope.tag);
  return {question, emitter_.receive(peer, 0, envelope.tag | kAnswer), slot};
}

/// `at_once`: the wait follows, so that the answer to a synchronous send comes when the message, or the
/// question ahead of it, is there. Of a receive that is only posted it goes at once: a later one might wait
/// for what the sender does only after it.
std::vector<std::uint32_t> RankLowering::post_receive(const NamedMessage& envelope, bool at_once) {
  const bool anybody = envelope.peer == trace::any;
  if (anybody || envelope.tag == kAnyTag) {
    shared_.coverage.note_once(
        "the trace does not tell which messages some receives from anybody took: they are matched as the "
        "program runs, by engine b alone");
  }
  const auto peer = anybody ? kAnyPeer : static_cast<std::uint32_t>(envelope.peer);
  const std::optional<std::uint64_t> bytes = awaits_answer(envelope);
  std::vector<std::uint32_t> slots{emitter_.receive(peer, envelope.bytes, envelope.tag)};
  if (!bytes) {
    return slots;
  }
  if (*bytes > shared_.rules.eager_bytes()) {
    slots.insert(slots.begin(), emitter_.receive(peer, 0, envelope.tag | kQuestion));
  }
  if (at_once) {
    emitter_.wait(slots.front());
    slots.erase(slots.begin());
  }
  answer(envelope);
  return slots;
}

void RankLowering::send(const Record& record) {
  const std::vector<std::uint32_t> slots = post(sent(record), is_synchronous(record.op), true);
  if (is_buffered(record.op)) {
    loose_.insert(loose_.end(), slots.begin(), slots.end());
    return;
  }
  for (const std::uint32_t slot : slots) {
    emitter_.wait(slot);
  }
}

void RankLowering::receive(const Record& record) {
  for (const std::uint32_t slot : post(received(record), false, true)) {
    emitter_.wait(slot);
  }
}

void RankLowering::exchange(const Record& record) {
  const NamedMessage out = sent(record);
  NamedMessage in = received(record);
  in.bytes = record.bytes2;
  const std::vector<std::uint32_t> receives = post(in, false, false);
  const std::vector<std::uint32_t> sends = post(out, false, false);
  for (const std::uint32_t slot : receives) {
    emitter_.wait(slot);
  }
  for (const std::uint32_t slot : sends) {
    emitter_.wait(slot);
  }
}

void RankLowering::begin(Request& request, NamedMessage envelope, bool synchronous) {
  const std::uint64_t number = begun_++;
  request.active = true;
  const auto& fates = shared_.survey.fates[rank_];
  const auto fate = fates.find(number);
  const bool known = fate != fates.end();
  if (known ? !fate->second.happened : envelope.wildcard) {
    shared_.coverage.leave_out("requests that were cancelled, or that nothing came for", 0,
                               "no message belongs to them");
    return;
  }
  if (envelope.wildcard && fate->second.source != trace::any) {
    envelope.peer = fate->second.source;
    envelope.tag = tag_of(envelope.comm, fate->second.tag);
  }
  request.slots = post(envelope, synchronous, false);
}

void RankLowering::begin(const Record& record) {
  const bool receives = record.op == Op::Irecv || record.op == Op::Imrecv;
  Request& request = requests_[record.request];
  request = Request{};
  request.buffered = is_buffered(record.op);
  begin(request, receives ? received(record) : sent(record), is_synchronous(record.op));
}

void RankLowering::make_persistent(const Record& record) {
  Request& request = requests_[record.request];
  request = Request{};
  request.persistent = record.op == Op::Recv_init ? received(record) : sent(record);
  request.buffered = is_buffered(record.op);
  synchronous_[record.request] = is_synchronous(record.op);
}

void RankLowering::start(const Record& record) {
  for (const std::int32_t each : record.requests) {
    if (each < 0) {
      shared_.coverage.leave_out("persistent requests of calls that are not recorded", 0,
                                 "nothing is known of what they start, as of MPI 4's collectives");
      continue;
    }
    Request& request = requests_[each];
    if (!request.persistent) {
      throw Error("trace", "it starts request " + std::to_string(each) + ", which no record has made");
    }
    begin(request, *request.persistent, synchronous_[each]);
  }
}

void RankLowering::complete(const Record& record) {
  for (const trace::Completion& each : record.completions) {
    const auto found = requests_.find(each.request);
    if (each.request < 0 || found == requests_.end()) {
      continue;
    }
    Request& request = found->second;
    if (request.buffered) {
      loose_.insert(loose_.end(), request.slots.begin(), request.slots.end());
      request.slots.clear();
    }
    request.complete(emitter_);
    if (request.kept) {
      keep(*request.kept);
    }
    if (!request.persistent) {
      requests_.erase(found);
    }
  }
}

/// What is under way goes on: it is waited for at the end.
void RankLowering::free_request(const Record& record) {
  const auto found = requests_.find(record.request);
  if (found == requests_.end()) {
    return;
  }
  loose_.insert(loose_.end(), found->second.slots.begin(), found->second.slots.end());
  requests_.erase(found);
}

}  // namespace wulf::replay
