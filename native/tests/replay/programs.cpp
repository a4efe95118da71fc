#include "tests/replay/programs.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

namespace wulf::replay_test {
namespace {

std::uint64_t below(std::mt19937_64& random, std::uint64_t limit) { return random() % limit; }

/// A rank's posts that it has not waited for.
struct Open {
  std::vector<std::uint32_t> slots;
  std::uint32_t next = 0;

  std::uint32_t take() {
    slots.push_back(next);
    return next++;
  }
};

struct Post {
  std::uint32_t rank;
  std::uint32_t peer;
  std::uint64_t bytes;
  std::uint64_t tag;
  bool send;
};

std::vector<Post> random_posts(std::mt19937_64& random, const Recipe& recipe) {
  std::vector<Post> posts;
  for (int i = 0; i < recipe.messages; ++i) {
    const auto from = static_cast<std::uint32_t>(below(random, recipe.ranks));
    const auto to = static_cast<std::uint32_t>(below(random, recipe.ranks));
    const std::uint64_t bytes = below(random, recipe.most_bytes);
    const std::uint64_t tag = below(random, 3);
    posts.push_back({from, to, bytes, tag, true});
    posts.push_back({to, from, bytes, tag, false});
  }
  std::shuffle(posts.begin(), posts.end(), random);
  return posts;
}

void wait_some(ProgramBuilder& to, std::mt19937_64& random, std::uint32_t rank, Open& open,
               std::size_t left) {
  std::shuffle(open.slots.begin(), open.slots.end(), random);
  std::uint32_t call = 1;
  while (open.slots.size() > left) {
    to.add_wait(rank, open.slots.back(), call);
    open.slots.pop_back();
    if (below(random, 2) == 0) {
      ++call;
      to.add_calc(rank, static_cast<Picoseconds>(below(random, 3000)));
    }
  }
}

/// The reference: ranks' next steps, requests that meet their receives, rendezvous' data that may leave, and
/// arrivals, taken in the order of time.
class BruteForce {
 public:
  BruteForce(const Program& program, const Network& network, bool as_waited_for)
      : program_(program),
        network_(network),
        as_waited_for_(as_waited_for),
        ranks_(program.ranks()),
        departs_(program.messages.count()),
        sent_(program.messages.count()),
        comes_(program.messages.count()),
        seen_(program.messages.count()),
        posted_(program.messages.count()),
        met_(program.messages.count()),
        agreed_(program.messages.count()),
        left_(program.messages.count()),
        first_(program.messages.count()),
        end_(program.messages.count()) {
    for (std::uint32_t r = 0; r < program.ranks(); ++r) {
      ranks_[r].at = program.first[r];
    }
  }

  std::vector<Picoseconds> run() {
    while (step_any()) {
    }
    std::vector<Picoseconds> clocks;
    for (std::uint32_t r = 0; r < program_.ranks(); ++r) {
      if (ranks_[r].at != program_.first[r + 1]) {
        throw std::runtime_error("the reference is stuck");
      }
      clocks.push_back(ranks_[r].clock);
    }
    return clocks;
  }

 private:
  using Time = std::optional<Picoseconds>;

  struct Rank {
    Picoseconds clock = 0;
    Picoseconds nic = 0;
    Picoseconds rnic = 0;
    Picoseconds wire = 0;
    Time since;  ///< it computes, and has not waited since
    std::uint32_t at = 0;
  };

  [[nodiscard]] const LinkClass& costs(std::uint32_t m) const {
    return network_.between(program_.messages.from[m], program_.messages.to[m]);
  }
  [[nodiscard]] bool eager(std::uint32_t m) const { return program_.bytes_of(m) <= costs(m).eager_bytes; }

  enum class Next : std::uint8_t { kStep, kDepart, kSee, kMeet, kLeave, kArrive };
  using Event = std::tuple<Picoseconds, Next, std::uint32_t>;

