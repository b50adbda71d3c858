#include <cmath>
#include <sstream>

#include "weyl/config/toml.h"
#include "weyl/config/wording.h"
#include "weyl/core/check.h"

namespace weyl {
namespace {

// A TOML table must give its own values before its sub-tables, whatever the order of the fields: so each open
// table keeps two texts.
class Writer final : public Fields {
 public:
  Writer() { tables_.push_back({}); }

  std::string text_of_all() const { return tables_.front().values + tables_.front().below; }

 protected:
  void boolean(std::string_view key, bool& v, std::string_view) override { put(key, v ? "true" : "false"); }
  void integer(std::string_view key, int64_t& v, std::string_view, Range) override { put(key, text(v)); }
  void real(std::string_view key, double& v, std::string_view, Range) override { put(key, number(key, v)); }
  void string(std::string_view key, std::string& v, std::string_view) override { put(key, toml_string(v)); }

  void integers(std::string_view key, std::vector<int64_t>& v, std::string_view, Range) override {
    put(key, toml_list(v, [](int64_t i) { return text(i); }));
  }
  void reals(std::string_view key, std::vector<double>& v, std::string_view, Range) override {
    put(key, toml_list(v, [&](double x) { return number(key, x); }));
  }
  void matrix(std::string_view key, std::vector<std::vector<double>>& v, std::string_view) override {
    put(key, toml_list(v, [&](const auto& row) {
          return toml_list(row, [&](double x) { return number(key, x); });
        }));
  }
  void strings(std::string_view key, std::vector<std::string>& v, std::string_view) override {
    put(key, toml_list(v, [](const std::string& s) { return toml_string(s); }));
  }
  void choice(std::string_view key, size_t& index, std::span<const std::string_view> names,
              std::string_view) override {
    require<ConfigError>(index < names.size(), path(key), ": must be one of ", names.size(),
                         " values, got number ", index);
    put(key, toml_choice(names[index]));
  }

  Presence optional(std::string_view key, bool has_value, bool, std::string_view) override {
    if (!has_value) {
      put(key, "false");
    }
    return has_value ? Presence::on : Presence::off;
  }

  bool enter(std::string_view key, std::string_view) override {
    open(path(key), text("\n[", path(key), "]\n"));
    return true;
  }

  void leave() override {
    const Table closed = std::move(tables_.back());
    tables_.pop_back();
    tables_.back().below += closed.header + closed.values + closed.below;
  }

  Items enter_array(std::string_view key, size_t size, std::string_view) override {
    if (size == 0) {
      put(key, "[]");
    }
    arrays_.push_back(path(key));
    return {Items::Plan::visit, size};
  }

  void enter_item(size_t) override { open(arrays_.back(), text("\n[[", arrays_.back(), "]]\n")); }
  void leave_array() override { arrays_.pop_back(); }

  bool enter_alternative(std::string_view name, bool chosen, std::string_view help) override {
    return chosen && enter(name, help);
  }

 private:
  struct Table {
    std::string path, header, values, below;
  };

  void open(std::string path, std::string header) {
    tables_.push_back({std::move(path), std::move(header), "", ""});
  }

  std::string path(std::string_view key) const {
    return tables_.back().path.empty() ? std::string(key) : text(tables_.back().path, ".", key);
  }

  void put(std::string_view key, std::string_view value) {
    tables_.back().values += text(key, " = ", value, "\n");
  }

  std::string number(std::string_view key, double x) const {
    require<ConfigError>(std::isfinite(x), path(key), ": must be a finite number, got ", x);
    return toml_number(x);
  }

  std::vector<Table> tables_;
  std::vector<std::string> arrays_;
};

}  // namespace

std::string write_toml(const Visit& visit) {
  Writer writer;
  visit(writer);
  std::string out = writer.text_of_all();
  return out.starts_with('\n') ? out.substr(1) : out;
}

}  // namespace weyl
