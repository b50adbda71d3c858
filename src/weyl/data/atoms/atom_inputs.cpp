#include "weyl/data/atoms/atom_inputs.h"

#include <algorithm>
#include <array>

#include "weyl/core/check.h"
#include "weyl/core/elements.h"

namespace weyl {
namespace {

constexpr size_t kHydrogens = 96;

struct ElementRow {
  int number;
  std::array<uint8_t, 9> ones;
};
/// Where CGCNN's rows of the elements of QM9 have their nine ones.
constexpr std::array<ElementRow, 5> kRows{{{1, {1, 19, 30, 36, 46, 64, 73, 78, 86}},
                                           {6, {14, 20, 31, 38, 49, 63, 74, 79, 82}},
                                           {7, {15, 20, 33, 38, 50, 64, 70, 79, 86}},
                                           {8, {16, 20, 34, 37, 51, 64, 74, 79, 86}},
                                           {9, {17, 20, 35, 37, 52, 65, 77, 79, 86}}}};

}  // namespace

void append_atom_inputs(std::vector<double>& to, const AtomsFrame& frame, std::string_view where) {
  constexpr auto channels = static_cast<size_t>(atom_inputs_channels);
  const size_t begin = to.size();
  to.resize(begin + channels * frame.numbers.size());
  const auto at = [&](int64_t atom, size_t channel) -> double& {
    return to[begin + static_cast<size_t>(atom) * channels + channel];
  };
  for (int64_t atom = 0; atom < frame.size(); ++atom) {
    const int z = frame.numbers[static_cast<size_t>(atom)];
    const auto row = std::ranges::find(kRows, z, &ElementRow::number);
    require<DataError>(row != kRows.end(), where, ": atom ", atom + 1,
                       " must be one of H, C, N, O and F for the inputs \"pyg\", got ", element_symbol(z));
    for (const uint8_t one : row->ones) {
      at(atom, one) = 1;
    }
  }
  for (const Bond& bond : frame.bonds) {
    for (const auto& [atom, other] : {std::pair{bond.first, bond.second}, {bond.second, bond.first}}) {
      at(atom, kHydrogens) += frame.numbers[static_cast<size_t>(other)] == 1 ? 1 : 0;
    }
  }
}

}  // namespace weyl
