#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace weyl {

/// A label is an outlier beyond so many median absolute deviations, of at least so many samples.
constexpr double outlier_deviations = 20;
constexpr int64_t outlier_samples = 10;

/// The deviation beyond which some number is an outlier, from what half of the deviations and the share p of them are
/// below (p from 0.5 to 1): 20 times the first, or, where the deviations spread further than those of a normal
/// distribution, what a log-normal one through both has at 5.2 standard deviations (a million times the first at most). So
/// one number in five million of a log-normal distribution is beyond, and never more than the share 1 - p of all.
double outlier_limit(double half, double most, double p);

/// Finds labels that are far from those of the other samples. Numbers of whole samples are kept (8 bytes each, and 4 a
/// sample); of numbers of nodes only counts by size and the worst are, so that memory does not grow with nodes.
///
///   one number of a sample   its distance to the median; extensive ones (energies) after what the sample's composition
///                            explains: the median of samples of the same composition where there are 50, else a fit
///                            by least absolute deviations of a number for each type
///   numbers of nodes,        the norm, for each type by itself: forces have no direction that is usual. Norms of zero
///   vectors, tensors         (atoms held fixed, no charge) do not count
///
/// Where more than half of the numbers are equal (to 1e-6), the others are compared with one another; where these are
/// fewer than ten, an outlier is 2e-5 of the median away, and 20 times the median where all are whole numbers (classes,
/// counts). Numbers that are not finite are left out: they are missing, not far. Fewer than ten samples: nothing is
/// said.
class Outliers {
 public:
  /// The next sample begins, with nodes of these types (none: it has no types).
  void begin_sample(std::span<const int64_t> types);
  /// A number of the sample begun last.
  void add_number(const std::string& label, const std::string& unit, bool extensive, double x);
  /// Norms of rows of `width` numbers each, of the nodes of the sample (`types`: of each row) or of itself (no types).
  void add_rows(const std::string& label, const std::string& unit, int64_t width,
                std::span<const double> values, std::span<const int64_t> types = {});

  /// A line for each label (and type) with outliers: how many samples, and the worst three with their values. `sample`
  /// and `type` say their names.
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
        samples;  // how many of each size: of all rows, of the largest of samples
    std::vector<std::pair<double, int64_t>> worst;  // the largest of samples, and which, falling
    int64_t looked_at = 0;                          // samples that have some
  };

  std::vector<Far> far_numbers(const Numbers& numbers) const;

  int64_t samples_ = 0;
  std::map<std::vector<std::pair<int64_t, int64_t>>, int32_t> compositions_;
  std::vector<int32_t> composition_of_;  // of each sample
  std::map<std::string, Numbers> numbers_;
  std::map<std::pair<std::string, int64_t>, Norms> norms_;  // by label and type (-1: none)
};

}  // namespace weyl
