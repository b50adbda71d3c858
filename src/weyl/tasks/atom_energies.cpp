#include "weyl/tasks/atom_energies.h"

#include <ATen/ops/zeros.h>

#include <algorithm>
#include <sstream>
#include <vector>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/core/read_file.h"
#include "weyl/core/text_number.h"
#include "weyl/core/units.h"

namespace weyl {
namespace {

constexpr size_t kMostBytes = size_t{1} << 20;  // a line for each element has a few

/// How many times larger a number in `from` is in `to`; DataError in the name of `where`.
double factor_between(const std::string& from, const std::string& to, const std::string& where) {
  try {
    return to.empty() || from.empty() ? 1 : unit_factor(from, to);
  } catch (const ConfigError& error) {
    throw DataError(text(where, ": ", error.what()));
  }
}

}  // namespace

Tensor atom_energies_in(const std::string& path, const Schema& schema, const Tensor& seen) {
  const std::vector<std::string>& elements = schema.interface.elements;
  require<ConfigError>(!elements.empty(),
                       "task.force_field.references: has no effect on data whose types are no "
                       "elements; leave the option out");
  const FileContents file = read_file(path, kMostBytes);
  require<DataError>(file.fault.empty(), path, ": ", file.fault);
  const std::string unit = unit_of(schema.labels, "energy");
  Tensor energies = at::zeros({std::ssize(elements)}, at::kDouble);
  std::vector<bool> told(elements.size(), false);
  std::istringstream lines(file.text);
  int64_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::string where = text(path, ": line ", ++number);
    std::istringstream words(line.substr(0, line.find('#')));
    std::string symbol, value, own_unit, more;
    words >> symbol >> value >> own_unit >> more;
    if (symbol.empty()) {
      continue;
    }
    const auto energy = parse_real(value);
    require<DataError>(energy && std::isfinite(*energy) && more.empty(), where,
                       ": must be an element's symbol, a number and perhaps a unit, got ", quote(line, 60));
    const auto type = std::ranges::find(elements, symbol) - elements.begin();
    if (type == std::ssize(elements)) {
      continue;  // of a table of all elements, those that the data cannot have
    }
    const auto t = static_cast<size_t>(type);
    require<DataError>(!told[t], where, ": ", symbol, " must be given once");
    told[t] = true;
    energies.mutable_data_ptr<double>()[type] = *energy * factor_between(own_unit, unit, where);
  }
  for (size_t t = 0; t < elements.size(); ++t) {
    require<DataError>(told[t] || seen.const_data_ptr<double>()[t] == 0, path, ": must have the energy of ",
                       elements[t], ", of which the training data have atoms");
  }
  return energies;
}

}  // namespace weyl
