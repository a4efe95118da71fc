#include "trace/format/decode.hpp"

#include <algorithm>

#include "trace/format/encode.hpp"

namespace wulf::trace {

namespace {

/// Reads fields one after another; what is wrong once stays wrong.
class Fields {
 public:
  Fields(const std::uint8_t* at, const std::uint8_t* end, const Limits& limits)
      : _at(at), _end(end), _limits(limits) {}

  [[nodiscard]] bool good() const { return _good; }
  [[nodiscard]] const std::uint8_t* at() const { return _at; }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (_at == _end) {
        break;
      }
      const std::uint8_t byte = *_at++;
      const std::uint64_t part = byte & 0x7FU;
      if (shift == 63 && part > 1) {
        break;
      }
      value |= part << shift;
      if ((byte & 0x80U) == 0) {
        return value;
      }
    }
    _good = false;
    return 0;
  }

  /// A number that was moved up by so much.
  std::int32_t small(std::int64_t moved) {
    constexpr std::uint64_t most = (std::uint64_t{1} << 31U) + 2;
    const std::uint64_t value = varint();
    const std::int64_t moved_back = static_cast<std::int64_t>(std::min(value, most)) - moved;
    _good = _good && value <= most && moved_back <= INT32_MAX;
    return _good ? static_cast<std::int32_t>(moved_back) : 0;
  }

  std::int32_t peer() { return small(-elsewhere); }
  std::int32_t tag() { return small(1); }
  std::int32_t number() { return small(0); }

  std::int64_t zigzagged() {
    const std::uint64_t value = varint();
    return static_cast<std::int64_t>(value >> 1U) ^ -static_cast<std::int64_t>(value & 1U);
  }

  /// How many entries follow, each of a byte at least.
  std::uint64_t entries() {
    const std::uint64_t count = varint();
    _good = _good && count <= static_cast<std::uint64_t>(_end - _at);
    return _good ? count : 0;
  }

  void requests(std::vector<std::int32_t>& out) {
    for (std::uint64_t left = entries(); left > 0 && _good; left--) {
      out.push_back(tag());
    }
  }

  Completion completion() {
    Completion one;
    const std::uint64_t value = varint();
    const std::uint64_t id = value >> completion_flags;
    _good = _good && id <= INT32_MAX;
    one.request = _good ? static_cast<std::int32_t>(id) - 1 : none;
    one.wildcard = (value & told_source) != 0;
    one.shorter = (value & told_bytes) != 0;
    one.cancelled = (value & was_cancelled) != 0;
    if (one.wildcard) {
      one.source = peer();
      one.tag = tag();
    }
    one.bytes = one.shorter ? varint() : 0;
    return one;
  }

  void completions(std::vector<Completion>& out) {
    for (std::uint64_t left = entries(); left > 0 && _good; left--) {
      out.push_back(completion());
    }
  }

  void counts(std::vector<std::uint64_t>& out) { runs(varint(), out); }

  /// One more than their number; 0: they are as `before`.
  void counts2(const std::vector<std::uint64_t>& before, std::vector<std::uint64_t>& out) {
    const std::uint64_t count = varint();
    if (count == 0) {
      out = before;
    } else {
      runs(count - 1, out);
    }
  }

  void runs(std::uint64_t count, std::vector<std::uint64_t>& out) {
    _good = _good && count <= _limits.counts();
    while (_good && out.size() < count) {
      const std::uint64_t value = varint();
      const std::uint64_t run = (value & 1U) != 0 ? varint() : 1;
      _good = _good && run > 0 && run <= count - out.size();
      out.insert(out.end(), _good ? run : 0, value >> 1U);
    }
  }

  void members(std::vector<std::int32_t>& out) {
    for (std::uint64_t left = entries(); left > 0 && _good; left--) {
      const std::int64_t first = peer();
      const std::uint64_t run = varint();
      const std::int64_t stride = run > 1 ? zigzagged() : 0;
      _good = _good && run > 0 && run <= _limits.members() && out.size() + run <= _limits.members();
      // the last one decides: all between lie within
      _good = _good && stride >= -INT32_MAX && stride <= INT32_MAX;
      const std::int64_t last = _good ? first + (stride * static_cast<std::int64_t>(run - 1)) : 0;
      _good = _good && last >= elsewhere && last <= INT32_MAX;
      for (std::uint64_t i = 0; _good && i < run; i++) {
        out.push_back(static_cast<std::int32_t>(first + (stride * static_cast<std::int64_t>(i))));
      }
    }
  }

