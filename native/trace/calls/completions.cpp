// Wait and Test: what had completed.

#include <algorithm>
#include <cstdlib>

#include "trace/calls/recording.hpp"
#include "trace/calls/under_way.hpp"
#include "trace/file/buffer.hpp"

namespace wulf::trace {

Requests under_way;

namespace {

std::uint64_t* keys_for(int count) {
  if (count <= kept_at_hand) {
    return thread.at_hand;
  }
  if (count > thread.keys_room) {
    std::free(thread.keys);
    thread.keys =
        static_cast<std::uint64_t*>(std::malloc(static_cast<std::size_t>(count) * sizeof(std::uint64_t)));
    thread.keys_room = thread.keys == nullptr ? 0 : count;
  }
  return thread.keys;
}

const std::uint64_t* kept_keys(const Span& span) {
  return span.kept() <= kept_at_hand ? thread.at_hand : thread.keys;
}

bool is_null(std::uint64_t key) { return key == key_of(MPI_REQUEST_NULL); }

std::uint64_t given(const Span& span) {
  const std::uint64_t* keys = kept_keys(span);
  return static_cast<std::uint64_t>(
      std::count_if(keys, keys + span.kept(), [](std::uint64_t key) { return !is_null(key); }));
}

bool was_cancelled_by(const Posted& posted, const MPI_Status& status) {
  int flag = 0;
  if (posted.cancelled) {
    PMPI_Test_cancelled(&status, &flag);
  }
  return flag != 0;
}

/// What is to be told of a completed request beside its id.
std::uint64_t flags_of(const Posted& posted, const MPI_Status& status, std::uint64_t bytes) {
  if (was_cancelled_by(posted, status)) {
    return was_cancelled;
  }
  return posted.receive ? (posted.wildcard ? told_source : 0) | (bytes != posted.bytes ? told_bytes : 0) : 0;
}

/// Forget what has completed; of a persistent request, that it was active.
void complete(std::uint64_t key, std::int32_t id) {
  Posted& posted = under_way.of(id);
  if (posted.persistent) {
    posted.active = false;
    posted.cancelled = false;
    return;
  }
  release(const_cast<Group*>(posted.group));  // NOLINT(cppcoreguidelines-pro-type-const-cast) - its last user
  under_way.close(key, id);
}

/// One completion. Of a null or inactive request nothing happened.
std::uint8_t* put_completed(std::uint8_t* at, std::uint64_t key, const MPI_Status* status) {
  const std::int32_t id = under_way.look(key, thread.number);
  if (id < 0) {
    buffer.totals.unknown_requests += is_null(key) ? 0 : 1;
    return put_completion(at, none, 0, any, any, 0);
  }
  const Posted& posted = under_way.of(id);
  if (!posted.active) {
    return put_completion(at, none, 0, any, any, 0);
  }
  if (!posted.receive && !posted.cancelled) {
    complete(key, id);
    return put_completion(at, id, 0, any, any, 0);
  }
  const std::uint64_t bytes = posted.receive ? bytes_of(*status) : 0;
  const std::uint64_t flags = flags_of(posted, *status, bytes);
  at = put_completion(at, id, flags, world_rank(posted.group, status->MPI_SOURCE), tag_of(status->MPI_TAG),
                      bytes);
  complete(key, id);
  return at;
}

/// Whether a completion of this request is one.
bool counts(std::uint64_t key) {
  if (is_null(key)) {
    return false;
  }
  const std::int32_t id = under_way.look(key, thread.number);
  return id < 0 || under_way.of(id).active;
}

/// A record of those kept requests that `index_of` names, each with its status.
template <typename IndexOf>
void record_completions(const Span& span, int count, IndexOf index_of, const MPI_Status* statuses) {
  const std::uint64_t* keys = kept_keys(span);
  std::uint8_t* at = begin_record(span, static_cast<std::size_t>(count) * completion_most);
  if (at == nullptr) {
    return;
  }
  std::uint64_t done = 0;
  for (int i = 0; i < count; i++) {
    done += counts(keys[index_of(i)]) ? 1 : 0;
  }
  at = put_varint(put_varint(at, given(span)), done);
  for (int i = 0; i < count && done > 0; i++) {
    if (counts(keys[index_of(i)])) {
      at = put_completed(at, keys[index_of(i)], &statuses[i]);
      done--;
    }
  }
  for (; done > 0; done--) {  // a handle that was given twice
    at = put_completion(at, none, 0, any, any, 0);
  }
  end_record(at);
}

/// The ids of the kept requests, which they keep.
void record_requests(const Span& span) {
  const std::uint64_t* keys = kept_keys(span);
  std::uint8_t* at = begin_record(span, static_cast<std::size_t>(span.kept()) * varint_most);
  if (at == nullptr) {
    return;
  }
  at = put_varint(at, static_cast<std::uint64_t>(span.kept()));
  for (int i = 0; i < span.kept(); i++) {
    const std::int32_t id = under_way.look(keys[i], thread.number);
    if (id >= 0) {
      under_way.of(id).active = true;
    }
    at = put_tag(at, id);
  }
  end_record(at);
}

void record_request(const Span& span, std::uint64_t key) {
  if (std::uint8_t* at = begin_record(span)) {
    end_record(put_tag(at, under_way.look(key, thread.number)));
  }
}

int itself(int i) { return i; }

}  // namespace

void Span::keep(int count, const MPI_Request* requests) {
  std::uint64_t* keys = _traced && count >= 0 ? keys_for(count) : nullptr;
  _traced = keys != nullptr;
  _kept = _traced ? count : 0;
  for (int i = 0; i < _kept; i++) {
    keys[i] = key_of(requests[i]);
  }
}

void Span::keep_f(int count, const MPI_Fint* requests) {
  std::uint64_t* keys = _traced && count >= 0 ? keys_for(count) : nullptr;
  _traced = keys != nullptr;
  _kept = _traced ? count : 0;
  for (int i = 0; i < _kept; i++) {
    keys[i] = key_of(MPI_Request_f2c(requests[i]));
  }
}

MPI_Status* Span::statuses(int count, MPI_Status* given) {
  if (!_traced || given != MPI_STATUSES_IGNORE) {
    return given;
  }
  if (count <= 1) {
    return &thread.status;
  }
  if (count > thread.statuses_room) {
    std::free(thread.statuses);
    thread.statuses =
        static_cast<MPI_Status*>(std::malloc(static_cast<std::size_t>(count) * sizeof(MPI_Status)));
    thread.statuses_room = thread.statuses == nullptr ? 0 : count;
  }
  _traced = thread.statuses != nullptr;
  return _traced ? thread.statuses : given;
}

std::int32_t open_request(MPI_Request request) {
  Posted posted;
  posted.active = true;
  posted.thread = thread.number;
  return under_way.open(key_of(request), posted);
}

void start(const Span& span) { record_requests(span); }
void startall(const Span& span) { record_requests(span); }

void cancel(const Span& span) {
  const std::uint64_t key = kept_keys(span)[0];
  const std::int32_t id = under_way.look(key, thread.number);
  if (id >= 0) {
    under_way.of(id).cancelled = true;
  }
  record_request(span, key);
}

void request_free(const Span& span) {
  const std::uint64_t key = kept_keys(span)[0];
  record_request(span, key);
  const std::int32_t id = under_way.look(key, thread.number);
  if (id >= 0) {
    under_way.of(id).persistent = false;
    complete(key, id);
  }
}

void get_status(const Span& span, MPI_Request request, int flag) {
  if (flag != 0) {
    record_request(span, key_of(request));
  } else {
    failed_test(span);
  }
}

void wait(const Span& span, const MPI_Status* status) {
  const std::uint64_t key = kept_keys(span)[0];
  if (std::uint8_t* at = begin_record(span)) {
    end_record(put_completed(at, key, status));
  }
}

void waitall(const Span& span, const MPI_Status* statuses) {
  record_completions(span, span.kept(), itself, statuses);
}

void waitany(const Span& span, int index, const MPI_Status* status) {
  record_completions(
      span, index >= 0 ? 1 : 0, [=](int) { return index; }, status);
}

void waitsome(const Span& span, int count, Indices indices, const MPI_Status* statuses) {
  record_completions(
      span, count > 0 ? count : 0, [=](int i) { return indices[i]; }, statuses);
}

void test(const Span& span, int flag, const MPI_Status* status) {
  if (flag != 0) {
    wait(span, status);
  } else {
    failed_test(span);
  }
}

void testall(const Span& span, int flag, const MPI_Status* statuses) {
  if (flag != 0) {
    waitall(span, statuses);
  } else {
    failed_test(span);
  }
}

void testany(const Span& span, int flag, int index, const MPI_Status* status) {
  if (flag != 0) {
    waitany(span, index, status);
  } else {
    failed_test(span);
  }
}

void testsome(const Span& span, int count, Indices indices, const MPI_Status* statuses) {
  if (count != 0) {
    waitsome(span, count, indices, statuses);
  } else {
    failed_test(span);
  }
}

}  // namespace wulf::trace
