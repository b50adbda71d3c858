#include "weyl/data/atoms/extended_xyz_comment.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "weyl/core/check.h"
#include "weyl/core/json.h"
#include "weyl/core/quote.h"
#include "weyl/core/text_number.h"
#include "weyl/data/atoms/ase_row.h"
#include "weyl/data/containers/text_lines.h"

namespace weyl {
namespace {

constexpr std::array<std::string_view, 4> kTrue{"T", "true", "True", "TRUE"};
constexpr std::array<std::string_view, 4> kFalse{"F", "false", "False", "FALSE"};

/// Whole digits without leading zeros: "007" names something.
bool is_integer(std::string_view word) {
  if (!word.empty() && (word[0] == '+' || word[0] == '-')) {
    word.remove_prefix(1);
  }
  return !word.empty() && (word[0] != '0' || word.size() == 1) &&
         std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
}

bool is_digits(std::string_view word) {
  if (!word.empty() && (word[0] == '+' || word[0] == '-')) {
    word.remove_prefix(1);
  }
  return !word.empty() && std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
}

/// What all words of a value are: the narrowest of logicals, integers, reals; nothing when only texts will
/// do.
std::optional<FrameValues> numbers_of(const std::vector<std::string_view>& words) {
  if (words.empty()) {
    return std::nullopt;
  }
  std::vector<uint8_t> logicals;
  std::vector<int64_t> integers;
  std::vector<double> reals;
  for (const auto word : words) {
    if (const auto yes = parse_logical(word)) {
      logicals.push_back(*yes ? 1 : 0);
    } else if (const auto integer = is_integer(word) ? parse_integer(word) : std::nullopt) {
      integers.push_back(*integer);
      reals.push_back(static_cast<double>(*integer));
    } else if (const auto real = is_digits(word) && words.size() == 1 ? std::nullopt : parse_real(word)) {
      reals.push_back(*real);  // one long row of digits is a name, and kept as a text
    } else {
      return std::nullopt;
    }
  }
  if (logicals.size() == words.size()) {
    return logicals;
  }
  if (integers.size() == words.size()) {
    return integers;
  }
  return reals.size() == words.size() ? std::optional<FrameValues>(reals) : std::nullopt;
}

std::vector<std::string> texts_of(const std::vector<std::string_view>& words) {
  return {words.begin(), words.end()};
}

FrameValue scalar_or_array(std::string name, const std::vector<std::string_view>& words) {
  auto found = numbers_of(words);
  std::vector<int64_t> shape;
  if (words.size() != 1) {
    shape = {static_cast<int64_t>(words.size())};
  }
  return {std::move(name), shape, found ? std::move(*found) : FrameValues(texts_of(words))};
}

std::vector<std::string_view> comment_words(std::string_view s) {
  std::vector<std::string_view> words;
  for (auto word = take_word(s); !word.empty(); word = take_word(s)) {
    words.push_back(word);
  }
  return words;
}

/// The words of a list, between which blanks or commas stand where it is one of numbers or logicals: ASE and pymatgen
/// write both. Commas of a sentence stay with its words.
std::vector<std::string_view> words_of_list(std::string_view s) {
  auto words = comment_words(s);
  if (s.find(',') == std::string_view::npos) {
    return words;
  }
  std::vector<std::string_view> parts;
  for (std::string_view word : words) {
    while (!word.empty()) {
      const size_t end = std::min(word.find(','), word.size());
      if (end > 0) {
        parts.push_back(word.substr(0, end));
      }
      word.remove_prefix(std::min(end + 1, word.size()));
    }
  }
  return numbers_of(parts) ? parts : words;
}

constexpr std::string_view kJson = "_JSON ";

/// What follows kJson in a text, where that is an array of one or two dimensions, or a text.
std::optional<FrameValue> value_of_json(const std::string& name, std::string_view text) {
  if (!text.starts_with(kJson)) {
    return std::nullopt;
  }
  try {
    auto array = ase_array(parse_python_json(text.substr(kJson.size()), name), name, name);
    if (array && array->shape.size() <= 2) {
      return FrameValue{name, std::move(array->shape), std::move(array->values)};
    }
  } catch (const DataError&) {  // a text that only begins so
  }
  return std::nullopt;
}

constexpr std::string_view kWordEnds = " \t\r\v\f";

/// Whether a text in quotes begins here. A single quote is one only where another closes the text before one of `ends`
/// or the end of the line: an apostrophe may begin a word.
bool begins_quoted(std::string_view rest, std::string_view ends) {
  if (rest.empty() || rest[0] != '\'') {
    return !rest.empty() && rest[0] == '"';
  }
  for (size_t i = 1; i < rest.size(); ++i) {
    if (rest[i] == '\\') {
      ++i;
    } else if (rest[i] == '\'') {
      return i + 1 == rest.size() || ends.find(rest[i + 1]) != std::string_view::npos;
    }
  }
  return false;
}

/// One comment line as it is read.
class CommentReader {
 public:
  explicit CommentReader(std::string_view line) : rest_(line) {}

