#include "weyl/ops/attention/attention_units.h"

#include "weyl/ops/autograd/parallel.h"

namespace weyl {
HeadTensor::HeadTensor(const Tensor& x, int64_t heads) {
  if (!x.defined()) {
    return;
  }
  tensor = x.size(-1) == 1 || x.stride(-1) == 1 ? x : x.contiguous();
  row = tensor.stride(0);
  if (x.dim() == 4) {
    parts = x.size(1);
    part = tensor.stride(1);
    head = tensor.stride(2);
    return;
  }
  head = heads > 1 && x.size(1) == 1 ? 0 : (heads == 1 ? x.size(2) : tensor.stride(1));
}

double attention_products(const Segments& graphs, int64_t heads, int64_t width) {
  return 2 * static_cast<double>(graphs.pairs()) * static_cast<double>(heads * width);
}

double linear_attention_products(const Segments& graphs, int64_t heads, int64_t key_width,
                                 int64_t value_width) {
  return 2 * static_cast<double>(graphs.rows()) * static_cast<double>(heads * key_width * value_width);
}

UnitCost linear_attention_cost(int64_t key_width, int64_t value_width) {
  constexpr double nanoseconds = 0.05;  // of a multiply-add of both products: estimated, to be measured
  return {0, 1, nanoseconds * static_cast<double>(key_width * value_width)};
}

int64_t attention_workers(const Segments& graphs, int64_t heads, bool whole, const UnitCost& cost) {
  int64_t total = 0;
  for (int64_t s = 0; s < graphs.count(); ++s) {
    total += cost.of(graphs.size(s));
  }
  const int64_t by_cost = workers_worth(total * heads, cost.nanoseconds);
  return whole ? std::min(by_cost, std::max<int64_t>(graphs.count(), 1)) : by_cost;
}

void for_attention_units(const Segments& graphs, int64_t heads, int64_t workers, bool whole,
                         const UnitCost& cost, const std::function<void(int64_t, int64_t, int64_t)>& work) {
  int64_t total = 0;
  for (int64_t s = 0; s < graphs.count(); ++s) {
    total += cost.of(graphs.size(s)) * heads;
  }
  // Worker w begins at the first unit before which w / workers of the cost lie.
  std::vector<int64_t> begins(static_cast<size_t>(workers) + 1, graphs.count() * heads);
  begins[0] = 0;
  int64_t w = 1, before = 0;
  for (int64_t s = 0; s < graphs.count() && w < workers; ++s) {
    const int64_t unit = cost.of(graphs.size(s));
    while (w < workers && before + unit * heads > total * w / workers) {
      const int64_t inside = unit > 0 ? (total * w / workers - before) / unit : 0;
      begins[static_cast<size_t>(w++)] = s * heads + (whole ? 0 : inside);
    }
    before += unit * heads;
  }
  for_workers(workers, [&](int64_t index) {
    const auto i = static_cast<size_t>(index);
    if (begins[i] < begins[i + 1]) {
      work(index, begins[i], begins[i + 1]);
    }
  });
}

}  // namespace weyl
