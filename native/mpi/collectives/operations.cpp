#include "mpi/collectives/operations.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <cstring>
#include <numeric>

#include "core/json/error.hpp"

namespace wulf::mpi {
namespace {

Pieces nothing(const Group& /*group*/) { return {}; }
std::vector<int> no_counts(const Group& /*group*/) { return {}; }

Pieces at_root(const Group& group, Pieces pieces) { return group.is_root() ? std::move(pieces) : Pieces{}; }

/// From every rank, for the one given.
Pieces from_each(const Group& group, int to) {
  Pieces pieces;
  for (int from = 0; from < group.ranks; ++from) {
    pieces.push_back({from, to, group.bytes});
  }
  return pieces;
}

/// From the one given, for every rank.
Pieces to_each(const Group& group, int from) {
  Pieces pieces;
  for (int to = 0; to < group.ranks; ++to) {
    pieces.push_back({from, to, group.bytes});
  }
  return pieces;
}

/// One piece for whoever has it: to nobody in particular.
Pieces own(const Group& group) { return {{group.rank, 0, group.bytes}}; }
Pieces of_root(const Group& group) { return {{group.root, 0, group.bytes}}; }

/// A vector of floats, from its element `first` on.
Pieces vector_of(const Group& group, int terms, int first = 0) {
  return {{group.rank, 0, static_cast<std::size_t>(terms) * sizeof(float),
           static_cast<std::size_t>(first) * sizeof(float)}};
}

std::vector<int> shares(const Group& group) {
  return even_shares(static_cast<std::size_t>(group.terms()), group.ranks);
}

Pieces share(const Group& group) {
  const std::vector<int> all = shares(group);
  const auto mine = all.begin() + group.rank;
  return vector_of(group, *mine, std::accumulate(all.begin(), mine, 0));
}

/// Of a vector that every rank gets equally much of, so rounded up.
int block(const Group& group) { return (group.terms() + group.ranks - 1) / group.ranks; }

std::vector<int> bytes_for_each(const Group& group) {
  return std::vector<int>(static_cast<std::size_t>(group.ranks), static_cast<int>(group.bytes));
}

int bytes_of(const Operands& on) { return static_cast<int>(on.group.bytes); }

constexpr auto whole = [](const Group& g) { return vector_of(g, g.terms()); };

const std::array kOperations{
    Operation{"barrier", "nothing is sent", false, nothing, nothing, no_counts,
              [](Operands& on) { MPI_Barrier(on.comm); }},
    Operation{"bcast", "the message", false, [](const Group& g) { return at_root(g, of_root(g)); },
              [](const Group& g) { return g.is_root() ? Pieces{} : of_root(g); }, no_counts,
              [](Operands& on) {
                MPI_Bcast(on.group.is_root() ? on.send.data() : on.receive.data(), bytes_of(on), MPI_BYTE,
                          on.group.root, on.comm);
              }},
    Operation{"reduce", "each rank's vector of floats", true, whole,
              [](const Group& g) { return at_root(g, whole(g)); }, no_counts,
              [](Operands& on) {
                MPI_Reduce(on.send.data(), on.receive.data(), on.group.terms(), MPI_FLOAT, MPI_SUM,
                           on.group.root, on.comm);
              }},
    Operation{"allreduce", "each rank's vector of floats", true, whole, whole, no_counts,
              [](Operands& on) {
                MPI_Allreduce(on.send.data(), on.receive.data(), on.group.terms(), MPI_FLOAT, MPI_SUM,
                              on.comm);
              }},
    Operation{"gather", "what each rank sends", false, own,
              [](const Group& g) { return at_root(g, from_each(g, 0)); }, no_counts,
              [](Operands& on) {
                MPI_Gather(on.send.data(), bytes_of(on), MPI_BYTE, on.receive.data(), bytes_of(on), MPI_BYTE,
                           on.group.root, on.comm);
              }},
    Operation{"allgather", "what each rank sends", false, own, [](const Group& g) { return from_each(g, 0); },
              no_counts,
              [](Operands& on) {
                MPI_Allgather(on.send.data(), bytes_of(on), MPI_BYTE, on.receive.data(), bytes_of(on),
                              MPI_BYTE, on.comm);
              }},
    Operation{"scatter", "what each rank gets", false,
              [](const Group& g) { return at_root(g, to_each(g, g.root)); },
              [](const Group& g) {
                return Pieces{{g.root, g.rank, g.bytes}};
              },
              no_counts,
              [](Operands& on) {
                MPI_Scatter(on.send.data(), bytes_of(on), MPI_BYTE, on.receive.data(), bytes_of(on), MPI_BYTE,
                            on.group.root, on.comm);
              }},
    Operation{"alltoall", "what each rank sends to each", false,
              [](const Group& g) { return to_each(g, g.rank); },
              [](const Group& g) { return from_each(g, g.rank); }, no_counts,
              [](Operands& on) {
                MPI_Alltoall(on.send.data(), bytes_of(on), MPI_BYTE, on.receive.data(), bytes_of(on),
                             MPI_BYTE, on.comm);
              }},
    Operation{"alltoallv", "what each rank sends to each", false,
              [](const Group& g) { return to_each(g, g.rank); },
              [](const Group& g) { return from_each(g, g.rank); }, bytes_for_each,
              [](Operands& on) {
                MPI_Alltoallv(on.send.data(), on.counts.data(), on.starts.data(), MPI_BYTE, on.receive.data(),
                              on.counts.data(), on.starts.data(), MPI_BYTE, on.comm);
              }},
    Operation{"reduce_scatter", "the whole vector of floats, of which each rank gets a share", true, whole,
              share, shares,
              [](Operands& on) {
                MPI_Reduce_scatter(on.send.data(), on.receive.data(), on.counts.data(), MPI_FLOAT, MPI_SUM,
                                   on.comm);
              }},
    Operation{"reduce_scatter_block", "the same, rounded up to equal shares", true,
              [](const Group& g) { return vector_of(g, block(g) * g.ranks); },
              [](const Group& g) { return vector_of(g, block(g), block(g) * g.rank); }, no_counts,
              [](Operands& on) {
                MPI_Reduce_scatter_block(on.send.data(), on.receive.data(), block(on.group), MPI_FLOAT,
                                         MPI_SUM, on.comm);
              }},
};

std::vector<float> floats_in(const std::vector<std::byte>& buffer) {
  std::vector<float> floats(buffer.size() / sizeof(float));
  std::memcpy(floats.data(), buffer.data(), floats.size() * sizeof(float));
  return floats;
}

}  // namespace

std::span<const Operation> operations() { return kOperations; }

const Operation& operation(const std::string& name) {
  const auto* found = std::find_if(kOperations.begin(), kOperations.end(),
                                   [&](const Operation& each) { return name == each.name; });
  if (found == kOperations.end()) {
    throw bad_parameter("op", "there is no collective '" + name + "'");
  }
  return *found;
}

Operands operands(const Operation& operation, const Group& group) {
  Operands on;
  on.group = group;
  const Pieces sent = operation.sends(group);
  on.counts = operation.counts(group);
  if (std::accumulate(on.counts.begin(), on.counts.end(), 0LL) > INT_MAX) {
    throw Error("limit",
                std::string(operation.name) + " can't place more than 2 GiB in one buffer: MPI counts in int",
                "bytes");
  }
  on.starts.resize(on.counts.size());
  std::exclusive_scan(on.counts.begin(), on.counts.end(), on.starts.begin(), 0);
  on.send.reserve(1);  // two buffers at one address, null, are refused even where nothing is sent
  on.receive.reserve(1);
  on.send.resize(total(sent));
  on.receive.resize(total(operation.receives(group)));
  if (operation.sums) {
    std::vector<float> terms(on.send.size() / sizeof(float));
    fill_terms(terms, group.rank);
    std::memcpy(on.send.data(), terms.data(), on.send.size());
  } else {
    fill(on.send, sent);
  }
  forget(on);
  return on;
}

void forget(Operands& operands) { std::fill(operands.receive.begin(), operands.receive.end(), std::byte{0}); }

std::optional<std::string> wrong_result(const Operation& operation, const Operands& operands) {
  const Pieces received = operation.receives(operands.group);
  if (!operation.sums) {
    return wrong_byte(operands.receive, received);
  }
  const std::size_t first = received.empty() ? 0 : received.front().first / sizeof(float);
  return wrong_sum(floats_in(operands.receive), operands.group.ranks, first);
}

}  // namespace wulf::mpi
