#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/json.hpp"
#include "fuzz/targets.hpp"
#include "replay/builder.hpp"
#include "replay/lower.hpp"
#include "trace/format/decode.hpp"
#include "trace/format/encode_record.hpp"

namespace wulf::fuzz {
namespace {

using trace::Record;
using Bytes = std::span<const std::uint8_t>;

constexpr std::size_t kRanks = 2;

/// In memory, for as long as the process lives.
class Folder {
 public:
  Folder() {
    std::string pattern = "/dev/shm/wulf-fuzz-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) {
      std::abort();
    }
    path_ = pattern;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  Folder(Folder&&) = delete;
  Folder& operator=(Folder&&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// A whole file, whatever it holds.
void read_file(Bytes bytes) {
  std::istringstream stream(std::string(bytes.begin(), bytes.end()));
  trace::Reader reader(stream);
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
  while (at != end) {
    Record record;
    at = trace::decode(at, end, record);
    if (at == nullptr) {
      break;
    }
    check_round_trip(record);
    found.push_back(std::move(record));
  }
  return found;
}

/// The trace of a run whose ranks have these records, sound but for what they say.
void lower(const std::array<Bytes, kRanks>& ranks) {
  constexpr std::size_t kPerChunk = 3;
  static const Folder folder;
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    const Json header{{"rank", rank}, {"size", kRanks}, {"mpi", "Open MPI 4.1"}, {"cost_ns", 10}};
    std::ofstream(folder.path() + "/rank-00000" + std::to_string(rank) + ".wtr", std::ios::binary)
        << trace::trace_file(header.dump(), records_in(ranks[rank]), kPerChunk);
  }
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
  lower({bytes.first(size / 2), bytes.subspan(size / 2)});
}

}  // namespace wulf::fuzz
