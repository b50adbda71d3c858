#include "weyl/data/base/outliers.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iomanip>
#include <map>
#include <sstream>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"

namespace weyl {
namespace {

/// Reorders the numbers, of which there is one at least.
double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Solves A x = b, A (T, T) symmetric, positive semidefinite and scaled to a unit diagonal; what it leaves open is small.
std::vector<double> solved(std::vector<double> a, std::vector<double> b) {
  const size_t n = b.size();
  std::vector<double> scale(n);
  for (size_t i = 0; i < n; ++i) {
    scale[i] = a[i * n + i] > 0 ? 1 / std::sqrt(a[i * n + i]) : 0;
  }
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j) {
      a[i * n + j] *= scale[i] * scale[j];
    }
    a[i * n + i] += scale[i] > 0 ? 1e-12 : 1;
    b[i] *= scale[i];
  }
  for (size_t j = 0; j < n; ++j) {  // Cholesky, in place
    for (size_t k = 0; k < j; ++k) {
      a[j * n + j] -= a[j * n + k] * a[j * n + k];
    }
    a[j * n + j] = std::sqrt(std::max(a[j * n + j], 1e-13));
    for (size_t i = j + 1; i < n; ++i) {
      for (size_t k = 0; k < j; ++k) {
        a[i * n + j] -= a[i * n + k] * a[j * n + k];
      }
      a[i * n + j] /= a[j * n + j];
    }
  }
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = 0; k < i; ++k) {
      b[i] -= a[i * n + k] * b[k];
    }
    b[i] /= a[i * n + i];
  }
  for (size_t i = n; i-- > 0;) {
    for (size_t k = i + 1; k < n; ++k) {
      b[i] -= a[k * n + i] * b[k];
    }
    b[i] /= a[i * n + i];
  }
  for (size_t i = 0; i < n; ++i) {
    b[i] *= scale[i];
  }
  return b;
}

}  // namespace

std::vector<double> composition_estimates(
    const std::vector<std::vector<std::pair<int64_t, int64_t>>>& compositions, const std::vector<double>& y,
    const std::vector<double>& weights) {
  std::map<int64_t, size_t> column;
  struct Term {
    size_t column;
    double count;
  };
  const size_t n = y.size();
  std::vector<std::vector<Term>> terms(n);
  std::vector<double> nodes(n, 0), each(n, 0);
  for (size_t k = 0; k < n; ++k) {
    for (const auto& [type, count] : compositions[k]) {
      terms[k].push_back({column.try_emplace(type, column.size()).first->second, static_cast<double>(count)});
      nodes[k] += static_cast<double>(count);
    }
    each[k] = nodes[k] > 0 ? std::abs(y[k]) / nodes[k] : 0;
  }
  const size_t t = column.size();
  // A first estimate must not be ruined by one number: none is larger than a thousand usual ones for its nodes.
  const double usual = n > 0 ? 1e3 * median(each) : 0;
  std::vector<double> target(n), estimates(n, 0), weight = weights;
  for (size_t k = 0; k < n; ++k) {
    target[k] = usual > 0 ? std::clamp(y[k], -usual * nodes[k], usual * nodes[k]) : y[k];
  }
  for (int round = 0; round < 40 && n > 0; ++round) {
    std::vector<double> gram(t * t, 0), moment(t, 0);
    for (size_t k = 0; k < n; ++k) {
      for (const Term& a : terms[k]) {
        moment[a.column] += weight[k] * a.count * target[k];
        for (const Term& b : terms[k]) {
          gram[a.column * t + b.column] += weight[k] * a.count * b.count;
        }
      }
    }
    const std::vector<double> e = solved(std::move(gram), std::move(moment));
    std::vector<double> distances(n);
    for (size_t k = 0; k < n; ++k) {
      estimates[k] = 0;
      for (const Term& a : terms[k]) {
        estimates[k] += e[a.column] * a.count;
      }
      distances[k] = std::abs(target[k] - estimates[k]);
    }
    std::vector<double> sorted = distances;
    const double least = std::max(1e-3 * median(sorted), 1e-12 * usual);
    if (!(least > 0)) {
      break;
    }
    for (size_t k = 0; k < n; ++k) {
      weight[k] = weights[k] * least / std::max(distances[k], least);
    }
  }
  return estimates;
}

