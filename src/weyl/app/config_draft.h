#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/config/toml.h"

namespace weyl {

/// A value as it stands in a TOML file.
struct TomlText {
  TomlText(int n) : TomlText(static_cast<int64_t>(n)) {}
  TomlText(int64_t n);
  TomlText(double x);
  TomlText(bool b) : text(b ? "true" : "false") {}
  TomlText(const char* s) : TomlText(std::string(s)) {}
  TomlText(const std::string& s);
  TomlText(const std::vector<std::string>& list);
  TomlText(const std::vector<int64_t>& list);
  TomlText(const std::vector<double>& list);
  /// A text that is a value already: an inline table.
  static TomlText raw(std::string text);

  std::string text;
};

/// A config in the making, for people to read and change: tables and keys in the order in which they are given, each key
/// with a comment.
class ConfigDraft {
 public:
  /// A line of comment of its own, where the draft stands.
  void remark(const std::string& comment);
  /// Opens the table of this path; keys that follow are its own.
  void table(const std::string& path);
  /// A key of the open table. `reason`: why the value is as it is; empty: the key's help.
  void set(const std::string& key, const TomlText& value, const std::string& reason = {});

  /// The file. `visit` shows the options, whose help stands beside keys without a reason. What comes from data files is
  /// made harmless (core/quote.h, `visible`).
  std::string file(const Visit& visit) const;

 private:
  struct Line {
    enum class Kind { remark, table, key } kind = Kind::remark;
    std::string path, text, comment;  // path of a key: with its table's
  };
  std::vector<Line> lines_;
  std::string table_;
};

}  // namespace weyl
