#include "weyl/ops/steerable/plan.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "weyl/ops/steerable/couplings.h"

namespace weyl::steerable {
namespace {

/// The real and imaginary parts of complex filters, each once: those of order -m follow from those of m.
class RealFilters {
 public:
  RealFilters(const RingFilters& filters, int64_t dimension, int64_t size)
      : filters_(filters), dimension_(dimension), size_(size) {}

  /// Component and ring as re_sign real + i im_sign imaginary; -1: zero.
  struct Parts {
    int64_t re = -1, im = -1;
    double re_sign = 1, im_sign = 1;
  };

  Parts parts(int64_t component, int64_t ring) {
    Parts p;
    int64_t source = component;
    if (dimension_ == 2) {
      const int64_t highest = filters_.components / 2;
      if (component < highest) {
        source = 2 * highest - component;
        p.im_sign = -1;
      }
    } else {
      const auto l = static_cast<int64_t>(std::sqrt(static_cast<double>(component) + 0.5));
      const int64_t m = component - l * (l + 1);
      if (m < 0) {
        source = l * (l + 1) - m;
        p.re_sign = m % 2 == 0 ? 1 : -1;
        p.im_sign = -p.re_sign;
      }
    }
    double worst = 0;
    for (int64_t k = 0; k < filters_.pixels; ++k) {
      const auto z = filters_(component, ring, k), w = filters_(source, ring, k);
      largest_ = std::max(largest_, std::abs(z));
      worst = std::max(
          {worst, std::abs(z.real() - p.re_sign * w.real()), std::abs(z.imag() - p.im_sign * w.imag())});
    }
    sound_ = sound_ && worst <= 1e-12 * largest_;
    p.re = number(source, ring, 0);
    p.im = number(source, ring, 1);
    return p;
  }

  bool sound() const { return sound_; }

  /// Sorted into groups; `place` of a filter is where it went.
  void group(Plan& plan, std::vector<int64_t>& place) const {
    place.assign(found_.size(), 0);
    std::map<std::pair<int64_t, int64_t>, std::vector<int64_t>> by_kind;  // ring, sign
    for (size_t k = 0; k < found_.size(); ++k) {
      by_kind[{found_[k].ring, found_[k].sign}].push_back(static_cast<int64_t>(k));
    }
    for (const auto& [kind, members] : by_kind) {
      const auto count = static_cast<int64_t>(members.size()), parts = (count + 5) / 6;
      for (int64_t part = 0; part < parts; ++part) {
        const int64_t first = count * part / parts, last = count * (part + 1) / parts;
        add_group(plan, place, {members.begin() + first, members.begin() + last}, kind.second);
      }
    }
  }

 private:
  struct Filter {
    int64_t ring, sign;
    std::vector<double> values;
  };

  int64_t number(int64_t component, int64_t ring, int64_t part) {
    const auto [at, fresh] = numbers_.try_emplace({component, ring, part}, -1);
    if (!fresh) {
      return at->second;
    }
    Filter f{ring, 1, {}};
    double size = 0, even = 0, odd = 0;
    for (int64_t k = 0; k < filters_.pixels; ++k) {
      const auto z = filters_(component, ring, k), w = filters_(component, ring, filters_.pixels - 1 - k);
      const double x = part == 0 ? z.real() : z.imag(), y = part == 0 ? w.real() : w.imag();
      f.values.push_back(x);
      size = std::max(size, std::abs(x));
      even = std::max(even, std::abs(x - y));
      odd = std::max(odd, std::abs(x + y));
    }
    if (size <= 1e-15 * largest_) {
      return -1;
    }
    f.sign = even <= odd ? 1 : -1;
    sound_ = sound_ && std::min(even, odd) <= 1e-12 * largest_;
    found_.push_back(std::move(f));
    at->second = static_cast<int64_t>(found_.size()) - 1;
    return at->second;
  }

  void add_group(Plan& plan, std::vector<int64_t>& place, const std::vector<int64_t>& members,
                 int64_t sign) const {
    kernels::ConvGroup g{plan.filters,
                         static_cast<int64_t>(members.size()),
                         sign,
                         static_cast<int64_t>(plan.taps.size()) / 3,
                         0,
                         static_cast<int64_t>(plan.values.size())};
    for (const int64_t k : members) {
      place[k] = plan.filters++;
    }
    for (int64_t p = 0; 2 * p < filters_.pixels; ++p) {
      const bool centre = 2 * p + 1 == filters_.pixels;
      double most = 0;
      for (const int64_t k : members) {
        most = std::max(most, std::abs(found_[k].values[p]));
      }
      if (most <= 1e-16 * largest_ || (centre && sign < 0)) {
        continue;
      }
      for (const int64_t k : members) {
        plan.values.push_back(found_[k].values[p] * (centre ? 0.5 : 1));  // the centre is met twice
      }
      const int64_t z = p % size_, y = p / size_ % size_, x = p / (size_ * size_);
      for (const int64_t t : {dimension_ == 2 ? int64_t{0} : x, y, z}) {
        plan.taps.push_back(static_cast<int32_t>(t));
      }
      ++g.tap_count;
    }
    plan.groups.push_back(g);
  }

