#include <mpi.h>

#include <algorithm>
#include <array>
#include <memory>
#include <span>

#include "mpi/messages/pairs.hpp"
#include "mpi/plain/messages/pattern.hpp"

namespace wulf::mpi {
namespace {

constexpr std::uint64_t kSeed = 1;

/// The communicator of two ranks, the first with rank 0. Only these two make it.
class Couple {
 public:
  Couple(const World& world, const RankPair& pair) {
    const std::array<int, 2> ranks{pair.first, pair.second};
    MPI_Group all = MPI_GROUP_NULL;
    MPI_Comm_group(world.comm(), &all);
    MPI_Group both = MPI_GROUP_NULL;
    MPI_Group_incl(all, 2, ranks.data(), &both);
    MPI_Comm_create_group(world.comm(), both, 0, &comm_);
    const int other = 1 - rank();
    MPI_Group_incl(both, 1, &other, &peer_);
    MPI_Group_free(&both);
    MPI_Group_free(&all);
  }
  Couple(const Couple&) = delete;
  Couple& operator=(const Couple&) = delete;
  Couple(Couple&&) = delete;
  Couple& operator=(Couple&&) = delete;
  ~Couple() {
    MPI_Group_free(&peer_);
    MPI_Comm_free(&comm_);
  }

  [[nodiscard]] MPI_Comm comm() const { return comm_; }
  [[nodiscard]] MPI_Group peer() const { return peer_; }
  [[nodiscard]] int rank() const {
    int rank = 0;
    MPI_Comm_rank(comm_, &rank);
    return rank;
  }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Group peer_ = MPI_GROUP_NULL;
};

/// Memory of MPI's own that the other rank of a couple may write and read. Collective over the couple.
class Window {
 public:
  /// Throws `limit` where MPI makes none.
  Window(const Couple& couple, std::size_t bytes) {
    MPI_Comm_set_errhandler(couple.comm(), MPI_ERRORS_RETURN);
    void* base = nullptr;
    const int code = MPI_Win_allocate(static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, couple.comm(),
                                      static_cast<void*>(&base), &win_);
    if (code != MPI_SUCCESS) {
      throw Error("limit", "this MPI makes no window of " + std::to_string(bytes) + " B here (" +
                               words_of(code) +
                               "): ask for fewer bytes, or choose another one-sided component (Open MPI: "
                               "--mca osc ^rdma)");
    }
    memory_ = {static_cast<std::byte*>(base), bytes};
    std::fill(memory_.begin(), memory_.end(), std::byte{0});
  }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;
  Window(Window&&) = delete;
  Window& operator=(Window&&) = delete;
  ~Window() { MPI_Win_free(&win_); }

  [[nodiscard]] MPI_Win get() const { return win_; }
  [[nodiscard]] std::span<std::byte> memory() const { return memory_; }

 private:
  [[nodiscard]] static std::string words_of(int code) {
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    MPI_Error_string(code, text.data(), &length);
    return text.data();
  }

  MPI_Win win_ = MPI_WIN_NULL;
  std::span<std::byte> memory_;
};

enum class Kind { kPut, kGet };

/// Epochs of MPI_Put or MPI_Get from rank a into rank b's memory.
class OneSided : public Replicate {
 public:
  OneSided(const World& world, const Json& params, Kind kind)
      : world_(world),
        pair_(pair_of(world, params)),
        kind_(kind),
        sync_(params.at("sync").get<std::string>()),
        bytes_(params.at("bytes").get<std::size_t>()),
        width_(params.at("window").get<int>()),
        length_(length_of(params)),
        crew_(world, pair_.first, {pair_.second}) {
    allocate();
  }

  Outcome measure() override {
    Outcome mine;
    if (is_origin()) {
      mine = lead();
      crew_.tell({0});
    } else if (window_) {
      follow(
          crew_, [](const Order&) {}, [this](const Order& order) { expose(order); });
    }
    Outcome outcome = handed_over(world_, pair_.first, mine);
    check();
    return outcome;
  }

