#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>

#include <algorithm>

#include "weyl/carriers/consistency.h"
#include "weyl/carriers/points_tensors.h"
#include "weyl/carriers/tensor_format.h"
#include "weyl/core/check.h"

namespace weyl {

void write_tensor_file(const std::string& path, const Batch& batch, const Schema& schema,
                       std::map<std::string, std::string> metadata, Existing existing) {
  NamedTensors tensors;
  const auto add = [&](const std::string& name, const Tensor& t) {
    if (t.defined()) {
      require<DataError>(tensors.emplace(name, t).second, path, ": two tensors are named '", name, "'");
    }
  };
  const auto offsets = [](const Segments& s) {
    Tensor t = at::empty({static_cast<int64_t>(s.offsets.size())}, at::kLong);
    std::copy(s.offsets.begin(), s.offsets.end(), t.mutable_data_ptr<int64_t>());
    return t;
  };
  require_consistent(batch, schema);
  if (const auto* p = std::get_if<Points>(&batch.input)) {
    // Zeros that stand for no positions are none in the file either, unless something in it needs them.
    const bool placed = p->placed || p->vectors.defined() || p->cell.defined();
    each_tensor(*p, [&](const PointsTensor& of, const Tensor& tensor) {
      if (placed || of.holds != PointsTensor::Holds::positions) {
        add(std::string(of.name), tensor);
      }
    });
    add("offsets", offsets(p->graphs));
    add("object_offsets", p->objects.count() > 0 ? offsets(p->objects) : Tensor());
  } else if (const auto* p = std::get_if<Poses>(&batch.input)) {
    add("elements", p->elements);
    add("offsets", offsets(p->graphs));
    add("scalars", p->scalars);
    metadata["group"] = lie_group_names[static_cast<int>(p->group)];
  } else {
    const auto& grid = std::get<Grid>(batch.input);
    add("values", grid.values);
    const std::vector<double> spacing(grid.spacing.begin(), grid.spacing.begin() + grid.values.dim() - 2);
    add("spacing", at::tensor(spacing, at::kDouble));
  }
  for (const auto& [name, t] : batch.labels) {
    add(name, t);
  }
  metadata["format"] = "weyl.tensors";
  if (!schema.interface.length_unit.empty()) {
    metadata["length_unit"] = schema.interface.length_unit;
  }
  save_tensors(path, tensors, metadata, existing);
}

}  // namespace weyl
