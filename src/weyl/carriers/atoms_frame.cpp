#include "weyl/carriers/atoms_frame.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"

namespace weyl {
namespace {

constexpr double kDependent = 1e-9;

template <class T>
const T* named(const std::vector<T>& all, std::string_view name) {
  const auto found = std::ranges::find(all, name, &T::name);
  return found == all.end() ? nullptr : &*found;
}

template <class T>
void replace_or_add(std::vector<T>& all, T value) {
  const auto found = std::ranges::find(all, value.name, &T::name);
  if (found == all.end()) {
    all.push_back(std::move(value));
  } else {
    *found = std::move(value);
  }
}

}  // namespace

size_t count_of(const FrameValues& values) {
  return std::visit([](const auto& v) { return v.size(); }, values);
}

std::optional<std::vector<double>> reals_of(const FrameValues& values) {
  if (const auto* reals = std::get_if<std::vector<double>>(&values)) {
    return *reals;
  }
  if (const auto* integers = std::get_if<std::vector<int64_t>>(&values)) {
    return std::vector<double>(integers->begin(), integers->end());
  }
  return std::nullopt;
}

const AtomColumn* AtomsFrame::column(std::string_view name) const {
  return named(columns, name);
}

const FrameValue* AtomsFrame::value(std::string_view name) const {
  return named(values, name);
}

void AtomsFrame::set(AtomColumn column) {
  replace_or_add(columns, std::move(column));
}

void AtomsFrame::set(FrameValue value) {
  replace_or_add(values, std::move(value));
}

void AtomsFrame::set(std::string name, double scalar) {
  set(FrameValue{std::move(name), {}, std::vector{scalar}});
}

void bonds_to_value(AtomsFrame& frame) {
  if (frame.bonds.empty()) {
    return;
  }
  std::vector<int64_t> rows;
  for (const auto& bond : frame.bonds) {
    rows.insert(rows.end(), {bond.first, bond.second, bond.order});
  }
  frame.set(FrameValue{"bonds", {static_cast<int64_t>(frame.bonds.size()), 3}, std::move(rows)});
  frame.bonds.clear();
}

bool spans_its_periods(const std::array<double, 9>& cell, const std::array<bool, 3>& pbc) {
  // Gram-Schmidt on unit vectors: what is left of each is its distance to the span of those before.
  std::array<std::array<double, 3>, 3> basis{};
  for (size_t i = 0; i < 3; ++i) {
    if (!pbc[i]) {
      continue;
    }
    std::array<double, 3> v{cell[3 * i], cell[3 * i + 1], cell[3 * i + 2]};
    const double length = std::hypot(v[0], v[1], v[2]);
    if (!(length > 0) || !std::isfinite(length)) {
      return false;
    }
    std::ranges::for_each(v, [&](double& x) { x /= length; });
    for (size_t j = 0; j < i; ++j) {
      const double along = v[0] * basis[j][0] + v[1] * basis[j][1] + v[2] * basis[j][2];
      for (size_t d = 0; d < 3; ++d) {
        v[d] -= along * basis[j][d];
      }
    }
    const double rest = std::hypot(v[0], v[1], v[2]);
    if (rest < kDependent) {
      return false;
    }
    for (size_t d = 0; d < 3; ++d) {
      basis[i][d] = v[d] / rest;
    }
  }
  return true;
}

std::string names_in(const AtomsFrame& frame) {
  std::string all;
  const auto add = [&](const std::string& name) { all += (all.empty() ? "" : ", ") + quote(name); };
  for (const auto& value : frame.values) {
    add(value.name);
  }
  for (const auto& column : frame.columns) {
    add(column.name);
  }
  return all.empty() ? "nothing" : all;
}

void check_frame(const AtomsFrame& frame, std::string_view where) {
  const size_t n = frame.numbers.size();
  require(frame.positions.size() == 3 * n, where, ": ", n, " atoms must have ", 3 * n, " coordinates, got ",
          frame.positions.size());
  std::set<std::string_view> names;
  for (const auto& column : frame.columns) {
    require(names.insert(column.name).second, where, ": column ", quote(column.name), " is given twice");
    require(column.width > 0 && count_of(column.values) == n * static_cast<size_t>(column.width), where,
            ": column ", quote(column.name), " of width ", column.width, " must have values of ", n,
            " atoms, got ", count_of(column.values));
  }
  names.clear();
  for (const auto& value : frame.values) {
    require(names.insert(value.name).second, where, ": value ", quote(value.name), " is given twice");
    size_t count = 1;
    for (const int64_t k : value.shape) {
      count *= static_cast<size_t>(k);
    }
    require(count_of(value.values) == count, where, ": value ", quote(value.name), " of shape ",
            shape_text(value.shape), " must have ", count, " numbers, got ", count_of(value.values));
  }
  for (const auto& bond : frame.bonds) {
    require(bond.first >= 0 && bond.second >= 0 && std::max(bond.first, bond.second) < frame.size(), where,
            ": bonds must be between atoms 0 .. ", frame.size() - 1, ", got ", bond.first, " and ",
            bond.second);
  }
}

}  // namespace weyl
