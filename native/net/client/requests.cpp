#include "net/client/requests.hpp"

#include <cstring>
#include <deque>
#include <limits>

#include "core/json/error.hpp"
#include "net/flow/outstanding.hpp"

namespace wulf::net {
namespace {

/// Over a byte stream, which keeps their order.
class StreamRequests final : public Requests {
 public:
  StreamRequests(const ClientRun& run, Lane& lane)
      : channel_(*lane.channel),
        lane_(lane),
        window_(run.param<std::size_t>("window")),
        asked_(run.param<std::size_t>("bytes")),
        answered_(run.param<std::size_t>("reply_bytes")),
        request_(Buffer::of(run.params(), asked_)),
        reply_(Buffer::of(run.params(), answered_)) {}

  void run(Nanoseconds span, Tally& tally) override {
    const Nanoseconds start = now();
    while (on_the_way_.size() < window_) {
      ask(now());
    }
    while (true) {
      const Nanoseconds at = take(tally);
      tally.elapsed = at - start;
      if (tally.elapsed >= span) {
        break;
      }
      ask(at);
    }
    Tally rest;
    while (!on_the_way_.empty()) {
      take(rest);
    }
  }

 private:
  void ask(Nanoseconds at) {
    on_the_way_.push_back(at);
    if (send_message(channel_, request_.next(), asked_) != Io::kDone) {
      throw Error("peer-lost", "the connection closed in the middle of the run");
    }
  }

  Nanoseconds take(Tally& tally) {
    if (receive_message(channel_, reply_.next(), answered_) != Io::kDone) {
      throw Error("peer-lost", "the connection closed in the middle of the run");
    }
    const Nanoseconds at = now();
    tally.rtt.record(at - on_the_way_.front());
    on_the_way_.pop_front();
    lane_.count(asked_ + answered_);
    return at;
  }

  Channel& channel_;
  Lane& lane_;
  std::size_t window_;
  std::size_t asked_;
  std::size_t answered_;
  Buffer request_;
  Buffer reply_;
  std::deque<Nanoseconds> on_the_way_;  ///< when each was asked
};

/// Over datagrams, which may be lost: answers are matched by number, and one that does not come in time
/// leaves its place in the window to another.
class DatagramRequests final : public Requests {
 public:
  /// `asked`: how long the server took to answer over the control connection.
  DatagramRequests(const ClientRun& run, Lane& lane, Nanoseconds asked)
      : channel_(*lane.channel),
        lane_(lane),
        request_(Buffer::of(run.params(), run.param<std::size_t>("bytes"))),
        reply_(Buffer::of(run.params(), run.param<std::size_t>("reply_bytes"))),
        carried_(carried_bytes(run.params())),
        patience_(asked, from_seconds(run.timeout()), !run.transport().spec().local),
        requests_(run.param<std::size_t>("window"), carried_) {}

  void run(Nanoseconds span, Tally& tally) override {
    const Nanoseconds start = now();
    heard_ = start;
    looked_ = start;
    Nanoseconds at = start;
    while (at - start < span && !silent(at)) {
      fill();
      at = take(tally);
    }
    tally.elapsed = at - start;
    const auto rest = std::make_unique<Tally>();
    while (requests_.on_the_way() > 0 && !silent(at)) {
      at = take(*rest);
    }
    tally.lost += rest->lost + requests_.give_up(std::numeric_limits<Nanoseconds>::max());
    tally.late += rest->late;
  }

 private:
  /// Nothing has come for as long as any answer may take.
  [[nodiscard]] bool silent(Nanoseconds at) const { return at - heard_ >= patience_.most(); }

  /// Sends until the window is full, or the path for now.
  void fill() {
    while (requests_.has_room()) {
      const std::uint64_t number = requests_.next();
      std::memcpy(request_.next().data(), &number, carried_);
      const Nanoseconds at = now();
      const Io io = channel_.send(request_.span());
      if (io == Io::kNudged) {
        return;
      }
      check(io);
      requests_.asked(at);
    }
  }

  /// Waits for one answer, or a nudge, and gives up those that are overdue.
  Nanoseconds take(Tally& tally) {
    std::size_t got = 0;
    const Io io = channel_.receive(reply_.next(), got);
    const Nanoseconds at = now();
    if (io != Io::kNudged) {
      check(io);
      note(got, at, tally);
    }
    constexpr Nanoseconds kBetweenLooks = 5 * kMillisecond;  // each looks at the whole window
    if (at - looked_ >= kBetweenLooks) {
      looked_ = at;
      tally.lost += requests_.give_up(at - patience_.span());
    }
    return at;
  }

  void note(std::size_t got, Nanoseconds at, Tally& tally) {
    std::uint64_t number = 0;
    std::memcpy(&number, reply_.span().data(), carried_);
    const auto asked_at = got == reply_.size() ? requests_.answered(number) : std::nullopt;
    if (!asked_at) {
      ++tally.late;
      return;
    }
    heard_ = at;
    tally.rtt.record(at - *asked_at);
    patience_.learn(at - *asked_at);
    lane_.count(request_.size() + reply_.size());
  }

  static void check(Io io) {
    if (io == Io::kClosed) {
      throw Error("peer-lost", "the server's socket is gone: its process has ended or was stopped");
    }
  }

  Channel& channel_;
  Lane& lane_;
  Buffer request_;
  Buffer reply_;
  std::size_t carried_;
  Patience patience_;
  Outstanding requests_;
  Nanoseconds heard_ = 0;
  Nanoseconds looked_ = 0;
};

/// The server's side over datagrams: the number goes back with the answer.
void answer_datagrams(Lane& lane, Buffer& request, Buffer& reply, std::size_t carried) noexcept {
  Channel& channel = *lane.channel;
  std::size_t got = 0;
  for (Io io = Io::kDone; io != Io::kClosed;) {
    io = channel.receive(request.next(), got);
    if (io != Io::kDone || got != request.size()) {
      continue;
    }
    std::memcpy(reply.next().data(), request.span().data(), carried);
    do {
      io = channel.send(reply.span());
    } while (io == Io::kNudged);  // the client reads as soon as it cannot send either
    lane.count(request.size() + reply.size());
  }
}

}  // namespace

std::unique_ptr<Requests> Requests::over(ClientRun& run, Nanoseconds asked) {
  Lane& lane = run.lanes().front();
  if (run.transport().spec().datagrams) {
    return std::make_unique<DatagramRequests>(run, lane, asked);
  }
  return std::make_unique<StreamRequests>(run, lane);
}

std::size_t carried_bytes(const Json& params) {
  return std::min({params.at("bytes").get<std::size_t>(), params.at("reply_bytes").get<std::size_t>(),
                   sizeof(std::uint64_t)});
}

void answer_requests(Lane& lane, const Json& params, bool datagrams) {
  const auto asked = params.at("bytes").get<std::size_t>();
  const auto answered = params.at("reply_bytes").get<std::size_t>();
  Buffer request = Buffer::of(params, asked);
  Buffer reply = Buffer::of(params, answered);
  if (datagrams) {
    answer_datagrams(lane, request, reply, carried_bytes(params));
    return;
  }
  while (receive_message(*lane.channel, request.next(), asked) == Io::kDone &&
         send_message(*lane.channel, reply.next(), answered) == Io::kDone) {
    lane.count(asked + answered);
  }
}

}  // namespace wulf::net
