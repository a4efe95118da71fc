#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/json/json.hpp"
#include "node/memory/pages.hpp"

namespace wulf::node {

/// A set that requests after one another share, as a request names it. Laying 128 MiB on pages takes longer
/// than measuring there; what differs from one such set to the next, its frames, is one sample a set.
struct SharedSet {
  std::string name;  ///< empty: the request has memory of its own
  std::size_t bytes = 0;

  /// The request's field "set", {"name", "bytes"}; empty where it has none. Throws bad-parameter.
  static SharedSet of(const Json& request);
};

/// Says what the next working set is for, which `cpu` works in. The set that is kept is given back before
/// anything is measured, unless `set` names it, it lies near that CPU, and it has not served this `request`:
/// the second time that one asks the same begins another replicate, whose frames are to be others.
void begin_request(const SharedSet& set, int cpu, const std::string& request);

/// What a working set must hold where others had it before, and holds afterwards.
enum class Contents {
  kAny,     ///< whatever was written
  kNormal,  ///< normal doubles, with which arithmetic is as fast as with any
};

/// The memory that a request works in: fresh, or the begin of the shared set that it names. Touched, every
/// page of it.
class WorkingSet {
 public:
  /// As Pages; and bad-parameter where the set that the request names has fewer bytes.
  WorkingSet(std::size_t bytes, const std::string& kind, Contents contents, const std::vector<int>& helpers);

  [[nodiscard]] std::byte* data() const noexcept { return pages_->data(); }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_; }

  template <typename T>
  [[nodiscard]] std::span<T> as() const noexcept {
    return {reinterpret_cast<T*>(data()), bytes_ / sizeof(T)};
  }

  /// As Pages, of the whole set; with "set", its bytes, where it is shared.
  [[nodiscard]] Json info() const;

 private:
  std::shared_ptr<Pages> pages_;
  std::size_t bytes_;
};

}  // namespace wulf::node
