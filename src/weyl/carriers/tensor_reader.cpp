#include "weyl/carriers/tensor_reader.h"

#include <algorithm>
#include <functional>

#include "weyl/carriers/layout.h"

namespace weyl {

std::string shape_text(const Tensor& t) {
  std::string result;
  for (const int64_t n : t.sizes()) {
    result += (result.empty() ? "" : ", ") + std::to_string(n);
  }
  return "(" + result + ")";
}

Tensor TensorReader::any(const std::string& name) const {
  check(has(name), name, "is absent");
  return load_tensor(file_, name);
}

Tensor TensorReader::real(const std::string& name, int64_t axes, const char* shape) const {
  Tensor t = any(name);
  check(t.is_floating_point(), name, "must be of a floating-point type, got ",
        c10::toString(t.scalar_type()));
  check(t.dim() == axes, name, "must be ", shape, ", got ", shape_text(t));
  if (t.scalar_type() != at::kDouble) {
    t = t.to(at::kFloat);
  }
  if (finite_ && t.numel() > 0) {
    const Tensor odd = t.isfinite().logical_not().reshape({t.size(0), -1}).any(1);
    check(!odd.any().item<bool>(), name, "must be finite, some values are not, the first of row ",
          odd.to(at::kInt).argmax().item<int64_t>());
  }
  return t;
}

Tensor TensorReader::whole(const std::string& name) const {
  const Tensor t = any(name);
  check(t.scalar_type() == at::kLong, name, "must be int64, got ", c10::toString(t.scalar_type()));
  return t;
}

Segments TensorReader::segments(const std::string& name, int64_t rows) const {
  const Tensor t = whole(name);
  check(t.dim() == 1 && t.size(0) >= 1, name, "must be (segments + 1), got ", shape_text(t));
  const auto* first = t.const_data_ptr<int64_t>();
  std::vector<int64_t> offsets(first, first + t.size(0));
  check(offsets.front() == 0, name, "must begin with 0, got ", offsets.front());
  const auto drop = std::adjacent_find(offsets.begin(), offsets.end(), std::greater<>());
  check(drop == offsets.end(), name, "must not decrease, entry ", drop - offsets.begin() + 1, " does");
  check(offsets.back() == rows, name, "must end with the number of rows, ", rows, ", got ", offsets.back());
  return Segments::of_offsets(std::move(offsets));
}

Tensor TensorReader::named(const Quantity& q, const Input& input, bool label) const {
  Tensor t = any(q.name);
  const auto shape = shape_of(q, input);
  if (t.dim() == 1 && shape.size() == 2 && shape[1] == 1) {
    t = t.unsqueeze(1);  // (B) for one number each
  }
  if (t.dim() == 2 && shape.size() == 3 && shape[1] == 1) {
    t = t.unsqueeze(1);  // (B, D) for one vector each
  }
  std::string expected;
  for (const int64_t n : shape) {
    expected += (expected.empty() ? "" : ", ") + std::to_string(n);
  }
  check(t.sizes() == at::IntArrayRef(shape), q.name, "must be (", expected, "), got ", shape_text(t));
  if (q.kind == Kind::category) {
    check(t.scalar_type() == at::kLong, q.name, "must be int64, got ", c10::toString(t.scalar_type()));
    return t;
  }
  check(t.is_floating_point(), q.name, "must be of a floating-point type, got ",
        c10::toString(t.scalar_type()));
  check(label || !finite_ || t.numel() == 0 || t.isfinite().all().item<bool>(), q.name,
        "must be finite, some values are not");
  return label || t.scalar_type() == at::kDouble ? t.to(at::kDouble) : t.to(at::kFloat);
}

}  // namespace weyl
