#pragma once

#include <cstdint>
#include <fstream>
#include <memory>
#include <optional>
#include <string>

#include "core/json/error.hpp"
#include "trace/format/decode.hpp"

namespace wulf::replay {

/// A rank's file of a trace, read record by record.
class RankFile {
 public:
  /// Throws `trace`, which names the rank, where the file is not there, is of another version, or says that
  /// it is of another rank.
  RankFile(const std::string& folder, std::uint32_t rank);

  /// The next record; false where the file is at its end. Throws `trace` with rank, chunk and offset where
  /// the file is torn or damaged: what other ranks wait for would be missing.
  bool next(trace::Record& record);

  /// From 1; that of the record which next() gave last.
  [[nodiscard]] std::uint32_t number() const { return number_; }
  [[nodiscard]] std::uint32_t ranks() const { return ranks_; }
  [[nodiscard]] const std::string& mpi() const { return mpi_; }
  /// What recording a call took: it lies in the gap of the call after.
  [[nodiscard]] std::uint64_t cost_ns() const { return cost_ns_; }
  /// Where the rank was cut: why, for people. Known at the file's end.
  [[nodiscard]] std::optional<std::string> cut() const;

 private:
  void read_header();
  void refuse_damage() const;
  [[nodiscard]] Error damaged(const std::string& what) const;

  std::string path_;
  std::uint32_t rank_;
  std::ifstream stream_;
  std::unique_ptr<trace::Reader> reader_;
  std::uint32_t number_ = 0;
  std::uint32_t ranks_ = 0;
  std::string mpi_;
  std::uint64_t cost_ns_ = 0;
};

/// How many ranks the trace in this folder has, by the header of its first one. Throws `trace` where there
/// are none, and where a rank's file is missing: the first ten are named.
[[nodiscard]] std::uint32_t ranks_of_trace(const std::string& folder);

}  // namespace wulf::replay