  /// The earliest step, meeting, departure or arrival.
  [[nodiscard]] std::optional<Event> earliest() const {
    std::optional<Event> best;
    const auto offer = [&best](const Event& event) { best = std::min(best.value_or(event), event); };
    for (std::uint32_t r = 0; r < program_.ranks(); ++r) {
      if (ready(r)) {
        offer({ranks_[r].clock, Next::kStep, r});
      }
    }
    for (std::uint32_t m = 0; m < first_.size(); ++m) {
      if (departs_[m] && !sent_[m]) {
        offer({*departs_[m], Next::kDepart, m});
      }
      if (comes_[m] && !seen_[m]) {
        offer({*comes_[m], Next::kSee, m});
      }
      if (met_[m] && !agreed_[m]) {
        offer({*met_[m], Next::kMeet, m});
      }
      if (agreed_[m] && !left_[m]) {
        offer({*agreed_[m], Next::kLeave, m});
      }
      if (first_[m] && !end_[m]) {
        offer({*first_[m], Next::kArrive, m});
      }
    }
    return best;
  }

  bool step_any() {
    const std::optional<Event> next = earliest();
    if (!next) {
      return false;
    }
    const auto [time, kind, which] = *next;
    if (kind == Next::kStep) {
      step(which);
    } else if (kind == Next::kDepart) {
      depart(which);
    } else if (kind == Next::kSee) {
      see(which, time);
    } else if (kind == Next::kMeet) {
      answer(which, time);
    } else if (kind == Next::kLeave) {
      leave(which, time);
    } else {
      serve(which);
    }
    return true;
  }

  [[nodiscard]] bool ready(std::uint32_t r) const {
    const std::uint32_t at = ranks_[r].at;
    if (at == program_.first[r + 1]) {
      return false;
    }
    const std::uint32_t m = program_.arg[at];
    if (program_.kind[at] == OpKind::kWaitSend) {
      return eager(m) || left_[m];
    }
    const std::vector<std::uint32_t> together = received_at(r);
    return std::all_of(together.begin(), together.end(), [this](std::uint32_t each) { return end_[each]; });
  }

  /// The messages of the receives that are waited for from a rank's next operation on, with nothing in
  /// between.
  [[nodiscard]] std::vector<std::uint32_t> received_at(std::uint32_t r) const {
    std::vector<std::uint32_t> together;
    for (std::uint32_t at = ranks_[r].at; at != ranks_[r].at + waits_at(r); ++at) {
      if (program_.kind[at] == OpKind::kWaitRecv) {
        together.push_back(program_.arg[at]);
      }
    }
    return together;
  }

  /// How many operations these are: eager sends, whose wait is none, do not come between them.
  [[nodiscard]] std::uint32_t waits_at(std::uint32_t r) const {
    std::uint32_t at = ranks_[r].at;
    if (program_.kind[at] != OpKind::kWaitRecv) {
      return 0;
    }
    if (as_waited_for_) {
      return 1;
    }
    const std::uint32_t call = program_.mark_of(at);
    while (at != program_.first[r + 1] &&
           (at == ranks_[r].at || (call != 0 && program_.mark_of(at) == call)) &&
           (program_.kind[at] == OpKind::kWaitRecv ||
            (program_.kind[at] == OpKind::kWaitSend && eager(program_.arg[at])))) {
      ++at;
    }
    return at - ranks_[r].at;
  }

  void step(std::uint32_t r) {
    Rank& rank = ranks_[r];
    const std::uint32_t m = program_.arg[rank.at];
    const OpKind kind = program_.kind[rank.at];
    if (waits(kind)) {
      rank.since.reset();
    }
    if (kind == OpKind::kWaitRecv) {
      receive(r);
      return;
    }
    ++rank.at;
    if (kind == OpKind::kCalc) {
      rank.since = rank.since.value_or(rank.clock);
      rank.clock += program_.durations[m];
    } else if (kind == OpKind::kSend) {
      send(rank, m);
    } else if (kind == OpKind::kRecv) {
      posted_[m] = rank.clock;
      meet(m);
    } else {
      rank.clock = eager(m) ? rank.clock : std::max(rank.clock, *left_[m]);
    }
  }

