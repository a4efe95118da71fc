#pragma once

#include <cstdint>
#include <vector>

namespace wulf::replay {

/// Where a rank's bytes lie during a collective.
enum class Room : std::uint8_t {
  kInput,    ///< what it gives
  kResult,   ///< what it gets; of a broadcast the root's message lies here, too
  kScratch,  ///< room of the algorithm's own
};

/// Bytes of a room: [begin, end), or, where `stride` is not 0, the first `run` of every `stride` of them.
struct Part {
  Room room = Room::kResult;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t run = 0;
  std::uint64_t stride = 0;

  [[nodiscard]] std::uint64_t bytes() const;
};

/// A part without a byte: a message that only says that its sender has come so far.
constexpr Part kNothing{};

/// How a vector of bytes is cut into numbered, adjacent blocks.
class Blocks {
 public:
  Blocks() = default;
  /// `count` blocks of `bytes` each.
  [[nodiscard]] static Blocks equal(std::uint64_t bytes, int count);
  /// `total` bytes in `count` blocks, none more than a byte longer than another.
  [[nodiscard]] static Blocks split(std::uint64_t total, int count);
  /// Blocks of these sizes.
  [[nodiscard]] static Blocks of(const std::vector<std::uint64_t>& sizes);

  [[nodiscard]] int count() const { return count_; }
  /// Where block `index` begins; of count(): where the last one ends.
  [[nodiscard]] std::uint64_t at(int index) const;
  [[nodiscard]] std::uint64_t size(int index) const { return at(index + 1) - at(index); }
  [[nodiscard]] std::uint64_t total() const { return at(count_); }
  /// Blocks [first, last) in that room.
  [[nodiscard]] Part part(Room room, int first, int last) const { return {room, at(first), at(last)}; }
  [[nodiscard]] Part block(Room room, int index) const { return part(room, index, index + 1); }

 private:
  int count_ = 0;
  std::uint64_t total_ = 0;
  std::vector<std::uint64_t> ends_;  ///< empty: evenly split
};

/// One rank's call of a collective; ranks are those of its communicator.
///
/// Which figures an operation has: barrier none; bcast, reduce, allreduce, scan and exscan `bytes`, the whole
/// vector; gather `bytes` given, and `take` at the root; scatter `bytes` taken, and `give` at the root;
/// allgather `take`; reduce_scatter `give`; alltoall `give` and `take`; those of neighbours, besides, whom
/// they are from and to. Where all blocks are equal, every rank has them.
struct Call {
  int size = 1;
  int me = 0;
  int root = 0;
  std::uint64_t bytes = 0;
  Blocks give;
  Blocks take;
  std::vector<int> sources;       ///< whom block i of `take` is from; a rank below 0 is nobody
  std::vector<int> destinations;  ///< whom block i of `give` is for
  bool leaves_out_empty = false;  ///< both ends know of an empty block: it may be no message
  std::uint64_t segment = 0;      ///< bytes of a pipeline's segments; 0 = all at once

  /// This rank's number when the root is 0, and the rank that has such a number.
  [[nodiscard]] int turned() const { return (me - root + size) % size; }
  [[nodiscard]] int rank_of(int turned_rank) const { return (turned_rank + root) % size; }
};

/// Takes what a rank does in a collective, step by step.
class Steps {
 public:
  using Token = std::uint32_t;

  Steps() = default;
  Steps(const Steps&) = delete;
  Steps& operator=(const Steps&) = delete;
  Steps(Steps&&) = delete;
  Steps& operator=(Steps&&) = delete;
  virtual ~Steps() = default;

  /// Post a send of that part, or a receive into it.
  virtual Token send(int peer, const Part& part) = 0;
  virtual Token receive(int peer, const Part& part) = 0;
  virtual void wait(Token token) = 0;
  /// Reduces `from` into `to`, which is as long.
  virtual void reduce(const Part& from, const Part& to) = 0;
  /// Moves bytes within the rank: for the meaning alone, no cost is laid to it.
  virtual void copy(const Part& from, const Part& to) = 0;

  void send_now(int peer, const Part& part) { wait(send(peer, part)); }
  void receive_now(int peer, const Part& part) { wait(receive(peer, part)); }
  /// Both at once, done when both are.
  void exchange(int to, const Part& out, int from, const Part& in) {
    const Token incoming = receive(from, in);
    const Token outgoing = send(to, out);
    wait(incoming);
    wait(outgoing);
  }
  void wait_all(const std::vector<Token>& tokens) {
    for (const Token each : tokens) {
      wait(each);
    }
  }
};

/// The largest power of two that is not above `size`.
[[nodiscard]] int power_of_two_below(int size);

[[nodiscard]] inline bool is_power_of_two(int size) { return (size & (size - 1)) == 0; }

}  // namespace wulf::replay
