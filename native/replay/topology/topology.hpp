#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/json/json.hpp"

namespace wulf::replay {

using LinkId = std::uint32_t;

/// Hosts, the one-way links between them, and the way from any host to any other.
///
/// Ways are static, as those of InfiniBand's forwarding tables and of ECMP's hashes are: two hosts always use
/// the same links, unless the topology has detours, which a message may take instead. A duplex cable is two
/// links.
class Topology {
 public:
  explicit Topology(std::uint32_t places) : places_(places) {}
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;
  Topology(Topology&&) = delete;
  Topology& operator=(Topology&&) = delete;
  virtual ~Topology() = default;

  /// How many hosts have a place.
  [[nodiscard]] std::uint32_t places() const { return places_; }
  /// Each link's rate in bytes a second.
  [[nodiscard]] const std::vector<std::uint64_t>& rates() const { return rates_; }
  /// Appends the links from one host to another, in their order. Not for two threads at once: a topology may
  /// remember what it found.
  void route(std::uint32_t from, std::uint32_t to, std::vector<LinkId>& path) const {
    find_route(place(from), place(to), path);
  }
  /// How many other ways a message looks at before it leaves.
  [[nodiscard]] virtual std::uint32_t detours() const { return 0; }
  /// Appends the links of another way, as route() does; `which` chooses among all that there are.
  void detour(std::uint32_t from, std::uint32_t to, std::uint64_t which, std::vector<LinkId>& path) const {
    find_detour(place(from), place(to), which, path);
  }
  /// Host h stands at place `at[h]`; without it, at place h.
  void put(std::vector<std::uint32_t> at) { at_ = std::move(at); }

 protected:
  /// A new link; its number.
  LinkId add_link(std::uint64_t bytes_per_second);
  /// So many new links of one rate; the first one's number.
  LinkId add_links(std::uint64_t count, std::uint64_t bytes_per_second);

 private:
  virtual void find_route(std::uint32_t from, std::uint32_t to, std::vector<LinkId>& path) const = 0;
  virtual void find_detour(std::uint32_t from, std::uint32_t to, std::uint64_t /*which*/,
                           std::vector<LinkId>& path) const {
    find_route(from, to, path);
  }
  [[nodiscard]] std::uint32_t place(std::uint32_t host) const { return at_.empty() ? host : at_[host]; }

  std::uint32_t places_;
  std::vector<std::uint64_t> rates_;
  std::vector<std::uint32_t> at_;
};

/// What a network's `topology` says; of a file, what that says. Throws bad-parameter where there is no such
/// file.
[[nodiscard]] Json describe_topology(const Json& json);

/// The topology that a network's `topology` describes (docs/how-it-works/replay-contention.md), with a place
/// for each of so many hosts. Throws bad-parameter, which names the field, the limit and the figure.
[[nodiscard]] std::unique_ptr<Topology> make_topology(const Json& json, std::uint32_t hosts);

/// Every host on one switch that is never the bottleneck; host h sends and receives at rates[h] bytes a
/// second.
[[nodiscard]] std::unique_ptr<Topology> make_star(const std::vector<std::uint64_t>& rates);

}  // namespace wulf::replay
