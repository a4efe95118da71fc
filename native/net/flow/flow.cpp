#include "net/flow/flow.hpp"

#include <sys/prctl.h>

#include <algorithm>
#include <cstring>

#include "net/flow/arrivals.hpp"
#include "net/flow/pacer.hpp"

namespace wulf::net {
namespace {

/// A reader is woken once for so much, the default write of TCP: what has arrived meanwhile is counted by the
/// kernel.
constexpr std::size_t kMostGathered = 128 << 10;

/// The buffer of a receiver: 4 MiB among all streams, so that many of them stay below the memory limit.
std::size_t receive_size(const Json& params) {
  if (!params.at("gather").get<bool>()) {
    constexpr std::size_t kMostPiece = 1 << 20;
    return std::min(params.at("bytes").get<std::size_t>(), kMostPiece);
  }
  constexpr std::size_t kLeast = 32 << 10;
  constexpr std::size_t kMost = 256 << 10;
  const std::size_t size =
      std::clamp(kLargestBuffer / params.at("streams").get<std::size_t>(), kLeast, kMost);
  return std::min(size, optional_value<std::size_t>(params, "call_bytes").value_or(size));
}

/// Lets a sender go on when the next bytes are due, at once where there is no rate, and notes how evenly he
/// did.
class Beat {
 public:
  explicit Beat(const Json& params) {
    if (const auto rate = optional_value<double>(params, "rate")) {
      prctl(PR_SET_TIMERSLACK, 1UL);  // the pacer's sleeps are not to be rounded up by 50 µs
      pacer_.emplace(*rate / params.at("streams").get<double>());
    }
  }

  /// False when `stop` was set meanwhile.
  bool wait(std::size_t bytes, const std::atomic<bool>& stop) {
    if (!pacer_) {
      return true;
    }
    if (!pacer_->wait(bytes, stop)) {
      return false;
    }
    const Nanoseconds current = now();
    if (before_ != 0) {
      gaps_->record(current - before_);
    }
    before_ = current;
    return true;
  }

  [[nodiscard]] const Histogram& gaps() const { return *gaps_; }

 private:
  std::optional<Pacer> pacer_;
  std::unique_ptr<Histogram> gaps_ = std::make_unique<Histogram>();
  Nanoseconds before_ = 0;
};

/// Datagrams are numbered from 1 in their first eight bytes; shorter ones are not.
void number_messages(std::span<std::byte> messages, std::size_t each, std::uint64_t& last) noexcept {
  if (each < sizeof(last)) {
    return;
  }
  for (; !messages.empty(); messages = messages.subspan(each)) {
    ++last;
    std::memcpy(messages.data(), &last, sizeof(last));
  }
}

void note_arrival(Lane& lane, Arrivals& arrivals, std::span<const std::byte> message,
                  std::uint64_t& first) noexcept {
  std::uint64_t number = 0;
  if (message.size() < sizeof(number)) {
    return;
  }
  std::memcpy(&number, message.data(), sizeof(number));
  first = first == 0 ? number : first;
  switch (arrivals.take(number)) {
    case Arrivals::Kind::kInOrder:
      lane.spanned.store(number - first + 1, std::memory_order_relaxed);
      return;
    case Arrivals::Kind::kReordered:
      Lane::add(lane.reordered, 1);
      return;
    case Arrivals::Kind::kDuplicate:
      Lane::add(lane.duplicates, 1);
      return;
  }
}

void receive_datagrams(Lane& lane, Buffer& buffer) {
  const auto arrivals = std::make_unique<Arrivals>();
  std::uint64_t first = 0;
  std::size_t got = 0;
  while (true) {
    const Io io = lane.channel->receive(buffer.span(), got);
    if (io == Io::kClosed) {
      return;
    }
    if (io == Io::kDone) {
      lane.count(got);
      note_arrival(lane, *arrivals, buffer.span().first(std::min(got, buffer.size())), first);
    }
  }
}

}  // namespace

Outflow::Outflow(const Json& params, bool datagrams)
    : params_(params),
      datagrams_(datagrams),
      bytes_(params.at("bytes").get<std::size_t>()),
      batch_(datagrams ? params.at("batch").get<std::size_t>() : 1),
      gaps_(std::make_unique<Histogram>()) {
  if (!datagrams && !params.at("cold").get<bool>()) {
    shared_ = std::make_unique<Buffer>(make_buffer());
  }
}

Buffer Outflow::make_buffer() const {
  return Buffer::of(params_, bytes_ * batch_, params_.at("streams").get<std::size_t>());
}

bool Outflow::send(Lane& lane, const std::atomic<bool>& stop) {
  Beat beat(params_);
  const auto own = shared_ ? nullptr : std::make_unique<Buffer>(make_buffer());
  std::uint64_t number = 0;
  Io io = Io::kDone;
  while (!stop.load(std::memory_order_relaxed) && io != Io::kClosed && beat.wait(bytes_ * batch_, stop)) {
    io = hand_over(*lane.channel, own.get(), number);
    if (io == Io::kDone) {
      lane.count(bytes_ * batch_, batch_);
    }
  }
  const std::lock_guard lock(mutex_);
  gaps_->merge(beat.gaps());
  return io != Io::kClosed;
}

Io Outflow::hand_over(Channel& channel, Buffer* own, std::uint64_t& number) const noexcept {
  if (!datagrams_) {
    return send_message(channel, own != nullptr ? own->next() : shared_->span(), bytes_);
  }
  number_messages(own->next(), bytes_, number);
  return batch_ == 1 ? channel.send(own->span()) : channel.send_many(own->span(), bytes_);
}

void receive_flow(Lane& lane, const Json& params, bool datagrams) {
  Channel& channel = *lane.channel;
  Buffer buffer = Buffer::of(params, receive_size(params), params.at("streams").get<std::size_t>());
  if (datagrams) {
    receive_datagrams(lane, buffer);
    return;
  }
  std::size_t got = 0;
  if (channel.receive_some(buffer.span(), got) != Io::kDone) {
    return;
  }
  lane.count(got);  // the first bytes at once: the run waits for them
  if (params.at("gather").get<bool>()) {
    channel.gather(std::min({params.at("bytes").get<std::size_t>(), buffer.size(), kMostGathered}));
  }
  while (channel.receive_some(buffer.next(), got) == Io::kDone) {
    lane.count(got);
  }
}

std::vector<Param> flow_params(std::int64_t most_streams) {
  constexpr std::int64_t kMostBatch = 64;
  return {{"streams", ParamType::kInt, "1", 1, 1, most_streams,
           "parallel channels each way, each with a thread at both ends"},
          {"rate", ParamType::kFloat, "B/s", nullptr, 1, nullptr,
           "each way's rate, all its streams together; null = as fast as it goes"},
          {"batch", ParamType::kInt, "1", 1, 1, kMostBatch,
           "datagrams handed over with one call: sendmmsg(2), or UDP_SEGMENT with sending = gso"},
          {"gather", ParamType::kBool, "", true, nullptr, nullptr,
           "the receiver is woken once for a write's length, and reads as much as has come; false: it reads "
           "at most a write's length, as soon as there is anything"}};
}

}  // namespace wulf::net