 private:
  [[nodiscard]] bool is_origin() const { return world_.rank() == pair_.first; }
  [[nodiscard]] bool is_target() const { return world_.rank() == pair_.second; }
  [[nodiscard]] bool has_data() const { return kind_ == Kind::kPut ? is_origin() : is_target(); }

  /// Collective: what is needed is there on both ranks, or all throw.
  void allocate() {
    // whole cache lines, so that no two ranks' parts of shared memory have one in common; with MPICH 4.0.2,
    // windows of six bytes were not where the other rank wrote
    constexpr std::size_t kLine = 64;
    const std::size_t wanted = std::max<std::size_t>(bytes_ * static_cast<std::size_t>(width_), 1);
    const std::size_t total = (wanted + kLine - 1) / kLine * kLine;
    require_memory_of(world_, {pair_}, total);
    std::optional<Error> error;
    try {
      if (is_origin() || is_target()) {
        couple_ = std::make_unique<Couple>(world_, pair_);
        window_ = std::make_unique<Window>(*couple_, total);
      }
    } catch (const Error& failed) {
      error = failed;
    }
    world_.agree(error ? &*error : nullptr);
    for (int i = 0; window_ && has_data() && i < width_; ++i) {
      fill_pattern(message(i), kSeed);
    }
  }

  [[nodiscard]] std::span<std::byte> message(int i) {
    return {window_->memory().data() + (bytes_ * static_cast<std::size_t>(i)), bytes_};
  }

  Outcome lead() {
    Length half = length_;
    half.seconds /= 2;
    const auto body = [this](const Order& order) { access(order); };
    const Batches single = time_batches(crew_, {0, 0, 1}, half, body);
    const Batches many = time_batches(crew_, {0, 0, width_}, half, body);
    Outcome outcome;
    outcome.metrics["latency"] = single.time();
    outcome.metrics["throughput"] = bytes_ > 0 ? many.rate("B/s", static_cast<double>(bytes_) * width_)
                                               : no_value("B/s", "messages of 0 B carry nothing");
    outcome.seconds = single.spent() + many.spent();
    outcome.info = {{"pairs", Json::array({Json::array({pair_.first, pair_.second})})},
                    {"batch", Json::array({single.count(), many.count()})},
                    {"window", width_}};
    return outcome;
  }

  /// The origin's epochs: order.extra operations each. Flushes complete them within one epoch of locks.
  void access(const Order& order) {
    MPI_Win win = window_->get();
    if (sync_ == "fence") {
      MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    } else if (flushes()) {
      MPI_Win_lock(MPI_LOCK_SHARED, kTarget, 0, win);
    }
    for (std::int64_t i = 0; i < order.count; ++i) {
      open(win);
      for (int each = 0; each < order.extra; ++each) {
        move(win, each);
      }
      close(win, i + 1 == order.count);
    }
    if (flushes()) {
      MPI_Win_unlock(kTarget, win);
    }
  }

  void open(MPI_Win win) {
    if (sync_ == "lock") {
      MPI_Win_lock(MPI_LOCK_SHARED, kTarget, 0, win);
    } else if (sync_ == "lock-all") {
      MPI_Win_lock_all(0, win);
    } else if (sync_ == "pscw") {
      MPI_Win_start(couple_->peer(), 0, win);
    }
  }

  void move(MPI_Win win, int each) {
    const std::span<std::byte> here = message(each);
    const auto there = static_cast<MPI_Aint>(bytes_ * static_cast<std::size_t>(each));
    const auto count = static_cast<int>(bytes_);
    if (kind_ == Kind::kPut) {
      MPI_Put(here.data(), count, MPI_BYTE, kTarget, there, count, MPI_BYTE, win);
    } else {
      MPI_Get(here.data(), count, MPI_BYTE, kTarget, there, count, MPI_BYTE, win);
    }
  }

