#include "weyl/data/atoms/frame_checks.h"

#include <algorithm>
#include <cctype>

#include "weyl/core/check.h"
#include "weyl/core/checksum.h"
#include "weyl/core/elements.h"
#include "weyl/core/quote.h"
#include "weyl/core/units.h"
#include "weyl/data/atoms/potential_keys.h"

namespace weyl {

std::optional<ClosestPair> shortest_distance(const AtomsFrame& frame, double bound) {
  return closest_pair(frame.positions, frame.cell ? frame.cell->data() : nullptr, frame.pbc, bound);
}

std::string overlap_text(const AtomsFrame& frame, const ClosestPair& found) {
  const auto name = [&](int64_t atom) {
    return text(atom + 1, " (", element_symbol(frame.numbers[static_cast<size_t>(atom)]), ")");
  };
  return text("atoms ", name(found.first), " and ", name(found.second), " are ", found.distance, " apart");
}

std::string overlap_warning(const AtomsFrame& frame, const std::string& where,
                            const std::string& length_unit) {
  const auto found = shortest_distance(frame, overlap / unit_factor(length_unit, "Angstrom"));
  return found ? text(where, ": ", overlap_text(frame, *found), " (", length_unit, "): no molecule has such")
               : "";
}

namespace {

template <class T>
uint64_t hashed(const std::vector<T>& values, uint64_t seed) {
  return checksum_number(std::as_bytes(std::span(values)), seed + values.size());
}

uint64_t hashed(const std::string& value, uint64_t seed) {
  return checksum_number(std::as_bytes(std::span(value)), seed + value.size());
}

uint64_t hashed(const FrameValues& values, uint64_t seed) {
  return std::visit(
      [&]<class T>(const std::vector<T>& all) {
        if constexpr (std::is_same_v<T, std::string>) {
          uint64_t hash = seed;
          for (const std::string& text : all) {
            hash = hashed(text, hash);
          }
          return hash;
        } else {
          return hashed(all, seed);
        }
      },
      values);
}

bool has(std::string_view name, std::string_view word) {
  return std::ranges::search(name, word, [](char a, char b) {
           return std::tolower(static_cast<unsigned char>(a)) == b;
         }).begin() != name.end();
}

bool is_one_of(std::string_view key, const auto& keys) {
  return std::ranges::find(keys, key) != keys.end();
}

}  // namespace

FrameHash hash_of(const AtomsFrame& frame) {
  FrameHash hash;
  hash.inputs = hashed(frame.positions, hashed(frame.numbers, 0));
  if (frame.cell) {
    hash.inputs = checksum_number(std::as_bytes(std::span(*frame.cell)), hash.inputs);
    hash.inputs = checksum_number(std::as_bytes(std::span(frame.pbc)), hash.inputs);
  }
  for (const AtomColumn& column : frame.columns) {
    hash.labels = hashed(column.values, hashed(column.name, hash.labels));
  }
  for (const FrameValue& value : frame.values) {
    hash.labels = hashed(value.values, hashed(value.name, hash.labels));
  }
  return hash;
}

void FramePlaces::add(const std::string& where) {
  constexpr std::string_view word = ": frame ";
  const size_t at = where.rfind(word);
  std::string file = where;
  int64_t number = 0;
  if (at != std::string::npos) {
    for (size_t i = at + word.size();
         i < where.size() && std::isdigit(static_cast<unsigned char>(where[i])) != 0; ++i) {
      number = 10 * number + (where[i] - '0');
    }
    file = where.substr(0, at);
  }
  const int64_t frame = frames_++;
  if (!files_.empty()) {
    const auto& [first, last] = *files_.rbegin();
    if (last.first == file && number > 0 && last.second + (frame - first) == number) {
      return;
    }
  }
  files_.emplace(frame, std::pair(std::move(file), number));
}

std::string FramePlaces::operator()(int64_t frame) const {
  const auto after = files_.upper_bound(frame);
  require(frame >= 0 && frame < frames_ && after != files_.begin(), "frames: there is no frame ", frame);
  const auto& [first, file] = *std::prev(after);
  return file.second == 0 ? file.first : text(file.first, ": frame ", file.second + frame - first);
}

FrameChecks::FrameChecks(std::string split, Duplicates* seen)
    : split_(std::move(split)), seen_(seen), places_(std::make_shared<FramePlaces>()) {
  if (seen_ != nullptr) {
    seen_->begin(split_, [places = places_](int64_t frame) { return (*places)(frame); });
  }
}

void FrameChecks::add(const AtomsFrame& frame, const FrameReader& reader) {
  ++frames_;
  places_->add(reader.where());
  if (seen_ != nullptr) {
    if (frame.size() == 0) {
      seen_->skip();
    } else {
      const FrameHash hash = hash_of(frame);
      seen_->add(hash.inputs, hash.labels);
    }
  }
  const std::vector<int64_t> types(frame.numbers.begin(), frame.numbers.end());
  outliers_.begin_sample(types);
  for (const FrameValue& value : frame.values) {
    const auto* reals = std::get_if<std::vector<double>>(&value.values);
    const std::string unit(reader.unit_of(value.name));
    if (const auto* whole = std::get_if<std::vector<int64_t>>(&value.values);
        whole != nullptr && whole->size() == 1 && has(value.name, "energy")) {  // energy=-5
      outliers_.add_number(value.name, unit, true, static_cast<double>(whole->front()));
    }
    if (reals == nullptr || reals->empty()) {
      continue;
    }
    if (has(value.name, "weight")) {  // what somebody chose for a frame may be of any size
      continue;
    }
    if (reals->size() == 1) {
      outliers_.add_number(value.name, unit, has(value.name, "energy"), reals->front());
    } else if (has(value.name, "stress") || has(value.name, "virial") || has(value.name, "dipole")) {
      outliers_.add_rows(value.name, unit, static_cast<int64_t>(reals->size()), *reals);
    }
  }
  for (const AtomColumn& column : frame.columns) {
    if (const auto* reals = std::get_if<std::vector<double>>(&column.values);
        reals != nullptr && has(column.name, "force")) {
      outliers_.add_rows(column.name, std::string(reader.unit_of(column.name)), column.width, *reals, types);
    }
  }
  look_at_shapes(frame, reader);
}

void FrameChecks::look_at_shapes(const AtomsFrame& frame, const FrameReader& reader) {
  const auto note = [&](const std::string& key, const std::string& must, int64_t found) {
    Misshapen& wrong = misshapen_[text(printable(key, 40), " must be ", must)];
    if (wrong.frames++ == 0) {
      wrong.first = text(found, " in ", reader.where());
    }
  };
  for (const FrameValue& value : frame.values) {
    const auto reals = reals_of(value.values);
    const auto count = static_cast<int64_t>(reals ? reals->size() : 0);
    if (reals && is_one_of(value.name, stress_keys) && count != 9 && count != 6) {
      note(value.name, "9 numbers, or 6", count);
    }
    if (reals && is_one_of(value.name, energy_keys) && count != 1) {
      note(value.name, "one number", count);
    }
  }
  for (const AtomColumn& column : frame.columns) {
    if (reals_of(column.values) && is_one_of(column.name, forces_keys) && column.width != 3) {
      note(column.name, "3 numbers an atom", column.width);
    }
  }
}

std::vector<std::string> FrameChecks::lines() const {
  std::vector<std::string> result;
  for (const auto& [must, wrong] : misshapen_) {
    result.push_back(text(must, ", which ", wrong.frames, wrong.frames == 1 ? " frame has" : " frames have",
                          " not: the first has ", wrong.first));
  }
  for (std::string& line : outliers_.lines([&](int64_t frame) { return (*places_)(frame); },
                                           [](int64_t z) {
                                             return z <= most_elements
                                                        ? std::string(element_symbol(static_cast<int>(z)))
                                                        : std::to_string(z);
                                           })) {
    result.push_back(std::move(line));
  }
  if (seen_ != nullptr) {
    std::ranges::move(seen_->lines(), std::back_inserter(result));
  }
  if (!split_.empty()) {
    if (std::string warning = warning_about_size(split_, frames_, "frame"); !warning.empty()) {
      result.push_back(std::move(warning));
    }
  }
  return result;
}

}  // namespace weyl
