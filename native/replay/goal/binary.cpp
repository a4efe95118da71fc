#include <algorithm>
#include <cstring>
#include <utility>

#include "replay/goal/reader.hpp"

// What txt2bin of LogGOPSim writes, all of it in the byte order of the machine (little-endian here):
//
//   u64 4223; then, where offsets count from: u32 ranks, u8 most CPU, u8 most NIC, u64 begin and end by rank;
//   by rank: u32 operations, u32 roots, u32 each root's number, operations, appendix;
//   an operation, 39 B: u32 dependencies, u8 kind (1 send, 2 recv, 3 calc), u32 peer, u64 bytes or ns, u32
//   tag, u8 CPU, u8 NIC, and twice, of those that depend on its end and on its begin: u32 how many, u32 where
//   they begin in the appendix; the appendix: u32 numbers of operations.

namespace wulf::replay {
namespace {

constexpr std::uint64_t kMagic = 4223;
constexpr std::size_t kHead = sizeof(kMagic) + 6;
constexpr std::size_t kOperation = 39;
constexpr std::uint32_t kAny = UINT32_MAX;

template <typename T>
T read(std::string_view bytes, std::size_t at) {
  T value{};
  std::memcpy(&value, bytes.data() + at, sizeof(value));
  return value;
}

class BinaryGoal final : public GoalReader {
 public:
  BinaryGoal(std::string_view bytes, std::string name) : bytes_(bytes), name_(std::move(name)) {
    if (bytes.size() < kHead) {
      throw broken("it ends within its head");
    }
    ranks_ = read<std::uint32_t>(bytes_, sizeof(kMagic));
    if (ranks_ == 0 || ranks_ == kAnyPeer || (bytes_.size() - kHead) / 16 < ranks_) {
      throw broken("it names " + std::to_string(ranks_) + " ranks, whose table does not fit into its " +
                   std::to_string(bytes_.size()) + " B");
    }
  }

  [[nodiscard]] std::uint32_t ranks() const override { return ranks_; }
  [[nodiscard]] Error wrong(std::uint32_t mark, const std::string& what) const override {
    return {"goal", name_ + ", rank " + std::to_string(next_ - 1) + ", operation " +
                        std::to_string(mark == 0 ? 0 : mark - 1) + ": " + what};
  }

  bool next(GoalRank& rank) override {
    if (next_ == ranks_) {
      return false;
    }
    const std::size_t entry = kHead + (16 * std::size_t{next_});
    ++next_;
    rank.rank = next_ - 1;
    rank.ops.clear();
    rank.edges.clear();
    const auto begin = read<std::uint64_t>(bytes_, entry);
    const auto end = read<std::uint64_t>(bytes_, entry + 8);
    const std::size_t whole = bytes_.size() - sizeof(kMagic);
    if (begin > end || end > whole || end - begin < 8) {
      throw broken("rank " + std::to_string(rank.rank) + " is said to lie from byte " +
                   std::to_string(begin) + " to " + std::to_string(end) + " of " + std::to_string(whole));
    }
    taken_ += end - begin;
    if (taken_ > whole) {  // else a small file could stand for any number of operations
      throw broken("rank " + std::to_string(rank.rank) + " and those before it are said to have " +
                   std::to_string(taken_) + " B of its " + std::to_string(whole));
    }
    take(rank, bytes_.substr(sizeof(kMagic) + begin, end - begin));
    return true;
  }

 private:
  [[nodiscard]] Error broken(const std::string& what) const {
    return {"goal", name_ + " is no whole binary GOAL file: " + what};
  }

  void take(GoalRank& rank, std::string_view own) const {
    const std::uint64_t ops = read<std::uint32_t>(own, 0);
    const std::uint64_t roots = read<std::uint32_t>(own, 4);
    const std::uint64_t first = 8 + (4 * roots);
    const std::uint64_t appendix = first + (kOperation * ops);
    if (appendix > own.size() || ops == kNone) {
      throw broken("rank " + std::to_string(rank.rank) + " has " + std::to_string(ops) +
                   " operations, which do not fit into its " + std::to_string(own.size()) + " B");
    }
    rank.ops.reserve(ops);
    for (std::uint32_t i = 0; i < ops; ++i) {
      const std::string_view operation = own.substr(first + (kOperation * i), kOperation);
      rank.ops.push_back(operation_of(operation, i));
      take_edges(rank, own.substr(appendix), operation.substr(23), i, false);
      take_edges(rank, own.substr(appendix), operation.substr(31), i, true);
    }
  }

  [[nodiscard]] GoalOp operation_of(std::string_view bytes, std::uint32_t number) const {
    GoalOp op;
    op.mark = number + 1;
    const auto kind = read<std::uint8_t>(bytes, 4);
    if (kind < 1 || kind > 3) {
      throw wrong(op.mark, "its kind is " + std::to_string(kind) + ", but must be 1, 2 or 3");
    }
    op.kind = kind == 1 ? GoalOp::Kind::kSend : kind == 2 ? GoalOp::Kind::kRecv : GoalOp::Kind::kCalc;
    op.amount = read<std::uint64_t>(bytes, 9);
    const std::uint64_t most = kind == 3 ? kMostNanoseconds : kMostBytes;
    if (op.amount > most) {
      throw wrong(op.mark, std::to_string(op.amount) + " is more than " + std::to_string(most));
    }
    op.cpu = read<std::uint8_t>(bytes, 21);
    if (kind == 3) {
      return op;
    }
    op.peer = read<std::uint32_t>(bytes, 5);
    const auto tag = read<std::uint32_t>(bytes, 17);
    op.tag = kind == 2 && tag == kAny ? kAnyTag : tag;
    if (op.peer >= ranks_ && (kind != 2 || op.peer != kAny)) {
      throw wrong(op.mark, "its peer is rank " + std::to_string(op.peer) + " of " + std::to_string(ranks_));
    }
    return op;
  }

  void take_edges(GoalRank& rank, std::string_view appendix, std::string_view list, std::uint32_t on,
                  bool begin) const {
    const std::uint64_t count = read<std::uint32_t>(list, 0);
    const std::uint64_t at = read<std::uint32_t>(list, 4);
    const std::uint64_t entries = appendix.size() / 4;
    if (at + count > entries || rank.edges.size() + count > entries) {  // each stands in one list alone
      throw wrong(on + 1,
                  std::to_string(count) + " operations are said to depend on it, more than there are");
    }
    for (std::uint64_t i = at; i < at + count; ++i) {
      rank.edges.push_back({read<std::uint32_t>(appendix, 4 * i), on, begin});
    }
  }

  std::string_view bytes_;
  std::string name_;
  std::uint32_t ranks_ = 0;
  std::uint32_t next_ = 0;
  std::uint64_t taken_ = 0;  ///< bytes of the ranks so far
};

}  // namespace

bool is_binary_goal(std::string_view bytes) {
  return bytes.size() >= sizeof(kMagic) && read<std::uint64_t>(bytes, 0) == kMagic;
}

std::unique_ptr<GoalReader> read_binary_goal(std::string_view bytes, std::string name) {
  return std::make_unique<BinaryGoal>(bytes, std::move(name));
}

}  // namespace wulf::replay
