#include <cstdlib>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "core/json/error.hpp"
#include "core/json/json.hpp"
#include "fuzz/targets.hpp"
#include "replay/lower/lower.hpp"
#include "replay/program/builder.hpp"
#include "tests/replay/traces.hpp"
#include "trace/format/decode.hpp"
#include "trace/format/encode_record.hpp"

namespace wulf::fuzz {
namespace {

using trace::Record;
using Bytes = std::span<const std::uint8_t>;

constexpr std::uint64_t kRanks = 2;

/// A whole file, whatever it holds.
void read_file(Bytes bytes) {
  std::istringstream stream(std::string(bytes.begin(), bytes.end()));
  trace::Reader reader(stream);
  reader.hold_to(kRanks);
  Record record;
  while (reader.next(record)) {
  }
}

/// What was decoded says the same when it is encoded again.
void check_round_trip(const Record& record) {
  std::vector<std::uint8_t> bytes;
  trace::encode(record, bytes);
  const std::uint8_t* end = bytes.data() + bytes.size();
  Record again;
  if (trace::decode(bytes.data(), end, again) != end || again != record) {
    std::abort();
  }
}

/// The records that bytes hold, one after the other, until one can't be understood.
std::vector<Record> records_in(Bytes bytes) {
  std::vector<Record> found;
  const std::uint8_t* at = bytes.data();
  const std::uint8_t* end = at + bytes.size();
  const trace::Limits limits(kRanks);
  while (at != end) {
    Record record;
    at = trace::decode(at, end, record, trace::file_version, limits);
    if (at == nullptr) {
      break;
    }
    check_round_trip(record);
    found.push_back(std::move(record));
  }
  return found;
}

/// The trace of a run whose ranks have these records, sound but for what they say.
void lower(Bytes first, Bytes second) {
  static const replay::TraceFolder folder;
  folder.write_all({records_in(first), records_in(second)});
  try {
    (void)replay::lower_trace(folder.path(), Json::object(), replay::ProgramBuilder::kUnscaled);
  } catch (const Error&) {  // refused: whoever gave the trace is told
    return;
  }
}

}  // namespace

void trace(const std::uint8_t* data, std::size_t size) {
  const Bytes bytes(data, size);
  read_file(bytes);
  lower(bytes.first(size / 2), bytes.subspan(size / 2));
}

}  // namespace wulf::fuzz