  std::vector<FrameValue> pairs() {
    std::vector<FrameValue> result;
    for (skip_blanks(); !rest_.empty(); skip_blanks()) {
      check(rest_[0] != '=', "a key is missing before ", quote(rest_, 40));
      std::string key =
          begins_quoted(rest_, " \t\r\v\f=") ? take_quoted(rest_) : std::string(take_until(" \t\r\v\f="));
      skip_blanks();
      FrameValue value{key, {}, std::vector<uint8_t>{1}};
      if (rest_.starts_with('=')) {
        rest_.remove_prefix(1);
        skip_blanks();
        check(!rest_.empty(), "the value of ", quote(key, 40), " is missing");
        value = value_of(std::move(key));
      }
      result.push_back(std::move(value));
    }
    std::vector<std::string_view> names(result.size());
    std::ranges::transform(result, names.begin(), &FrameValue::name);
    std::ranges::sort(names);
    const auto twice = std::ranges::adjacent_find(names);
    check(twice == names.end(), quote(twice == names.end() ? "" : *twice, 40), " is given twice");
    return result;
  }

 private:
  template <class... Parts>
  static void check(bool holds, const Parts&... parts) {
    require<DataError>(holds, parts...);
  }

  void skip_blanks() {
    while (!rest_.empty() && is_blank(rest_[0])) {
      rest_.remove_prefix(1);
    }
  }

  std::string_view take_until(std::string_view stops) {
    const size_t end = std::min(rest_.find_first_of(stops), rest_.size());
    const auto taken = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return taken;
  }

  FrameValue value_of(std::string key) {
    if (begins_quoted(rest_, kWordEnds)) {
      std::string said = take_quoted(rest_);
      auto found = value_of_json(key, said);
      return found ? std::move(*found) : value_of_text(std::move(key), std::move(said));
    }
    if (rest_[0] == '{') {
      const auto whole = rest_;
      rest_.remove_prefix(1);
      const auto inside = take_until("}");
      check(!rest_.empty(), "a brace is not closed, ", quote(whole, 40));
      rest_.remove_prefix(1);
      return scalar_or_array(std::move(key), words_of_list(inside));
    }
    if (rest_[0] == '[') {
      const auto before = rest_;
      if (auto found = array(key); rest_.empty() || is_blank(rest_[0])) {
        return found;
      }
      rest_ = before;  // a SMILES may begin with a bracket
    }
    return scalar_or_array(std::move(key), words_of_list(take_until(kWordEnds)));
  }

  /// [a, b] or [[a, b], [c, d]]; commas and blanks separate.
  FrameValue array(const std::string& key) {
    const auto whole = rest_;
    std::vector<std::string> words;
    std::vector<int64_t> rows;  // their lengths
    int depth = 0;
    bool matrix = false, texts = false;
    do {
      check(!rest_.empty(), "a bracket is not closed, ", quote(whole, 40));
      if (rest_[0] == '[') {
        ++depth;
        check(depth <= 2 && (depth == 1 || matrix || words.empty()),
              "an array must be [a, b] or [[a, b], [c, d]], ", quote(whole, 40));
        matrix = matrix || depth == 2;
        if (depth == 2) {
          rows.push_back(0);
        }
        rest_.remove_prefix(1);
      } else if (rest_[0] == ']') {
        --depth;
        rest_.remove_prefix(1);
      } else if (rest_[0] == ',' || is_blank(rest_[0])) {
        rest_.remove_prefix(1);
      } else {
        check(depth == (matrix ? 2 : 1), "an array must be [a, b] or [[a, b], [c, d]], ", quote(whole, 40));
        const bool quoted = begins_quoted(rest_, " \t\r\v\f,]");
        texts = texts || quoted;
        words.push_back(quoted ? take_quoted(rest_) : std::string(take_until(" \t\r\v\f,[]")));
        if (matrix) {
          ++rows.back();
        }
      }
    } while (depth > 0);
    std::vector<int64_t> shape{static_cast<int64_t>(words.size())};
    if (matrix) {
      check(std::ranges::all_of(rows, [&](int64_t n) { return n == rows[0]; }),
            "the rows of a matrix must be of one length, ", quote(whole, 40));
      shape = {static_cast<int64_t>(rows.size()), rows[0]};
    }
    const std::vector<std::string_view> views(words.begin(), words.end());
    auto numbers = texts ? std::nullopt : numbers_of(views);
    return {key, shape, numbers ? std::move(*numbers) : FrameValues(std::move(words))};
  }

