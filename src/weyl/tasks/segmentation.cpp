#include "weyl/tasks/segmentation.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/argmax.h>
#include <ATen/ops/floor_divide.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/zeros.h>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "weyl/carriers/unlabelled.h"
#include "weyl/core/check.h"
#include "weyl/ops/autograd/full_precision.h"
#include "weyl/ops/constants.h"
#include "weyl/ops/segment.h"
#include "weyl/tasks/classes.h"
#include "weyl/tasks/components.h"
#include "weyl/tasks/mask_surfaces.h"
#include "weyl/tasks/sliding_window.h"
#include "weyl/tasks/test_time_rotations.h"

namespace weyl {
namespace {

constexpr size_t kCellTerm = 0, kSampleTerm = 1;  // of Segmentation::loss_weights

/// The labels (B, fewer cells...) of a coarser grid of the same extent: of each of its cells that of the cell in its
/// middle.
Tensor coarser_labels(const Tensor& target, at::IntArrayRef cells) {
  Tensor labels = target;
  for (size_t a = 0; a < cells.size(); ++a) {
    const auto axis = static_cast<int64_t>(a) + 1;
    const int64_t fine = target.size(axis), coarse = cells[a];
    if (coarse != fine) {
      const Tensor number = at::arange(coarse, target.options());
      labels = labels.index_select(axis, at::floor_divide((2 * number + 1) * fine, 2 * coarse));
    }
  }
  return labels;
}

/// The weight of each cell, (cells): that of its class, or 1 where `by_class` is undefined; of unlabelled ones 0.
Tensor cell_weights(const Tensor& labels, const Tensor& by_class, at::ScalarType type) {
  const Tensor y = labels.reshape({-1}), known = y.ge(0);
  return by_class.defined() ? by_class.index_select(0, y.clamp_min(0)) * known : known.to(type);
}

/// 0 where a cell is not known; with `known` undefined all are.
Tensor labelled(const Tensor& x, const Tensor& known) {
  return known.defined() ? x * known : x;
}

/// (..., K) of labels (...): 1 at the class, all 0 where there is none.
Tensor one_hot(const Tensor& labels, int64_t classes, at::ScalarType type) {
  return at::arange(classes, labels.options()).eq(labels.unsqueeze(-1)).to(type);
}

}  // namespace

Tensor segmentation_loss(const Tensor& given, const Tensor& given_target, const SegmentationOptions& o,
                         const LossShares& shares, const Segments* graphs) {
  require<ConfigError>(o.cross_entropy > 0 || o.focal > 0 || o.dice > 0,
                       "task.segmentation: cross_entropy, focal or dice must have a weight, got none");
  // The points of all graphs are the cells of one grid (1, K, N), but for Dice.
  const Tensor logits = graphs != nullptr ? given.t().unsqueeze(0) : given;
  const Tensor target = graphs != nullptr ? given_target.unsqueeze(0) : given_target;
  const int64_t B = logits.size(0), K = logits.size(1);
  const Tensor logp = at::log_softmax(logits.reshape({B, K, -1}), 1);
  const Tensor labels = coarser_labels(target, logits.sizes().slice(2)), y = labels.reshape({B, 1, -1});
  const double covered =
      static_cast<double>(target.numel()) / static_cast<double>(std::max<int64_t>(1, labels.numel()));
  // Elsewhere than on the CPU the host would wait to learn whether all cells have a label.
  const bool partly = !target.is_cpu() || target.lt(0).any().item<bool>();
  const Tensor known = partly ? labels.ge(0).reshape({B, -1}) : Tensor();  // (B, P)
  Tensor right = logp.gather(1, partly ? y.clamp_min(0) : y).squeeze(1);   // log p_y, (B, P)
  right = partly ? right.masked_fill(known.logical_not(), 0) : right;
  Tensor loss;
  const auto add = [&](double weight, const Tensor& whole, size_t term) {
    const Tensor part = shared(whole, shares, term);
    loss = loss.defined() ? loss + weight * part : weight * part;
  };
  if (o.cross_entropy > 0 || o.focal > 0) {
    const Tensor by_class = class_weights(o.class_weights, logits, SegmentationOptions::name_in_config);
    // A batch without a class that has a weight says nothing: 0, not 0 / 0.
    const auto weights = [&](const Tensor& of) { return cell_weights(of, by_class, logits.scalar_type()); };
    const auto mean = [&](const Tensor& x) {
      return by_class.defined() || partly
                 ? covered * (x.reshape({-1}) * weights(labels)).sum() / weight_of(weights(target))
                 : x.mean();
    };
    if (o.cross_entropy > 0) {
      add(o.cross_entropy, mean(-right), kCellTerm);
    }
    if (o.focal > 0) {
      // (1 - p)^gamma has no finite slope at p = 1 for gamma < 1
      const Tensor wrong = (1 - right.exp()).clamp_min(1e-7);
      add(o.focal, mean(-o.focal_alpha * wrong.pow(o.focal_gamma) * right), kCellTerm);
    }
  }
  if (o.dice > 0 && graphs != nullptr) {
    const Tensor p = labelled(logp[0].t().exp(), known.defined() ? known.view({-1, 1}) : known);  // (N, K)
    const Tensor g = one_hot(y.flatten(), K, p.scalar_type());
    const Tensor both = segment_sum(p * g, *graphs), sum = segment_sum(p + g, *graphs);
    add(o.dice, 1 - ((2 * both + 1) / (sum + 1)).mean(), kSampleTerm);
  } else if (o.dice > 0) {
    const Tensor p =
        labelled(logp.slice(1, 1).exp(), known.defined() ? known.unsqueeze(1) : known);  // without class 0
    const Tensor g = one_hot(y.squeeze(1), K, p.scalar_type()).transpose(1, 2).slice(1, 1);
    const Tensor both = (p * g).sum(2), sum = p.sum(2) + g.sum(2);
    add(o.dice, 1 - ((2 * both + 1) / (sum + 1)).mean(), kSampleTerm);
  }
  return loss;
}

namespace {

constexpr const char* kSegmentation = SegmentationOptions::name_in_config;
constexpr const char* kMaskLabel = "mask";

const Grid& grid_of(const Input& input) {
  const auto* grid = std::get_if<Grid>(&input);
  require(grid != nullptr, "segmentation: the input must be a grid or points, got ",
          name_of(carrier_of(input)));
  return *grid;
}

/// The graphs of points; null of a grid.
const Segments* graphs_in(const Input& input) {
  const auto* points = std::get_if<Points>(&input);
  return points != nullptr ? &points->graphs : nullptr;
}

Quantity cell_probabilities(int64_t classes) {
  return {.name = kClassProbabilities, .channels = classes};
}

/// Pixels right and wrong of a set of classes, from a matrix of confusion (K, K).
struct Overlap {
  double both = 0, either = 0;  // TP, and TP + FP + FN

