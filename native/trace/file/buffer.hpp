#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "trace/format/fields.hpp"

namespace wulf::trace {

/// What this process has recorded, and not yet written: one chunk. Where several threads record, the caller
/// holds the lock; a signal's handler may write out what is whole at any moment.
class Buffer {
 public:
  /// A buffer for one chunk, and the file. False: one of them can't be had.
  bool open(const char* folder, int rank);

  /// The file's begin, and how long it is. False: it can't be written.
  bool write_header(const char* header, std::size_t length);

  /// A place for so many bytes; null: there is no memory for them. Writes out what there is where it must.
  std::uint8_t* room(std::size_t bytes) {
    const std::size_t used = this->used();
    return used + bytes <= _room ? payload() + used : more_room(bytes);
  }

  /// So many records, of so many calls, end at `at`.
  void commit(const std::uint8_t* at, std::uint64_t records, std::uint64_t calls) {
    _filled.store((static_cast<std::uint64_t>(at - payload()) << half) | (this->records() + records),
                  std::memory_order_release);
    totals.calls += calls;
  }

  /// Write out what is there, as a chunk. False: another thread writes, and does not come to an end of it.
  bool flush();

  /// The same, and the end of the trace. More may come after, and another end.
  void finish(Ended why, std::uint64_t detail);

  /// For a signal's handler: the file says what finish would have it say, and nothing else is changed. If the
  /// program goes on, what is written next takes the place of this. `take_stock` completes the totals.
  void finish_for_now(Ended why, std::uint64_t detail, void (*take_stock)(Totals& totals));

  /// Forget what was recorded and not written: it was none of the program's.
  void drop();

  /// Whether this is the process that records, and not a copy by fork.
  [[nodiscard]] static bool ours();

  // NOLINTBEGIN(*-non-private-member-variables-in-classes) - the calls and the file's end count in them
  /// A chunk has begun that no thread was noted in.
  std::int32_t thread = 0;

  Totals totals;
  /// The file can't be written any more.
  bool cut = false;
  // NOLINTEND(*-non-private-member-variables-in-classes)

 private:
  static constexpr unsigned half = 32;

  /// Of a thread that wants to write: it may, it was interrupted while it did, or another one is at it.
  enum class Turn : std::uint8_t { own, interrupted, others };

  Turn begin_writing();
  void end_writing();
  bool write_filled(Totals& into);

  [[nodiscard]] std::uint8_t* payload() const { return _data + chunk_head; }
  [[nodiscard]] std::size_t used() const { return _filled.load(std::memory_order_relaxed) >> half; }
  [[nodiscard]] std::uint64_t records() const { return _filled.load(std::memory_order_relaxed) & UINT32_MAX; }
  std::uint8_t* more_room(std::size_t bytes);

  std::uint8_t* _data = nullptr;
  std::size_t _room = 0;
  std::atomic<std::uint64_t> _filled =
      0;                     ///< bytes in the upper half, records in the lower one: of one moment
  std::uint64_t _calls = 0;  ///< of the chunks that are written
  std::atomic_flag _writing;
  std::atomic<std::int32_t> _writer = 0;  ///< the thread that writes; 0: none
};

extern Buffer buffer;

/// Calls that are recorded nowhere, since the file can't be written any more.
extern std::atomic<std::uint64_t> lost_calls;

}  // namespace wulf::trace
