#include "node/memory/working_set.hpp"

#include <cstdint>
#include <set>
#include <utility>

#include "core/json/error.hpp"
#include "core/json/params.hpp"

namespace wulf::node {
namespace {

/// What is kept between requests, of which one is answered at a time.
struct Kept {
  SharedSet asked;  ///< by the request that is being answered
  int cpu = -1;
  Contents contents = Contents::kNormal;  ///< as Pages makes them
  std::shared_ptr<Pages> pages;
  std::set<std::string> served;
};

Kept& kept() {
  static Kept only;
  return only;
}

/// The last set on huge pages, resting until the next is laid. Where memory is in pieces the kernel would
/// have to make such pages anew; and a host that takes back what its guest frees gives them again at
/// 1 to 3 ms each, which for 128 MiB is as long as all that is measured there.
std::shared_ptr<Pages>& resting() {
  static std::shared_ptr<Pages> only;
  return only;
}

/// What is kept is needed no more.
void give_back(Kept& set) {
  if (set.pages != nullptr && set.pages->kind() == "huge") {
    resting() = set.pages;
    resting()->rest();
  }
  set.pages = nullptr;
}

/// The shared set, begun anew where what is kept is laid in another way, or what it holds is of no use.
std::shared_ptr<Pages> shared_pages(const std::string& kind, Contents contents) {
  Kept& set = kept();
  const bool spoilt = contents == Contents::kNormal && set.contents == Contents::kAny;
  if (set.pages == nullptr || set.pages->kind() != kind || spoilt) {
    give_back(set);  // before there is another: a node may have no room for two
    if (kind == "huge") {
      resting() = nullptr;
    }
    set.pages = std::make_shared<Pages>(Pages::room(set.asked.bytes, kind));
  }
  set.contents = contents;
  return set.pages;
}

}  // namespace

SharedSet SharedSet::of(const Json& request) {
  const Json* set = request.find("set");
  if (set == nullptr) {
    return {};
  }
  if (!set->is_object()) {
    throw bad_parameter("set", R"(set is no object: {"name", "bytes"})");
  }
  refuse_unknown_fields(*set, {"name", "bytes"});
  constexpr std::int64_t kMostBytes = 1LL << 44U;
  return {text_field(*set, "name"), static_cast<std::size_t>(int_field(*set, "bytes", 1, kMostBytes))};
}

void begin_request(const SharedSet& set, int cpu, const std::string& request) {
  Kept& was = kept();
  const bool same = was.asked.name == set.name && was.asked.bytes == set.bytes && was.cpu == cpu;
  if (set.name.empty() || !same || was.served.contains(request)) {
    give_back(was);
    was = {};
  }
  was.asked = set;
  was.cpu = cpu;
  was.served.insert(request);
}

WorkingSet::WorkingSet(std::size_t bytes, const std::string& kind, Contents contents,
                       const std::vector<int>& helpers)
    : bytes_(bytes) {
  const SharedSet& set = kept().asked;
  if (set.name.empty()) {
    pages_ = std::make_shared<Pages>(bytes, kind, helpers);
    return;
  }
  if (bytes > set.bytes) {
    throw bad_parameter("set", "set " + set.name + " has " + std::to_string(set.bytes) + " B, of the " +
                                   std::to_string(bytes) + " B needed");
  }
  pages_ = shared_pages(kind, contents);
  pages_->touch(bytes, helpers);
}

Json WorkingSet::info() const {
  Json info = pages_->info();
  if (!kept().asked.name.empty()) {
    info["set"] = pages_->size();
  }
  return info;
}

}  // namespace wulf::node