  void send(Rank& rank, std::uint32_t m) {
    const LinkClass& c = costs(m);
    const std::uint64_t n = program_.bytes_of(m);
    rank.clock += c.send + mul(c.send_byte_fp, n);
    departs_[m] = rank.clock;
    if (!in_order(m)) {
      depart(m);
    }
  }

  /// Its turn in what leaves its sender, and on its way to that receiver.
  void depart(std::uint32_t m) {
    const LinkClass& c = costs(m);
    Rank& rank = ranks_[program_.messages.from[m]];
    sent_[m] = std::max(*departs_[m], before(m, program_.messages.from[m], program_.messages.to[m]));
    if (eager(m)) {
      const Picoseconds leaves = std::max(*sent_[m], rank.nic);
      rank.nic = leaves + c.gap + c.stretch(program_.bytes_of(m));
      first_[m] = leaves + c.way(program_.bytes_of(m));
      streams_[{program_.messages.from[m], program_.messages.to[m]}] =
          leaves + c.stretch(program_.bytes_of(m));
    }
    meet(m);
  }

  [[nodiscard]] bool in_order(std::uint32_t m) const {
    return network_.in_order && !network_.same_host(program_.messages.from[m], program_.messages.to[m]);
  }

  /// When the last byte that was sent that way has left, where that counts for a message.
  [[nodiscard]] Picoseconds before(std::uint32_t m, std::uint32_t from, std::uint32_t to) const {
    const auto found = streams_.find({from, to});
    return in_order(m) && found != streams_.end() ? found->second : 0;
  }

  /// The receiver's answer leaves.
  void answer(std::uint32_t m, Picoseconds now) {
    agreed_[m] =
        std::max(now, before(m, program_.messages.to[m], program_.messages.from[m])) + costs(m).latency;
  }

  /// Once a rendezvous' data are announced and its receive is posted.
  void meet(std::uint32_t m) {
    if (!eager(m) && sent_[m] && !comes_[m]) {
      comes_[m] = *sent_[m] + costs(m).latency;
    }
    if (seen_[m] && posted_[m]) {
      met_[m] = std::max(*seen_[m], *posted_[m]);
    }
  }

  /// A request is there; its receiver looks at it, or goes on for a while.
  void see(std::uint32_t m, Picoseconds now) {
    comes_[m] = looks(program_.messages.to[m], now);
    if (*comes_[m] == now) {
      seen_[m] = now;
      meet(m);
    }
  }

  static bool waits(OpKind kind) { return kind == OpKind::kWaitSend || kind == OpKind::kWaitRecv; }

  /// When a rank may next look at what has come, as far as that is known: it does when it waits, unless
  /// messages get on all the same.
  [[nodiscard]] Picoseconds looks(std::uint32_t r, Picoseconds now) const {
    const Rank& rank = ranks_[r];
    const bool busy = !network_.progress && rank.since && *rank.since < now;
    return busy ? std::max(now, rank.clock) : now;
  }

  /// Data may leave when the answer is seen.
  void leave(std::uint32_t m, Picoseconds now) {
    const std::uint32_t from = program_.messages.from[m];
    agreed_[m] = looks(from, now);
    if (*agreed_[m] > now) {
      return;
    }
    const Picoseconds leaves = std::max({now, ranks_[from].wire, before(m, from, program_.messages.to[m])});
    left_[m] = ranks_[from].wire = leaves + costs(m).stretch(program_.bytes_of(m));
    first_[m] = leaves + costs(m).way(program_.bytes_of(m));
    streams_[{from, program_.messages.to[m]}] = *left_[m];
  }