  std::string_view rest_;
};

void append_word(std::string& to, double x) {
  const size_t begin = to.size();
  append_number(to, x);
  if (to.find_first_of(".en", begin) == std::string::npos) {
    to += ".0";  // a real stays a real; nan and inf have an n
  }
}

void append_word(std::string& to, int64_t x) {
  append_number(to, x);
}

void append_word(std::string& to, uint8_t yes) {
  to += yes != 0 ? 'T' : 'F';
}

void append_quoted(std::string& to, std::string_view text) {
  to += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      to += '\\';
    }
    if (c == '\n') {
      to += "\\n";
    } else {
      to += c;
    }
  }
  to += '"';
}

void append_json_word(std::string& to, double x) {
  if (std::isfinite(x)) {
    append_word(to, x);
  } else {
    to += std::isnan(x) ? "NaN" : x > 0 ? "Infinity" : "-Infinity";
  }
}

void append_json_word(std::string& to, int64_t x) {
  append_word(to, x);
}

void append_json_word(std::string& to, uint8_t yes) {
  to += yes != 0 ? "true" : "false";
}

void append_json_word(std::string& to, const std::string& text) {
  to += json_string(text);
}

/// "_JSON [[a, b], [c, d]]"; an empty array, which JSON gives no shape, is [].
template <class T>
void append_json(std::string& to, const std::vector<int64_t>& shape, const std::vector<T>& values) {
  if (values.empty()) {
    to += shape.size() == 2 ? "[[]]" : "[]";
    return;
  }
  std::string json(kJson);
  const size_t row = shape.empty() ? 1 : static_cast<size_t>(shape.back());
  const std::string open(shape.size(), '['), close(shape.size(), ']');
  for (size_t i = 0; i < values.size(); ++i) {
    const bool begins = shape.size() == 2 && i > 0 && i % row == 0;
    json += i == 0 ? open : begins ? "], [" : ", ";
    append_json_word(json, values[i]);
  }
  append_quoted(to, json + close);
}

}  // namespace

FrameValue value_of_text(std::string name, std::string text) {
  const auto words = words_of_list(text);
  if (numbers_of(words)) {
    return scalar_or_array(std::move(name), words);
  }
  return {std::move(name), {}, std::vector{std::move(text)}};
}

std::optional<bool> parse_logical(std::string_view word) {
  const bool yes = std::ranges::find(kTrue, word) != kTrue.end();
  return yes || std::ranges::find(kFalse, word) != kFalse.end() ? std::optional(yes) : std::nullopt;
}

std::string take_quoted(std::string_view& rest) {
  const auto whole = rest;
  const char mark = rest[0];
  std::string result;
  for (rest.remove_prefix(1); !rest.empty() && rest[0] != mark; rest.remove_prefix(1)) {
    if (rest[0] == '\\' && rest.size() > 1) {
      rest.remove_prefix(1);
      result += rest[0] == 'n' ? '\n' : rest[0];
    } else {
      result += rest[0];
    }
  }
  require<DataError>(!rest.empty(), "a quote is not closed, ", quote(whole, 40));
  rest.remove_prefix(1);
  return result;
}

std::vector<FrameValue> parse_comment(std::string_view line) {
  return CommentReader(line).pairs();
}

void append_text(std::string& to, std::string_view text) {
  const bool bare = !text.empty() && std::ranges::none_of(text, [](char c) {
    return is_blank(c) || c == '\n' || std::string_view("\"\\={}[],").find(c) != std::string_view::npos;
  });
  if (bare) {
    to += text;
  } else {
    append_quoted(to, text);
  }
}

namespace {

/// Appends a text of the comment line, where a single quote at its begin would open a text.
void append_comment_text(std::string& to, const std::string& text) {
  if (text.starts_with('\'')) {
    append_quoted(to, text);
  } else {
    append_text(to, text);
  }
}

}  // namespace

void append_pair(std::string& to, const FrameValue& value) {
  to += ' ';
  append_comment_text(to, value.name);
  to += '=';
  std::visit(
      [&](const auto& values) {
        using T = typename std::decay_t<decltype(values)>::value_type;
        const bool scalar = value.shape.empty();
        if constexpr (std::is_same_v<T, std::string>) {
          const bool plain = scalar && !values[0].starts_with(kJson) &&
                             values[0].find('\n') == std::string::npos &&
                             !numbers_of(words_of_list(values[0]));
          plain ? append_comment_text(to, values[0]) : append_json(to, value.shape, values);
        } else if (scalar) {
          append_word(to, values[0]);
        } else if (value.shape.size() == 1 && values.size() > 1) {  // as every reader knows it
          to += '"';
          for (size_t i = 0; i < values.size(); ++i) {
            to += i == 0 ? "" : " ";
            append_word(to, values[i]);
          }
          to += '"';
        } else {
          append_json(to, value.shape, values);
        }
      },
      value.values);
}

}  // namespace weyl
