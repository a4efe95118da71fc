#pragma once

#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <vector>

#include "trace/format/record.hpp"

namespace wulf::trace {

/// What is wrong with a trace file, and where.
struct Damage {
  std::uint64_t chunk = 0;   ///< from 0; of a file without a usable header, 0
  std::uint64_t offset = 0;  ///< bytes from the file's begin to the chunk, or to where the bytes end
  std::string what;          ///< "the checksum differs", "it ends within a chunk" …
};

/// Reads a rank's trace, one chunk in memory at a time.
///
/// Never throws for what a file holds: what can't be read is a damage, and all whole chunks are read. After a
/// damaged chunk whose length leads to another one reading goes on there.
class Reader {
 public:
  /// Reads the header. The stream is the caller's, binary, and at the file's begin.
  explicit Reader(std::istream& from);

  /// The JSON object that the file begins with; empty where there is none.
  [[nodiscard]] const std::string& header() const { return _header; }

  /// The records that follow are of a run of so many ranks: lists of more entries are damage.
  void hold_to(std::uint64_t ranks) { _limits = Limits(ranks); }

  /// The version that the file names; 0 where it is no trace.
  [[nodiscard]] std::uint16_t version() const { return _version; }

  /// The next record, notes of threads and sites left out (they are in the record). False: there is none.
  bool next(Record& record);

  /// What "DONE" says; none where the file ends before.
  [[nodiscard]] const std::optional<Totals>& totals() const { return _totals; }

  /// All that was wrong with what has been read so far.
  [[nodiscard]] const std::vector<Damage>& damages() const { return _damages; }

  /// Chunk and offset of the record that `next` gave last, for messages: the chunk's own begin.
  [[nodiscard]] std::uint64_t chunk() const { return _chunk; }
  [[nodiscard]] std::uint64_t offset() const { return _begin; }

 private:
  bool read_header();
  bool next_chunk();
  bool take_chunk(const std::uint8_t* head);
  bool read(void* into, std::size_t length);
  void damage(const std::string& what);
  bool stop(const std::string& what);
  bool decoded(Record& record);

  std::istream& _from;
  std::string _header;
  std::uint16_t _version = 0;
  std::optional<Totals> _totals;
  std::vector<Damage> _damages;
  std::vector<std::uint8_t> _payload;
  const std::uint8_t* _at = nullptr;
  std::uint64_t _left = 0;   ///< records of the chunk that are not read
  std::uint64_t _chunk = 0;  ///< number of the chunk at hand
  std::uint64_t _chunks = 0;
  std::uint64_t _begin = 0;   ///< where it begins
  std::uint64_t _offset = 0;  ///< what is read of the file
  Limits _limits;
  std::uint32_t _thread = 0;
  std::uint32_t _site = 0;
  bool _over;
};

/// Decode one record at `at`, its operation's number first; the place after it. Null: it is none, or goes
/// beyond `end`, or a list beyond the limits. `version` is the file's.
const std::uint8_t* decode(const std::uint8_t* at, const std::uint8_t* end, Record& record,
                           std::uint16_t version = file_version, const Limits& limits = {});

}  // namespace wulf::trace