namespace {

constexpr double kFloor = 1e-6;    // of the median: what is nearer is equal
constexpr double kTail = 5.2;      // standard deviations of the logarithm
constexpr double kAbsurd = 1e6;    // median deviations that no tail explains
constexpr size_t kOwnMedian = 50;  // samples of one composition that are compared among themselves
constexpr size_t kNamedSamples = 3;
constexpr int kBits = 48;  // of a double that its bin leaves out: sixteen bins an octave

/// The x that a standard normal variable is below with probability p.
double normal_quantile(double p) {
  double low = 0, high = 10;
  for (int i = 0; i < 60; ++i) {
    const double x = 0.5 * (low + high);
    (0.5 * std::erfc(-x / std::sqrt(2.0)) < p ? low : high) = x;
  }
  return 0.5 * (low + high);
}

/// The share of samples whose deviations say how heavy the tail is: few outliers must not be among them.
double share_of(int64_t samples) {
  return 1 - std::max(0.01, std::min(0.25, 5.0 / static_cast<double>(samples)));
}

/// The number that a share p of `values` is below; reorders them.
double quantile(std::vector<double>& values, double p) {
  const auto at = std::min(static_cast<size_t>(p * static_cast<double>(values.size())), values.size() - 1);
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

/// The same of bins by size, whose middle it is.
double quantile(const std::map<uint16_t, int64_t>& bins, double p) {
  int64_t all = 0, below = 0;
  for (const auto& [bin, count] : bins) {
    all += count;
  }
  uint16_t last = 0;
  for (const auto& [bin, count] : bins) {
    last = bin;
    below += count;
    if (static_cast<double>(below) > p * static_cast<double>(all)) {
      break;
    }
  }
  return std::bit_cast<double>((static_cast<uint64_t>(last) << kBits) | (uint64_t{1} << (kBits - 1)));
}

uint16_t bin_of(double x) {
  return static_cast<uint16_t>(std::bit_cast<uint64_t>(x) >> kBits);
}

/// The distance to `centre` beyond which one of `deviations` is an outlier; infinite when that cannot be said.
double limit_of(std::vector<double> deviations, double centre, bool whole) {
  const size_t n = deviations.size();
  if (static_cast<int64_t>(n) < outlier_samples) {
    return INFINITY;
  }
  const double least = kFloor * std::abs(centre);
  const auto equal =
      static_cast<size_t>(std::ranges::count_if(deviations, [&](double d) { return d <= least; }));
  if (2 * equal >= n) {  // half of the numbers say nothing of how the others spread
    std::erase_if(deviations, [&](double d) { return d <= least; });
    if (static_cast<int64_t>(deviations.size()) < outlier_samples) {
      return whole       ? outlier_deviations * std::max(1.0, std::abs(centre))
             : least > 0 ? outlier_deviations * least
                         : INFINITY;
    }
  }
  const double p = share_of(static_cast<int64_t>(deviations.size()));
  return outlier_limit(quantile(deviations, 0.5), quantile(deviations, p), p);
}

/// Total energies are large, and their differences small.
std::string precise(double x) {
  std::ostringstream out;
  out << std::setprecision(9) << x;
  return out.str();
}

/// Over numbers whose squares need not be representable.
double norm_of(std::span<const double> row) {
  double most = 0, sum = 0;
  for (const double x : row) {
    if (!std::isfinite(x)) {
      return NAN;
    }
    most = std::max(most, std::abs(x));
  }
  if (most == 0) {
    return 0;
  }
  for (const double x : row) {
    sum += (x / most) * (x / most);
  }
  return most * std::sqrt(sum);
}

}  // namespace

double outlier_limit(double half, double most, double p) {
  const double spread = std::log(std::max(most, half) / half) / normal_quantile(p);
  return std::max(half * std::max(outlier_deviations, std::min(std::exp(kTail * spread), kAbsurd)), most);
}

void Outliers::begin_sample(std::span<const int64_t> types) {
  std::vector<int64_t> sorted(types.begin(), types.end());
  std::ranges::sort(sorted);
  std::vector<std::pair<int64_t, int64_t>> composition;
  for (const int64_t type : sorted) {
    if (composition.empty() || composition.back().first != type) {
      composition.emplace_back(type, 0);
    }
    ++composition.back().second;
  }
  const auto next = static_cast<int32_t>(compositions_.size());
  composition_of_.push_back(compositions_.try_emplace(std::move(composition), next).first->second);
  ++samples_;
}

void Outliers::add_number(const std::string& label, const std::string& unit, bool extensive, double x) {
  require(samples_ > 0, "outliers: `begin_sample` must come before `add_number`");
  if (std::isfinite(x)) {
    Numbers& to = numbers_[label];
    to.unit = unit;
    to.extensive = extensive;
    to.values.push_back(x);
    to.samples.push_back(samples_ - 1);
  }
}

void Outliers::add_rows(const std::string& label, const std::string& unit, int64_t width,
                        std::span<const double> values, std::span<const int64_t> types) {
  require(samples_ > 0 && width > 0,
          "outliers: `begin_sample` must come before `add_rows`, of rows with numbers");
  std::map<int64_t, double> largest;  // of each type
  const size_t w = static_cast<size_t>(width);
  for (size_t row = 0; (row + 1) * w <= values.size(); ++row) {
    const double norm = norm_of(values.subspan(row * w, w));
    if (!std::isfinite(norm) || norm == 0) {
      continue;
    }
    const int64_t type = row < types.size() ? types[row] : -1;
    Norms& to = norms_[{label, type}];
    to.unit = unit;
    ++to.rows[bin_of(norm)];
    largest[type] = std::max(largest[type], norm);
  }
  for (const auto& [type, norm] : largest) {
    Norms& to = norms_[{label, type}];
    ++to.looked_at;
    ++to.samples[bin_of(norm)];
    if (to.worst.size() < kNamedSamples || norm > to.worst.back().first) {
      const auto after = std::ranges::find_if(to.worst, [&](const auto& w) { return w.first < norm; });
      to.worst.insert(after, {norm, samples_ - 1});
      to.worst.resize(std::min(to.worst.size(), kNamedSamples));
    }
  }
}

std::vector<Outliers::Far> Outliers::far_numbers(const Numbers& numbers) const {
  const size_t n = numbers.values.size();
  std::vector<double> usual(n, 0);
  std::vector<std::vector<size_t>> compared;  // numbers that are compared with one another
  if (numbers.extensive) {
    std::map<int32_t, std::vector<size_t>> groups;
    for (size_t i = 0; i < n; ++i) {
      groups[composition_of_[static_cast<size_t>(numbers.samples[i])]].push_back(i);
    }
    std::vector<const std::vector<std::pair<int64_t, int64_t>>*> by_number(compositions_.size());
    for (const auto& [composition, number] : compositions_) {
      by_number[static_cast<size_t>(number)] = &composition;
    }
    std::vector<std::vector<std::pair<int64_t, int64_t>>> compositions;
    std::vector<double> medians, weights;
    for (const auto& [number, members] : groups) {
      std::vector<double> values;
      for (const size_t i : members) {
        values.push_back(numbers.values[i]);
      }
      compositions.push_back(*by_number[static_cast<size_t>(number)]);
      medians.push_back(quantile(values, 0.5));
      weights.push_back(static_cast<double>(std::min(members.size(), kOwnMedian)));
    }
    const bool all_alone =
        std::ranges::all_of(groups, [](const auto& g) { return g.second.size() >= kOwnMedian; });
    const std::vector<double> estimates =
        all_alone ? medians : composition_estimates(compositions, medians, weights);
    std::vector<size_t> others;
    size_t group = 0;
    for (const auto& [number, members] : groups) {
      const bool own = members.size() >= kOwnMedian;
      for (const size_t i : members) {
        usual[i] = own ? medians[group] : estimates[group];
      }
      if (own) {
        compared.push_back(members);
      } else {
        others.insert(others.end(), members.begin(), members.end());
      }
      ++group;
    }
    compared.push_back(std::move(others));
  } else {
    compared.emplace_back(n);
    for (size_t i = 0; i < n; ++i) {
      compared[0][i] = i;
    }
  }
  std::vector<Far> far;
  for (const auto& members : compared) {
    if (members.empty()) {
      continue;
    }
    std::vector<double> rest, raw, deviations;
    for (const size_t i : members) {
      rest.push_back(numbers.values[i] - usual[i]);
      raw.push_back(numbers.values[i]);
    }
    const bool whole = std::ranges::all_of(raw, [](double x) { return x == std::floor(x); });
    const double centre = quantile(raw, 0.5), middle = quantile(rest, 0.5);
    for (const size_t i : members) {
      deviations.push_back(std::abs(numbers.values[i] - usual[i] - middle));
    }
    const double limit = limit_of(deviations, centre, whole);
    for (size_t k = 0; k < members.size(); ++k) {
      if (deviations[k] > limit) {
        const size_t i = members[k];
        far.push_back({numbers.samples[i], numbers.values[i], usual[i] + middle});
      }
    }
  }
  std::ranges::stable_sort(far, [](const Far& a, const Far& b) {
    return std::abs(a.value - a.usual) > std::abs(b.value - b.usual);
  });
  return far;
}

std::vector<std::string> Outliers::lines(const std::function<std::string(int64_t sample)>& sample,
                                         const std::function<std::string(int64_t type)>& type) const {
  std::vector<std::string> result;
  const auto with = [](const std::string& unit) { return unit.empty() ? "" : " " + unit; };
  const auto rest = [](int64_t all, size_t named) {
    return all > static_cast<int64_t>(named) ? text(" and ", all - static_cast<int64_t>(named), " more") : "";
  };
  for (const auto& [label, numbers] : numbers_) {
    const std::vector<Far> far = far_numbers(numbers);
    if (far.empty()) {
      continue;
    }
    std::string line = text(printable(label, 40), ": ", far.size(), " of ", numbers.values.size(),
                            far.size() == 1 ? " samples is" : " samples are", " beyond ", outlier_deviations,
                            " median absolute deviations: ");
    for (size_t i = 0; i < std::min(far.size(), kNamedSamples); ++i) {
      line += text(i > 0 ? ", " : "", sample(far[i].sample), " has ", precise(far[i].value),
                   with(numbers.unit), " where ", precise(far[i].usual), " is usual");
    }
    result.push_back(line + rest(static_cast<int64_t>(far.size()), std::min(far.size(), kNamedSamples)));
  }
  for (const auto& [key, norms] : norms_) {
    if (norms.looked_at < outlier_samples) {
      continue;
    }
    const double p = share_of(norms.looked_at), half = quantile(norms.rows, 0.5);
    const uint16_t last = bin_of(std::min(outlier_limit(half, quantile(norms.rows, p), p), 1e308));
    int64_t far = 0;
    for (auto at = norms.samples.upper_bound(last); at != norms.samples.end(); ++at) {
      far += at->second;
    }
    if (far == 0) {
      continue;
    }
    std::string line =
        text(printable(key.first, 40), key.second < 0 ? "" : " of " + type(key.second), ": ", far, " of ",
             norms.looked_at, far == 1 ? " samples has" : " samples have", " a norm beyond ",
             outlier_deviations, " times the median ", half, with(norms.unit), ": ");
    size_t named = 0;
    for (const auto& [norm, which] : norms.worst) {
      if (bin_of(norm) > last) {
        line += text(named++ > 0 ? ", " : "", sample(which), " has ", norm);
      }
    }
    result.push_back(line + rest(far, named));
  }
  return result;
}

}  // namespace weyl
