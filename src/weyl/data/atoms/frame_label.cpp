#include "weyl/data/atoms/frame_label.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/data/formats/potential_keys.h"

namespace weyl {
namespace {

/// Nine numbers from nine or six in Voigt's order, symmetric.
std::vector<double> tensor_from(const std::vector<double>& given) {
  if (given.size() == 6) {
    return {given[0], given[5], given[4], given[5], given[1], given[3], given[4], given[3], given[2]};
  }
  std::vector<double> s(9);
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < 3; ++j) {
      s[3 * i + j] = 0.5 * (given[3 * i + j] + given[3 * j + i]);
    }
  }
  return s;
}

}  // namespace

bool FrameLabel::is_virial() const {
  return quantity.name == "stress" && is_virial_key(key);
}

void FrameLabel::add(const AtomsFrame& frame, const FrameReader& reader, const FrameLayout& layout,
                     double virial_factor, bool finite) {
  const auto has = [&](const std::string& name) {
    return of_atoms ? frame.column(name) != nullptr : frame.value(name) != nullptr;
  };
  if (key.empty()) {
    const auto found = std::ranges::find_if(keys, has);
    key = found == keys.end() ? "" : *found;
  }
  const auto other =
      std::ranges::find_if(keys, [&](const std::string& name) { return name != key && has(name); });
  if (other != keys.end() && ambiguous.empty()) {  // which one is meant nobody knows
    ambiguous = text(key, " and ", *other, " (", reader.where(), "; say which by ", layout.option, ".",
                     quantity.name, ")");
  }
  const bool stress = quantity.name == "stress";
  const auto rows = static_cast<size_t>(of_atoms ? frame.size() : 1);
  const size_t count = rows * static_cast<size_t>(width);
  const bool applies = !stress || (frame.cell && std::ranges::all_of(frame.pbc, std::identity()));
  expected += applies ? 1 : 0;
  const AtomColumn* column = of_atoms ? frame.column(key) : nullptr;
  const FrameValue* value = of_atoms ? nullptr : frame.value(key);
  if ((column == nullptr && value == nullptr) || !applies) {
    if (missing.empty() && applies) {
      missing = reader.where();
    }
    values.insert(values.end(), count, NAN);
    return;
  }
  const auto reals = reals_of(column != nullptr ? column->values : value->values);
  require<DataError>(reals.has_value(), reader.where(), ": ", quote(key), " must be numbers");
  const bool fits = column != nullptr ? column->width == width
                    : stress          ? reals->size() == 9 || reals->size() == 6
                                      : reals->size() == (norm ? 3 : 1);
  require<DataError>(fits, reader.where(), ": ", quote(key), " must be ", norm ? 3 : width,
                     of_atoms ? " numbers an atom"
                     : stress ? " numbers, or 6"
                     : norm   ? " numbers, of which `norm` is the length"
                              : " number",
                     ", got ", column != nullptr ? column->width : static_cast<int64_t>(reals->size()));
  const auto bad = std::ranges::find_if(*reals, [](double x) { return !std::isfinite(x); });
  if (finite && bad != reals->end()) {
    throw DataError(text(reader.where(), ": ", quote(key), " must be finite, got ", *bad));
  }
  if (is_virial() && !is_virial_key(layout.stress)) {
    for (const auto& [option, said] :
         {std::pair{"stress_unit", !layout.stress_unit.empty()}, {"stress_sign", layout.compression}}) {
      require<ConfigError>(!said, layout.option, ".", option, ": is of a stress, the frames have ",
                           quote(key), ", minus stress times volume (", reader.where(),
                           "); leave it out, or say stress = \"", key, "\" and the unit of that");
    }
  }
  const double scale = is_virial() ? virial_factor : factor;
  const std::vector<double> numbers = stress ? tensor_from(*reals)
                                      : norm ? std::vector{std::hypot((*reals)[0], (*reals)[1], (*reals)[2])}
                                             : *reals;
  for (const double x : numbers) {
    values.push_back(scale * x);
  }
  ++known;
}

std::string FrameLabel::reason_to_leave_out(const FrameLayout& layout) const {
  if (!ambiguous.empty()) {
    return ambiguous;
  }
  if (layout.mask_missing || known >= expected) {
    return "";
  }
  return text(key, " in ", known, " of ", expected, " frames (not in ", missing, "; ", layout.option,
              ".missing = \"mask\" leaves such frames out of its part of the loss)");
}

}  // namespace weyl
