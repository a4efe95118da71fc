#pragma once

#include <string>
#include <vector>

#include "trace/format/record.hpp"

namespace wulf::trace {

/// Append a record's bytes: its operation and that one's fields. Notes of threads and sites are records, too.
void encode(const Record& record, std::vector<std::uint8_t>& out);

/// A whole trace file of these records, so many to a chunk: what tests read, and what an importer writes.
///
/// A note of the thread is put in where a record's thread is another than the one before.
std::string trace_file(const std::string& header, const std::vector<Record>& records, std::size_t per_chunk,
                       Totals totals = {});

}  // namespace wulf::trace
