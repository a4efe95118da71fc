#include "node/noise/stolen.hpp"

#include <algorithm>

namespace wulf::node {
namespace {

/// A task's leaving or coming, on whichever CPU.
struct Turn {
  Nanoseconds at;
  bool comes;
  bool runnable;
  std::size_t cpu;
};

std::vector<Turn> turns_of(std::int64_t task, std::span<const CpuHistory> cpus) {
  std::vector<Turn> turns;
  for (std::size_t cpu = 0; cpu < cpus.size(); ++cpu) {
    for (const Change& change : cpus[cpu].changes) {
      if (change.from == task) {
        turns.push_back({change.at, false, change.runnable, cpu});
      } else if (change.to == task) {
        turns.push_back({change.at, true, false, cpu});
      }
    }
  }
  std::stable_sort(turns.begin(), turns.end(), [](const Turn& a, const Turn& b) { return a.at < b.at; });
  return turns;
}

bool is_task(Source source) { return source == Source::kTask || source == Source::kKernelThread; }

}  // namespace

std::vector<Piece> stolen_from(std::int64_t task, std::span<const CpuHistory> cpus, const Culprits& culprits,
                               Nanoseconds edge) {
  std::vector<Piece> stolen;
  for (const CpuHistory& cpu : cpus) {
    std::copy_if(cpu.pieces.begin(), cpu.pieces.end(), std::back_inserter(stolen), [&](const Piece& piece) {
      return piece.task == task &&
             (!is_task(culprits.at(piece.who).source) || culprits.at(piece.who).pid != task);
    });
  }
  const std::vector<Turn> turns = turns_of(task, cpus);
  for (std::size_t i = 0; i + 1 < turns.size(); ++i) {
    const Turn& leaves = turns[i];
    const Turn& comes = turns[i + 1];
    if (!leaves.comes && leaves.runnable && comes.comes) {
      for (const Piece& piece : split({leaves.at, comes.at - leaves.at}, cpus[leaves.cpu].pieces, edge)) {
        if (piece.task != task) {
          stolen.push_back(piece);
        }
      }
    }
  }
  std::stable_sort(stolen.begin(), stolen.end(), [](const Piece& a, const Piece& b) { return a.at < b.at; });
  return stolen;
}

std::vector<Piece> longest_of(std::vector<Piece> pieces, std::size_t most) {
  if (pieces.size() > most) {
    std::nth_element(pieces.begin(), pieces.begin() + static_cast<std::ptrdiff_t>(most), pieces.end(),
                     [](const Piece& a, const Piece& b) { return a.length > b.length; });
    pieces.resize(most);
    std::stable_sort(pieces.begin(), pieces.end(),
                     [](const Piece& a, const Piece& b) { return a.at < b.at; });
  }
  return pieces;
}

}  // namespace wulf::node
