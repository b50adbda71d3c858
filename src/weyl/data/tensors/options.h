#pragma once

#include <optional>
#include <string>

#include "weyl/carriers/quantity.h"
#include "weyl/config/fields.h"

namespace weyl {

struct Schema;
struct Splits;

/// Carrier tensor files of any origin (cli.md): train.safetensors, valid.safetensors, test.safetensors in a
/// folder. The config's [interface] says what their tensors are.
struct TensorsDataOptions {
  static constexpr const char* name_in_config = "tensors";
  std::string path = "data/tensors";
};
void fields(Fields& f, TensorsDataOptions& o);
/// The features of a config's [interface] and, as labels, its outputs. ConfigError without an [interface]: nothing else
/// says what such files hold.
Schema declared_schema(const TensorsDataOptions& options, const Interface* interface);
/// Opens whichever of train.safetensors, valid.safetensors and test.safetensors a folder has.
Splits open_set(const TensorsDataOptions& options, const Interface* interface);

/// What a carrier tensor file tells beside its tensors, for arrays of NumPy, which tell nothing (`weyl data convert poses.npz
/// poses.safetensors group=se3 length_unit=mm`).
struct ArrayConvertOptions {
  std::optional<LieGroup> group;       // whose matrices `elements` are
  std::string length_unit, time_unit;  // empty: not known
};
void fields(Fields& f, ArrayConvertOptions& o);

}  // namespace weyl
