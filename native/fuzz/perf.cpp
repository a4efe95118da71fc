#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "core/perf/event_format.hpp"
#include "core/perf/sample.hpp"
#include "fuzz/targets.hpp"
#include "node/noise/account.hpp"
#include "node/noise/attribution.hpp"
#include "node/noise/decoder.hpp"

namespace wulf::fuzz {
namespace {

using namespace node;

/// Descriptions, a form feed apart: of the switch, of an interrupt's two, of the NMI.
EventDecoder decoder_of(std::string_view text) {
  std::vector<EventFormat> formats;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\f'), text.size());
    if (auto format = parse_event_format(text.substr(0, end))) {
      formats.push_back(std::move(*format));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  EventDecoder decoder;
  const Bracket bracket{"irq", "", "", Source::kInterrupt, "irq", Naming::kText, "name"};
  for (const EventFormat& format : formats) {
    (void)decoder.add_switch(format);
    (void)decoder.add_nmi(format);
    (void)decoder.add_bracket(bracket, format, formats.back());
  }
  return decoder;
}

std::vector<Event> events_of(const EventDecoder& decoder, Bytes ring) {
  std::vector<Event> events;
  constexpr std::size_t kSize = 6;  // of the header: where its size stands
  while (ring.size() >= 8) {
    std::uint16_t size = 0;
    std::memcpy(&size, ring.data() + kSize, sizeof(size));
    const std::size_t taken = std::clamp<std::size_t>(size, 8, ring.size());
    if (const auto record = parse_perf_record(ring.first(taken))) {
      if (auto event = decoder.decode(*record)) {
        events.push_back(std::move(*event));
      }
    }
    ring = ring.subspan(taken);
  }
  return events;
}

}  // namespace

void perf(const std::uint8_t* data, std::size_t size) {
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const std::size_t text = std::min(all.find('\v'), size);  // parts descriptions from records
  const std::string_view records = all.substr(std::min(text + 1, size));
  const EventDecoder decoder = decoder_of(all.substr(0, text));
  Culprits culprits;
  Attribution attribution(culprits);
  const auto pieces = attribution.follow(events_of(decoder, std::as_bytes(std::span(records))));
  attribution.tell_kernel_threads();
  NoiseAccount account(3);
  Nanoseconds last = 0;
  for (const Piece& piece : pieces) {
    if (piece.length <= 0 || piece.at < last) {
      std::abort();  // pieces are in order, and none lies in another
    }
    last = piece.at + piece.length;
    const Absence absence{piece.at, piece.length};
    account.add(absence, split(absence, pieces, 0));
  }
  (void)account.table(culprits).dump();
  (void)account.worst(culprits, 0).dump();
}

}  // namespace wulf::fuzz
