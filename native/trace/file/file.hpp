#pragma once

#include <cstddef>
#include <cstdint>

#include "trace/format/fields.hpp"

namespace wulf::trace {

/// The trace file of this rank. All of it is safe in a signal's handler, but for the first two.
class File {
 public:
  /// Make `rank-NNNNNN.wtr` in the folder. False: it can't be, and why was said.
  bool open(const char* folder, int rank);

  /// The file's begin. False: it can't be written, and why was said.
  bool write_header(const char* header, std::size_t length) const;

  /// Write a chunk, its head included, after the ones before; `totals.bytes` is how far the file goes. False:
  /// it can't be written, and is cut from now on: its end says so.
  bool write_chunk(const std::uint8_t* chunk, std::size_t length, Totals& totals) const;

  /// Write "DONE" behind the chunks; it may be written again.
  void write_done(const Totals& totals) const;

  /// Whether this process has the file open: not after a fork, nor where the program closed what is not its
  /// own.
  [[nodiscard]] bool ours() const;

 private:
  bool write_at(std::uint64_t offset, const std::uint8_t* data, std::size_t length) const;
  void cut(Totals& totals, int why) const;

  int _file = -1;
  int _process = 0;
  std::uint64_t _device = 0;
  std::uint64_t _inode = 0;
  int _rank = 0;
};

}  // namespace wulf::trace
