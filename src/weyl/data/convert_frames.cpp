#include "weyl/data/convert_frames.h"

#include <algorithm>
#include <cmath>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/data/formats/extended_xyz.h"
#include "weyl/data/formats/frame_reader.h"
#include "weyl/data/formats/molecule_npz.h"
#include "weyl/data/formats/units.h"

namespace weyl {
namespace {

bool is_xyz(std::string_view path) {
  return path.ends_with(".xyz") || path.ends_with(".extxyz") || path.ends_with(".xyz.gz") ||
         path.ends_with(".extxyz.gz");
}

/// Which power of a length a unit has beside an energy: -1 of forces, -3 of stresses, 0 of energies; nothing
/// of what is no energy.
std::optional<int> length_beside_energy(std::string_view unit) {
  if (unit.empty()) {
    return std::nullopt;
  }
  auto left = parse_unit(unit).dimension;
  const auto energy = parse_unit("eV").dimension;
  for (size_t d = 0; d < left.size(); ++d) {
    left[d] -= energy[d];
  }
  const int length = left[0];
  left[0] = 0;
  return std::ranges::all_of(left, [](int x) { return x == 0; }) ? std::optional(length) : std::nullopt;
}

void multiply(FrameValues& values, double factor) {
  if (auto reals = reals_of(values); reals && factor != 1) {
    std::ranges::for_each(*reals, [&](double& x) { x *= factor; });
    values = std::move(*reals);
  }
}

class Conversion {
 public:
  Conversion(const FrameReader& reader, const FrameConvertOptions& options)
      : reader_(reader), options_(options) {
    for (const auto* unit : {&options.from, &options.to}) {
      require<ConfigError>(unit->empty() || length_beside_energy(*unit) == 0, "convert: ", quote(*unit),
                           " must be a unit of energy");
    }
  }

  /// Where the format does not say, that of `from`, for energies, forces, stresses and virials.
  std::string unit_of(const std::string& name) const {
    std::string said(reader_.unit_of(name));
    if (!said.empty() || options_.from.empty()) {
      require<ConfigError>(said.empty() || options_.from.empty() || name != options_.energy,
                           "convert: from=", printable(options_.from), " is not asked for, the format says ",
                           printable(said));
      return said;
    }
    if (name == options_.energy || name == "virial") {
      return options_.from;
    }
    return name == options_.forces ? options_.from + "/Angstrom"
           : name == "stress"      ? options_.from + "/Angstrom^3"
                                   : "";
  }

  /// That of energies after `apply`; empty when it is not known.
  std::string energy_unit() const { return options_.to.empty() ? unit_of(options_.energy) : options_.to; }

  void apply(AtomsFrame& frame) const {
    const std::string places(reader_.unit_of("pos"));
    if (const double factor = places.empty() ? 1 : unit_factor(places, "Angstrom"); factor != 1) {
      std::ranges::for_each(frame.positions, [&](double& x) { x *= factor; });
      if (frame.cell) {
        std::ranges::for_each(*frame.cell, [&](double& x) { x *= factor; });
      }
    }
    if (options_.to.empty()) {
      return;
    }
    const auto convert = [&](const std::string& name, FrameValues& values) {
      const std::string unit = unit_of(name);
      const bool asked =
          name == options_.energy || name == options_.forces || name == "stress" || name == "virial";
      require<DataError>(!asked || !unit.empty(), reader_.where(), ": the unit of ", quote(name),
                         " is not known, say from=UNIT");
      if (const auto length = length_beside_energy(unit)) {
        multiply(values, unit_factor(unit, text(options_.to, "*Angstrom^", *length)));
      }
    };
    for (auto& column : frame.columns) {
      convert(column.name, column.values);
    }
    for (auto& value : frame.values) {
      convert(value.name, value.values);
    }
  }

 private:
  const FrameReader& reader_;
  const FrameConvertOptions& options_;
};

void to_xyz(FrameReader& reader, const std::string& out, const Conversion& conversion,
            const FrameConvertOptions& options) {
  ExtendedXyzWriter writer(out);
  for (AtomsFrame frame; reader.next(frame);) {
    conversion.apply(frame);
    if (!frame.bonds.empty()) {
      std::vector<int64_t> rows;
      for (const auto& bond : frame.bonds) {
        rows.insert(rows.end(), {bond.first, bond.second, bond.order});
      }
      frame.set(FrameValue{"bonds", {static_cast<int64_t>(frame.bonds.size()), 3}, std::move(rows)});
      frame.bonds.clear();
    }
    const auto unit = frame.value(options.energy) != nullptr ? conversion.energy_unit() : options.to;
    if (!unit.empty()) {
      frame.set(FrameValue{"energy_unit", {}, std::vector{unit}});
    }
    writer.write(frame);
  }
  writer.commit();
}

void to_npz(FrameReader& reader, const std::string& out, const Conversion& conversion,
            const FrameConvertOptions& options) {
  AtomsFrame frame;
  std::optional<Rmd17Writer> writer;
  while (reader.next(frame)) {
    conversion.apply(frame);
    if (!writer) {
      Rmd17Content content{options.energy, options.forces, "Angstrom", conversion.energy_unit()};
      if (frame.value(content.energy) == nullptr) {
        content.energy.clear();
      }
      if (frame.column(content.forces) == nullptr) {
        content.forces.clear();
      }
      require<DataError>(!content.energy_unit.empty() || (content.energy.empty() && content.forces.empty()),
                         reader.where(), ": the unit of energies is not known, say from=UNIT");
      writer.emplace(out, content);
    }
    writer->write(frame);
  }
  if (writer) {
    writer->commit();
  }
}

}  // namespace

void fields(Fields& f, FrameConvertOptions& o) {
  f("energy", o.energy, "value of a frame that is its energy");
  f("forces", o.forces, "column of the atoms that are the forces");
  f("from", o.from, "unit of energies in IN (eV, kcal/mol, ...), where its format does not say");
  f("to", o.to, "unit of energies in OUT; as they are unless given");
}

bool converts_frames(const std::string& in, const std::string& out) {
  return (is_xyz(out) || out.ends_with(".npz")) && holds_frames(in);
}

void convert_frames(const std::string& in, const std::string& out, const FrameConvertOptions& options) {
  const auto reader = open_frames(in);
  const Conversion conversion(*reader, options);
  if (is_xyz(out)) {
    to_xyz(*reader, out, conversion, options);
  } else {
    to_npz(*reader, out, conversion, options);
  }
}

}  // namespace weyl
