#include "weyl/data/tensors/options.h"

namespace weyl {

void fields(Fields& f, TensorsDataOptions& o) {
  f("path", o.path,
    "folder with train.safetensors, valid.safetensors and test.safetensors (carrier tensor files)");
}

void fields(Fields& f, ArrayConvertOptions& o) {
  f("group", o.group, "the Lie group whose matrices `elements` are");
  f("length_unit", o.length_unit, "the unit of positions, cells and translations");
  f("time_unit", o.time_unit, "the unit of the feature `time`");
}

}  // namespace weyl
