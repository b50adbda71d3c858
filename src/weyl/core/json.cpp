#include "weyl/core/json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "weyl/core/check.h"
#include "weyl/core/json_reader.h"
#include "weyl/core/utf8.h"

namespace weyl {
namespace {

constexpr size_t kSearched = 16;  // members of an object that are searched one by one

/// Builds a value event by event. It keeps the values that are open, no more than json_depth_limit of them, so that no
/// text can exhaust the stack.
class Builder {
 public:
  explicit Builder(std::string_view where) : where_(where) {}

  Json build(JsonReader& reader) {
    for (JsonEvent event = reader.next(); event != JsonEvent::end; event = reader.next()) {
      take(reader, event);
    }
    return std::move(root_);
  }

 private:
  struct Open {
    Json value;
    std::string key;  // of the member that comes next
  };

  void take(JsonReader& reader, JsonEvent event) {
    switch (event) {
      case JsonEvent::null:
        return put({});
      case JsonEvent::boolean:
        return put(reader.boolean());
      case JsonEvent::number:
        return put(reader.integer() ? Json(*reader.integer()) : Json(reader.real()));
      case JsonEvent::string:
        return put(std::move(reader.string()));
      case JsonEvent::key:
        open_.back().key = std::move(reader.string());
        return;
      case JsonEvent::begin_array:
        return open(Json::array());
      case JsonEvent::begin_object:
        return open(Json::object());
      default:
        return close();
    }
  }

  void put(Json value) {
    require<DataError>(++values_ <= json_values_limit, where_, ": JSON must have at most ", json_values_limit,
                       " values");
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (open_.back().value.is_object()) {
      open_.back().value.set(std::move(open_.back().key), std::move(value));
    } else {
      open_.back().value.add(std::move(value));
    }
  }

  void open(Json value) {
    require<DataError>(static_cast<int64_t>(open_.size()) < json_depth_limit, where_,
                       ": JSON must nest at most ", json_depth_limit, " deep");
    open_.push_back({std::move(value), {}});
  }

  void close() {
    Json value = std::move(open_.back().value);
    open_.pop_back();
    put(std::move(value));
  }

  std::string_view where_;
  Json root_;
  std::vector<Open> open_;
  int64_t values_ = 0;
};

/// The shortest digits that read as the same number, and a mark that it is no integer: 2.5, 1.0, 1e-05. From 1e-4 to
/// below 1e15 without an exponent.
void append_real(std::string& to, double x) {
  std::array<char, 32> buffer;
  const auto [end, error] =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::abs(x), std::chars_format::scientific);
  const std::string_view scientific(buffer.data(), static_cast<size_t>(end - buffer.data()));  // 1.25e-07
  const size_t e = scientific.find('e');
  std::string digits(1, scientific[0]);
  digits += e > 2 ? scientific.substr(2, e - 2) : "";
  int power = 0;
  const size_t sign = scientific[e + 1] == '+' ? 1 : 0;  // which from_chars refuses
  std::from_chars(scientific.data() + e + 1 + sign, end, power);
  const int count = static_cast<int>(digits.size()), point = power + 1;  // digits before the point
  to += std::signbit(x) ? "-" : "";
  if (x == 0) {
    to += "0.0";
  } else if (point > 15 || point <= -4) {
    to += digits.substr(0, 1) + (count > 1 ? "." + digits.substr(1) : "");
    to += scientific.substr(e);
  } else if (point <= 0) {
    to += "0." + std::string(static_cast<size_t>(-point), '0') + digits;
  } else if (point >= count) {
    to += digits + std::string(static_cast<size_t>(point - count), '0') + ".0";
  } else {
    to += digits.insert(static_cast<size_t>(point), ".");
  }
}

}  // namespace

std::string json_string(std::string_view words) {
  constexpr std::string_view named = "\"\\\b\f\n\r\t", letters = "\"\\bfnrt", digits = "0123456789abcdef";
  std::string out(1, '"');
  while (!words.empty()) {
    const char c = words.front();
    if (c >= 0x20 && c < 0x7f && c != '"' && c != '\\') {
      out += c;
      words.remove_prefix(1);
      continue;
    }
    const Utf8 first = first_utf8(words);
    if (const size_t i = named.find(c); i != named.npos) {
      out += {'\\', letters[i]};
    } else if (!first.valid) {
      append_utf8(out, 0xfffd);
    } else if (first.code < 0x20) {
      out += {'\\', 'u', '0', '0', digits[first.code >> 4], digits[first.code & 15]};
    } else {
      out += words.substr(0, first.bytes);
    }
    words.remove_prefix(first.bytes);
  }
  return out + '"';
}

