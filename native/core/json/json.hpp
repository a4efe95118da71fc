#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace wulf {

class Error;

template <typename T>
concept JsonInteger = std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char>;

/// A JSON value, whose objects keep the order in which they were written, since people read sessions too.
///
/// Text becomes a value, and a value text, by nlohmann-json, whose templates cost a source that includes them
/// five seconds: json.cpp alone does. An object is written {{"name", value}, …}, an array Json::array({…}).
/// What does not fit the value (a text's number, a name that is not there) throws Error("internal").
class Json {
 public:
  struct Member;
  using Array = std::vector<Json>;
  using Object = std::vector<Member>;

  Json() noexcept;
  Json(std::nullptr_t) noexcept;
  Json(std::same_as<bool> auto value) noexcept : Json(Boolean{value}) {}
  Json(JsonInteger auto value) noexcept
      : Json(std::in_range<std::int64_t>(value) ? Integer{static_cast<std::uint64_t>(value), true}
                                                : Integer{static_cast<std::uint64_t>(value), false}) {}
  Json(double value) noexcept;
  Json(const char* text);
  Json(std::string_view text);
  Json(std::string text) noexcept;
  Json(Array values) noexcept;
  Json(Object members) noexcept;  ///< whose names differ
  Json(std::initializer_list<Member> members);
  template <typename T>
  Json(const std::vector<T>& values) : Json(Array(values.begin(), values.end())) {}
  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(const Json& other);
  Json& operator=(Json&& other) noexcept;
  ~Json();

  [[nodiscard]] static Json array(std::initializer_list<Json> values = {});
  [[nodiscard]] static Json object();

  /// The value of a text that another part of ours wrote. Throws internal where it is none.
  [[nodiscard]] static Json parse(std::string_view text);

  [[nodiscard]] bool is_null() const noexcept;
  [[nodiscard]] bool is_boolean() const noexcept;
  [[nodiscard]] bool is_number() const noexcept;
  [[nodiscard]] bool is_integer() const noexcept;
  [[nodiscard]] bool is_unsigned() const noexcept;  ///< an integer that is not negative
  [[nodiscard]] bool is_string() const noexcept;
  [[nodiscard]] bool is_array() const noexcept;
  [[nodiscard]] bool is_object() const noexcept;

  /// The value as bool, an integer type that it fits into, double (of any number), std::string, Json or a
  /// vector of these.
  template <typename T>
  [[nodiscard]] T get() const;

  /// How many members an object has, values an array; 0 of anything else.
  [[nodiscard]] std::size_t size() const noexcept;
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }

  /// An array's values.
  [[nodiscard]] Array::const_iterator begin() const;
  [[nodiscard]] Array::const_iterator end() const;
  [[nodiscard]] const Json& at(std::size_t index) const;
  [[nodiscard]] const Json& operator[](std::size_t index) const { return at(index); }
  void push_back(Json value);  ///< null becomes an array

  /// An object's members.
  [[nodiscard]] std::span<const Member> members() const;
  [[nodiscard]] const Json* find(
      std::string_view name) const noexcept;  ///< null where there is none, or no object
  [[nodiscard]] Json* find(std::string_view name) noexcept;
  [[nodiscard]] bool contains(std::string_view name) const noexcept { return find(name) != nullptr; }
  [[nodiscard]] const Json& at(std::string_view name) const;
  [[nodiscard]] Json& at(std::string_view name);
  /// The member, or `otherwise` where it has none of that name.
  template <typename T>
  [[nodiscard]] T value(std::string_view name, T otherwise) const;
  [[nodiscard]] std::string value(std::string_view name, const char* otherwise) const;
  [[nodiscard]] const Json& operator[](std::string_view name) const { return at(name); }
  Json& operator[](std::string_view name);  ///< null where it was not there; null itself becomes an object
  void update(const Json& other);           ///< adds or replaces the other's members
  void erase(std::string_view name);

  /// In one line. What is no UTF-8 is replaced; a number that is not finite is null.
  [[nodiscard]] std::string dump() const;

  /// Numbers are equal by value, whether they are integers or not; objects with equal members in equal order.
  friend bool operator==(const Json& left, const Json& right);

 private:
  struct Boolean {
    bool value;
  };
  struct Integer {
    std::uint64_t bits;
    bool is_signed;  ///< what fits std::int64_t always is, so that equal integers are equal
  };
  using Value =
      std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, std::string, Array, Object>;

  explicit Json(Boolean value) noexcept;
  explicit Json(Integer value) noexcept;

  [[nodiscard]] bool as_bool() const;
  [[nodiscard]] std::int64_t as_signed() const;
  [[nodiscard]] std::uint64_t as_unsigned() const;
  [[nodiscard]] double as_double() const;
  [[nodiscard]] const std::string& as_string() const;
  [[noreturn]] void refuse(const std::string& needed) const;

  Value value_;
};

struct Json::Member {
  std::string name;
  Json value;

  friend bool operator==(const Member& left, const Member& right) = default;
};

template <typename T>
inline constexpr bool kIsVector = false;
template <typename T>
inline constexpr bool kIsVector<std::vector<T>> = true;

template <typename T>
T Json::get() const {
  if constexpr (std::same_as<T, bool>) {
    return as_bool();
  } else if constexpr (std::integral<T>) {
    const auto value = [this] {
      if constexpr (std::signed_integral<T>) {
        return as_signed();
      } else {
        return as_unsigned();
      }
    }();
    if (!std::in_range<T>(value)) {
      refuse("an integer of this size");
    }
    return static_cast<T>(value);
  } else if constexpr (std::same_as<T, double>) {
    return as_double();
  } else if constexpr (std::same_as<T, std::string>) {
    return as_string();
  } else if constexpr (kIsVector<T>) {
    T list;
    for (const Json& each : *this) {
      list.push_back(each.get<typename T::value_type>());
    }
    return list;
  } else {
    static_assert(std::same_as<T, Json>);
    return *this;
  }
}

template <typename T>
T Json::value(std::string_view name, T otherwise) const {
  const Json* found = find(name);
  return found == nullptr ? std::move(otherwise) : found->get<T>();
}

/// No message of ours comes near it. Copying and printing a value recurse into it, so that text nested a
/// hundred thousand deep, which fits into one line, would end the process by using up its stack.
constexpr std::size_t kDeepestJson = 64;

/// The value of text from outside; nothing where it is no JSON, or nested deeper than kDeepestJson.
[[nodiscard]] std::optional<Json> parse_json(std::string_view text);

/// {"code": …, "message": …, "field": …}; the last only where there is one.
[[nodiscard]] Json to_json(const Error& error);

}  // namespace wulf
