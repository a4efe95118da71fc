// Messages, one to one.

#include <cstdlib>

#include "trace/calls/recording.hpp"
#include "trace/calls/under_way.hpp"

namespace wulf::trace {

namespace {

HandleMap messages;  ///< of matched probes, until they are received

std::uint8_t* put_envelope(std::uint8_t* at, std::int32_t peer, std::int32_t tag, const Group* group) {
  return put_varint(put_tag(put_peer(at, peer), tag),
                    group == nullptr ? 0 : static_cast<std::uint64_t>(group->number));
}

/// The end of a record that has a request, whose initiation this is.
void end_open(std::uint8_t* at, MPI_Request request, Posted posted) {
  posted.thread = thread.number;
  end_record(put_tag(at, under_way.open(key_of(request), posted)));
}

std::uint8_t* put_posted(const Span& span, std::uint64_t bytes, int peer, int tag, const Group* group) {
  std::uint8_t* at = begin_record(span);
  return at == nullptr ? at
                       : put_varint(put_envelope(at, world_rank(group, peer), tag_of(tag), group), bytes);
}

void open_send(const Span& span, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
               MPI_Request request, bool persistent) {
  std::uint8_t* at = put_posted(span, bytes_of(count, type), peer, tag, group_of(comm));
  if (at != nullptr) {
    Posted posted;
    posted.persistent = persistent;
    posted.active = !persistent;
    end_open(at, request, posted);
  }
}

void open_receive(const Span& span, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                  MPI_Request request, bool persistent) {
  Group* group = group_of(comm);
  Posted posted;
  posted.bytes = bytes_of(count, type);
  posted.receive = peer != MPI_PROC_NULL;
  posted.wildcard = peer == MPI_ANY_SOURCE || (tag == MPI_ANY_TAG && peer != MPI_PROC_NULL);
  posted.persistent = persistent;
  posted.active = !persistent;
  std::uint8_t* at = put_posted(span, posted.bytes, peer, tag, group);
  if (at != nullptr) {
    if (posted.wildcard) {
      retain(group);
      posted.group = group;
    }
    end_open(at, request, posted);
  }
}

/// Who it came from, where that was open. Of nobody's receive not every MPI fills the status.
std::uint8_t* put_actual(std::uint8_t* at, int peer, int tag, const Group* group, const MPI_Status& status) {
  if (peer != MPI_ANY_SOURCE && tag != MPI_ANY_TAG) {
    return at;
  }
  if (peer == MPI_PROC_NULL) {
    return put_tag(put_peer(at, nobody), any);
  }
  return put_tag(put_peer(at, world_rank(group, status.MPI_SOURCE)), tag_of(status.MPI_TAG));
}

void open_message(MPI_Message message, const MPI_Status& status, Group* group) {
  auto* found = static_cast<Message*>(std::malloc(sizeof(Message)));
  if (found == nullptr || message == MPI_MESSAGE_NO_PROC || message == MPI_MESSAGE_NULL) {
    std::free(found);
    return;
  }
  *found = {group, world_rank(group, status.MPI_SOURCE), status.MPI_TAG};
  if (messages.insert(key_of(message), reinterpret_cast<std::uint64_t>(found)) == nullptr) {
    std::free(found);
    return;
  }
  retain(group);
}

/// The message that a call is about to receive; it is forgotten, since the call has received it.
Message take_message(std::uint64_t key) {
  HandleMap::Slot* slot = messages.find(key);
  if (slot == nullptr) {
    return {nullptr, key == key_of(MPI_MESSAGE_NO_PROC) ? nobody : elsewhere, any};
  }
  auto* found = reinterpret_cast<Message*>(slot->value);  // NOLINT(performance-no-int-to-ptr) - it was one
  const Message message = *found;
  messages.erase(slot);
  std::free(found);
  return message;
}

std::uint8_t* put_message(std::uint8_t* at, const Message& message, std::uint64_t bytes) {
  return put_varint(put_envelope(at, message.source, message.tag, message.group), bytes);
}

}  // namespace

void Span::keep_message(MPI_Message message) { _message = key_of(message); }

void send(const Span& span, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm) {
  std::uint8_t* at = put_posted(span, bytes_of(count, type), peer, tag, group_of(comm));
  if (at != nullptr) {
    end_record(at);
  }
}

void isend(const Span& span, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
           MPI_Request request) {
  open_send(span, count, type, peer, tag, comm, request, false);
}

void send_init(const Span& span, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
               MPI_Request request) {
  open_send(span, count, type, peer, tag, comm, request, true);
}

void irecv(const Span& span, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
           MPI_Request request) {
  open_receive(span, count, type, peer, tag, comm, request, false);
}

void recv_init(const Span& span, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
               MPI_Request request) {
  open_receive(span, count, type, peer, tag, comm, request, true);
}

void recv(const Span& span, int peer, int tag, MPI_Comm comm, const MPI_Status* status) {
  const Group* group = group_of(comm);
  std::uint8_t* at = put_posted(span, bytes_of(*status), peer, tag, group);
  if (at != nullptr) {
    end_record(put_actual(at, peer, tag, group, *status));
  }
}

void probe(const Span& span, int peer, int tag, MPI_Comm comm, const MPI_Status* status) {
  recv(span, peer, tag, comm, status);
}

void iprobe(const Span& span, int peer, int tag, MPI_Comm comm, int flag, const MPI_Status* status) {
  if (flag != 0) {
    recv(span, peer, tag, comm, status);
  } else {
    failed_test(span);
  }
}

void mprobe(const Span& span, int peer, int tag, MPI_Comm comm, MPI_Message message,
            const MPI_Status* status) {
  recv(span, peer, tag, comm, status);
  open_message(message, *status, group_of(comm));
}

void improbe(const Span& span, int peer, int tag, MPI_Comm comm, int flag, MPI_Message message,
             const MPI_Status* status) {
  if (flag != 0) {
    mprobe(span, peer, tag, comm, message, status);
  } else {
    failed_test(span);
  }
}

void mrecv(const Span& span, const MPI_Status* status) {
  const Message message = take_message(span.kept_message());
  if (std::uint8_t* at = begin_record(span)) {
    at = put_message(at, message, bytes_of(*status));
    // a message of an unknown probe: its tag reads as any, and is told
    end_record(message.tag == any ? put_tag(put_peer(at, message.source), any) : at);
  }
  release(message.group);
}

void imrecv(const Span& span, int count, MPI_Datatype type, MPI_Request request) {
  const Message message = take_message(span.kept_message());
  Posted posted;
  posted.bytes = bytes_of(count, type);
  posted.receive = true;
  posted.active = true;
  if (std::uint8_t* at = begin_record(span)) {
    end_open(put_message(at, message, posted.bytes), request, posted);
  }
  release(message.group);
}

void sendrecv(const Span& span, int count, MPI_Datatype type, int peer, int tag, int peer2, int tag2,
              MPI_Comm comm, const MPI_Status* status) {
  const Group* group = group_of(comm);
  if (std::uint8_t* at = begin_record(span)) {
    at = put_tag(put_peer(at, world_rank(group, peer)), tag);
    at = put_varint(at, bytes_of(count, type));
    at = put_tag(put_peer(at, world_rank(group, peer2)), tag_of(tag2));
    at = put_varint(at, bytes_of(*status));
    at = put_varint(at, group == nullptr ? 0 : static_cast<std::uint64_t>(group->number));
    end_record(put_actual(at, peer2, tag2, group, *status));
  }
}

}  // namespace wulf::trace
