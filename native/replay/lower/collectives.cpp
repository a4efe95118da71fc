#include "replay/lower/collectives.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "replay/program/fixed_point.hpp"

namespace wulf::replay {
namespace {

/// A sum of doubles reads two operands and writes one from and to memory, three bytes of traffic a byte; a
/// core moves some 30 GB/s (STREAM on servers of 2020). "reduction" says it where it was measured.
constexpr double kReductionSeconds = 1e-10;

/// Those that a root and two sizes tell all of.
constexpr std::array<std::string_view, 8> kKept{"barrier",  "bcast",     "reduce", "allreduce",
                                                "alltoall", "allgather", "gather", "scatter"};

const std::map<std::string, std::string>& families() {
  static const std::map<std::string, std::string> table{
      {"gatherv", "gather"},     {"scatterv", "scatter"},   {"allgatherv", "allgather"},
      {"alltoallv", "alltoall"}, {"alltoallw", "alltoall"}, {"reduce_scatter_block", "reduce_scatter"}};
  return table;
}

/// Those whose blocks differ can't go by algorithms that need equal ones.
bool needs_equal_blocks(const std::string& name) {
  return name == "gather/binomial" || name == "scatter/binomial" || name == "alltoall/bruck";
}

bool has_unequal_blocks(const std::string& op) { return family_of(op) != op; }

std::uint64_t block_of(const std::string& op, const Call& call) {
  if (call.bytes > 0 || call.size == 0) {
    return call.bytes;
  }
  const std::uint64_t total = std::max(call.give.total(), call.take.total());
  return op == "reduce_scatter" ? total : total / static_cast<std::uint64_t>(call.size);
}

std::int64_t fixed_point(double seconds) {
  return std::llround(seconds * kPerSecond * static_cast<double>(1U << kFractionBits));
}

}  // namespace

std::string family_of(const std::string& op) {
  const auto found = families().find(op);
  return found == families().end() ? op : found->second;
}

CollectiveRules::CollectiveRules(const Json& collectives, const std::string& mpi)
    : library_(&library_of(mpi)), reduction_fp_(fixed_point(kReductionSeconds)) {
  for (const auto& [op, value] : collectives.members()) {
    take(op, value);
  }
}

void CollectiveRules::take(const std::string& op, const Json& value) {
  if (op == "reduction") {
    if (!value.is_number() || value.get<double>() < 0 || value.get<double>() > 1) {
      throw bad_parameter(op, "reduction is " + value.dump() + ", but must be seconds a byte, from 0 to 1");
    }
    reduction_fp_ = fixed_point(value.get<double>());
    return;
  }
  if (op == "eager") {
    if (!value.is_unsigned()) {
      throw bad_parameter(op, "eager is " + value.dump() + ", but must be bytes");
    }
    eager_bytes_ = value.get<std::uint64_t>();
    return;
  }
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  if (op == "library") {
    library_ = find_library(text);
    if (library_ == nullptr) {
      throw bad_parameter(op, "there is no library '" + text + "'; known: openmpi, mpich");
    }
  } else if (op == "world") {
    if (text != "calls" && text != "messages") {
      throw bad_parameter(op, "world is '" + text + "'; known: calls, messages");
    }
    keeps_ = text == "calls";
  } else if (op == "nonblocking") {
    if (text != "at-call" && text != "at-completion") {
      throw bad_parameter(op, "nonblocking is '" + text + "'; known: at-call, at-completion");
    }
    posts_all_ = text == "at-call";
  } else {
    take_algorithm(op, text);
  }
}

std::optional<std::string_view> CollectiveRules::kept(const std::string& op) const {
  const auto* const found = std::find(kKept.begin(), kKept.end(), op);
  return keeps_ && found != kKept.end() ? std::optional(*found) : std::nullopt;
}

void CollectiveRules::take_algorithm(const std::string& op, const std::string& way) {
  const std::size_t colon = way.find(':');
  const std::string name = way.substr(0, colon);
  std::uint64_t segment = 0;
  if (colon != std::string::npos) {
    const std::string digits = way.substr(colon + 1);
    if (digits.empty() || digits.size() > 15 || digits.find_first_not_of("0123456789") != std::string::npos) {
      throw bad_parameter(op, "'" + way + "' has no number of bytes after its colon");
    }
    segment = std::stoull(digits);
  }
  (void)Registry<Algorithm>::at(family_of(op) + "/" + name, "algorithm");
  chosen_[op] = {name, segment};
}

const Algorithm& CollectiveRules::algorithm_of(const std::string& op, Call& call) const {
  const std::string family = family_of(op);
  auto found = chosen_.find(op);
  if (found == chosen_.end()) {
    found = chosen_.find(family);
  }
  std::string way;
  if (found != chosen_.end()) {
    way = found->second.way;
    call.segment = found->second.segment;
  } else {
    const std::uint64_t block = block_of(op, call);
    const std::uint64_t total = std::max({call.give.total(), call.take.total(), block});
    way = choose(*library_, op, call.size, block, total);
  }
  if (has_unequal_blocks(op) && needs_equal_blocks(family + "/" + way)) {
    way = "linear";
  }
  return Registry<Algorithm>::at(family + "/" + way, "algorithm");
}

void DirectSteps::reduce(const Part& from, const Part&) {
  emitter_.compute(mul(reduction_fp_, from.bytes()));
}

void PendingCollective::reduce(const Part& from, const Part&) {
  steps_.push_back({Kind::kCompute, 0, from.bytes()});
}

Steps::Token PendingCollective::add(Kind kind, int peer, std::uint64_t bytes) {
  steps_.push_back({kind, static_cast<std::uint32_t>(members_[static_cast<std::size_t>(peer)]), bytes});
  return tokens_++;
}

void PendingCollective::carry_out(const Step& step, Emitter& emitter) {
  switch (step.kind) {
    case Kind::kSend:
      slots_.push_back(emitter.send(step.who, step.bytes, tag_));
      break;
    case Kind::kReceive:
      slots_.push_back(emitter.receive(step.who, step.bytes, tag_));
      break;
    case Kind::kWait:
      emitter.wait(slots_[step.who]);
      break;
    case Kind::kCompute:
      emitter.compute(mul(reduction_fp_, step.bytes));
      break;
  }
}

void PendingCollective::begin(Emitter& emitter, bool post_all) {
  if (post_all) {
    std::vector<Step> rest;
    for (const Step& step : steps_) {
      if (step.kind == Kind::kSend || step.kind == Kind::kReceive) {
        carry_out(step, emitter);
      } else {
        rest.push_back(step);
      }
    }
    steps_ = std::move(rest);
    return;
  }
  while (next_ < steps_.size() && steps_[next_].kind != Kind::kWait) {
    carry_out(steps_[next_++], emitter);
  }
}

void PendingCollective::finish(Emitter& emitter) {
  while (next_ < steps_.size()) {
    carry_out(steps_[next_++], emitter);
  }
}

}  // namespace wulf::replay