  double dice() const { return either > 0 ? 2 * both / (both + either) : 1; }
  double iou() const { return either > 0 ? both / either : 1; }
};

Overlap overlap_of(const std::vector<int64_t>& labels, const Tensor& confusion) {
  const int64_t K = confusion.size(0);
  const auto* c = confusion.const_data_ptr<int64_t>();
  std::vector<bool> in(K, false);
  for (const int64_t k : labels) {
    in[k] = true;
  }
  Overlap overlap;
  for (int64_t truth = 0; truth < K; ++truth) {
    for (int64_t said = 0; said < K; ++said) {
      const auto n = static_cast<double>(c[truth * K + said]);
      overlap.both += in[truth] && in[said] ? n : 0;
      overlap.either += in[truth] || in[said] ? n : 0;
    }
  }
  return overlap;
}

/// The cells whose class is one of `labels`.
std::vector<uint8_t> cells_of(const Tensor& classes, const std::vector<int64_t>& labels) {
  const Tensor all = classes.to(at::kCPU).contiguous();
  const std::span<const int64_t> values(all.const_data_ptr<int64_t>(), static_cast<size_t>(all.numel()));
  std::vector<uint8_t> cells(values.size());
  std::ranges::transform(values, cells.begin(), [&](int64_t k) {
    return static_cast<uint8_t>(std::ranges::find(labels, k) != labels.end());
  });
  return cells;
}

/// Of grids 0 is the background, of points a class as the others are.
int64_t first_scored(bool grids) {
  return grids ? 1 : 0;
}

/// Whether a region is one class, of those from `first` on, under its own name: it is then scored once.
bool is_class(const Region& region, const std::vector<std::string>& names, int64_t first) {
  return region.labels.size() == 1 && region.labels[0] >= first && region.labels[0] < std::ssize(names) &&
         region.name == names[static_cast<size_t>(region.labels[0])];
}

double mean_of(const std::vector<double>& values) {
  return std::reduce(values.begin(), values.end()) / static_cast<double>(values.size());
}

class Overlaps : public Meter {
 public:
  Overlaps(std::vector<std::string> names, const SegmentationOptions& options, const Interface& interface)
      : names_(std::move(names)),
        tolerance_(options.tolerance),
        pooled_(options.hd95 == Percentile95::pooled),
        length_unit_(interface.length_unit),
        dimension_(interface.dimension),
        grids_(interface.grid),
        counts_(at::zeros({classes(), classes()}, at::kLong)) {
    const std::vector<Region>& regions = options.regions;
    const int64_t first = first_scored(grids_);
    for (int64_t k = first; k < classes(); ++k) {
      const bool region = std::ranges::find(regions, Region{names_[k], {k}}) != regions.end();
      parts_.push_back(
          {{names_[k], {k}}, regions.empty() || region, region || classes() - 1 <= kMostNamedClasses});
    }
    for (const Region& region : regions) {
      if (!is_class(region, names_, first)) {
        parts_.push_back({region, true, true});
      }
    }
  }

