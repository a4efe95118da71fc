#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "replay/lower/clock.hpp"
#include "replay/lower/coverage.hpp"
#include "replay/lower/requests.hpp"
#include "replay/lower/survey.hpp"

namespace wulf::replay {

/// What the first rank of a collective's called it with; the others must agree.
struct Signature {
  trace::Op op;
  std::int32_t root;
  std::uint64_t bytes;
  std::uint32_t rank;
  std::uint32_t record;
};

/// What the lowering of all ranks shares.
struct Lowering {
  Survey& survey;
  const CollectiveRules& rules;
  Coverage& coverage;
  std::vector<KeptCall>& kept;
  bool post_all = false;  ///< non-blocking collectives: every step at the call
  /// By communicator and number.
  // NOLINTNEXTLINE(readability-redundant-member-init) - else gcc wants one where a Lowering is made
  std::map<std::pair<std::uint32_t, std::uint64_t>, Signature> signatures = {};
};

/// Turns one rank's records into its operations.
class RankLowering {
 public:
  RankLowering(Lowering& shared, ProgramBuilder& builder, RankFile& file, std::uint32_t rank);

  /// Reads the file to its end. Errors as RankFile, and `trace` that names rank and record.
  void run();

 private:
  // lower_rank.cpp
  void take(const trace::Record& record);
  void take_time(const trace::Record& record);
  void finish();
  void keep_time(const trace::Record& record, const char* why);
  [[nodiscard]] bool take_message(const trace::Record& record);
  [[nodiscard]] bool take_other(const trace::Record& record);
  void take_creation(const trace::Record& record);

  // lower_messages.cpp
  [[nodiscard]] NamedMessage sent(const trace::Record& record);
  [[nodiscard]] NamedMessage received(const trace::Record& record);
  [[nodiscard]] std::vector<std::uint32_t> post(const NamedMessage& envelope, bool synchronous, bool at_once);
  void send(const trace::Record& record);
  void receive(const trace::Record& record);
  void exchange(const trace::Record& record);
  void begin(const trace::Record& record);
  void begin(Request& request, NamedMessage envelope, bool synchronous);
  void make_persistent(const trace::Record& record);
  void start(const trace::Record& record);
  void complete(const trace::Record& record);
  void free_request(const trace::Record& record);
  [[nodiscard]] std::vector<std::uint32_t> post_send(const NamedMessage& envelope, bool synchronous);
  [[nodiscard]] std::vector<std::uint32_t> post_receive(const NamedMessage& envelope, bool at_once);
  [[nodiscard]] std::optional<std::uint64_t> awaits_answer(const NamedMessage& envelope);
  void answer(const NamedMessage& envelope);

  // lower_calls.cpp
  void collective(const trace::Record& record);
  void keep(KeptCall call);
  void synchronise(const std::string& op, Comm& comm, std::uint64_t bytes);
  void check_signature(const trace::Record& record, const Comm& comm);
  void one_sided(const trace::Record& record);
  void fence(const trace::Record& record);
  void open_or_close(const trace::Record& record);

  Lowering& shared_;
  RankFile& file_;
  std::uint32_t rank_;
  Emitter emitter_;
  Comms comms_;
  RankClock clock_;
  std::map<std::int32_t, Request> requests_;
  std::map<std::int32_t, bool> synchronous_;  ///< persistent requests that are
  std::vector<std::uint32_t> loose_;          ///< sends that nobody waits for before the end
  std::uint64_t begun_ = 0;
  std::map<std::pair<std::int32_t, std::uint64_t>, std::uint64_t> came_;  ///< receives by sender and tag
  struct Window {
    WindowState state;
    std::vector<std::int32_t> posted;   ///< origins of the exposure epoch
    std::vector<std::int32_t> started;  ///< targets of the access epoch
    std::map<std::int32_t, std::uint64_t> put;
  };
  std::map<std::int32_t, Window> windows_;
};

}  // namespace wulf::replay
