#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/json/json.hpp"
#include "replay/topology/topology.hpp"

namespace wulf::replay {

/// The kinds of topology, each made from its description for so many hosts, each in a file of its own.
[[nodiscard]] std::unique_ptr<Topology> star_of(const Json& json, std::uint32_t hosts);
[[nodiscard]] std::unique_ptr<Topology> fat_tree_of(const Json& json, std::uint32_t hosts);
[[nodiscard]] std::unique_ptr<Topology> torus_of(const Json& json, std::uint32_t hosts);
[[nodiscard]] std::unique_ptr<Topology> dragonfly_of(const Json& json, std::uint32_t hosts);
[[nodiscard]] std::unique_ptr<Topology> graph_of(const Json& json, std::uint32_t hosts);

/// Four a host for a million hosts. Each takes a hundred bytes where messages share it, and a few digits of
/// a description ask for all.
constexpr std::uint64_t kMostLinks = 1ULL << 22U;

/// A rate in bytes a second: a number from 1 to 1e14; rounded to whole bytes.
[[nodiscard]] std::uint64_t rate_of(const Json& value, const std::string& field);
/// The rate in the field of that name, which must be there.
[[nodiscard]] std::uint64_t rate_field(const Json& json, const std::string& name);
/// An integer of a list, within limits.
[[nodiscard]] std::uint32_t whole_of(const Json& value, const std::string& field, std::uint32_t min,
                                     std::uint32_t max);
/// The list in the field of that name. Throws bad-parameter where it is missing, or no list.
[[nodiscard]] const Json& list_field(const Json& json, const std::string& name);

}  // namespace wulf::replay
