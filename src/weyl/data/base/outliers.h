#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace weyl {

/// Estimates of y from compositions: for each y_k, sum over (t, count) of count e(t). The number e(t) for each type
/// minimises sum over k of weight |y_k - estimate|, by reweighted least squares, so that a few y that are far off do
/// not change it. Where the compositions leave a direction open, e is small along it.
std::vector<double> composition_estimates(
    const std::vector<std::vector<std::pair<int64_t, int64_t>>>& compositions, const std::vector<double>& y,
    const std::vector<double>& weights);

/// A label is an outlier beyond this many median absolute deviations. Fewer than outlier_samples are not judged.
constexpr double outlier_deviations = 20;
constexpr int64_t outlier_samples = 10;

/// The deviation beyond which a number is an outlier. Half of all deviations are below `half`, and a share p of them
/// (0.5 to 1) is below `most`. The limit is 20 times `half`. It is higher where the deviations spread further than
/// those of a normal distribution: then it is where a log-normal distribution through both has 5.2 standard deviations,
/// at most a million times `half`. So one deviation in ten million of a log-normal distribution is beyond. The limit is
/// never below `most`, so never more than the share 1 - p of all numbers is beyond.
double outlier_limit(double half, double most, double p);

/// Finds labels that are far from those of the other samples. The numbers of whole samples are kept: 8 bytes each, and
/// 4 a sample. Of numbers of nodes, only counts by size and the worst are kept, so that memory does not grow with
/// nodes.
///
///   one number a sample     is judged by its distance to the median. For extensive numbers (energies), what the
///                           composition of the sample explains is taken off first: the median of the samples of
///                           the same composition where there are 50, else a fit by least absolute deviations of
///                           a number for each type
///   numbers of nodes,       are judged by their norm, for each type by itself: forces have no usual direction.
///   vectors, tensors        Norms of zero (atoms held fixed, no charge) do not count
///
/// Where at least half of the one-a-sample numbers are equal (to 1e-6 of the median), the others are compared with one
/// another. Where there are fewer than ten others, an outlier is more than 2e-5 of the median away (none where the
/// median is 0); where all numbers are whole (classes, counts) it is more than 20 times the median away, and more than
/// 20. Numbers that are not finite are left out: they are missing, not far. Fewer than ten samples are not judged.
class Outliers {
 public:
  /// Begins the next sample, with nodes of these types (empty: nodes have no types).
  void begin_sample(std::span<const int64_t> types);
  /// Adds a number of the newest sample.
  void add_number(const std::string& label, const std::string& unit, bool extensive, double x);
  /// Adds rows of `width` numbers, which are judged by their norm. They belong to the nodes of the newest sample, with
  /// the type of each row in `types`, or to the sample itself, without `types`.
  void add_rows(const std::string& label, const std::string& unit, int64_t width,
                std::span<const double> values, std::span<const int64_t> types = {});

  /// A line for each label (and type) with outliers: the number of samples, and the worst three with their values.
  /// `sample` and `type` give names.
  std::vector<std::string> lines(const std::function<std::string(int64_t sample)>& sample,
                                 const std::function<std::string(int64_t type)>& type) const;

 private:
  struct Far {
    int64_t sample;
    double value, usual;
  };
  struct Numbers {
    std::string unit;
    bool extensive = false;
    std::vector<double> values;
    std::vector<int64_t> samples;
  };
  struct Norms {
    std::string unit;
    std::map<uint16_t, int64_t> rows,
        samples;  // histograms of norms by size: of all rows, and of the largest of each sample
    std::vector<std::pair<double, int64_t>> worst;  // the largest norms with their samples, falling
    int64_t looked_at = 0;                          // number of samples that have any
  };

  std::vector<Far> far_numbers(const Numbers& numbers) const;

  int64_t samples_ = 0;
  std::map<std::vector<std::pair<int64_t, int64_t>>, int32_t> compositions_;
  std::vector<int32_t> composition_of_;  // of each sample
  std::map<std::string, Numbers> numbers_;
  std::map<std::pair<std::string, int64_t>, Norms> norms_;  // by label and type (-1: none)
};

}  // namespace weyl
