#include "weyl/data/poses/pose_columns.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

namespace weyl {
namespace {

/// A place that one column may take.
class Place {
 public:
  void take(size_t column) {
    twice_ = twice_ || column_.has_value();
    column_ = column;
  }
  bool taken() const { return column_.has_value() && !twice_; }
  bool empty() const { return !column_.has_value(); }
  bool twice() const { return twice_; }
  size_t column() const { return *column_; }

 private:
  std::optional<size_t> column_;
  bool twice_ = false;
};

template <size_t N>
bool all_taken(const std::array<Place, N>& places) {
  return std::ranges::all_of(places, [](const Place& p) { return p.taken(); });
}

template <size_t N>
std::array<size_t, N> columns_at(const std::array<Place, N>& places) {
  std::array<size_t, N> columns{};
  std::ranges::transform(places, columns.begin(), [](const Place& p) { return p.column(); });
  return columns;
}

/// In small letters, without the unit in brackets, quotes and blanks.
std::string plain_name(std::string_view name) {
  std::string plain;
  for (const char c : name.substr(0, name.find_first_of("[("))) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '/') {
      plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return plain;
}

bool is_time(const std::string& name) {
  constexpr std::array names{"t", "time", "timestamp", "stamp", "sec", "secs", "seconds", "nsec", "ns"};
  return std::ranges::find(names, name) != names.end() || name.starts_with("timestamp") ||
         name.ends_with("timestamp") || name.starts_with("time_") || name.ends_with("_time");
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// The words of a name before its axis: "pose.position.x" has "pose" and "position", "qx" has "q".
std::vector<std::string> words_before_axis(const std::string& name) {
  std::vector<std::string> words(1);
  for (const char c : std::string_view(name).substr(0, name.size() - 1)) {
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
  return std::ranges::any_of(
      words, [&](const std::string& word) { return std::ranges::find(wanted, word) != wanted.end(); });
}

bool of_rotation(const std::vector<std::string>& words) {
  return any_is(words, {"q", "quat", "quaternion", "orientation", "rot", "rotation"});
}

bool of_translation(const std::vector<std::string>& words) {
  return words.empty() ||
         any_is(words, {"t", "p", "pos", "position", "trans", "translation", "loc", "location"});
}

}  // namespace

std::optional<PoseColumns> columns_by_names(std::span<const std::string_view> names) {
  Place time;
  std::array<Place, 3> translation;
  std::array<Place, 4> quaternion;
  std::array<std::array<Place, 5>, 5> entries;  // of a matrix, by the digits of their names
  for (size_t k = 0; k < names.size(); ++k) {
    const std::string name = plain_name(names[k]);
    const size_t size = name.size();
    if (is_time(name)) {
      time.take(k);
      continue;
    }
    if (size >= 3 && is_digit(name[size - 1]) && is_digit(name[size - 2]) && !is_digit(name[size - 3])) {
      const auto row = static_cast<size_t>(name[size - 2] - '0'),
                 column = static_cast<size_t>(name[size - 1] - '0');
      if (row < 5 && column < 5) {
        entries[row][column].take(k);
      }
      continue;
    }
    const size_t axis = name.empty() ? std::string::npos : std::string_view("xyzw").find(name.back());
    if (axis == std::string::npos) {
      continue;
    }
    const auto words = words_before_axis(name);
    if (of_rotation(words)) {
      quaternion[axis].take(k);
    } else if (axis < 3 && of_translation(words)) {
      translation[axis].take(k);
    }
  }
  PoseColumns found;
  const size_t first = entries[0][0].empty() ? 1 : 0;  // r00 or r11 is the first entry
  std::array<Place, 9> matrix;
  std::array<Place, 3> last;
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < 3; ++j) {
      matrix[3 * i + j] = entries[first + i][first + j];
    }
    last[i] = entries[first + i][first + 3];
  }
  found.is_matrix = all_taken(matrix) && std::ranges::all_of(quaternion, &Place::empty);
  const bool in_matrix =
      found.is_matrix && all_taken(last) && std::ranges::all_of(translation, &Place::empty);
  if ((!found.is_matrix && !all_taken(quaternion)) || (!in_matrix && !all_taken(translation)) ||
      time.twice()) {
    return std::nullopt;
  }
  found.translation = columns_at(in_matrix ? last : translation);
  if (found.is_matrix) {
    found.matrix = columns_at(matrix);
  } else {
    found.quaternion = columns_at(quaternion);
  }
  if (time.taken()) {
    found.time = time.column();
    return found;
  }
  const auto holds_first = [](const auto& columns) {
    return std::ranges::find(columns, 0U) != columns.end();
  };
  const bool of_pose = holds_first(found.translation) ||
                       (found.is_matrix ? holds_first(found.matrix) : holds_first(found.quaternion));
  return of_pose ? std::optional(found) : std::nullopt;
}

}  // namespace weyl
