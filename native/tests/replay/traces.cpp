#include "tests/replay/traces.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>

#include "trace/format/encode_record.hpp"

namespace wulf::replay {

TraceFolder::TraceFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "wulf-trace-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    throw std::runtime_error("no folder for a test can be made in " + pattern);
  }
  path_ = pattern;
}

TraceFolder::~TraceFolder() { std::filesystem::remove_all(path_); }

std::string TraceFolder::file(int rank) const {
  std::array<char, 32> name{};
  (void)std::snprintf(name.data(), name.size(), "/rank-%06d.wtr", rank);
  return path_ + name.data();
}

void TraceFolder::write(int rank, int ranks, const std::vector<trace::Record>& records, std::uint64_t ended,
                        const std::string& mpi) const {
  const std::string header = R"({"rank": )" + std::to_string(rank) + R"(, "size": )" + std::to_string(ranks) +
                             R"(, "mpi": ")" + mpi + R"(", "cost_ns": 10})";
  trace::Totals totals;
  totals.ended = ended;
  std::ofstream(file(rank), std::ios::binary) << trace::trace_file(header, records, 100, totals);
}

void TraceFolder::write_all(const std::vector<std::vector<trace::Record>>& ranks) const {
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    write(static_cast<int>(rank), static_cast<int>(ranks.size()), ranks[rank]);
  }
}

trace::Record called(trace::Op op, std::uint64_t gap_ns, std::uint64_t call_ns) {
  trace::Record record;
  record.op = op;
  record.gap_ns = gap_ns;
  record.call_ns = call_ns;
  record.comm = trace::world;
  return record;
}

trace::Record message(trace::Op op, std::int32_t peer, std::int32_t tag, std::uint64_t bytes,
                      std::int32_t request) {
  trace::Record record = called(op);
  record.peer = peer;
  record.tag = tag;
  record.source = peer;
  record.source_tag = tag;
  record.bytes = bytes;
  record.request = request;
  return record;
}

trace::Record completed(trace::Op op, std::initializer_list<trace::Completion> completions) {
  trace::Record record = called(op);
  record.completions = completions;
  record.given = completions.size();
  return record;
}

trace::Completion done(std::int32_t request) {
  trace::Completion completion;
  completion.request = request;
  return completion;
}

trace::Record collective(trace::Op op, std::uint64_t bytes, std::int32_t root) {
  trace::Record record = called(op);
  record.bytes = bytes;
  record.root = root;
  return record;
}

std::vector<std::string> told(const Program& program, std::uint32_t rank) {
  std::vector<std::string> list;
  std::map<std::uint32_t, std::size_t> posts;  // by message
  for (std::uint32_t op = program.first[rank]; op < program.first[rank + 1]; ++op) {
    const std::uint32_t arg = program.arg[op];
    switch (program.kind[op]) {
      case OpKind::kCalc:
        list.push_back("calc " + std::to_string(program.durations[arg]));
        break;
      case OpKind::kSend:
        posts.emplace(arg, posts.size());
        list.push_back("send " + std::to_string(program.bytes_of(arg)) + " to " +
                       std::to_string(program.messages.to[arg]));
        break;
      case OpKind::kRecv:
        posts.emplace(arg, posts.size());
        list.push_back("recv from " + std::to_string(program.messages.from[arg]));
        break;
      default:
        list.push_back("wait " + std::to_string(posts.at(arg)));
    }
  }
  return list;
}

}  // namespace wulf::replay
