// The columns of a frame of extended xyz: what `Properties` says of them, and the rows of atoms.
#include <cmath>
#include <cstdlib>
#include <set>

#include "weyl/core/elements.h"
#include "weyl/core/quote.h"
#include "weyl/core/text_number.h"
#include "weyl/data/formats/extended_xyz.h"
#include "weyl/data/formats/extended_xyz_comment.h"

namespace weyl {
namespace {

constexpr int64_t kWidest = 1 << 20;

template <class T>
void prepare(FrameValues& values) {
  if (auto* same = std::get_if<std::vector<T>>(&values)) {
    same->clear();
  } else {
    values.emplace<std::vector<T>>();
  }
}

}  // namespace

void ExtendedXyzReader::read_properties(std::string_view properties) {
  if (properties == properties_) {
    return;
  }
  properties_.clear();
  columns_.clear();
  std::set<std::string_view> names;
  bool species = false, positions = false;
  std::vector<std::string_view> parts;
  for (std::string_view rest = properties; !rest.empty();) {
    const size_t end = rest.find(':');
    parts.push_back(rest.substr(0, end));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  check(!parts.empty() && parts.size() % 3 == 0, "Properties must be name:type:columns, once or more, got ",
        quote(properties));
  for (size_t i = 0; i < parts.size(); i += 3) {
    const auto name = parts[i];
    const auto width = parse_integer(parts[i + 2]);
    check(!name.empty() && names.insert(name).second, "Properties: ", quote(name), " is ",
          name.empty() ? "no name" : "given twice");
    check(parts[i + 1].size() == 1 && std::string_view("SIRL").find(parts[i + 1]) != std::string_view::npos,
          "Properties: the type of ", quote(name), " must be S, I, R or L, got ", quote(parts[i + 1], 20));
    check(width && *width >= 1 && *width <= kWidest, "Properties: the columns of ", quote(name),
          " must be a number from 1 on, got ", quote(parts[i + 2], 20));
    Column column{std::string(name), parts[i + 1][0], *width, Target::column};
    if (name == "species" || name == "symbols") {
      check(column.type == 'S' && *width == 1 && !species, "Properties: ", quote(name), " must be S:1, once");
      column.target = Target::species;
      species = true;
    } else if (name == "pos" || name == "positions") {
      check(column.type == 'R' && *width == 3 && !positions, "Properties: ", quote(name),
            " must be R:3, once");
      column.target = Target::positions;
      positions = true;
    }
    columns_.push_back(std::move(column));
  }
  for (auto& column : columns_) {
    if (column.type == 'I' && column.width == 1 && (column.name == "Z" || column.name == "numbers")) {
      column.target = Target::atomic_number;
      species = true;
    }
  }
  check(species && positions, "Properties must have ", species ? "pos:R:3" : "species:S:1 or Z:I:1", ", got ",
        quote(properties));
  properties_ = properties;
}

/// Empty columns of the right types, in the memory of the last frame's.
void ExtendedXyzReader::prepare_columns(AtomsFrame& frame) const {
  size_t count = 0;
  for (const auto& column : columns_) {
    if (column.target == Target::species || column.target == Target::positions) {
      continue;
    }
    if (count == frame.columns.size()) {
      frame.columns.emplace_back();
    }
    AtomColumn& to = frame.columns[count++];
    to.name = column.name;
    to.width = column.width;
    switch (column.type) {
      case 'R':
        prepare<double>(to.values);
        break;
      case 'I':
        prepare<int64_t>(to.values);
        break;
      case 'L':
        prepare<uint8_t>(to.values);
        break;
      default:
        prepare<std::string>(to.values);
    }
  }
  frame.columns.resize(count);
}

int ExtendedXyzReader::read_species(std::string_view word) const {
  const int z = atomic_number(word);
  if (z >= 0) [[likely]] {
    return z;
  }
  const auto number = parse_integer(word);
  check(number.has_value(), number ? "" : unknown_element(word));
  check(*number >= 0 && *number <= most_elements, "an atomic number must be 0 .. ", most_elements, ", got ",
        *number);
  return static_cast<int>(*number);
}

void ExtendedXyzReader::refuse_columns(size_t seen, std::string_view more) const {
  int64_t sum = 0;
  for (const auto& column : columns_) {
    sum += column.width;
  }
  const bool plain = properties_ == plain_columns;
  check(more.empty(), "must have the ", sum, " columns of ", quote(properties_),
        plain ? " (others need Properties=)" : "", ", got more: ", quote(more, 40));
  check(false, "must have the ", sum, " columns of ", quote(properties_), ", got ", seen);
  std::abort();
}

void ExtendedXyzReader::refuse_word(const Column& column, size_t at, const char* must,
                                    std::string_view word) const {
  check(false, "column ", at, " (", printable(column.name, 40), ") must be ", must, ", got ",
        quote(word, 40));
  std::abort();
}

std::string_view ExtendedXyzReader::next_word() {
  const auto word = take_word(row_);
  if (word.empty()) [[unlikely]] {
    refuse_columns(words_, {});
  }
  ++words_;
  return word;
}

double ExtendedXyzReader::next_real(const Column& column) {
  const auto word = next_word();
  const auto x = parse_real(word);
  if (!x) [[unlikely]] {
    refuse_word(column, words_, "a number", word);
  }
  return *x;
}

void ExtendedXyzReader::read_column(const Column& column, FrameValues& values) {
  for (int64_t k = 0; k < column.width; ++k) {
    if (column.type == 'R') {
      std::get<std::vector<double>>(values).push_back(next_real(column));
      continue;
    }
    const auto word = next_word();
    if (column.type == 'S') {
      auto& texts = std::get<std::vector<std::string>>(values);
      if (word[0] != '"') {
        texts.emplace_back(word);
        continue;
      }
      row_ = {word.data(), static_cast<size_t>(row_.data() + row_.size() - word.data())};
      try {
        texts.push_back(take_quoted(row_));
      } catch (const DataError& error) {
        check(false, error.what());
      }
    } else if (column.type == 'I') {
      const auto x = parse_integer(word);
      if (!x) {
        refuse_word(column, words_, "an integer", word);
      }
      std::get<std::vector<int64_t>>(values).push_back(*x);
    } else {
      const auto yes = parse_logical(word);
      if (!yes) {
        refuse_word(column, words_, "T or F", word);
      }
      std::get<std::vector<uint8_t>>(values).push_back(*yes ? 1 : 0);
    }
  }
}

/// An atom's number from a column of its own: its element, or that of its symbol once more.
void ExtendedXyzReader::add_atomic_number(AtomsFrame& frame, int64_t z) const {
  check(z >= 0 && z <= most_elements, "an atomic number must be 0 .. ", most_elements, ", got ", z);
  if (frame.numbers.size() < frame.positions.size() / 3) {
    frame.numbers.push_back(static_cast<int>(z));
  } else {
    check(frame.numbers.back() == z, "the atomic number must be that of ",
          element_symbol(frame.numbers.back()), ", got ", z);
  }
}

void ExtendedXyzReader::read_row(AtomsFrame& frame) {
  row_ = lines_.line();
  words_ = 0;
  size_t at = 0;  // among the frame's columns
  std::optional<int64_t> number;
  for (const auto& column : columns_) {
    if (column.target == Target::species) {
      frame.numbers.push_back(read_species(next_word()));
    } else if (column.target == Target::positions) {
      for (int d = 0; d < 3; ++d) {
        const double x = next_real(column);
        if (!std::isfinite(x)) {
          refuse_word(column, words_, "finite", text(x));
        }
        frame.positions.push_back(x);
      }
    } else {
      FrameValues& values = frame.columns[at++].values;
      read_column(column, values);
      if (column.target == Target::atomic_number) {
        number = std::get<std::vector<int64_t>>(values).back();
      }
    }
  }
  if (const auto more = trimmed(row_); !more.empty()) {
    refuse_columns(words_, more);
  }
  if (number) {
    add_atomic_number(frame, *number);
  }
}

}  // namespace weyl