  const RingFilters& filters_;
  int64_t dimension_, size_;
  std::map<std::array<int64_t, 3>, int64_t> numbers_;
  std::vector<Filter> found_;
  double largest_ = 0;
  bool sound_ = true;
};

}  // namespace

std::shared_ptr<const Plan> conv_plan(const SteerableType& in, const SteerableType& out,
                                      const KernelOptions& options, const RingFilters& filters) {
  auto plan = std::make_shared<Plan>();
  plan->size = options.rings.size;
  RealFilters real(filters, in.dimension, plan->size);
  // By (l, l1), in the kernel's order of weights; rows by l1.
  std::vector<std::vector<std::vector<std::vector<Product>>>> found(static_cast<size_t>(out.irreps()));
  std::vector<std::vector<int64_t>> first(static_cast<size_t>(out.irreps()));
  const bool shared = in.dimension == 2 && options.restricted;
  int64_t kernel_weights = 0;
  for (int64_t l = 0; l < out.irreps(); ++l) {
    bool any = false;
    for (int64_t l1 = 0; l1 < in.irreps(); ++l1) {
      found[l].push_back(couplings_of(in, out, options, filters, l, l1));
      const auto j = static_cast<int64_t>(found[l].back().size());
      const int64_t count = out.channels[l] * in.channels[l1] * j;
      first[l].push_back(plan->weights);
      if (count == 0) {
        continue;
      }
      const int64_t begin = shared && any ? kernel_weights - count : kernel_weights;
      for (int64_t k = 0; shared && k < count; ++k) {
        plan->weight_index.push_back(begin + k);
      }
      kernel_weights = begin + count;
      plan->weights += count;
      any = true;
    }
  }
  struct Raw {
    int64_t input;  // component 2 + part, and the filter before sorting
    int64_t filter;
    double coefficient;
  };
  std::vector<std::vector<Raw>> rows;
  std::vector<bool> reached(static_cast<size_t>(out.irreps()));
  for (int64_t l1 = 0; l1 < in.irreps(); ++l1) {
    kernels::ConvIrrep irrep{in.components(l1),
                             in.channels[l1],
                             in.offset(l1),
                             static_cast<int64_t>(rows.size()),
                             0,
                             static_cast<int64_t>(plan->pairs.size()),
                             0};
    for (int64_t l = 0; l < out.irreps(); ++l) {
      const auto& paths = found[l][l1];
      if (paths.empty() || out.channels[l] * in.channels[l1] == 0) {
        continue;
      }
      const auto j = static_cast<int64_t>(paths.size());
      plan->pairs.push_back(
          {irrep.rows, first[l][l1], j, out.components(l), out.channels[l], out.offset(l), !reached[l]});
      reached[l] = true;
      ++irrep.pairs;
      for (int64_t m = 0; m < out.components(l); ++m) {
        for (const auto& path : paths) {
          std::vector<Raw> re, im;
          for (const Product& p : path) {
            if (p.m != m) {
              continue;
            }
            const RealFilters::Parts f = real.parts(p.component, p.ring);
            if (f.re >= 0) {
              re.push_back({2 * p.m1, f.re, p.coefficient * f.re_sign});
              im.push_back({2 * p.m1 + 1, f.re, p.coefficient * f.re_sign});
            }
            if (f.im >= 0) {
              re.push_back({2 * p.m1 + 1, f.im, -p.coefficient * f.im_sign});
              im.push_back({2 * p.m1, f.im, p.coefficient * f.im_sign});
            }
          }
          rows.push_back(std::move(re));
          rows.push_back(std::move(im));
        }
      }
      irrep.rows += out.components(l) * j * 2;
      plan->mixing_work += static_cast<double>(out.components(l) * j * 4 * out.channels[l] * in.channels[l1]);
    }
    plan->irreps.push_back(irrep);
  }
  plan->complete = std::all_of(reached.begin(), reached.end(), [](bool r) { return r; });
  if (!real.sound()) {
    return nullptr;
  }
  std::vector<int64_t> place;
  real.group(*plan, place);
  plan->row_terms.push_back(0);
  for (const auto& row : rows) {
    for (const Raw& t : row) {
      plan->terms.push_back({t.input * plan->filters + place[t.filter], t.coefficient});
    }
    plan->row_terms.push_back(static_cast<int64_t>(plan->terms.size()));
  }
  double of_a_number = 0;
  for (const kernels::ConvGroup& g : plan->groups) {
    of_a_number += static_cast<double>(g.tap_count * g.count);
  }
  plan->filter_work = of_a_number * 2 * static_cast<double>(in.width());
  for (const kernels::ConvIrrep& irrep : plan->irreps) {
    plan->mixing_work += static_cast<double>(
        irrep.channels * (plan->row_terms[irrep.row + irrep.rows] - plan->row_terms[irrep.row]));
  }
  return plan;
}

int64_t Plan::chunks() const {
  int64_t sum = 0;
  for (const kernels::ConvIrrep& irrep : irreps) {
    sum += (irrep.channels + kernels::conv_chunk - 1) / kernels::conv_chunk;
  }
  return sum;
}

}  // namespace weyl::steerable
