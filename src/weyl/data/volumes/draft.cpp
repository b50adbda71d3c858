// Volumes, as `weyl config new` sees them.
#include <algorithm>
#include <filesystem>

#include "weyl/core/check.h"
#include "weyl/data/base/draft.h"
#include "weyl/data/base/sample_checks.h"
#include "weyl/data/volumes/decathlon_index.h"
#include "weyl/data/volumes/files.h"
#include "weyl/data/volumes/options.h"

namespace weyl {

namespace {

/// The fewest and the most voxels along each axis, of all training volumes.
void measure_volumes(FoundData& found, const Dataset& train) {
  for (int64_t i = 0; i < train.size(); ++i) {
    const std::vector<int64_t> cells = train.lattice(i).cells;
    if (i == 0) {
      found.cells = found.most_cells = cells;
    }
    for (size_t d = 0; d < cells.size(); ++d) {
      found.cells[d] = std::min(found.cells[d], cells[d]);
      found.most_cells[d] = std::max(found.most_cells[d], cells[d]);
    }
  }
}

}  // namespace

FoundData VolumeFiles::draft(const std::string& path) {
  if (!lays_out(path)) {
    return {};
  }
  const DecathlonIndex index = read_decathlon(path);
  const auto modalities = std::ssize(index.modalities), classes = std::ssize(index.labels);
  DecathlonDataOptions options{.path = path, .modalities = modalities, .classes = classes};
  const auto labelled = std::ssize(index.training);
  if (labelled > 0 && labelled < 3) {  // for training, then for validation
    options.fractions = labelled == 1 ? std::vector{1.0, 0.0, 0.0} : std::vector{0.5, 0.5, 0.0};
  } else if (labelled < 10) {  // fractions of so few leave a split without any
    options.valid = options.test = 1;
    options.train = std::max<int64_t>(1, labelled - 2);
  }
  const Splits splits = open_set(options);
  FoundData found;
  found.family = FoundData::Family::volumes;
  count_samples(found, splits, path);
  measure_volumes(found, *splits.train);
  const auto size = [](const std::vector<int64_t>& n) { return text(n[0], " x ", n[1], " x ", n[2]); };
  found.what = text(found.samples, " training volumes of ", size(found.cells),
                    found.most_cells == found.cells ? "" : text(" to ", size(found.most_cells)), " voxels");
  if (const std::string spacings = warning_about_spacings(*splits.train); !spacings.empty()) {
    found.warnings.push_back(text(path, ": ", spacings));
  }
  found.tasks = {{"segmentation", "masks"}};
  found.write_data = [=](ConfigDraft& draft, const std::string&, const std::string&) {
    write_set(draft, "decathlon", path, "a folder with dataset.json");
    draft.set("modalities", modalities, "as dataset.json has them");
    draft.set("classes", classes, "as dataset.json has them, with the background");
    draft.set("normalise_over", "nonzero", "voxels that mean and deviation are taken over; \"all\" for CT");
    if (options.train == 0 && labelled < 10) {
      draft.set("fractions", options.fractions,
                text("of the ", labelled, labelled == 1 ? " labelled case" : " labelled cases",
                     ": far too few for a model, and none is left for a test"));
    } else if (labelled < 10) {
      draft.set("train", options.train, text("of the ", labelled, " labelled cases; few for a model"));
      draft.set("valid", options.valid);
      draft.set("test", options.test);
    }
  };
  found.write_task = [=, cells = found.cells, most = found.most_cells](
                         ConfigDraft& draft, const std::string& task, const std::string&) {
    write_classes(draft, task, {classes, index.labels});
    if (needs_crop(most)) {
      draft.set("window", TomlText::raw(text("{ size = ", TomlText(crop_of(cells)).text, " }")),
                "voxels that are predicted at a time, as many as train.crop");
    }
  };
  return found;
}

}  // namespace weyl
