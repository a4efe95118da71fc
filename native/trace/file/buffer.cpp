#include "trace/file/buffer.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>

#include "interpose/ticks.hpp"
#include "trace/file/file.hpp"
#include "trace/format/crc.hpp"
#include "trace/format/encode.hpp"

namespace wulf::trace {

Buffer buffer;
std::atomic<std::uint64_t> lost_calls = 0;

namespace {

File file;

/// What comes after an abort, as an exit or a signal, is its consequence; what can't be written said so
/// itself.
void say_why(Totals& totals, Ended why, std::uint64_t detail) {
  if (totals.ended != static_cast<std::uint64_t>(Ended::abort) &&
      totals.ended != static_cast<std::uint64_t>(Ended::unwritable)) {
    totals.ended = static_cast<std::uint64_t>(why);
    totals.detail = detail;
  }
}

}  // namespace

bool Buffer::open(const char* folder, int rank) {
  _data = static_cast<std::uint8_t*>(std::malloc(chunk_most));
  _room = chunk_most - chunk_head;
  return _data != nullptr && file.open(folder, rank);
}

bool Buffer::write_header(const char* header, std::size_t length) {
  totals.bytes = file_head + length;
  return file.write_header(header, length);
}

bool Buffer::ours() { return file.ours(); }

void Buffer::drop() {
  _filled = 0;
  thread = 0;
  const std::uint64_t bytes = totals.bytes;
  totals = Totals{};
  _calls = 0;
  totals.bytes = bytes;
}

/// A thread whose handler jumped out of its middle never ends its writing.
Buffer::Turn Buffer::begin_writing() {
  constexpr std::uint64_t patience_ns = 1'000'000'000;
  const auto caller = static_cast<std::int32_t>(syscall(SYS_gettid));
  const std::uint64_t until = interpose::monotonic() + patience_ns;
  while (_writing.test_and_set(std::memory_order_acquire)) {
    if (_writer.load(std::memory_order_relaxed) == caller) {
      return Turn::interrupted;
    }
    if (interpose::monotonic() > until) {
      return Turn::others;
    }
    sched_yield();
  }
  _writer.store(caller, std::memory_order_relaxed);
  return Turn::own;
}

void Buffer::end_writing() {
  _writer.store(0, std::memory_order_relaxed);
  _writing.clear(std::memory_order_release);
}

/// What is whole at this moment, as a chunk behind those of `into`. False: the file can't be written.
bool Buffer::write_filled(Totals& into) {
  const std::uint64_t filled = _filled.load(std::memory_order_acquire);
  const std::size_t length = filled >> half;
  const auto count = static_cast<std::uint32_t>(filled & UINT32_MAX);
  if (length > 0) {
    put_chunk_head(_data, chunk_magic, static_cast<std::uint32_t>(length), count, crc32(payload(), length));
    if (!file.write_chunk(_data, chunk_head + length, into)) {
      return false;
    }
  }
  into.records += count;
  return true;
}

bool Buffer::flush() {
  if (begin_writing() != Turn::own) {
    return false;
  }
  cut = cut || !write_filled(totals);
  if (cut) {
    lost_calls.fetch_add(totals.calls - _calls, std::memory_order_relaxed);
    totals.calls = _calls;
  }
  _calls = totals.calls;
  _filled.store(0, std::memory_order_release);
  thread = 0;
  end_writing();
  return true;
}

void Buffer::finish(Ended why, std::uint64_t detail) {
  flush();
  const Turn turn = begin_writing();
  if (turn == Turn::others) {
    return;
  }
  say_why(totals, why, detail);
  file.write_done(totals);
  if (turn == Turn::own) {
    end_writing();
  }
}

void Buffer::finish_for_now(Ended why, std::uint64_t detail, void (*take_stock)(Totals& totals)) {
  const Turn turn = begin_writing();
  if (turn == Turn::others) {
    return;
  }
  Totals now = totals;
  take_stock(now);
  if (turn == Turn::own && !cut) {
    write_filled(now);
  }
  say_why(now, why, detail);
  file.write_done(now);
  if (turn == Turn::own) {
    end_writing();
  }
}

/// A record longer than a chunk makes a chunk of its own.
std::uint8_t* Buffer::more_room(std::size_t bytes) {
  if (!flush()) {
    return nullptr;
  }
  if (bytes > _room) {
    auto* larger = static_cast<std::uint8_t*>(std::realloc(_data, bytes + chunk_head));
    if (larger == nullptr) {
      return nullptr;
    }
    _data = larger;
    _room = bytes;
  }
  return payload();
}

}  // namespace wulf::trace