/// Appends a value to a text, indented.
class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) {}

  void write(const Json& value) {
    std::visit([&](const auto& v) { put(v); }, value.value_);
  }

 private:
  void put(std::monostate /*null*/) { out_ += "null"; }
  void put(bool value) { out_ += value ? "true" : "false"; }
  void put(int64_t value) { out_ += std::to_string(value); }
  void put(double value) {
    if (std::isfinite(value)) {
      append_real(out_, value);
    } else {
      out_ += "null";
    }
  }
  void put(const std::string& value) { out_ += json_string(value); }
  void put(const Json::Items& items) {
    enclose('[', items, ']', [&](const Json& item) { write(item); });
  }
  void put(const Json::Members& members) {
    enclose('{', members.list, '}', [&](const std::pair<std::string, Json>& member) {
      put(member.first);
      out_ += ": ";
      write(member.second);
    });
  }

  template <class Range, class F>
  void enclose(char begin, const Range& range, char end, F f) {
    out_ += begin;
    depth_ += 2;
    for (const auto& item : range) {
      out_ += &item == range.data() ? "\n" : ",\n";
      out_.append(depth_, ' ');
      f(item);
    }
    depth_ -= 2;
    if (!range.empty()) {
      out_ += '\n';
      out_.append(depth_, ' ');
    }
    out_ += end;
  }

  std::string& out_;
  size_t depth_ = 0;
};

Json::Members::Members(const Members& other)
    : list(other.list), places(other.places ? std::make_unique<Places>(*other.places) : nullptr) {}

Json::Members& Json::Members::operator=(Members other) noexcept {
  list = std::move(other.list);
  places = std::move(other.places);
  return *this;
}

size_t Json::Members::find(std::string_view key) const {
  if (places) {
    const auto found = places->find(key);
    return found == places->end() ? list.size() : found->second;
  }
  return static_cast<size_t>(std::ranges::find(list, key, &std::pair<std::string, Json>::first) -
                             list.begin());
}

void Json::Members::set(std::string key, Json value) {
  if (const size_t at = find(key); at < list.size()) {
    list[at].second = std::move(value);
    return;
  }
  list.emplace_back(std::move(key), std::move(value));
  if (places) {
    places->emplace(list.back().first, list.size() - 1);
  } else if (list.size() > kSearched) {
    places = std::make_unique<Places>();
    for (size_t at = 0; at < list.size(); ++at) {
      places->emplace(list[at].first, at);
    }
  }
}

Json Json::object() {
  Json json;
  json.value_ = Members{};
  return json;
}

Json Json::array() {
  Json json;
  json.value_ = Items{};
  return json;
}

Json Json::parse(std::string_view text, std::string_view where) {
  JsonReader reader(text, std::string(where) + ": must be valid JSON, ");
  return Builder(where).build(reader);
}

Json& Json::set(std::string key, Json value) {
  require(is_object(), "Json::set: must be called on an object");
  std::get<Members>(value_).set(std::move(key), std::move(value));
  return *this;
}

Json& Json::add(Json value) {
  require(std::holds_alternative<Items>(value_), "Json::add: must be called on an array");
  std::get<Items>(value_).push_back(std::move(value));
  return *this;
}

const Json* Json::find(std::string_view key) const {
  const auto* members = std::get_if<Members>(&value_);
  const size_t at = members != nullptr ? members->find(key) : 0;
  return members != nullptr && at < members->list.size() ? &members->list[at].second : nullptr;
}

const std::vector<Json>& Json::items() const {
  static const Items none;
  const auto* items = std::get_if<Items>(&value_);
  return items != nullptr ? *items : none;
}

const std::vector<std::pair<std::string, Json>>& Json::members() const {
  static const std::vector<std::pair<std::string, Json>> none;
  const auto* members = std::get_if<Members>(&value_);
  return members != nullptr ? members->list : none;
}

std::string Json::string_or(std::string_view otherwise) const {
  const auto* s = std::get_if<std::string>(&value_);
  return s != nullptr ? *s : std::string(otherwise);
}

double Json::number_or(double otherwise) const {
  if (const auto* i = std::get_if<int64_t>(&value_)) {
    return static_cast<double>(*i);
  }
  const auto* d = std::get_if<double>(&value_);
  return d != nullptr ? *d : otherwise;
}

std::string Json::dump() const {
  std::string out;
  JsonWriter(out).write(*this);
  return out;
}

}  // namespace weyl
