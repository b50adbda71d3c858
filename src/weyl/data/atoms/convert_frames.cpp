#include "weyl/data/atoms/convert_frames.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <tuple>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/core/units.h"
#include "weyl/data/atoms/extended_xyz.h"
#include "weyl/data/atoms/frame_reader.h"
#include "weyl/data/atoms/molecule_npz.h"
#include "weyl/data/atoms/potential_keys.h"
#include "weyl/data/atoms/stress_tensor.h"

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
  /// `plain`: for files that say the units of energies and lengths alone.
  Conversion(const FrameReader& reader, const FrameConvertOptions& options, bool plain = false)
      : reader_(reader), options_(options), plain_(plain) {
    for (const auto* unit : {&options.from, &options.to}) {
      require<ConfigError>(unit->empty() || length_beside_energy(*unit) == 0, "convert: ", quote(*unit),
                           " must be a unit of energy");
      if (!unit->empty()) {
        check_unit(*unit, "eV");
      }
    }
    for (const auto& [key, unit, like] : {std::tuple{force_unit_key, &options.force_unit, "eV/Angstrom"},
                                          {stress_unit_key, &options.stress_unit, "eV/Angstrom^3"}}) {
      try {
        check_unit(unit->empty() ? like : *unit, like);
      } catch (const ConfigError& error) {
        throw ConfigError(text("convert: ", key, ": ", error.what()));
      }
    }
  }

  /// Where the file does not say, that of `from`, for energies, forces, stresses and virials.
  std::string unit_of(const std::string& name) const {
    std::string said(reader_.unit_of(name));
    if (said.empty() && name == options_.forces) {
      said = reader_.stated_unit_of("forces");
    }
    const auto power = power_of(name);
    if (const std::string* own = own_unit(power); own != nullptr && !own->empty()) {
      require<ConfigError>(said.empty() || same_unit(said, *own), "convert: ", printable(*own), " for ",
                           quote(name, 40), " is not asked for, the format says ", printable(said));
      return *own;
    }
    const std::string& from = options_.from;
    if (!said.empty() || from.empty()) {
      const bool agree = said.empty() || from.empty() || name != options_.energy || same_unit(said, from);
      require<ConfigError>(agree, "convert: from=", printable(from), " is not asked for, the format says ",
                           printable(said));
      return said;
    }
    return !power ? "" : *power == 0 ? from : text(from, "/(", length_unit(), ")^", -*power);
  }

  /// That of energies after `apply`; empty when it is not known.
  std::string energy_unit() const { return options_.to.empty() ? unit_of(options_.energy) : options_.to; }

  void apply(AtomsFrame& frame) const {
    const double length = unit_factor(length_unit(), "Angstrom");
    if (length != 1) {
      std::ranges::for_each(frame.positions, [&](double& x) { x *= length; });
      if (frame.cell) {
        std::ranges::for_each(*frame.cell, [&](double& x) { x *= length; });
      }
    }
    if (frame.value(length_unit_key) != nullptr) {
      frame.set(FrameValue{std::string(length_unit_key), {}, std::vector<std::string>{"Angstrom"}});
    }
    // Forces and stresses whose unit the file says by itself keep it until energies get another.
    const bool own_force = frame.value(force_unit_key) != nullptr || !options_.force_unit.empty(),
               own_stress = frame.value(stress_unit_key) != nullptr || !options_.stress_unit.empty();
    const std::string to_energy = options_.to.empty() && plain_ && own_force ? energy_unit() : options_.to;
    if (to_energy.empty()) {
      for (const auto& [key, unit] :
           {std::pair{force_unit_key, &options_.force_unit}, {stress_unit_key, &options_.stress_unit}}) {
        if (!unit->empty()) {
          frame.set(FrameValue{std::string(key), {}, std::vector{*unit}});
        }
      }
    }
    if (to_energy.empty() && length == 1) {
      return;
    }
    const auto convert = [&](const std::string& name, FrameValues& values) {
      const std::string unit = unit_of(name);
      const auto power = power_of(name);
      const bool own = power && ((*power == -1 && own_force) || (*power == -3 && own_stress));
      if (own && to_energy.empty()) {
        return;
      }
      require<DataError>(options_.to.empty() || !power || !unit.empty(), reader_.where(), ": the unit of ",
                         quote(name), " is not known, say from=UNIT");
      if (unit.empty()) {  // of the energy; its lengths are known
        multiply(values, power ? std::pow(length, *power) : 1);
      } else if (const auto beside = length_beside_energy(unit)) {
        const std::string to = to_energy.empty() ? energy_part(unit, *beside) : to_energy;
        multiply(values, unit_factor(unit, text("(", to, ")*Angstrom^", *beside)));
      }
    };
    for (auto& column : frame.columns) {
      convert(column.name, column.values);
    }
    for (auto& value : frame.values) {
      convert(value.name, value.values);
    }
    if (!to_energy.empty()) {  // which say now what they would say without a word
      std::erase_if(frame.values, [](const FrameValue& value) {
        return value.name == force_unit_key || value.name == stress_unit_key;
      });
    }
  }

 private:
  std::string length_unit() const {
    const auto said = reader_.unit_of("pos");
    return said.empty() ? "Angstrom" : std::string(said);
  }
  /// The power of the length in the unit of an energy, a force, a stress or a virial.
  std::optional<int> power_of(const std::string& name) const {
    return name == options_.energy ? 0 : name == options_.forces ? std::optional(-1) : length_power_of(name);
  }
  /// What the options say of forces and of stresses; null of others.
  const std::string* own_unit(std::optional<int> power) const {
    return power == -1 ? &options_.force_unit : power == -3 ? &options_.stress_unit : nullptr;
  }
  /// The energy of a unit of energies, forces or stresses of the file.
  std::string energy_part(const std::string& unit, int power) const {
    return power == 0 ? unit : text("(", unit, ")*(", length_unit(), ")^", -power);
  }

  const FrameReader& reader_;
  const FrameConvertOptions& options_;
  bool plain_;
};

