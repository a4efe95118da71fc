#include "trace/buffer.hpp"

#include <unistd.h>

#include <cstdlib>

#include "trace/file.hpp"
#include "trace/format/crc.hpp"
#include "trace/format/encode.hpp"

namespace wulf::trace {

Buffer buffer;
std::atomic<std::uint64_t> lost_calls = 0;

namespace {

File file;

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

void Buffer::flush() {
  if (_writing.test_and_set(std::memory_order_acquire)) {
    return;  // a signal's handler, in the middle of a flush
  }
  const std::uint64_t filled = _filled.load(std::memory_order_acquire);
  const std::size_t length = filled >> half;
  const auto count = static_cast<std::uint32_t>(filled & UINT32_MAX);
  if (length > 0 && !cut) {
    put_chunk_head(_data, chunk_magic, static_cast<std::uint32_t>(length), count, crc32(payload(), length));
    cut = !file.write_chunk(_data, chunk_head + length, totals);
  }
  totals.records += cut ? 0 : count;
  if (cut) {
    lost_calls.fetch_add(totals.calls - _calls, std::memory_order_relaxed);
    totals.calls = _calls;
  }
  _calls = totals.calls;
  _filled.store(0, std::memory_order_release);
  thread = 0;
  _writing.clear(std::memory_order_release);
}

void Buffer::finish(Ended why, std::uint64_t detail) {
  flush();
  // what comes after an abort, as an exit or a signal, is its consequence
  if (!cut && totals.ended != static_cast<std::uint64_t>(Ended::abort)) {
    totals.ended = static_cast<std::uint64_t>(why);
    totals.detail = detail;
  }
  file.write_done(totals);
}

/// A record longer than a chunk makes a chunk of its own.
std::uint8_t* Buffer::more_room(std::size_t bytes) {
  flush();
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
