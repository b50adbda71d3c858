#include "weyl/data/base/sample_checks.h"

#include <ATen/TensorOperators.h>
#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <set>

#include "weyl/carriers/dataset.h"
#include "weyl/carriers/layout.h"
#include "weyl/carriers/points.h"
#include "weyl/core/check.h"
#include "weyl/core/checksum.h"
#include "weyl/core/small_letters.h"

namespace weyl {
namespace {

/// Where the rows of each sample of a batch begin, at each level, and where the last one ends.
class SampleRows {
 public:
  explicit SampleRows(const Input& input) {
    const int64_t count = rows_of(input, Level::graph);
    for (int64_t g = 0; g <= count; ++g) {
      graphs_.push_back(g);
    }
    if (std::holds_alternative<Grid>(input)) {
      nodes_ = pairs_ = objects_ = graphs_;
      return;
    }
    const Segments& graphs = graphs_of(input);
    nodes_ = graphs.offsets;
    pairs_.push_back(0);
    for (int64_t g = 0; g < count; ++g) {
      pairs_.push_back(pairs_.back() + graphs.size(g) * graphs.size(g));
    }
    if (const auto* points = std::get_if<Points>(&input)) {  // objects are nested in graphs
      const auto& begins = points->objects.offsets;
      for (const int64_t node : nodes_) {
        objects_.push_back(std::lower_bound(begins.begin(), begins.end() - 1, node) - begins.begin());
      }
    } else {
      objects_.resize(nodes_.size(), 0);
    }
  }

  int64_t all(Level level) const { return of(level).back(); }
  int64_t begin(Level level, int64_t sample) const { return of(level)[static_cast<size_t>(sample)]; }
  int64_t count(Level level, int64_t sample) const { return begin(level, sample + 1) - begin(level, sample); }

