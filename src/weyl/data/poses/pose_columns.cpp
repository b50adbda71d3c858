#include "weyl/data/poses/pose_columns.h"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"

namespace weyl {
namespace {

/// A place that one column may take.
class Place {
 public:
  void take(size_t column) { (column_ ? other_ : column_) = column; }
  bool taken() const { return column_.has_value() && !twice(); }
  bool empty() const { return !column_.has_value(); }
  bool twice() const { return other_.has_value(); }
  size_t column() const { return *column_; }
  size_t other() const { return *other_; }

 private:
  std::optional<size_t> column_, other_;
};

template <size_t N>
bool all_taken(const std::array<Place, N>& places) {
  return std::ranges::all_of(places, &Place::taken);
}

template <size_t N>
bool none_taken(const std::array<Place, N>& places) {
  return std::ranges::all_of(places, &Place::empty);
}

template <size_t N>
std::array<size_t, N> columns_at(const std::array<Place, N>& places) {
  std::array<size_t, N> columns{};
  std::ranges::transform(places, columns.begin(), &Place::column);
  return columns;
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> wanted) {
  return std::ranges::find(wanted, word) != wanted.end();
}

/// A name in small letters, and what its brackets hold or, of a length, what stands behind it (tx_m).
struct PlainName {
  std::string name, unit;
};

PlainName plain_name(std::string_view name) {
  PlainName plain;
  const size_t open = std::min(name.find_first_of("[("), name.size());
  for (size_t k = 0; k < name.size(); ++k) {
    const auto c = static_cast<unsigned char>(name[k]);
    if (std::isalnum(c) != 0 || (k < open && (c == '_' || c == '.' || c == '/'))) {
      (k < open ? plain.name : plain.unit) += static_cast<char>(std::tolower(c));
    }
  }
  const size_t last = plain.name.find_last_of('_');
  if (last < plain.name.size() && plain.unit.empty() &&
      is_one_of(std::string_view(plain.name).substr(last + 1), {"m", "cm", "mm", "km"})) {
    plain.unit = plain.name.substr(last + 1);
    plain.name.resize(last);
  }
  return plain;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// The words of letters in a name: "header.stamp.secs" has three.
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words(1);
  for (const char c : name) {
    if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
      words.back() += c;
    } else {
      words.emplace_back();
    }
  }
  std::erase(words, "");
  return words;
}

bool any_is(const std::vector<std::string>& words, std::initializer_list<std::string_view> wanted) {
  return std::ranges::any_of(words, [&](const std::string& word) { return is_one_of(word, wanted); });
}

bool of_rotation(const std::vector<std::string>& words) {
  return any_is(words, {"q", "quat", "quaternion", "orientation", "ori", "rot", "rotation"});
}

/// The r of rx, and not that of p_RS_R_x: a quaternion's, or a rate's or an angle's beside another rotation.
bool may_be_of_rotation(const std::vector<std::string>& words) {
  return words == std::vector<std::string>{"r"};
}

bool of_translation(const std::vector<std::string>& words) {
  return words.empty() ||
         any_is(words, {"t", "p", "pos", "position", "trans", "translation", "loc", "location"});
}

bool is_angle(const std::vector<std::string>& words) {
  return any_is(words, {"roll", "pitch", "yaw", "rpy", "euler"});
}

/// In nanoseconds.
std::optional<int64_t> unit_of_time(std::string_view word) {
  if (is_one_of(word, {"s", "sec", "secs", "second", "seconds"})) {
    return kSecond;
  }
  if (is_one_of(word, {"ms", "msec", "msecs", "millisec", "millisecs", "millisecond", "milliseconds"})) {
    return 1'000'000;
  }
  if (is_one_of(word, {"us", "usec", "usecs", "microsec", "microsecs", "microsecond", "microseconds"})) {
    return 1000;
  }
  if (is_one_of(word, {"ns", "nsec", "nsecs", "nanosec", "nanosecs", "nanosecond", "nanoseconds"})) {
    return 1;
  }
  return std::nullopt;
}

/// In metres.
std::optional<double> unit_of_length(std::string_view word) {
  constexpr std::array<std::pair<std::string_view, double>, 5> units{
      {{"", 1}, {"m", 1}, {"cm", 1e-2}, {"mm", 1e-3}, {"km", 1e3}}};
  const auto* const found = std::ranges::find(units, word, &std::pair<std::string_view, double>::first);
  return found != units.end() ? std::optional(found->second) : std::nullopt;
}

bool is_word_of_time(const std::string& word) {
  return is_one_of(word, {"t", "ts", "stamp", "epoch"}) || word.starts_with("timestamp") ||
         word.ends_with("timestamp") || word.ends_with("time");
}

/// A time and the words before its unit, by which sec and nsec are known to belong together. A unit in brackets is of a
/// whole time.
struct NamedTime {
  TimeColumn at;
  std::vector<std::string> stem;
  bool may_be_part = false;
};

/// The time that a column of this name is, if it is one: `t`, `time_from_start`, `timestamp [ns]`, `stamp.sec`, `nsec`.
std::optional<NamedTime> time_named(const PlainName& plain, size_t column) {
  std::vector<std::string> words = words_of(plain.name);
  if (words.empty()) {
    return std::nullopt;
  }
  std::optional<int64_t> unit = unit_of_time(plain.unit);
  const auto by_word = unit_of_time(words.back());
  const bool part =
      by_word && (words.size() > 1 ? std::ranges::any_of(words, is_word_of_time) : words.back() != "s");
  if (part) {
    words.pop_back();
    unit = by_word;
  } else if (words != std::vector<std::string>{"t"} && words.front() != "time" &&
             (words.back() == "t" || !is_word_of_time(words.back()))) {
    return std::nullopt;
  }
  return NamedTime{{column, unit}, std::move(words), part};
}

/// The parts of a pose as the columns of a header take them.
struct NamedParts {
  std::vector<NamedTime> times;
  std::array<Place, 3> translation;
  std::array<Place, 4> quaternion;
  std::array<Place, 4> r;                       // the quaternion where no other one nor a matrix is named
  std::array<std::array<Place, 5>, 5> entries;  // of a matrix, by the digits of their names
  std::vector<size_t> angles;
};

/// The matrix [R t] that entries are, by rows; r00 or r11 is the first entry.
struct NamedMatrix {
  std::array<Place, 9> rotation;
  std::array<Place, 3> translation;
};

NamedMatrix matrix_of(const NamedParts& parts) {
  NamedMatrix matrix;
  const size_t first = parts.entries[0][0].empty() ? 1 : 0;
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < 3; ++j) {
      matrix.rotation[3 * i + j] = parts.entries[first + i][first + j];
    }
    matrix.translation[i] = parts.entries[first + i][first + 3];
  }
  return matrix;
}

