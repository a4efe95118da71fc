#include "replay/lower/files.hpp"

#include <array>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "core/json/json.hpp"

namespace wulf::replay {
namespace {

std::string path_of(const std::string& folder, std::uint32_t rank) {
  std::array<char, 32> name{};
  (void)std::snprintf(name.data(), name.size(), "rank-%06u.wtr", rank);
  return folder + "/" + name.data();
}

/// Why a rank's recording ended, by docs/reference/trace-format.md.
std::string ending(std::uint64_t ended, std::uint64_t detail) {
  switch (ended) {
    case 1:
      return "MPI_Abort(" + std::to_string(detail) + ")";
    case 2:
      return "exit without MPI_Finalize";
    case 3:
      return "signal " + std::to_string(detail);
    default:
      return "its file could not be written (errno " + std::to_string(detail) + ")";
  }
}

}  // namespace

RankFile::RankFile(const std::string& folder, std::uint32_t rank)
    : path_(path_of(folder, rank)), rank_(rank) {
  std::error_code unknown;
  if (std::filesystem::is_regular_file(path_, unknown)) {  // a pipe would be waited for
    stream_.open(path_, std::ios::binary);
  }
  if (!stream_.is_open()) {
    throw Error("trace", "rank " + std::to_string(rank) + " has no file that can be read (" + path_ +
                             "): gather the files of all ranks into one folder, or trace again");
  }
  reader_ = std::make_unique<trace::Reader>(stream_);
  refuse_damage();
  read_header();
}

Error RankFile::damaged(const std::string& what) const {
  return {"trace", "the trace of rank " + std::to_string(rank_) + " can't be used (" + path_ + "): " + what +
                       "; trace again"};
}

void RankFile::read_header() {
  const Json header = parse_json(reader_->header()).value_or(nullptr);
  const auto whole = [&](const char* name) {
    const Json* found = header.find(name);
    return found != nullptr && found->is_unsigned();
  };
  if (!whole("rank") || !whole("size")) {
    throw damaged("its header does not say its rank and the number of ranks");
  }
  const auto size = header.at("size").get<std::uint64_t>();
  if (size == 0 || size > trace::most_ranks) {
    throw damaged("its header says " + std::to_string(size) + " ranks, and a run has " +
                  std::to_string(trace::most_ranks) + " at most");
  }
  if (header.at("rank") != rank_) {
    throw damaged("it is that of rank " + header.at("rank").dump());
  }
  ranks_ = static_cast<std::uint32_t>(size);
  reader_->hold_to(ranks_);
  cost_ns_ = whole("cost_ns") ? header.at("cost_ns").get<std::uint64_t>() : 0;
  if (header.contains("mpi")) {
    mpi_ = header.at("mpi").is_string() ? header.at("mpi").get<std::string>() : header.at("mpi").dump();
  }
}

void RankFile::refuse_damage() const {
  if (!reader_->damages().empty()) {
    const trace::Damage& first = reader_->damages().front();
    throw damaged("in chunk " + std::to_string(first.chunk) + ", at byte " + std::to_string(first.offset) +
                  ", " + first.what);
  }
}

bool RankFile::next(trace::Record& record) {
  while (reader_->next(record)) {
    if (record.op != trace::Op::site_name) {
      ++number_;
      return true;
    }
    ++number_;
  }
  refuse_damage();
  return false;
}

std::optional<std::string> RankFile::cut() const {
  const std::optional<trace::Totals>& totals = reader_->totals();
  if (!totals || totals->ended == 0) {
    return std::nullopt;
  }
  return ending(totals->ended, totals->detail);
}

std::uint32_t ranks_of_trace(const std::string& folder) {
  constexpr std::size_t kNamed = 10;
  const std::uint32_t ranks = RankFile(folder, 0).ranks();
  std::string missing;
  std::size_t count = 0;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    if (std::filesystem::exists(path_of(folder, rank))) {
      continue;
    }
    if (++count <= kNamed) {
      missing += (missing.empty() ? "" : ", ") + std::to_string(rank);
    }
  }
  if (count > 0) {
    throw Error("trace", std::to_string(count) + " of " + std::to_string(ranks) + " ranks have no file in " +
                             folder + ": rank " + missing + (count > kNamed ? ", …" : "") +
                             "; gather the files of all hosts into that folder");
  }
  return ranks;
}

}  // namespace wulf::replay