 private:
  const std::vector<int64_t>& of(Level level) const {
    return level == Level::node     ? nodes_
           : level == Level::pair   ? pairs_
           : level == Level::object ? objects_
                                    : graphs_;
  }
  std::vector<int64_t> graphs_, nodes_, pairs_, objects_;
};

/// Hashes of the rows of each sample of a tensor, added to those in `hashes`.
void add_rows(std::vector<uint64_t>& hashes, const SampleRows& rows, Level level, const Tensor& tensor) {
  if (!tensor.defined() || tensor.dim() == 0 || tensor.size(0) == 0 || tensor.size(0) != rows.all(level)) {
    return;
  }
  const Tensor dense = tensor.contiguous();
  const auto row = static_cast<int64_t>(dense.nbytes()) / dense.size(0);
  const auto* bytes = static_cast<const std::byte*>(dense.const_data_ptr());
  for (size_t g = 0; g < hashes.size(); ++g) {
    const auto sample = static_cast<int64_t>(g);
    const int64_t count = rows.count(level, sample);
    hashes[g] = checksum_number({bytes + rows.begin(level, sample) * row, static_cast<size_t>(count * row)},
                                hashes[g] + static_cast<uint64_t>(count));
  }
}

Level level_of(const Schema& schema, const std::string& label) {
  const Quantity* found = find_quantity(schema.labels, label);
  return found != nullptr ? found->level : Level::graph;
}

}  // namespace

std::string sample_name(const Dataset& data, int64_t sample) {
  std::string name = text("sample ", sample);
  if (const std::string file = data.source(sample); !file.empty()) {
    name += " (" + file + ")";
  } else if (const auto* subset = dynamic_cast<const Subset*>(&data);
             subset != nullptr && subset->sample(sample) != sample) {
    name += text(" (", subset->sample(sample), " before the split)");
  }
  return name;
}

std::string case_name(const Dataset& data, int64_t sample) {
  if (std::string name = data.name(sample); !name.empty()) {
    return name;
  }
  const std::filesystem::path file = std::filesystem::path(data.source(sample)).filename();
  return (file.extension() == ".gz" ? file.stem() : file).stem().string();
}

std::string warning_about_spacings(const Dataset& data) {
  constexpr double much = 1.05;
  using Spacing = std::array<double, 3>;
  const int64_t samples = data.schema().carrier() == Carrier::grid ? data.size() : 0;
  std::vector<Spacing> kinds;
  Spacing least{INFINITY, INFINITY, INFINITY}, most{};
  for (int64_t i = 0; i < samples; ++i) {
    const auto [cells, spacing] = data.lattice(i);
    if (cells.empty()) {
      return "";
    }
    if (std::ranges::none_of(kinds, [&](const Spacing& kind) { return same_spacing(kind, spacing); })) {
      kinds.push_back(spacing);
    }
    for (size_t d = 0; d < 3; ++d) {
      least[d] = std::min(least[d], spacing[d]);
      most[d] = std::max(most[d], spacing[d]);
    }
  }
  bool differ = false;
  for (size_t d = 0; d < 3; ++d) {
    differ = differ || most[d] > much * least[d];
  }
  const auto size = [](const Spacing& s) { return text(s[0], " x ", s[1], " x ", s[2]); };
  const std::string& unit = data.schema().interface.length_unit;
  return differ
             ? text(
                   "samples have ", kinds.size(), " spacings, from ", size(least), " to ", size(most),
                   unit.empty() ? "" : " " + unit,
                   ": a model learns from cells and sees one structure at several sizes; where sizes matter, "
                   "bring them to one spacing, as data.decathlon.spacing does with folders of volumes")
             : "";
}

std::string warning_about_masks(const Dataset& data) {
  const auto stem_of = [](const std::string& given) {  // without .gz and one ending more, in small letters
    std::string path = in_small_letters(given);
    path.resize(path.size() - (path.ends_with(".gz") ? 3 : 0));
    const size_t dot = path.rfind('.');
    return dot != std::string::npos && path.find('/', dot) == std::string::npos ? path.substr(0, dot) : path;
  };
  const int64_t samples = data.schema().carrier() == Carrier::grid ? data.size() : 0;
  std::vector<std::string> stems;
  for (int64_t i = 0; i < samples; ++i) {
    stems.push_back(stem_of(data.source(i)));
  }
  const std::set<std::string> known(stems.begin(), stems.end());
  int64_t count = 0, first = 0;
  for (int64_t i = 0; i < samples; ++i) {
    const std::string& stem = stems[static_cast<size_t>(i)];
    const bool mask = std::ranges::any_of(
        std::array{"seg", "segmentation", "mask", "label", "labels", "gt"}, [&](const std::string& word) {
          const size_t rest = stem.size() - std::min(stem.size(), word.size() + 1);
          return rest > 0 && stem.ends_with(word) && (stem[rest] == '_' || stem[rest] == '-') &&
                 known.contains(stem.substr(0, rest));
        });
    first = mask && count == 0 ? i : first;
    count += mask ? 1 : 0;
  }
  return count == 0 ? ""
                    : text(count,
                           count == 1 ? " sample seems to be the mask of another"
                                      : " samples seem to be masks of others",
                           ", by their names, the first is ", sample_name(data, first),
                           ": they are taken as images; move masks to a folder of their own");
}

SampleChecks::SampleChecks(const Dataset& data, const std::string& split, std::span<const Quantity> labels,
                           Duplicates* seen)
    : data_(data), labels_(labels.begin(), labels.end()), seen_(seen) {
  if (seen_ != nullptr) {
    seen_->begin(split, [of = &data](int64_t sample) { return sample_name(*of, sample); });
  }
}

void SampleChecks::add(const Batch& batch) {
  if (seen_ != nullptr) {
    compare(batch);
  }
  look_at_grid(batch);
  const SampleRows rows(batch.input);
  const int64_t count = rows_of(batch.input, Level::graph);
  const bool grid = std::holds_alternative<Grid>(batch.input);
  const auto* points = std::get_if<Points>(&batch.input);
  const bool typed = points != nullptr && points->types.defined();
  std::vector<int64_t> types(grid ? 0 : static_cast<size_t>(rows_of(batch.input, Level::node)), 0);
  if (typed) {
    const Tensor t = points->types.contiguous();
    std::copy_n(t.const_data_ptr<int64_t>(), types.size(), types.begin());
  }
  const Schema& schema = data_.schema();
  std::vector<Tensor> values;  // of each label: (rows, numbers), float64; undefined: not looked at
  for (const Quantity& q : labels_) {
    const auto found = batch.labels.find(q.name);
    const bool numbers = find_quantity(schema.labels, q.name) != nullptr && found != batch.labels.end() &&
                         found->second.is_floating_point() && found->second.dim() > 0 &&
                         q.kind != Kind::category && q.kind != Kind::element && !grid;
    const int64_t all = rows.all(level_of(data_.schema(), q.name));
    const int64_t first = numbers && found->second.size(0) == all ? all : 0;
    values.push_back(first > 0 ? found->second.to(at::kDouble).reshape({first, -1}).contiguous() : Tensor());
  }
  for (int64_t g = 0; g < count; ++g) {
    const auto of_sample = grid ? std::span<const int64_t>()
                                : std::span(types).subspan(static_cast<size_t>(rows.begin(Level::node, g)),
                                                           static_cast<size_t>(rows.count(Level::node, g)));
    outliers_.begin_sample(of_sample);
    for (size_t l = 0; l < labels_.size(); ++l) {
      if (!values[l].defined()) {
        continue;
      }
      const Quantity* q = find_quantity(schema.labels, labels_[l].name);
      const int64_t width = values[l].size(1), begin = rows.begin(q->level, g), n = rows.count(q->level, g);
      const std::span<const double> all(values[l].const_data_ptr<double>() + begin * width,
                                        static_cast<size_t>(n * width));
      const bool scalar = q->kind == Kind::scalar || q->kind == Kind::pseudoscalar;
      if (q->level == Level::graph && scalar) {
        for (size_t c = 0; c < all.size(); ++c) {
          outliers_.add_number(all.size() == 1 ? q->name : text(q->name, "[", c, "]"), q->unit, q->extensive,
                               all[c]);
        }
      } else if (width > 0) {
        const bool of_types = q->level == Level::node && typed;
        outliers_.add_rows(q->name, q->unit, width, all, of_types ? of_sample : std::span<const int64_t>());
      }
    }
  }
}

void SampleChecks::compare(const Batch& batch) {
  const SampleRows rows(batch.input);
  const auto count = static_cast<size_t>(rows_of(batch.input, Level::graph));
  std::vector<uint64_t> inputs(count, 0), labels(count, 0);
  if (const auto* points = std::get_if<Points>(&batch.input)) {
    each_tensor(*points,
                [&](const PointsTensor& what, const Tensor& t) { add_rows(inputs, rows, what.level, t); });
  } else if (const auto* poses = std::get_if<Poses>(&batch.input)) {
    add_rows(inputs, rows, Level::node, poses->elements);
    add_rows(inputs, rows, Level::node, poses->scalars);
  } else {
    const Tensor& values = std::get<Grid>(batch.input).values;
    for (auto& hash : inputs) {
      for (const int64_t size : values.sizes().slice(1)) {  // of the same bytes in another shape
        hash = 31 * hash + static_cast<uint64_t>(size);
      }
    }
    add_rows(inputs, rows, Level::graph, values);
  }
  for (const auto& [name, tensor] : batch.labels) {
    add_rows(labels, rows, level_of(data_.schema(), name), tensor);
  }
  for (size_t g = 0; g < count; ++g) {
    if (rows.count(Level::node, static_cast<int64_t>(g)) == 0) {
      seen_->skip();
    } else {
      seen_->add(inputs[g], labels[g]);
    }
  }
}

void SampleChecks::skip() {
  if (seen_ != nullptr) {
    seen_->skip();
  }
  look_at_doubt(samples_++);
  outliers_.begin_sample({});
}

void SampleChecks::look_at_doubt(int64_t sample) {
  if (const std::string doubt = data_.doubt(sample); !doubt.empty()) {
    doubts_[doubt].add(sample);
  }
}

/// Of volumes alone: the channels of a picture, such as its opacity, may well have one value.
void SampleChecks::look_at_grid(const Batch& batch) {
  const int64_t begin = samples_;
  samples_ += rows_of(batch.input, Level::graph);
  const auto* grid = std::get_if<Grid>(&batch.input);
  if (grid == nullptr) {
    return;
  }
  for (int64_t sample = begin; sample < samples_; ++sample) {
    look_at_doubt(sample);
  }
  if (grid->values.dim() != 5) {
    return;
  }
  for (int64_t b = 0; b < samples_ - begin; ++b) {
    for (int64_t c = 0; c < grid->values.size(1); ++c) {
      const Tensor channel = grid->values.select(0, b).select(0, c);
      if (channel.numel() > 1 && channel.min().item<double>() == channel.max().item<double>()) {
        flat_[c].add(begin + b);
      }
    }
  }
}

std::vector<std::string> SampleChecks::lines() const {
  const auto& elements = data_.schema().interface.elements;
  const auto& channels = data_.schema().channel_names;
  std::vector<std::string> result;
  if (std::string spacings = warning_about_spacings(data_); !spacings.empty()) {
    result.push_back(std::move(spacings));
  }
  if (std::string masks = warning_about_masks(data_); !masks.empty()) {
    result.push_back(std::move(masks));
  }
  for (const auto& [doubt, some] : doubts_) {
    result.push_back(text(some.count, some.count == 1 ? " sample: " : " samples: ", doubt, "; the first is ",
                          sample_name(data_, some.first)));
  }
  for (const auto& [channel, some] : flat_) {
    const auto c = static_cast<size_t>(channel);
    result.push_back(text(some.count, some.count == 1 ? " sample has" : " samples have",
                          " one value everywhere in channel ", channel + 1,
                          c < channels.size() ? " (" + channels[c] + ")" : "", ", the first is ",
                          sample_name(data_, some.first)));
  }
  const auto others = outliers_.lines([&](int64_t sample) { return sample_name(data_, sample); },
                                      [&](int64_t type) {
                                        const auto t = static_cast<size_t>(type);
                                        return t < elements.size() ? elements[t] : text("type ", type);
                                      });
  result.insert(result.end(), others.begin(), others.end());
  if (seen_ != nullptr) {
    std::ranges::move(seen_->lines(), std::back_inserter(result));
  }
  return result;
}

}  // namespace weyl
