#include <array>

#include "replay/collectives/choices.hpp"

// MPICH 4.0.2, maint/tuning/coll/mpir/generic.json, for commutative built-in operations on one communicator.
// Its compositions that go by nodes (comm_hierarchy=parent) are left out: the algorithm is that of flat
// communicators.

namespace wulf::replay {
namespace mpich {

constexpr std::uint64_t kShortBroadcast = 12289;
constexpr std::uint64_t kLongBroadcast = 524289;
constexpr std::uint64_t kLong = 524288;

constexpr auto kBarrier = std::to_array<Choice>({{0, 0, "dissemination"}});
constexpr auto kBcast = std::to_array<Choice>({{8, 0, "binomial"},
                                               {0, kShortBroadcast, "binomial"},
                                               {0, kLongBroadcast, "scatter-allgather", true},
                                               {0, 0, "scatter-ring"}});
constexpr auto kReduce = std::to_array<Choice>({{0, 2049, "binomial"}, {0, 0, "rabenseifner"}});
constexpr auto kAllreduce = std::to_array<Choice>({{0, 9, "recursive-doubling"}, {0, 0, "rabenseifner"}});
constexpr auto kAllgather = std::to_array<Choice>(
    {{0, kLong, "recursive-doubling", true}, {0, 0, "ring", true}, {0, 81920, "bruck"}, {0, 0, "ring"}});
constexpr auto kReduceScatter = std::to_array<Choice>({{0, kLong, "recursive-halving"}, {0, 0, "pairwise"}});
constexpr auto kBinomial = std::to_array<Choice>({{0, 0, "binomial"}});
constexpr auto kLinear = std::to_array<Choice>({{0, 0, "linear"}});
constexpr auto kDoubling = std::to_array<Choice>({{0, 0, "recursive-doubling"}});
constexpr auto kAlltoall = std::to_array<Choice>(
    {{8, 32769, "linear"}, {8, 0, "pairwise"}, {0, 257, "bruck"}, {0, 32769, "linear"}, {0, 0, "pairwise"}});

constexpr auto kDecisions = std::to_array<Decision>({{"barrier", false, kBarrier},
                                                     {"bcast", false, kBcast},
                                                     {"reduce", false, kReduce},
                                                     {"allreduce", false, kAllreduce},
                                                     {"reduce_scatter", true, kReduceScatter},
                                                     {"reduce_scatter_block", true, kReduceScatter},
                                                     {"gather", false, kBinomial},
                                                     {"gatherv", false, kLinear},
                                                     {"scatter", false, kBinomial},
                                                     {"scatterv", false, kLinear},
                                                     {"allgather", true, kAllgather},
                                                     {"allgatherv", true, kAllgather},
                                                     {"alltoall", false, kAlltoall},
                                                     {"alltoallv", false, kLinear},
                                                     {"alltoallw", false, kLinear},
                                                     {"scan", false, kDoubling},
                                                     {"exscan", false, kDoubling}});

}  // namespace mpich

const Library kMpich{"mpich", "MPICH 4.0.2, coll/mpir/generic.json", mpich::kDecisions};

}  // namespace wulf::replay
