#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "replay/program/builder.hpp"
#include "replay/program/program.hpp"

namespace wulf::replay {

/// Turns the posts of a builder whose slots are resolved into matched messages.
class Matching {
 public:
  explicit Matching(ProgramBuilder& builder) : builder_(builder) {}

  /// Takes the builder's arrays. Throws `unmatched`.
  [[nodiscard]] Program program();

 private:
  void number_sends();
  void sort_by_receiver();
  void find_live_ranks();
  void match_rank(std::uint32_t rank);
  void match_few(std::uint32_t rank, std::span<const std::uint32_t> incoming);
  void match_many(std::uint32_t rank, std::span<const std::uint32_t> incoming);
  void make_live(std::uint32_t rank);
  void pair(std::uint32_t message, std::uint32_t op);
  void finish_args();
  void refuse_unmatched();
  [[nodiscard]] std::string describe_post(std::uint32_t rank, std::uint32_t op) const;

  ProgramBuilder& builder_;
  Program program_;
  Array<std::uint32_t> message_of_;    ///< by post: its message, or index of `live`
  std::vector<std::uint32_t> begin_;   ///< by receiver: where its messages begin in incoming_
  Array<std::uint32_t> incoming_;      ///< messages by receiver, each receiver's in the order of their sends
  std::vector<bool> live_;             ///< ranks with a wildcard
  std::vector<std::uint32_t> lonely_;  ///< operations without a partner

  std::size_t matched_ = 0;  ///< messages of the rank that is being matched

  /// One of a receiver's few messages; `from` is kNone once it is matched.
  struct Key {
    std::uint64_t tag;
    std::uint32_t from;
    std::uint32_t message;
  };
  std::vector<Key> keys_;

  /// An open-addressing table of the keys (sender, tag) of one receiver's messages.
  struct Queue {
    std::uint64_t tag;
    std::uint32_t from;
    std::uint32_t head;  ///< kNone: the place is free, or all are matched
    std::uint32_t tail;
    bool used;
  };
  Queue& queue_of(std::uint32_t from, std::uint64_t tag);
  std::vector<Queue> table_;
  Array<std::uint32_t> next_;  ///< by place in `incoming`: the next message of the same key
};

}  // namespace wulf::replay
