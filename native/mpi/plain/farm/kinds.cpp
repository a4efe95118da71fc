#include "mpi/plain/farm/kinds.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <sstream>

#include "core/json/error.hpp"
#include "core/json/params.hpp"

namespace wulf::mpi {
namespace {

constexpr std::size_t kMostKinds = 16;
constexpr double kLongest = 1e6;

class WorkOfKinds final : public Work {
 public:
  WorkOfKinds(const Kinds& kinds, const std::function<std::unique_ptr<Work>(double)>& make) : kinds_(kinds) {
    for (const double length : kinds.lengths()) {
      works_.push_back(make(length));
    }
  }

  void done(std::span<const std::uint32_t> inputs, std::byte* digests) override {
    for (const std::uint32_t& input : inputs) {
      works_[kinds_.of(input)]->done({&input, 1}, digests);
      digests += kDigestBytes;
    }
  }
  Digest expected(std::uint32_t input) override { return works_[kinds_.of(input)]->expected(input); }
  /// Their mean, by shares.
  [[nodiscard]] double seconds() const override {
    double mean = 0;
    for (std::size_t kind = 0; kind < works_.size(); ++kind) {
      mean += kinds_.shares()[kind] * works_[kind]->seconds();
    }
    return mean;
  }
  [[nodiscard]] std::string by() const override { return works_.front()->by(); }

 private:
  Kinds kinds_;
  std::vector<std::unique_ptr<Work>> works_;
};

}  // namespace

Kinds::Kinds(const std::string& text, std::uint32_t seed) : seed_(seed) {
  std::istringstream in(text);
  for (char separator = ','; separator == ',';) {
    double length = 0;
    double share = 0;
    char colon = 0;
    in >> length >> colon >> share;
    if (!in || colon != ':' || !(length > 0) || length > kLongest || !(share > 0) || share > kLongest) {
      throw bad_parameter("kinds", "'" + text + "' is no list of lengths and shares: write 1:0.5,10:0.5");
    }
    lengths_.push_back(length);
    shares_.push_back(share);
    separator = 0;
    in >> separator;
    if (separator != 0 && separator != ',') {
      throw bad_parameter("kinds", "'" + text + "' goes on with '" + separator + "' where a comma belongs");
    }
  }
  if (lengths_.size() > kMostKinds) {
    throw bad_parameter("kinds", "there are at most " + std::to_string(kMostKinds) + " kinds");
  }
  const double all = std::accumulate(shares_.begin(), shares_.end(), 0.0);
  for (double& share : shares_) {
    share /= all;
  }
  const double mean = std::inner_product(shares_.begin(), shares_.end(), lengths_.begin(), 0.0);
  for (double& length : lengths_) {
    length /= mean;
  }
}

std::size_t Kinds::of(std::uint32_t unit) const noexcept {
  const double drawn = rebuilt_word(unit, seed_) / (1.0 + std::numeric_limits<std::uint32_t>::max());
  double below = 0;
  for (std::size_t kind = 0; kind + 1 < shares_.size(); ++kind) {
    below += shares_[kind];
    if (drawn < below) {
      return kind;
    }
  }
  return shares_.size() - 1;
}

double Kinds::mean(std::uint32_t units) const noexcept {
  double total = 0;
  for (std::uint32_t unit = 0; unit < units; ++unit) {
    total += lengths_[of(unit)];
  }
  return units > 0 ? total / units : 1.0;
}

std::unique_ptr<Work> work_of_kinds(const Kinds& kinds,
                                    const std::function<std::unique_ptr<Work>(double)>& make) {
  return std::make_unique<WorkOfKinds>(kinds, make);
}

}  // namespace wulf::mpi
