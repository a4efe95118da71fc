#include "core/json/json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "core/json/error.hpp"

namespace wulf {
namespace {

using Text = nlohmann::ordered_json;

/// How deep arrays and objects stand in each other; exact for JSON, and any number for what is none.
std::size_t nesting(std::string_view text) {
  std::size_t depth = 0;
  std::size_t deepest = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char each = text[i];
    if (in_string && each == '\\') {
      ++i;  // whatever was escaped ends no string
    } else if (each == '"') {
      in_string = !in_string;
    } else if (!in_string && (each == '[' || each == '{')) {
      deepest = std::max(deepest, ++depth);
    } else if (!in_string && (each == ']' || each == '}') && depth > 0) {
      --depth;
    }
  }
  return deepest;
}

/// Makes a value of what nlohmann's parser comes upon, in its order.
class Builder final : public nlohmann::json_sax<Text> {
 public:
  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t& /*text*/) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t& /*value*/) override { return false; }
  bool start_object(std::size_t /*members*/) override { return open(Json::object()); }
  bool key(string_t& name) override {
    open_.back().name = std::move(name);
    return true;
  }
  bool end_object() override { return close(); }
  bool start_array(std::size_t /*values*/) override { return open(Json::array()); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t /*at*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    return false;
  }

  [[nodiscard]] Json take() { return std::move(whole_); }

 private:
  struct Open {
    Json value;
    std::string name;  ///< of the member that comes next
  };

  bool add(Json value) {
    if (open_.empty()) {
      whole_ = std::move(value);
    } else if (Open& around = open_.back(); around.value.is_array()) {
      around.value.push_back(std::move(value));
    } else {
      around.value[around.name] = std::move(value);
    }
    return true;
  }

  bool open(Json value) {
    open_.push_back({std::move(value), ""});
    return true;
  }

  bool close() {
    Json value = std::move(open_.back().value);
    open_.pop_back();
    return add(std::move(value));
  }

  std::vector<Open> open_;
  Json whole_;
};

/// The member's value, null where there is none of that name.
template <typename Members>
auto value_of(Members* members, std::string_view name) noexcept -> decltype(&members->front().value) {
  if (members == nullptr) {
    return nullptr;
  }
  const auto found =
      std::find_if(members->begin(), members->end(), [&](const auto& each) { return each.name == name; });
  return found == members->end() ? nullptr : &found->value;
}

Text text_of(const Json& value);

Text text_of_array(const Json& value) {
  Text text = Text::array();
  for (const Json& each : value) {
    text.push_back(text_of(each));
  }
  return text;
}

Text text_of_object(const Json& value) {
  Text text = Text::object();
  for (const auto& [name, member] : value.members()) {
    // a name stands once in a value of ours, so that nobody need look for it
    text.get_ref<Text::object_t&>().emplace_back(name, text_of(member));
  }
  return text;
}

Text text_of_number(const Json& value) {
  if (!value.is_integer()) {
    return value.get<double>();
  }
  return value.is_unsigned() ? Text(value.get<std::uint64_t>()) : Text(value.get<std::int64_t>());
}

/// The same value as nlohmann's.
Text text_of(const Json& value) {
  if (value.is_object()) {
    return text_of_object(value);
  }
  if (value.is_array()) {
    return text_of_array(value);
  }
  if (value.is_number()) {
    return text_of_number(value);
  }
  if (value.is_string()) {
    return value.get<std::string>();
  }
  return value.is_null() ? Text(nullptr) : Text(value.get<bool>());
}

}  // namespace

Json::Json() noexcept : value_(nullptr) {}
Json::Json(std::nullptr_t) noexcept : value_(nullptr) {}
Json::Json(Boolean value) noexcept : value_(value.value) {}
Json::Json(Integer value) noexcept
    : value_(value.is_signed ? Value(static_cast<std::int64_t>(value.bits)) : Value(value.bits)) {}
Json::Json(double value) noexcept : value_(value) {}
Json::Json(const char* text) : value_(std::string(text)) {}
Json::Json(std::string_view text) : value_(std::string(text)) {}
Json::Json(std::string text) noexcept : value_(std::move(text)) {}
Json::Json(Array values) noexcept : value_(std::move(values)) {}
Json::Json(Object members) noexcept : value_(std::move(members)) {}
Json::Json(std::initializer_list<Member> members) : value_(Object(members)) {}
Json::Json(const Json& other) = default;
Json::Json(Json&& other) noexcept = default;
Json& Json::operator=(const Json& other) = default;
Json& Json::operator=(Json&& other) noexcept = default;
Json::~Json() = default;

Json Json::array(std::initializer_list<Json> values) { return Array(values); }
Json Json::object() { return std::initializer_list<Member>{}; }

bool Json::is_null() const noexcept { return std::holds_alternative<std::nullptr_t>(value_); }
bool Json::is_boolean() const noexcept { return std::holds_alternative<bool>(value_); }
bool Json::is_number() const noexcept { return is_integer() || std::holds_alternative<double>(value_); }
bool Json::is_integer() const noexcept {
  return std::holds_alternative<std::int64_t>(value_) || std::holds_alternative<std::uint64_t>(value_);
}
bool Json::is_unsigned() const noexcept {
  const auto* value = std::get_if<std::int64_t>(&value_);
  return value != nullptr ? *value >= 0 : std::holds_alternative<std::uint64_t>(value_);
}
bool Json::is_string() const noexcept { return std::holds_alternative<std::string>(value_); }
bool Json::is_array() const noexcept { return std::holds_alternative<Array>(value_); }
bool Json::is_object() const noexcept { return std::holds_alternative<Object>(value_); }

bool Json::as_bool() const {
  if (const auto* value = std::get_if<bool>(&value_)) {
    return *value;
  }
  refuse("true or false");
}

std::int64_t Json::as_signed() const {
  if (const auto* value = std::get_if<std::int64_t>(&value_)) {
    return *value;
  }
  refuse("an integer of 64 bits");
}

std::uint64_t Json::as_unsigned() const {
  if (const auto* value = std::get_if<std::uint64_t>(&value_)) {
    return *value;
  }
  const std::int64_t value = as_signed();
  if (value < 0) {
    refuse("an integer that is not negative");
  }
  return static_cast<std::uint64_t>(value);
}

double Json::as_double() const {
  if (const auto* value = std::get_if<double>(&value_)) {
    return *value;
  }
  if (const auto* value = std::get_if<std::int64_t>(&value_)) {
    return static_cast<double>(*value);
  }
  if (const auto* value = std::get_if<std::uint64_t>(&value_)) {
    return static_cast<double>(*value);
  }
  refuse("a number");
}

const std::string& Json::as_string() const {
  if (const auto* value = std::get_if<std::string>(&value_)) {
    return *value;
  }
  refuse("a string");
}

void Json::refuse(const std::string& needed) const {
  constexpr std::size_t kShown = 60;
  const std::string text = dump();
  throw Error("internal", (text.size() > kShown ? text.substr(0, kShown) + "…" : text) + " is not " + needed);
}

std::size_t Json::size() const noexcept {
  if (const auto* values = std::get_if<Array>(&value_)) {
    return values->size();
  }
  const auto* members = std::get_if<Object>(&value_);
  return members == nullptr ? 0 : members->size();
}

Json::Array::const_iterator Json::begin() const {
  if (const auto* values = std::get_if<Array>(&value_)) {
    return values->begin();
  }
  refuse("an array");
}

Json::Array::const_iterator Json::end() const {
  if (const auto* values = std::get_if<Array>(&value_)) {
    return values->end();
  }
  refuse("an array");
}

const Json& Json::at(std::size_t index) const {
  if (index >= static_cast<std::size_t>(end() - begin())) {
    throw Error("internal",
                "an array of " + std::to_string(size()) + " has no place " + std::to_string(index));
  }
  return *(begin() + static_cast<std::ptrdiff_t>(index));
}

void Json::push_back(Json value) {
  if (is_null()) {
    value_ = Array();
  }
  auto* values = std::get_if<Array>(&value_);
  if (values == nullptr) {
    refuse("an array");
  }
  values->push_back(std::move(value));
}

std::span<const Json::Member> Json::members() const {
  if (const auto* members = std::get_if<Object>(&value_)) {
    return *members;
  }
  refuse("an object");
}

const Json* Json::find(std::string_view name) const noexcept {
  return value_of(std::get_if<Object>(&value_), name);
}

Json* Json::find(std::string_view name) noexcept { return value_of(std::get_if<Object>(&value_), name); }

const Json& Json::at(std::string_view name) const {
  if (const Json* found = find(name)) {
    return *found;
  }
  refuse("an object with '" + std::string(name) + "'");
}

Json& Json::at(std::string_view name) {
  if (Json* found = find(name)) {
    return *found;
  }
  refuse("an object with '" + std::string(name) + "'");
}

std::string Json::value(std::string_view name, const char* otherwise) const {
  return value(name, std::string(otherwise));
}

Json& Json::operator[](std::string_view name) {
  if (Json* found = find(name)) {
    return *found;
  }
  if (is_null()) {
    value_ = Object();
  }
  auto* members = std::get_if<Object>(&value_);
  if (members == nullptr) {
    refuse("an object");
  }
  return members->emplace_back(Member{std::string(name), nullptr}).value;
}

void Json::update(const Json& other) {
  for (const auto& [name, value] : other.members()) {
    (*this)[name] = value;
  }
}

void Json::erase(std::string_view name) {
  if (auto* members = std::get_if<Object>(&value_)) {
    std::erase_if(*members, [&](const Member& each) { return each.name == name; });
  }
}

std::string Json::dump() const { return text_of(*this).dump(-1, ' ', false, Text::error_handler_t::replace); }

bool operator==(const Json& left, const Json& right) {
  if (left.is_number() && right.is_number() && left.value_.index() != right.value_.index()) {
    return left.as_double() == right.as_double();
  }
  return left.value_ == right.value_;
}

std::optional<Json> parse_json(std::string_view text) {
  Builder builder;
  if (nesting(text) > kDeepestJson || !Text::sax_parse(text, &builder)) {
    return std::nullopt;
  }
  return builder.take();
}

Json Json::parse(std::string_view text) {
  if (auto value = parse_json(text)) {
    return std::move(*value);
  }
  Json(text).refuse("JSON");
}

Json to_json(const Error& error) {
  Json json{{"code", error.code()}, {"message", error.what()}};
  if (!error.field().empty()) {
    json["field"] = error.field();
  }
  return json;
}

}  // namespace wulf