  void text(std::string& out) {
    const std::uint64_t length = entries();
    out.assign(_at, _at + length);
    _at += length;
  }

  void actual(Record& record) {
    const Wanted posted = wanted(record);
    const bool told = posted.peer == any || posted.tag == any;
    record.source = told ? peer() : posted.peer;
    record.source_tag = told ? tag() : posted.tag;
  }

 private:
  const std::uint8_t* _at;
  const std::uint8_t* _end;
  const Limits& _limits;
  bool _good = true;
};

void take_list(Fields& fields, Record& record, Field field) {
  switch (field) {
    case Field::requests:
      fields.requests(record.requests);
      return;
    case Field::completion:
      record.completions.push_back(fields.completion());
      return;
    case Field::completions:
      fields.completions(record.completions);
      return;
    case Field::counts:
      fields.counts(record.counts);
      return;
    case Field::counts2:
      fields.counts2(record.counts, record.counts2);
      return;
    case Field::members:
      fields.members(record.members);
      return;
    case Field::members2:
      fields.members(record.members2);
      return;
    case Field::text:
      fields.text(record.text);
      return;
    default:
      return;
  }
}

void take_number(Fields& fields, Record& record, Field field) {
  switch (field) {
    case Field::bytes:
      record.bytes = fields.varint();
      return;
    case Field::bytes2:
      record.bytes2 = fields.varint();
      return;
    case Field::given:
      record.given = fields.varint();
      return;
    case Field::count:
      record.count = fields.varint();
      return;
    case Field::between:
      record.between_ns = fields.varint();
      return;
    case Field::number:
      record.number = fields.zigzagged();
      return;
    case Field::thread:
      record.thread = static_cast<std::uint32_t>(fields.number());
      return;
    case Field::site:
      record.site = static_cast<std::uint32_t>(fields.number());
      return;
    default:
      take_list(fields, record, field);
  }
}

/// Communicators, windows and requests.
void take_handle(Fields& fields, Record& record, Field field) {
  switch (field) {
    case Field::comm:
      record.comm = fields.number();
      return;
    case Field::window:
      record.window = fields.number();
      return;
    case Field::newcomm:
      record.newcomm = fields.tag();
      return;
    case Field::newwin:
      record.newwin = fields.tag();
      return;
    case Field::request:
      record.request = fields.tag();
      return;
    default:
      take_number(fields, record, field);
  }
}

void take(Fields& fields, Record& record, Field field) {
  switch (field) {
    case Field::times:
      record.gap_ns = fields.varint();
      record.call_ns = fields.varint();
      return;
    case Field::peer:
      record.peer = fields.peer();
      return;
    case Field::peer2:
      record.peer2 = fields.peer();
      return;
    case Field::root:
      record.root = fields.peer();
      return;
    case Field::tag:
      record.tag = fields.tag();
      return;
    case Field::tag2:
      record.tag2 = fields.tag();
      return;
    case Field::actual:
      fields.actual(record);
      return;
    default:
      take_handle(fields, record, field);
  }
}

}  // namespace

bool has(Op op, Field field) {
  const Shape& shape = shape_of(op);
  return std::find(std::begin(shape.fields), std::end(shape.fields), field) != std::end(shape.fields);
}

void Record::clear() {
  static_cast<Numbers&>(*this) = Numbers{};
  requests.clear();
  completions.clear();
  counts.clear();
  counts2.clear();
  members.clear();
  members2.clear();
  text.clear();
}

const std::uint8_t* decode(const std::uint8_t* at, const std::uint8_t* end, Record& record,
                           std::uint16_t version, const Limits& limits) {
  if (at == end || shape_of(static_cast<Op>(*at)).name == nullptr) {
    return nullptr;
  }
  record.clear();
  record.op = static_cast<Op>(*at);  // NOLINT(clang-analyzer-optin.core.EnumCastOutOfRange) - it has a name
  Fields fields(at + 1, end, limits);
  for (const Field field : shape_of(record.op).fields) {
    if (field == Field::end) {
      break;
    }
    if (field != Field::counts2 || version > oldest_version) {
      take(fields, record, field);
    }
  }
  return fields.good() ? fields.at() : nullptr;
}

}  // namespace wulf::trace