  void close(MPI_Win win, bool last) {
    if (sync_ == "lock") {
      MPI_Win_unlock(kTarget, win);
    } else if (sync_ == "lock-all") {
      MPI_Win_unlock_all(win);
    } else if (sync_ == "flush") {
      MPI_Win_flush(kTarget, win);
    } else if (sync_ == "flush-local") {
      MPI_Win_flush_local(kTarget, win);
    } else if (sync_ == "pscw") {
      MPI_Win_complete(win);
    } else {
      MPI_Win_fence(last ? MPI_MODE_NOSUCCEED : 0, win);
    }
  }

  [[nodiscard]] bool flushes() const { return sync_ == "flush" || sync_ == "flush-local"; }

  /// The target's epochs. With locks and flushes it has none: it waits for the next order, and MPI gets on
  /// meanwhile.
  void expose(const Order& order) {
    MPI_Win win = window_->get();
    if (sync_ == "fence") {
      MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
      for (std::int64_t i = 0; i < order.count; ++i) {
        MPI_Win_fence(i + 1 == order.count ? MPI_MODE_NOSUCCEED : 0, win);
      }
    } else if (sync_ == "pscw") {
      for (std::int64_t i = 0; i < order.count; ++i) {
        MPI_Win_post(couple_->peer(), 0, win);
        MPI_Win_wait(win);
      }
    }
  }

  /// Throws wrong-result where the data did not get to the other end.
  void check() {
    if (!window_ || has_data()) {
      return;
    }
    MPI_Win win = window_->get();
    const int own = is_target() ? kTarget : 0;
    MPI_Win_lock(MPI_LOCK_SHARED, own, 0, win);  // what others wrote is in this memory from here on
    MPI_Win_unlock(own, win);
    for (int i = 0; i < width_; ++i) {
      const auto wrong = difference(message(i), kSeed);
      if (wrong) {
        throw Error("wrong-result", "message " + std::to_string(i) + " from " +
                                        world_.name_of(kind_ == Kind::kPut ? pair_.first : pair_.second) +
                                        " is not what was there: " + describe(*wrong, bytes_));
      }
    }
  }

  static constexpr int kTarget = 1;  ///< in the couple's communicator

  const World& world_;
  RankPair pair_;
  Kind kind_;
  std::string sync_;
  std::size_t bytes_;
  int width_;
  Length length_;
  Crew crew_;
  std::unique_ptr<Couple> couple_;
  std::unique_ptr<Window> window_;
};

class OneSidedProbe : public RankProbe {
 public:
  OneSidedProbe(const std::string& name, const std::string& help, Kind kind)
      : RankProbe(name, "onesided", help), kind_(kind) {}

  [[nodiscard]] std::vector<Param> params() const override {
    constexpr int kMost = 1 << 16;
    constexpr int kWindow = 64;
    return joined({pair_params(8),
                   {{"window", ParamType::kInt, "1", kWindow, 1, kMost,
                     "operations an epoch or a flush, for throughput"},
                    {"sync",
                     ParamType::kStr,
                     "",
                     "fence",
                     nullptr,
                     nullptr,
                     "what ends an epoch: MPI_Win_fence; lock and unlock; lock_all and unlock_all; post, "
                     "start, complete, "
                     "wait; or, within one lock, MPI_Win_flush, or flush_local, after which the origin's "
                     "memory is free",
                     {"fence", "lock", "lock-all", "pscw", "flush", "flush-local"}}},
                   length_params("epochs")});
  }
  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"latency", "s", "lower", "an epoch of one operation, or one with its flush"},
            {"throughput", "B/s", "higher", "epochs of `window` operations"}};
  }
  [[nodiscard]] std::vector<int> ends(const World& world, const Json& params) const override {
    const auto [a, b] = pair_of(world, params);
    return {a, b};
  }
  [[nodiscard]] std::unique_ptr<Replicate> prepare(const World& world, const Json& params) const override {
    return std::make_unique<OneSided>(world, params, kind_);
  }

 private:
  Kind kind_;
};

const Registered<RankProbe> put{
    std::make_unique<OneSidedProbe>("put", "Writes into another rank's memory", Kind::kPut)};
const Registered<RankProbe> get{
    std::make_unique<OneSidedProbe>("get", "Reads another rank's memory", Kind::kGet)};

}  // namespace
}  // namespace wulf::mpi