  void serve(std::uint32_t m) {
    const LinkClass& c = costs(m);
    Rank& receiver = ranks_[program_.messages.to[m]];
    end_[m] = std::max(*first_[m], receiver.rnic) + c.stretch(program_.bytes_of(m));
    receiver.rnic = network_.receiver_gap ? *end_[m] + c.gap : 0;
  }

  /// The earliest first.
  void receive(std::uint32_t r) {
    std::vector<std::uint32_t> together = received_at(r);
    std::sort(together.begin(), together.end(),
              [this](std::uint32_t a, std::uint32_t b) { return *end_[a] < *end_[b]; });
    Rank& rank = ranks_[r];
    rank.at += waits_at(r);
    for (const std::uint32_t m : together) {
      const LinkClass& c = costs(m);
      rank.clock = std::max(rank.clock, *end_[m]) + c.receive + mul(c.receive_byte_fp, program_.bytes_of(m));
    }
  }

  const Program& program_;
  const Network& network_;
  bool as_waited_for_;
  std::vector<Rank> ranks_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Picoseconds> streams_;  ///< when their last byte left
  std::vector<Time> departs_;
  std::vector<Time> sent_;
  std::vector<Time> comes_;
  std::vector<Time> seen_;
  std::vector<Time> posted_;
  std::vector<Time> met_;
  std::vector<Time> agreed_;
  std::vector<Time> left_;
  std::vector<Time> first_;
  std::vector<Time> end_;
};

LinkClass random_class(std::mt19937_64& random) {
  const auto cost = [&](std::uint64_t most) {
    return below(random, 3) == 0 ? 0 : static_cast<Picoseconds>(below(random, most));
  };
  LinkClass made;
  made.latency = 1 + cost(5000);
  made.send = cost(1000);
  made.receive = cost(1000);
  made.gap = cost(1000);
  made.byte_fp = cost(3U << kFractionBits);
  made.send_byte_fp = cost(1U << kFractionBits);
  made.receive_byte_fp = cost(1U << kFractionBits);
  made.packet_byte_fp = cost(2U << kFractionBits);
  made.packet_bytes = cost(1500);
  made.eager_bytes = below(random, 2) == 0 ? UINT64_MAX : below(random, 6000);
  made.eager_more_fp = cost(4U << kFractionBits) - (2LL << kFractionBits);
  return made;
}

}  // namespace

Program random_program(std::mt19937_64& random, const Recipe& recipe) {
  ProgramBuilder builder(recipe.ranks);
  std::vector<Open> open(recipe.ranks);
  for (int round = 0; round < recipe.rounds; ++round) {
    for (const Post& post : random_posts(random, recipe)) {
      const std::uint32_t slot = open[post.rank].take();
      builder.add_calc(post.rank, static_cast<Picoseconds>(below(random, 2000)));
      if (post.send) {
        builder.add_send(post.rank, post.peer, post.bytes, post.tag, slot);
      } else {
        builder.add_recv(post.rank, post.peer, post.bytes, post.tag, slot);
      }
    }
    const bool last = round + 1 == recipe.rounds;
    for (std::uint32_t r = 0; r < recipe.ranks; ++r) {
      wait_some(builder, random, r, open[r], last ? 0 : below(random, 3));
    }
  }
  return builder.finish();
}

Network random_network(std::mt19937_64& random, std::uint32_t ranks) {
  Network network;
  network.inter = random_class(random);
  network.intra = below(random, 2) == 0 ? network.inter : random_class(random);
  if (below(random, 2) == 0) {
    for (std::uint32_t r = 0; r < ranks; ++r) {
      network.hosts.push_back(static_cast<std::uint32_t>(below(random, 3)));
    }
  }
  network.receiver_gap = below(random, 2) == 0;
  return network;
}

std::vector<Picoseconds> brute_force(const Program& program, const Network& network, bool as_waited_for) {
  return BruteForce(program, network, as_waited_for).run();
}

}  // namespace wulf::replay_test