void take_entry(NamedParts& parts, const std::string& name, size_t column) {
  const size_t size = name.size();
  const auto row = static_cast<size_t>(name[size - 2] - '0'),
             along = static_cast<size_t>(name[size - 1] - '0');
  if (row < 5 && along < 5) {
    parts.entries[row][along].take(column);
  }
}

void take_axis(NamedParts& parts, const std::string& name, size_t column) {
  constexpr std::string_view axes = "xyzw";
  size_t axis = name.empty() ? std::string::npos : axes.find(name.back());
  auto words = words_of(std::string_view(name).substr(0, name.empty() ? 0 : name.size() - 1));
  if (axis == std::string::npos) {  // x_pos
    words = words_of(name);
    if (words.size() < 2 || words.front().size() != 1) {
      return;
    }
    axis = axes.find(words.front());
    words.erase(words.begin());
    if (axis == std::string::npos) {
      return;
    }
  }
  if (of_rotation(words)) {
    parts.quaternion[axis].take(column);
  } else if (may_be_of_rotation(words)) {
    parts.r[axis].take(column);
  } else if (axis < 3 && of_translation(words)) {
    parts.translation[axis].take(column);
  }
}

NamedParts parts_of(std::span<const std::string> names) {
  NamedParts parts;
  for (size_t k = 0; k < names.size(); ++k) {
    const PlainName plain = plain_name(names[k]);
    const std::string& name = plain.name;
    const size_t size = name.size();
    if (auto time = time_named(plain, k)) {
      parts.times.push_back(std::move(*time));
    } else if (is_angle(words_of(name))) {
      parts.angles.push_back(k);
    } else if (size >= 3 && is_digit(name[size - 1]) && is_digit(name[size - 2]) &&
               !is_digit(name[size - 3])) {
      take_entry(parts, name, k);
    } else {
      take_axis(parts, name, k);
    }
  }
  if (none_taken(parts.quaternion) && !all_taken(matrix_of(parts).rotation)) {
    parts.quaternion = parts.r;
  }
  return parts;
}

