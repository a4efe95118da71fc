#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "replay/program/program.hpp"
#include "trace/format/record.hpp"

namespace wulf::replay {

/// A folder with a trace in it, gone at the end.
class TraceFolder {
 public:
  TraceFolder();
  TraceFolder(const TraceFolder&) = delete;
  TraceFolder& operator=(const TraceFolder&) = delete;
  TraceFolder(TraceFolder&&) = delete;
  TraceFolder& operator=(TraceFolder&&) = delete;
  ~TraceFolder();

  /// Writes the file of one of `ranks` ranks. `ended` as "DONE" says it.
  void write(int rank, int ranks, const std::vector<trace::Record>& records, std::uint64_t ended = 0,
             const std::string& mpi = "Open MPI v4.1.4") const;
  /// Writes one for each.
  void write_all(const std::vector<std::vector<trace::Record>>& ranks) const;
  [[nodiscard]] std::string file(int rank) const;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// A record with these times.
[[nodiscard]] trace::Record called(trace::Op op, std::uint64_t gap_ns = 0, std::uint64_t call_ns = 0);
[[nodiscard]] trace::Record message(trace::Op op, std::int32_t peer, std::int32_t tag, std::uint64_t bytes,
                                    std::int32_t request = trace::none);
[[nodiscard]] trace::Record completed(trace::Op op, std::initializer_list<trace::Completion> completions);
[[nodiscard]] trace::Completion done(std::int32_t request);
[[nodiscard]] trace::Record collective(trace::Op op, std::uint64_t bytes, std::int32_t root = trace::any);

/// A rank's operations as text: "calc 5000", "send 8 to 1", "recv from 0", "wait 0" (index of the post).
[[nodiscard]] std::vector<std::string> told(const Program& program, std::uint32_t rank);

}  // namespace wulf::replay
