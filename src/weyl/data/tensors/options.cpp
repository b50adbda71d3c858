#include "weyl/data/tensors/options.h"

namespace weyl {

void fields(Fields& f, TensorsDataOptions& o) {
  f("path", o.path,
    "folder with train.safetensors, valid.safetensors and test.safetensors (carrier tensor files)");
}

}  // namespace weyl
