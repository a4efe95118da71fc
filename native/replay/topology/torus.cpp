#include <string>

#include "core/json/error.hpp"
#include "core/json/params.hpp"
#include "replay/topology/parts.hpp"

namespace wulf::replay {
namespace {

/// Hosts in a grid whose ends are joined, numbered with the last dimension fastest. Ways go dimension by
/// dimension, the shorter way round, and upwards where both are as short.
class Torus final : public Topology {
 public:
  Torus(std::vector<std::uint32_t> sizes, std::uint32_t places, std::uint64_t rate, std::uint64_t host_rate)
      : Topology(places), sizes_(std::move(sizes)) {
    add_links(2ULL * sizes_.size() * places, rate);
    if (host_rate > 0) {
      host_links_ = add_links(2ULL * places, host_rate);
      has_host_links_ = true;
    }
  }

 private:
  /// The link that leaves a place in a dimension, upwards or downwards.
  [[nodiscard]] LinkId leaving(std::uint32_t place, std::size_t dimension, bool up) const {
    return static_cast<LinkId>((2 * ((place * sizes_.size()) + dimension)) + (up ? 0 : 1));
  }

  void find_route(std::uint32_t from, std::uint32_t to, std::vector<LinkId>& path) const override {
    if (has_host_links_) {
      path.push_back(host_links_ + (2 * from));
    }
    std::uint32_t at = from;
    std::uint32_t stride = 1;
    for (std::size_t d = sizes_.size(); d-- > 0;) {
      at = cross(at, to, d, stride, path);
      stride *= sizes_[d];
    }
    if (has_host_links_) {
      path.push_back(host_links_ + (2 * to) + 1);
    }
  }

  /// Goes from `at` to `to` in one dimension; where that ends.
  [[nodiscard]] std::uint32_t cross(std::uint32_t at, std::uint32_t to, std::size_t dimension,
                                    std::uint32_t stride, std::vector<LinkId>& path) const {
    const std::uint32_t size = sizes_[dimension];
    const std::uint32_t goal = to / stride % size;
    std::uint32_t here = at / stride % size;
    const std::uint32_t ahead = (goal + size - here) % size;
    const bool up = ahead <= size - ahead;
    while (here != goal) {
      path.push_back(leaving(at, dimension, up));
      const std::uint32_t next = (here + (up ? 1 : size - 1)) % size;
      at = at - (here * stride) + (next * stride);
      here = next;
    }
    return at;
  }

  std::vector<std::uint32_t> sizes_;
  LinkId host_links_ = 0;
  bool has_host_links_ = false;
};

}  // namespace

std::unique_ptr<Topology> torus_of(const Json& json, std::uint32_t) {
  refuse_unknown_fields(json, {"kind", "dims", "bytes_per_second", "host_bytes_per_second"});
  std::vector<std::uint32_t> sizes;
  std::uint64_t places = 1;
  for (const Json& size : list_field(json, "dims")) {
    sizes.push_back(whole_of(size, "topology.dims", 1, 1U << 20U));
    places *= sizes.back();
    if (places > kMostLinks) {
      throw bad_parameter("topology.dims", "The torus of topology.dims has more than " +
                                               std::to_string(kMostLinks) +
                                               " places: give smaller dimensions");
    }
  }
  const std::uint64_t host_rate =
      json.contains("host_bytes_per_second") ? rate_field(json, "host_bytes_per_second") : 0;
  return std::make_unique<Torus>(std::move(sizes), static_cast<std::uint32_t>(places),
                                 rate_field(json, "bytes_per_second"), host_rate);
}

}  // namespace wulf::replay
