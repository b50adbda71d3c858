#include "weyl/core/json.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "weyl/core/check.h"

namespace weyl {
namespace {

using nlohmann::json;

constexpr size_t kSearched = 16;  // members of an object that are searched one by one

/// Builds a value event by event. The parser itself keeps no more than one bit for each level, and this no
/// more than json_depth_limit of them, so that no text can exhaust the stack.
class Builder : public json::json_sax_t {
 public:
  explicit Builder(std::string_view where) : where_(where) {}

  bool null() override { return put({}); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put(int64_t{value}); }
  bool number_unsigned(number_unsigned_t value) override {
    constexpr auto most = static_cast<number_unsigned_t>(std::numeric_limits<int64_t>::max());
    return put(value <= most ? Json(static_cast<int64_t>(value)) : Json(static_cast<double>(value)));
  }
  bool number_float(number_float_t value, const string_t& /*token*/) override { return put(value); }
  bool string(string_t& value) override { return put(std::move(value)); }
  bool binary(binary_t& /*value*/) override { return false; }
  bool start_object(std::size_t /*size*/) override { return open(Json::object()); }
  bool start_array(std::size_t /*size*/) override { return open(Json::array()); }
  bool key(string_t& key) override {
    open_.back().key = std::move(key);
    return true;
  }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t at, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    throw DataError(text(where_, ": must be valid JSON, but does not parse (byte ", at, ")"));
  }

  Json done() { return std::move(root_); }

 private:
  struct Open {
    Json value;
    std::string key;  // of the member that comes next
  };

  bool put(Json value) {
    require<DataError>(++values_ <= json_values_limit, where_, ": JSON must have at most ", json_values_limit,
                       " values");
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (open_.back().value.is_object()) {
      open_.back().value.set(std::move(open_.back().key), std::move(value));
    } else {
      open_.back().value.add(std::move(value));
    }
    return true;
  }

  bool open(Json value) {
    require<DataError>(static_cast<int64_t>(open_.size()) < json_depth_limit, where_,
                       ": JSON must nest at most ", json_depth_limit, " deep");
    open_.push_back({std::move(value), {}});
    return true;
  }

  bool close() {
    Json value = std::move(open_.back().value);
    open_.pop_back();
    return put(std::move(value));
  }

  std::string_view where_;
  Json root_;
  std::vector<Open> open_;
  int64_t values_ = 0;
};

}  // namespace

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
  void put(double value) { out_ += std::isfinite(value) ? json(value).dump() : "null"; }
  void put(const std::string& value) {
    out_ += json(value).dump(-1, ' ', false, json::error_handler_t::replace);
  }
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
  Builder builder(where);
  json::sax_parse(text, &builder);
  return builder.done();
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