/// Those of a frame that an .npz of MD17's kind has no place for.
void add_dropped(std::set<std::string>& dropped, const AtomsFrame& frame, const Rmd17Content& content) {
  for (const auto& column : frame.columns) {
    if (column.name != content.forces) {
      dropped.insert(column.name);
    }
  }
  for (const auto& value : frame.values) {
    const bool unit = value.name == energy_unit_key || value.name == length_unit_key ||
                      value.name == force_unit_key || value.name == stress_unit_key;
    if (value.name != content.energy && !unit) {
      dropped.insert(value.name);
    }
  }
  if (!frame.bonds.empty()) {
    dropped.insert("bonds");
  }
}

std::vector<std::string> to_npz(FrameReader& reader, const std::string& out,
                                const FrameConvertOptions& options) {
  const Conversion conversion(reader, options, true);
  AtomsFrame frame;
  std::optional<Rmd17Writer> writer;
  Rmd17Content content{options.energy, options.forces, "Angstrom", ""};
  std::set<std::string> dropped;
  while (reader.next(frame)) {
    conversion.apply(frame);
    if (!writer) {
      content.energy_unit = conversion.energy_unit();
      if (frame.value(content.energy) == nullptr) {
        content.energy.clear();
      }
      if (frame.column(content.forces) == nullptr) {
        content.forces.clear();
      }
      require<DataError>(!content.energy_unit.empty() || (content.energy.empty() && content.forces.empty()),
                         reader.where(), ": the unit of energies is not known, say from=UNIT");
      writer.emplace(out, content, Existing::keep);
    }
    writer->write(frame);
    add_dropped(dropped, frame, content);
  }
  if (writer) {
    writer->commit();
  }
  return {dropped.begin(), dropped.end()};
}

}  // namespace

void each_frame_for_xyz(FrameReader& reader, const FrameConvertOptions& options,
                        const std::function<void(const AtomsFrame&)>& use) {
  const Conversion conversion(reader, options);
  for (AtomsFrame frame; reader.next(frame);) {
    conversion.apply(frame);
    bonds_to_value(frame);
    write_out_stresses(frame, options.stress_order);
    for (auto& value : frame.values) {
      if (length_power_of(value.name) && value.shape == std::vector<int64_t>{3, 3}) {
        value.shape = {9};  // symmetric; nine numbers in quotes are what every reader knows
      }
    }
    if (const auto unit = conversion.energy_unit(); !unit.empty()) {
      frame.set(FrameValue{std::string(energy_unit_key), {}, std::vector{unit}});
    }
    use(frame);
  }
}

void fields(Fields& f, FrameConvertOptions& o) {
  f("energy", o.energy, "value of a frame that is its energy");
  f("forces", o.forces, "column of the atoms that are the forces");
  f("from", o.from, "unit of energies in IN (eV, kcal/mol, ...), where its format does not say");
  f("force_unit", o.force_unit,
    "unit of forces in IN, where its format does not say and it is not that of energies by lengths "
    "(Hartree/Bohr beside Angstrom)");
  f("stress_unit", o.stress_unit, "the same of stresses (GPa, kbar, ...)");
  f("stress_order", o.stress_order,
    "of stresses of six numbers in IN, which become nine in OUT: voigt, xx yy zz yz xz xy, where nothing is said; "
    "vasp, xx yy zz xy yz zx");
  f("to", o.to, "unit of energies in OUT; as they are unless given");
}

bool converts_frames(const std::string& in, const std::string& out) {
  return (is_xyz(out) || out.ends_with(".npz")) && holds_frames(in);
}

std::vector<std::string> convert_frames(const std::string& in, const std::string& out,
                                        const FrameConvertOptions& options) {
  require<ConfigError>(!std::filesystem::exists(out), out,
                       ": exists already; remove it or choose another name");
  const auto reader = open_frames(in);
  if (is_xyz(out)) {
    ExtendedXyzWriter writer(out, Existing::keep);
    each_frame_for_xyz(*reader, options, [&](const AtomsFrame& frame) { writer.write(frame); });
    writer.commit();
    return {};
  }
  return to_npz(*reader, out, options);
}

}  // namespace weyl
