#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "mpi/plain/graph/graph.hpp"
#include "tests/catch.hpp"

using namespace wulf::mpi;

namespace {

using Ranks = std::vector<int>;

/// What a rank needs after each step, in text: "1 2|3".
std::string inputs(const std::string& pattern, int rank, int ranks) {
  std::string text;
  for (const GraphEdges& edges : graph_edges(graph_pattern(pattern), rank, ranks)) {
    text += text.empty() ? "" : "|";
    for (std::size_t i = 0; i < edges.from.size(); ++i) {
      text += (i > 0 ? " " : "") + std::to_string(edges.from[i]);
    }
    text += edges.from.empty() ? "-" : "";
  }
  return text;
}

TEST_CASE("which tasks a task of a graph needs") {
  CHECK(inputs("none", 1, 4) == "-");
  CHECK(inputs("stencil", 0, 4) == "1");
  CHECK(inputs("stencil", 2, 4) == "1 3");
  CHECK(inputs("fft", 0, 8) == "1|2|4");
  CHECK(inputs("fft", 5, 8) == "4|7|1");
  CHECK(inputs("fft", 4, 5) == "-|-|0");
  CHECK(inputs("all", 2, 4) == "0 1 3");
}

TEST_CASE("a tree gathers at rank 0, and spreads from there") {
  CHECK(inputs("tree", 0, 4) == "1|2|-|-");
  CHECK(inputs("tree", 1, 4) == "-|-|-|0");
  CHECK(inputs("tree", 2, 4) == "3|-|0|-");
  CHECK(inputs("tree", 3, 4) == "-|-|-|2");
  CHECK(inputs("tree", 2, 3) == "-|-|0|-");
}

TEST_CASE("what one rank needs, another sends") {
  for (const char* pattern : {"none", "stencil", "fft", "tree", "all"}) {
    for (const int ranks : {1, 2, 3, 7, 8}) {
      std::vector<std::vector<GraphEdges>> all;
      for (int rank = 0; rank < ranks; ++rank) {
        all.push_back(graph_edges(graph_pattern(pattern), rank, ranks));
        CHECK(all.back().size() == all.front().size());
      }
      for (int rank = 0; rank < ranks; ++rank) {
        for (std::size_t step = 0; step < all.front().size(); ++step) {
          for (int other = 0; other < ranks; ++other) {
            const auto has = [&](const Ranks& list, int one) {
              return std::find(list.begin(), list.end(), one) != list.end();
            };
            const auto place = static_cast<std::size_t>(other);
            CHECK(has(all[static_cast<std::size_t>(rank)][step].from, other) ==
                  has(all[place][step].to, rank));
          }
        }
      }
    }
  }
}

TEST_CASE("after a tree's or a butterfly's steps every task hangs on all of the first") {
  for (const char* pattern : {"fft", "tree"}) {
    constexpr int kRanks = 8;
    std::vector<unsigned> reached(kRanks);
    std::vector<std::vector<GraphEdges>> all;
    for (int rank = 0; rank < kRanks; ++rank) {
      reached[static_cast<std::size_t>(rank)] = 1U << static_cast<unsigned>(rank);
      all.push_back(graph_edges(graph_pattern(pattern), rank, kRanks));
    }
    for (std::size_t step = 0; step < all.front().size(); ++step) {
      std::vector<unsigned> next = reached;
      for (std::size_t rank = 0; rank < kRanks; ++rank) {
        for (const int from : all[rank][step].from) {
          next[rank] |= reached[static_cast<std::size_t>(from)];
        }
      }
      reached = next;
    }
    CHECK(reached == std::vector<unsigned>(kRanks, 255U));
  }
}

TEST_CASE("a graph that nobody knows is refused") {
  CHECK_THROWS_AS(graph_pattern("ring"), std::out_of_range);
}

}  // namespace
