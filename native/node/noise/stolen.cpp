#include "node/noise/stolen.hpp"

#include <algorithm>
#include <tuple>

namespace wulf::node {
namespace {

/// A task's leaving or coming, on whichever CPU.
struct Handover {
  Nanoseconds at;
  bool comes;
  bool runnable;
  std::size_t cpu;
};

std::vector<Handover> handovers_of(std::int64_t task, std::span<const CpuHistory> cpus) {
  std::vector<Handover> handovers;
  for (std::size_t cpu = 0; cpu < cpus.size(); ++cpu) {
    for (const Change& change : cpus[cpu].changes) {
      if (change.from == task) {
        handovers.push_back({change.at, false, change.runnable, cpu});
      } else if (change.to == task) {
        handovers.push_back({change.at, true, false, cpu});
      }
    }
  }
  std::sort(handovers.begin(), handovers.end(), [](const Handover& a, const Handover& b) {
    return std::tie(a.at, a.comes) < std::tie(b.at, b.comes);
  });
  return handovers;
}

bool earlier(const Piece& a, const Piece& b) {
  return std::tie(a.at, a.length, a.who) < std::tie(b.at, b.length, b.who);
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
  const std::vector<Handover> handovers = handovers_of(task, cpus);
  for (std::size_t i = 0; i + 1 < handovers.size(); ++i) {
    const Handover& leaves = handovers[i];
    const Handover& comes = handovers[i + 1];
    if (!leaves.comes && leaves.runnable && comes.comes) {
      for (const Piece& piece : split({leaves.at, comes.at - leaves.at}, cpus[leaves.cpu].pieces, edge)) {
        if (piece.task != task) {
          stolen.push_back(piece);
        }
      }
    }
  }
  std::sort(stolen.begin(), stolen.end(), earlier);
  return stolen;
}

std::vector<Piece> longest_of(std::vector<Piece> pieces, std::size_t most) {
  if (pieces.size() > most) {
    std::nth_element(pieces.begin(), pieces.begin() + static_cast<std::ptrdiff_t>(most), pieces.end(),
                     [](const Piece& a, const Piece& b) { return a.length > b.length; });
    pieces.resize(most);
    std::sort(pieces.begin(), pieces.end(), earlier);
  }
  return pieces;
}

}  // namespace wulf::node
