#include "weyl/data/atoms/slab.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <string_view>

#include "weyl/core/check.h"
#include "weyl/core/random.h"
#include "weyl/core/units.h"

namespace weyl {
namespace {

/// The numbers of a column of `width` for each atom, or of a value of as many rows; nothing where there is neither.
std::optional<std::vector<double>> atom_numbers_of(const AtomsFrame& frame, const char* name, int64_t width,
                                                   const std::string& where) {
  const AtomColumn* column = frame.column(name);
  const FrameValue* value = frame.value(name);
  if (column == nullptr && value == nullptr) {
    return std::nullopt;
  }
  const FrameValues& given = column != nullptr ? column->values : value->values;
  const auto* logicals = std::get_if<std::vector<uint8_t>>(&given);
  auto numbers = logicals != nullptr ? std::optional(std::vector<double>(logicals->begin(), logicals->end()))
                                     : reals_of(given);
  require<DataError>(numbers && static_cast<int64_t>(numbers->size()) == width * frame.size(), where, ": '",
                     name, "' must have ", width, " number(s) for each of the ", frame.size(), " atoms");
  for (const double x : *numbers) {
    require<DataError>(std::isfinite(x), where, ": '", name, "' must be finite, got ", x);
  }
  return numbers;
}

double factor_to(std::string_view from, const char* to) {
  return from.empty() ? 1 : unit_factor(from, to);
}

/// Beyond this a place is no atom's, and the nearest image of a step there has no digits left.
constexpr double kFarthestAtom = 1e6;  // A

std::vector<Vector3> places_in_angstrom(std::span<const double> numbers, double factor, const char* name,
                                        const std::string& where) {
  std::vector<Vector3> places(numbers.size() / 3);
  for (size_t k = 0; k < numbers.size(); ++k) {
    const double x = factor * numbers[k];
    require<DataError>(std::abs(x) < kFarthestAtom, where, ": '", name, "' must be finite and within ",
                       kFarthestAtom, " Angstrom, got ", x);
    places[k / 3][k % 3] = x;
  }
  return places;
}

Vector3 moved_by(const Vector3& a, const Vector3& b) {
  return {a[0] + b[0], a[1] + b[1], a[2] + b[2]};
}

Vector3 way_between(const Vector3& a, const Vector3& b) {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}

}  // namespace

Slab slab_of(const AtomsFrame& frame, const FrameReader& reader) {
  const std::string where = reader.where();
  const double length = factor_to(reader.unit_of("pos"), "Angstrom");
  Slab slab;
  slab.numbers = frame.numbers;
  slab.positions = places_in_angstrom(frame.positions, length, "pos", where);
  require<DataError>(frame.cell.has_value(), where, ": a slab must have a cell");
  slab.cell = rows_of(frame.cell->data());
  for (Vector3& row : slab.cell) {
    std::ranges::for_each(row, [length](double& x) { x *= length; });
  }
  require<DataError>(spans_its_periods(*frame.cell, {true, true, true}), where,
                     ": the cell of a slab must have a volume");
  require<DataError>(frame.pbc[0] && frame.pbc[1], where,
                     ": a slab must be periodic along its first two lattice vectors (pbc)");
  slab.stacked = frame.pbc[2];
  const auto tags = atom_numbers_of(frame, "tags", 1, where);
  require<DataError>(tags.has_value(), where, ": a slab must have the column 'tags', the frame has ",
                     names_in(frame));
  for (const double tag : *tags) {
    require<DataError>(tag == 0 || tag == 1 || tag == 2, where,
                       ": 'tags' must be 0 (below the surface), 1 (surface) or 2 (adsorbate), got ", tag);
    slab.tags.push_back(static_cast<int>(tag));
  }
  require<DataError>(
      std::ranges::any_of(slab.tags, [](int tag) { return tag > 0; }), where,
      ": 'tags' must be above 0 for some atoms (1: surface, 2: adsorbate), which carry the energy, "
      "all are 0");
  const auto fixed = atom_numbers_of(frame, "fixed", 1, where);
  for (size_t a = 0; a < slab.tags.size(); ++a) {
    require<DataError>(!fixed || (*fixed)[a] == 0 || (*fixed)[a] == 1, where,
                       ": 'fixed' must be 0 or 1, got ", fixed ? (*fixed)[a] : 0);
    slab.free.push_back(fixed ? (*fixed)[a] == 0 : slab.tags[a] != 0);
  }
  if (const auto relaxed = atom_numbers_of(frame, "relaxed", 3, where)) {
    slab.relaxed = places_in_angstrom(*relaxed, length, "relaxed", where);
    for (size_t a = 0; a < slab.relaxed.size(); ++a) {
      const Vector3 way = way_between(slab.relaxed[a], slab.positions[a]);
      slab.relaxed[a] = moved_by(slab.positions[a], nearest_image(way, slab.cell, frame.pbc));
    }
  }
  if (const FrameValue* energy = frame.value("energy")) {
    const auto number = reals_of(energy->values);
    require<DataError>(number && number->size() == 1 && std::isfinite((*number)[0]), where,
                       ": 'energy' must be one finite number");
    slab.energy = (*number)[0] * factor_to(reader.unit_of("energy"), "eV");
  }
  return slab;
}

namespace {

constexpr double kLeastVacuum = 5;  // A; atoms of a surface lie nearer, images across a vacuum farther

/// Where atoms lie along a lattice vector, in shares of it, ascending.
std::vector<double> shares_along(const Slab& slab, const Vector3& dual) {
  std::vector<double> shares;
  for (const Vector3& x : slab.positions) {
    shares.push_back(x[0] * dual[0] + x[1] * dual[1] + x[2] * dual[2]);
  }
  std::ranges::sort(shares);
  return shares;
}

/// The widest gap between numbers that ascend; 0 of one alone.
double widest_step(const std::vector<double>& numbers) {
  double widest = 0;
  for (size_t i = 1; i < numbers.size(); ++i) {
    widest = std::max(widest, numbers[i] - numbers[i - 1]);
  }
  return widest;
}

std::string doubt_of_vacuum(const Slab& slab, const CellRows& duals) {
  std::array<double, 3> empty{};
  for (size_t d = 0; d < 3; ++d) {
    std::vector<double> shares = shares_along(slab, duals[d]);
    std::ranges::for_each(shares, [](double& share) { share -= std::floor(share); });
    std::ranges::sort(shares);
    empty[d] = std::max(1 - shares.back() + shares.front(), widest_step(shares)) / length(duals[d]);
  }
  const size_t most = static_cast<size_t>(std::ranges::max_element(empty) - empty.begin());
  if (empty[2] >= kLeastVacuum) {
    return "";
  }
  return most == 2 || empty[most] < kLeastVacuum
             ? text("its cell has no vacuum along the third lattice vector, the widest empty layer is ",
                    empty[2], " Angstrom: a bulk is no slab, and images across it are not seen")
             : text("its vacuum seems to lie along lattice vector ", most + 1, " (", empty[most],
                    " Angstrom), and not along the third one (", empty[2],
                    "): images are taken along the first two, which must span the surface");
}

}  // namespace

std::string doubt_of(const Slab& slab) {
  if (slab.positions.empty()) {
    return "";
  }
  const CellRows duals = duals_of(slab.cell);
  if (std::string doubt = slab.stacked ? doubt_of_vacuum(slab, duals) : ""; !doubt.empty()) {
    return doubt;
  }
  if (const double within = widest_step(shares_along(slab, duals[2])) / length(duals[2]);
      within >= kLeastVacuum) {
    return text(
        "its atoms lie in two parts with ", within,
        " Angstrom between them along the third lattice vector: the cell seems to tear the slab apart, "
        "of which no images are taken there; shift it so that its atoms follow one another");
  }
  return std::ranges::find(slab.tags, 2) != slab.tags.end()
             ? ""
             : "no atom has tag 2: without an adsorbate no images of atoms are taken, and the model does not see "
               "that the slab repeats";
}

std::vector<SlabImage> slab_images(const Slab& slab, double radius) {
  std::vector<SlabImage> images;
  std::vector<Vector3> adsorbate;
  for (size_t a = 0; a < slab.tags.size(); ++a) {
    if (slab.tags[a] == 2) {
      adsorbate.push_back(slab.positions[a]);
    }
  }
  for (int i = -1; i <= 1; ++i) {
    for (int j = -1; j <= 1; ++j) {
      if (i == 0 && j == 0) {
        continue;
      }
      Vector3 shift{};
      for (size_t c = 0; c < 3; ++c) {
        shift[c] = i * slab.cell[0][c] + j * slab.cell[1][c];
      }
      for (int64_t atom = 0; atom < slab.size(); ++atom) {
        const auto a = static_cast<size_t>(atom);
        const Vector3 place = moved_by(slab.positions[a], shift);
        const auto near = [&](const Vector3& x) { return length(way_between(place, x)) < radius; };
        if (slab.tags[a] != 2 && std::ranges::any_of(adsorbate, near)) {
          images.push_back({atom, shift});
        }
      }
    }
  }
  return images;
}

int64_t slab_tokens(const Slab& slab, double radius) {
  return slab.size() + static_cast<int64_t>(slab_images(slab, radius).size());
}

void add_noise(Slab& slab, const NoisyNodes& noise, Stream& stream) {
  require(!slab.relaxed.empty(), "noisy nodes: the relaxed places must be known");
  if (stream.uniform() >= noise.probability) {
    return;
  }
  for (size_t a = 0; a < slab.positions.size(); ++a) {
    if (slab.free[a]) {
      const double q = stream.uniform();
      for (size_t c = 0; c < 3; ++c) {
        slab.positions[a][c] =
            q * slab.positions[a][c] + (1 - q) * slab.relaxed[a][c] + noise.deviation * stream.normal();
      }
    }
  }
}

}  // namespace weyl
