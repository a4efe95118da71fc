#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "replay/collectives/algorithm.hpp"

namespace wulf::replay::meaning {

/// Which inputs are in a byte: rank and place, ascending; one that is counted twice stands twice.
using Value = std::vector<std::pair<int, std::uint64_t>>;
using Bytes = std::vector<Value>;

struct Step {
  enum class Kind : std::uint8_t { kSend, kReceive, kWait, kReduce, kCopy } kind;
  int peer;
  Part part;
  Part to;
  Steps::Token token;
};

/// Writes down what a rank does.
class Script final : public Steps {
 public:
  Token send(int peer, const Part& part) override { return post(Step::Kind::kSend, peer, part); }
  Token receive(int peer, const Part& part) override { return post(Step::Kind::kReceive, peer, part); }
  void wait(Token token) override { steps.push_back({Step::Kind::kWait, -1, {}, {}, token}); }
  void reduce(const Part& from, const Part& to) override {
    steps.push_back({Step::Kind::kReduce, -1, from, to, 0});
  }
  void copy(const Part& from, const Part& to) override {
    steps.push_back({Step::Kind::kCopy, -1, from, to, 0});
  }

  std::vector<Step> steps;
  Token posts = 0;

 private:
  Token post(Step::Kind kind, int peer, const Part& part) {
    steps.push_back({kind, peer, part, {}, posts});
    return posts++;
  }
};

/// A rank's bytes, and which ranks' beginnings its next step comes after.
struct Rank {
  std::map<Room, Bytes> rooms;
  std::set<int> after;
};

/// Carries out all ranks' steps on bytes that know where they come from. `rendezvous`: a send is done when
/// its receive is posted, so that an expansion that needs buffers can't end.
class Interpreter {
 public:
  Interpreter(std::vector<std::vector<Step>> scripts, std::vector<Rank> ranks, bool rendezvous);

  /// Runs to the end. Throws std::logic_error where it stands still, where a message is not as long as its
  /// receive, and where a message or a request is left over.
  void run();

  [[nodiscard]] const Rank& rank(int r) const { return ranks_[static_cast<std::size_t>(r)]; }

 private:
  struct Message {
    Bytes bytes;
    std::set<int> after;
  };
  struct Channel {
    std::vector<Message> sent;
    std::size_t posted = 0;  ///< receives
  };
  struct Posted {
    Channel* channel = nullptr;
    std::size_t number = 0;  ///< of the channel's messages
    Part part;
    bool sends = false;
  };

  bool advance(int r);
  bool finish(int r, const Posted& posted);
  void post(int r, const Step& step);
  Bytes read(int r, const Part& part);
  void write(int r, const Part& part, const Bytes& bytes, bool adds);

  std::vector<std::vector<Step>> scripts_;
  std::vector<Rank> ranks_;
  bool rendezvous_;
  std::vector<std::size_t> next_;
  std::vector<std::map<Steps::Token, Posted>> open_;
  std::map<std::pair<int, int>, Channel> channels_;
};

}  // namespace wulf::replay::meaning