  void add(const Batch& batch, const Named& predictions) override {
    const auto found = predictions.find(kClassProbabilities);
    const auto mask = predictions.find(kMaskLabel);
    require(mask != predictions.end(), "segmentation: there is no prediction 'mask'");
    std::vector<int64_t> sizes = mask->second.sizes().vec();
    sizes[1] = classes();
    const Tensor truth = target_of(batch, kMaskLabel, mask->second.expand(sizes), kSegmentation, false,
                                   unlabelled),
                 known = truth.ge(0);
    // What is said of cells without a label is of no class either.
    const Tensor said = mask->second.select(1, 0).masked_fill(known.logical_not(), unlabelled);
    if (found != predictions.end()) {
      const Tensor of_truth = found->second.detach().gather(1, truth.clamp_min(0).unsqueeze(1)).squeeze(1);
      surprise_ -= of_truth.clamp_min(kLeastProbability).log().mul(known).sum(at::kDouble).item<double>();
    } else {
      ++without_probabilities_;
    }
    const Segments* graphs = graphs_in(batch.input);
    for (int64_t b = 0; b < batch.count(); ++b) {
      const auto of_sample = [&](const Tensor& x) {
        return graphs != nullptr ? x.slice(0, graphs->offsets[b], graphs->offsets[b + 1]) : x[b];
      };
      const Tensor right = of_sample(truth), found_there = of_sample(said), there = of_sample(known);
      if (!there.any().item<bool>()) {
        continue;  // of which nothing is known
      }
      const Tensor confusion =
          count_confusion(right.masked_select(there), found_there.masked_select(there), classes());
      counts_ += confusion;
      ++samples_;
      for (Part& part : parts_) {
        const Overlap overlap = overlap_of(part.region.labels, confusion);
        if (!grids_ && overlap.either == 0) {
          continue;
        }
        ++part.samples;
        part.dice += overlap.dice();
        part.iou += overlap.iou();
        if (grids_) {
          add_surfaces(part, right, found_there, grid_of(batch.input).spacing);
        }
      }
    }
  }

