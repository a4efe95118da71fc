#include "core/json/error.hpp"
#include "core/json/params.hpp"
#include "replay/topology/parts.hpp"

namespace wulf::replay {
namespace {

/// Host h's way up is link 2h, its way down 2h + 1; the switch's own limit, where it has one, is the last
/// link.
class Star final : public Topology {
 public:
  explicit Star(const std::vector<std::uint64_t>& rates, std::uint64_t backplane)
      : Topology(static_cast<std::uint32_t>(rates.size())) {
    for (const std::uint64_t rate : rates) {
      add_links(2, rate);
    }
    if (backplane > 0) {
      backplane_ = add_link(backplane);
      has_backplane_ = true;
    }
  }

 private:
  void find_route(std::uint32_t from, std::uint32_t to, std::vector<LinkId>& path) const override {
    path.push_back(2 * from);
    if (has_backplane_) {
      path.push_back(backplane_);
    }
    path.push_back((2 * to) + 1);
  }

  LinkId backplane_ = 0;
  bool has_backplane_ = false;
};

}  // namespace

std::unique_ptr<Topology> make_star(const std::vector<std::uint64_t>& rates) {
  return std::make_unique<Star>(rates, 0);
}

std::unique_ptr<Topology> star_of(const Json& json, std::uint32_t hosts) {
  refuse_unknown_fields(json, {"kind", "bytes_per_second", "backplane_bytes_per_second"});
  const std::uint64_t backplane =
      json.contains("backplane_bytes_per_second") ? rate_field(json, "backplane_bytes_per_second") : 0;
  const Json given = json.value("bytes_per_second", Json());
  if (!given.is_array()) {
    return std::make_unique<Star>(std::vector<std::uint64_t>(hosts, rate_of(given, "bytes_per_second")),
                                  backplane);
  }
  std::vector<std::uint64_t> rates;
  rates.reserve(given.size());
  for (const Json& rate : given) {
    rates.push_back(rate_of(rate, "bytes_per_second"));
  }
  return std::make_unique<Star>(rates, backplane);
}

}  // namespace wulf::replay
