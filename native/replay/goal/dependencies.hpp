#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "replay/goal/reader.hpp"

namespace wulf::replay {

/// A rank's dependencies by operation, both ways.
class Dependencies {
 public:
  /// One that an operation has, or gives.
  struct Link {
    std::uint32_t op;
    bool begin;
  };

  /// Throws the reader's error where an edge names no operation.
  void set(const GoalRank& rank, const GoalReader& reader);

  /// What an operation depends on.
  [[nodiscard]] std::span<const Link> needs(std::uint32_t op) const { return of(needs_, op); }
  /// What depends on it.
  [[nodiscard]] std::span<const Link> gives(std::uint32_t op) const { return of(gives_, op); }

 private:
  struct Table {
    std::vector<std::uint32_t> first;
    std::vector<Link> links;
  };

  static std::span<const Link> of(const Table& table, std::uint32_t op) {
    return {table.links.data() + table.first[op], table.links.data() + table.first[op + std::size_t{1}]};
  }
  static void fill(Table& table, const GoalRank& rank, bool needs);

  Table needs_;
  Table gives_;
};

}  // namespace wulf::replay