  void merge(const Meter& other) override {
    const auto& more = same_kind<Overlaps>(other, kSegmentation);
    const bool same = std::ranges::equal(more.parts_, parts_, {}, &Part::region, &Part::region);
    require(same && more.names_ == names_,
            "segmentation: a meter must be merged with one of the same classes and regions");
    counts_ = counts_ + more.counts_;
    surprise_ += more.surprise_;
    samples_ += more.samples_;
    without_probabilities_ += more.without_probabilities_;
    for (size_t i = 0; i < parts_.size(); ++i) {
      Part& part = parts_[i];
      const Part& of_more = more.parts_[i];
      part.samples += of_more.samples;
      part.dice += of_more.dice;
      part.iou += of_more.iou;
      part.infinite += of_more.infinite;
      for (auto values : {&Part::hd95, &Part::surface_dice, &Part::volume_error}) {
        (part.*values).insert((part.*values).end(), (of_more.*values).begin(), (of_more.*values).end());
      }
    }
  }

  void tell(Message& message) override {
    message(counts_, surprise_, samples_, without_probabilities_);
    for (Part& part : parts_) {
      message(part.samples, part.dice, part.iou, part.infinite, part.hd95, part.surface_dice,
              part.volume_error);
    }
  }

  Metrics values() const override {
    if (samples_ == 0) {
      return {};
    }
    Metrics metrics;
    double headed = 0;
    for (const Part& part : parts_) {
      if (part.samples == 0) {
        continue;
      }
      const auto n = static_cast<double>(part.samples);
      const Overlap pooled = overlap_of(part.region.labels, counts_);
      const std::pair<const char*, double> scores[] = {{"dice", part.dice / n},
                                                       {"iou", part.iou / n},
                                                       {"dice_pooled", pooled.dice()},
                                                       {"iou_pooled", pooled.iou()}};
      headed += part.heads ? 1 : 0;
      for (const auto& [score, value] : scores) {
        if (part.named) {
          metrics[std::string(score) + "_" + part.region.name] = {value, ""};
        }
        metrics[score].value += part.heads ? value : 0;
      }
    }
    for (const char* score : {"dice", "iou", "dice_pooled", "iou_pooled"}) {
      if (headed > 0) {  // of points it may be that no region is in any cloud
        metrics[score].value /= headed;
      }
    }
    if (grids_) {
      add_distances(metrics);
    }
    const auto pixels = static_cast<double>(counts_.sum().item<int64_t>());
    metrics["accuracy"] = {static_cast<double>(counts_.trace().item<int64_t>()) / pixels, ""};
    if (without_probabilities_ == 0) {
      metrics["cross_entropy"] = {surprise_ / pixels, ""};
    }
    return metrics;
  }

  std::vector<MetricName> names(const Schema&) const override {
    std::vector<MetricName> all{{"accuracy", false}, {"cross_entropy"}};
    const auto with_parts = [&](const std::string& score, bool lower_is_better,
                                const std::string& left_out = "") {
      all.push_back({score, lower_is_better, left_out});
      for (const Part& part : parts_) {
        if (part.named) {
          const std::string name = "_" + part.region.name;
          all.push_back({score + name, lower_is_better, left_out.empty() ? "" : left_out + name});
        }
      }
    };
    for (const char* score : {"dice", "iou", "dice_pooled", "iou_pooled"}) {
      with_parts(score, false);
    }
    if (grids_) {
      with_parts("surface_dice", false);
      with_parts("hd95", true, "hd95_infinite");
      with_parts("hd95_infinite", true);
      with_parts("volume_error", true);
    }
    return all;
  }