/// The first that says its unit, else the first; with whole seconds what a column of the same stamp adds to them.
void take_time(PoseColumns& found, const std::vector<NamedTime>& times) {
  if (times.empty()) {
    return;
  }
  const auto said = std::ranges::find_if(times, [](const NamedTime& t) { return t.at.unit.has_value(); });
  const NamedTime& time = said != times.end() ? *said : times.front();
  found.time = time.at;
  for (const NamedTime& other : times) {
    if (!time.may_be_part || !other.may_be_part || other.stem != time.stem ||
        (time.at.unit == kSecond) == (other.at.unit == kSecond)) {
      continue;
    }
    const bool seconds_first = time.at.unit == kSecond;
    found.time = seconds_first ? time.at : other.at;
    found.rest = seconds_first ? other.at : time.at;
    return;
  }
}

std::string listed(std::span<const std::string> names, std::span<const size_t> columns) {
  std::string list;
  for (const size_t k : columns) {
    list += text(list.empty() ? "" : ", ", quote(names[k], 40));
  }
  return list;
}

/// Why the parts are no whole pose; nothing where no rotation is named.
std::string fault_of(std::span<const std::string> names, const NamedParts& parts) {
  constexpr const char* wanted =
      "a translation (x y z) and a quaternion (qx qy qz qw) or a matrix (r11 .. r33)";
  std::vector<size_t> named = parts.angles;
  for (const Place& place : parts.quaternion) {
    if (!place.empty()) {
      named.push_back(place.column());
    }
    if (place.twice()) {
      return text("the header must name one rotation, ", quote(names[place.column()], 40), " and ",
                  quote(names[place.other()], 40), " are of two");
    }
  }
  if (named.empty()) {
    return "";
  }
  for (const Place& place : parts.translation) {
    if (place.twice()) {
      return text("the header must name one translation, ", quote(names[place.column()], 40), " and ",
                  quote(names[place.other()], 40), " are of two");
    }
  }
  const NamedMatrix matrix = matrix_of(parts);
  const bool whole = all_taken(parts.quaternion) || all_taken(matrix.rotation);
  const bool angles = !whole && (!parts.angles.empty() || std::ranges::none_of(named, [&](size_t k) {
    return any_is(words_of(plain_name(names[k]).name), {"q", "quat", "quaternion"}) ||
           plain_name(names[k]).name.starts_with("q");
  }));
  const bool placed = !none_taken(parts.translation) || !none_taken(matrix.translation);
  return text("the header must name ", wanted, placed ? "" : "; it names no translation",
              angles ? "; angles are not read, for their order and signs differ" : "",
              "; of the rotation it names ", listed(names, named));
}

/// Whether a name is of a row's number, as tables have it in their first column.
bool is_of_row(const std::string& name) {
  const auto words = words_of(name);
  return words.empty() ||
         any_is({words.front(), words.back()}, {"id", "index", "idx", "frame", "seq", "row"});
}

}  // namespace

NamedColumns columns_by_names(std::span<const std::string> names) {
  const NamedParts parts = parts_of(names);
  PoseColumns found;
  const auto [matrix, last] = matrix_of(parts);
  found.is_matrix = all_taken(matrix) && none_taken(parts.quaternion);
  const bool in_matrix = found.is_matrix && all_taken(last) && none_taken(parts.translation);
  if ((!found.is_matrix && !all_taken(parts.quaternion)) || (!in_matrix && !all_taken(parts.translation))) {
    return {{}, fault_of(names, parts)};
  }
  found.translation = columns_at(in_matrix ? last : parts.translation);
  if (found.is_matrix) {
    found.matrix = columns_at(matrix);
  } else {
    found.quaternion = columns_at(parts.quaternion);
  }
  const std::string unit = plain_name(names[found.translation[0]]).unit;
  for (const size_t k : found.translation) {
    const std::string other = plain_name(names[k]).unit;
    if (other != unit || !unit_of_length(unit)) {
      return {{}, text("the header must give the translation in m, cm, mm or km, got ", quote(names[k], 40))};
    }
  }
  found.length = *unit_of_length(unit);
  take_time(found, parts.times);
  const auto holds_first = [](const auto& columns) {
    return std::ranges::find(columns, 0U) != columns.end();
  };
  const bool of_pose = holds_first(found.translation) ||
                       (found.is_matrix ? holds_first(found.matrix) : holds_first(found.quaternion));
  if (!found.time && !of_pose && !is_of_row(plain_name(names[0]).name)) {
    return {{},
            text("the header must name the time, as `time [s]` or `time [ns]`, got ", quote(names[0], 40),
                 " for column 1")};
  }
  return {found, ""};
}

}  // namespace weyl
