#include "weyl/config/options_json.h"

namespace weyl {
namespace {

class JsonCollector final : public Fields {
 public:
  JsonCollector() { open_.push_back({"", Json::object()}); }
  Json result() const { return open_.front().json; }

 protected:
  void boolean(std::string_view key, bool& v, std::string_view) override { put(key, v); }
  void integer(std::string_view key, int64_t& v, std::string_view, Range) override { put(key, v); }
  void real(std::string_view key, double& v, std::string_view, Range) override { put(key, v); }
  void string(std::string_view key, std::string& v, std::string_view) override { put(key, v); }
  void integers(std::string_view key, std::vector<int64_t>& v, std::string_view, Range) override {
    put(key, list(v));
  }
  void reals(std::string_view key, std::vector<double>& v, std::string_view, Range) override {
    put(key, list(v));
  }
  void matrix(std::string_view key, std::vector<std::vector<double>>& v, std::string_view) override {
    Json rows = Json::array();
    for (const auto& row : v) {
      rows.add(list(row));
    }
    put(key, rows);
  }
  void strings(std::string_view key, std::vector<std::string>& v, std::string_view) override {
    put(key, list(v));
  }
  void choice(std::string_view key, size_t& index, std::span<const std::string_view> names,
              std::string_view) override {
    const std::string_view name = names[index];
    put(key, name == "true" || name == "false" ? Json(name == "true") : Json(name));
  }
  Presence optional(std::string_view key, bool has_value, bool, std::string_view) override {
    if (!has_value) {
      put(key, false);
    }
    return has_value ? Presence::on : Presence::off;
  }
  bool enter(std::string_view key, std::string_view) override {
    open_.push_back({std::string(key), Json::object()});
    return true;
  }
  void leave() override {
    const Open closed = std::move(open_.back());
    open_.pop_back();
    if (closed.key.empty()) {
      open_.back().json.add(closed.json);
    } else {
      put(closed.key, closed.json);
    }
  }
  Items enter_array(std::string_view key, size_t size, std::string_view) override {
    open_.push_back({std::string(key), Json::array()});
    return {Items::Plan::visit, size};
  }
  void enter_item(size_t) override { open_.push_back({"", Json::object()}); }
  void leave_array() override { leave(); }
  bool enter_alternative(std::string_view name, bool chosen, std::string_view help) override {
    return chosen && enter(name, help);
  }

 private:
  struct Open {
    std::string key;  // empty: an item of an array
    Json json;
  };

  void put(std::string_view key, Json value) { open_.back().json.set(std::string(key), std::move(value)); }

  template <class T>
  static Json list(const std::vector<T>& v) {
    Json json = Json::array();
    for (const T& item : v) {
      json.add(item);
    }
    return json;
  }

  std::vector<Open> open_;
};

}  // namespace

Json options_json(const Visit& visit) {
  JsonCollector collector;
  visit(collector);
  return collector.result();
}

}  // namespace weyl