  std::optional<Confusion> confusion() const override {
    const auto* c = counts_.const_data_ptr<int64_t>();
    return Confusion{names_, {c, c + counts_.numel()}};
  }

 private:
  struct Part {
    Region region;
    bool heads, named;    // counts in the means; is told by itself
    int64_t samples = 0;  // that are measured: of grids all
    double dice = 0, iou = 0;
    int64_t infinite = 0;  // samples of which one mask alone is empty
    std::vector<double> hd95 = {}, surface_dice = {},
                        volume_error = {};  // of the other samples; of all that have it
  };

  void add_surfaces(Part& part, const Tensor& truth, const Tensor& said,
                    const std::array<double, 3>& spacing) {
    const std::vector<uint8_t> right = cells_of(truth, part.region.labels),
                               found = cells_of(said, part.region.labels);
    MaskView first{right}, second{found};
    const size_t without = first.sizes.size() - static_cast<size_t>(truth.dim());  // axes that images lack
    first.plane = second.plane = without > 0;
    double cell = 1;
    for (size_t axis = without; axis < first.sizes.size(); ++axis) {
      first.sizes[axis] = second.sizes[axis] = truth.size(static_cast<int64_t>(axis - without));
      first.spacing[axis] = second.spacing[axis] = spacing[axis - without];
      cell *= spacing[axis - without];
    }
    const auto cells = [](const std::vector<uint8_t>& mask) {
      return static_cast<double>(std::ranges::count(mask, 1));
    };
    const double of_right = cells(right), of_found = cells(found);
    part.volume_error.push_back(std::abs(of_found - of_right) * cell);
    if (of_right == 0 && of_found == 0) {
      return;
    }
    const SurfaceDistances distances = surface_distances(first, second);
    part.surface_dice.push_back(weyl::surface_dice(distances, tolerance_));
    const double far = weyl::hd95(distances, pooled_);
    if (std::isfinite(far)) {
      part.hd95.push_back(far);
    } else {
      ++part.infinite;
    }
  }

  /// Of what no sample has there is no metric.
  void add_distances(Metrics& metrics) const {
    const bool millilitres = length_unit_ == "mm" && dimension_ == 3;
    const double in_unit = millilitres ? 1e-3 : 1;
    const std::string in_space = length_unit_.empty() ? "" : text(length_unit_, "^", dimension_);
    struct Kind {
      const char* name;
      std::vector<double> Part::* values;
      double factor;
      std::string unit;
    };
    const Kind kinds[] = {{"hd95", &Part::hd95, 1, length_unit_},
                          {"surface_dice", &Part::surface_dice, 1, ""},
                          {"volume_error", &Part::volume_error, in_unit, millilitres ? "ml" : in_space}};
    for (const auto& [name, values, factor, unit] : kinds) {
      std::vector<double> means;  // of the parts that count in the mean over parts
      for (const Part& part : parts_) {
        if ((part.*values).empty()) {
          continue;
        }
        const double mean = factor * mean_of(part.*values);
        if (part.named) {
          metrics[text(name, "_", part.region.name)] = {mean, unit};
        }
        if (part.heads) {
          means.push_back(mean);
        }
      }
      if (!means.empty()) {
        metrics[name] = {mean_of(means), unit};
      }
    }
    int64_t infinite = 0;
    for (const Part& part : parts_) {
      infinite += part.heads ? part.infinite : 0;
      if (part.named) {
        metrics["hd95_infinite_" + part.region.name] = {static_cast<double>(part.infinite), ""};
      }
    }
    metrics["hd95_infinite"] = {static_cast<double>(infinite), ""};
  }

  int64_t classes() const { return static_cast<int64_t>(names_.size()); }

  std::vector<std::string> names_;
  double tolerance_;
  bool pooled_;
  std::string length_unit_;
  int64_t dimension_;
  bool grids_;
  Tensor counts_;
  std::vector<Part> parts_;
  double surprise_ = 0;
  int64_t samples_ = 0,
          without_probabilities_ = 0;  // batches of the latter, whose masks are all that is known
};

void check_regions(const std::vector<Region>& regions, const std::vector<std::string>& names, bool grids) {
  const int64_t first = first_scored(grids);
  const std::set<std::string> classes(names.begin() + first, names.end());
  std::set<std::string> used;
  for (size_t i = 0; i < regions.size(); ++i) {
    const Region& region = regions[i];
    const std::string where = text("task.segmentation.regions[", i, "]");
    require<ConfigError>(!region.name.empty(), where, ".name: must be given, got nothing");
    require<ConfigError>(
        used.insert(region.name).second && (!classes.contains(region.name) || is_class(region, names, first)),
        where, ".name: must be a name of its own, got \"", region.name, "\" a second time");
    require<ConfigError>(!region.labels.empty(), where, ".labels: must be at least one class, got none");
    for (const int64_t k : region.labels) {
      require<ConfigError>(k >= 0 && k < static_cast<int64_t>(names.size()), where, ".labels: must be 0 .. ",
                           names.size() - 1, ", got ", k);
    }
  }
}

}  // namespace

std::vector<Quantity> Segmentation::labels() const {
  return {{.name = kMaskLabel, .kind = Kind::category}};
}

namespace {

/// Of points: what is said of the cells of grids would have no effect.
void refuse_options_of_grids(const SegmentationOptions& o) {
  const SegmentationOptions usual;
  const std::pair<const char*, bool> said[] = {{"window", !o.window.size.empty()},
                                               {"test_time_mirrors", o.test_time_mirrors.has_value()},
                                               {"largest_component", o.largest_component.has_value()},
                                               {"tolerance", o.tolerance != usual.tolerance},
                                               {"hd95", o.hd95 != usual.hd95}};
  for (const auto& [key, there] : said) {
    require<ConfigError>(!there, "task.segmentation.", key,
                         ": is of images and volumes, the data set holds points");
  }
}

}  // namespace

Interface Segmentation::interface(const Schema& data) const {
  const bool points = data.carrier() == Carrier::points;
  require<ConfigError>(points || data.carrier() == Carrier::grid,
                       "task segmentation: needs a grid or points, the data set holds ",
                       name_of(data.carrier()));
  if (points) {
    refuse_options_of_grids(options_);
  }
  const int64_t classes = classes_of(data, kMaskLabel, kSegmentation), D = data.interface.dimension;
  check_regions(options_.regions, class_names(options_.names, classes, kSegmentation), !points);
  require<ConfigError>(options_.cross_entropy > 0 || options_.focal > 0 || options_.dice > 0,
                       "task.segmentation: cross_entropy, focal or dice must have a weight, got none");
  check_class_weights(options_.class_weights, classes, kSegmentation);
  matrices_of(options_.test_time_rotations, data.carrier(), D);
  if (!points) {
    mirrors_of(options_.test_time_mirrors, D);
  }
  for (const int64_t k : options_.largest_component.value_or(LargestComponent{}).classes) {
    require<ConfigError>(k < classes, "task.segmentation.largest_component.classes: must be 1 .. ",
                         classes - 1, ", got ", k);
  }
  const auto sizes = static_cast<int64_t>(options_.window.size.size());
  require<ConfigError>(sizes <= 1 || sizes == D, "task.segmentation.window.size: must be one number, or ", D,
                       ", one an axis, got ", sizes);
  Interface result = data.interface;
  result.outputs = {{.name = kClassLogits, .channels = classes}};
  return result;
}

std::vector<Quantity> Segmentation::predictions(const Interface& model) const {
  const int64_t classes = classes_of(model, kSegmentation);
  std::vector<Quantity> all{cell_probabilities(classes), labels()[0]};
  all[1].categories = classes;
  return all;
}

void Segmentation::prepare(Batch& batch, const Interface& model) const {
  if (const auto found = batch.labels.find(kMaskLabel); found != batch.labels.end()) {
    require_classes(found->second, kMaskLabel, classes_of(model, kSegmentation), kSegmentation, unlabelled);
  }
}

std::vector<Tensor> Segmentation::loss_weights(const Batch& batch, const Interface& model) const {
  const auto found = batch.labels.find(kMaskLabel);
  require(found != batch.labels.end(), kSegmentation, ": the batch has no label '", kMaskLabel, "'");
  const Tensor& mask = found->second;
  const Tensor samples = loss_weight(batch.count());
  check_class_weights(options_.class_weights, classes_of(model, kSegmentation), kSegmentation);
  const Tensor weights = options_.class_weights.empty()
                             ? Tensor()
                             : constant(options_.class_weights, at::kDouble, mask.device());
  return {cell_weights(mask, weights, at::kDouble).sum(), samples};
}

Step Segmentation::step(Model& model, const Batch& batch, const LossShares& shares) const {
  if (model.training()) {
    const Named outputs = model(batch.input);
    const Tensor logits = logits_of(outputs, kSegmentation);
    const Tensor target = target_of(batch, kMaskLabel, logits, kSegmentation, /*prepared=*/true, unlabelled);
    Tensor loss = segmentation_loss(logits, target, options_, shares, graphs_in(batch.input));
    double weight = 1, all = 1;
    for (int64_t step = 1; outputs.contains(coarser_output(kClassLogits, step)); ++step) {
      const Tensor coarser = widened(outputs.at(coarser_output(kClassLogits, step)));
      weight /= 2;
      all += weight;
      loss = loss + weight * segmentation_loss(coarser, target, options_, shares);
    }
    return {all > 1 ? loss / all : loss, {}};
  }
  Named predictions = predict(model, batch);
  const Tensor logits = predictions.at(kClassProbabilities).clamp_min(kLeastProbability).log();
  const Tensor target = target_of(batch, kMaskLabel, logits, kSegmentation, false, unlabelled);
  return {segmentation_loss(logits, target, options_, shares, graphs_in(batch.input)),
          std::move(predictions)};
}

Named Segmentation::predict(Model& model, const Batch& batch) const {
  const at::NoGradGuard no_grad;
  const Quantity q = cell_probabilities(classes_of(model.interface, kSegmentation));
  const auto probabilities = [&](const Input& input) {
    return at::softmax(logits_of(model(input), kSegmentation), 1);
  };
  const Tensor p = mean_over_rotations(
      options_.test_time_rotations, batch.input, model.interface, q, [&](const Input& input) {
        return graphs_in(input) != nullptr
                   ? probabilities(input)
                   : over_windows(grid_of(input), options_.window, [&](const Grid& window) {
                       const Grid there{window.values.to(model.device()), window.spacing};
                       return mean_over_mirrors(options_.test_time_mirrors, there, model.interface, q,
                                                probabilities);
                     });
      });
  return {{kClassProbabilities, p}, {kMaskLabel, likeliest(p)}};
}

Tensor Segmentation::likeliest(const Tensor& probabilities) const {
  Tensor mask = Task::likeliest(probabilities);
  if (const auto& kept = options_.largest_component) {
    std::vector<int64_t> classes = kept->classes;
    for (int64_t k = 1; kept->classes.empty() && k < probabilities.size(1); ++k) {
      classes.push_back(k);
    }
    for (const int64_t k : classes) {
      require<ConfigError>(k < probabilities.size(1),
                           "task.segmentation.largest_component.classes: must be 1 .. ",
                           probabilities.size(1) - 1, ", got ", k);
    }
    keep_largest_components(mask, classes);
  }
  return mask;
}

std::unique_ptr<Meter> Segmentation::meter(const Interface& model) const {
  return std::make_unique<Overlaps>(
      class_names(options_.names, classes_of(model, kSegmentation), kSegmentation), options_, model);
}

}  // namespace weyl
