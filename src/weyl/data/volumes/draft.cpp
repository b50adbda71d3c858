// Volumes, as `weyl config new` sees them.
#include <algorithm>
#include <filesystem>

#include "weyl/core/check.h"
#include "weyl/data/base/draft.h"
#include "weyl/data/volumes/decathlon_index.h"
#include "weyl/data/volumes/files.h"
#include "weyl/data/volumes/options.h"

namespace weyl {

FoundData VolumeFiles::draft(const std::string& path) {
  if (!lays_out(path)) {
    return {};
  }
  const DecathlonIndex index = read_decathlon(path);
  const auto modalities = std::ssize(index.modalities), classes = std::ssize(index.labels);
  DecathlonDataOptions options{.path = path, .modalities = modalities, .classes = classes};
  const auto labelled = std::ssize(index.training);
  if (labelled < 10) {  // fractions of so few leave a split without any
    options.valid = options.test = 1;
    options.train = std::max<int64_t>(1, labelled - 2);
  }
  const Splits splits = open_set(options);
  FoundData found;
  found.family = FoundData::Family::volumes;
  count_samples(found, splits, path);
  found.cells = splits.train->lattice(0).cells;
  found.what = text(found.samples, " training volumes of ", found.cells[0], " x ", found.cells[1], " x ",
                    found.cells[2], " voxels");
  found.tasks = {{"segmentation", "masks"}};
  found.write_data = [=](ConfigDraft& draft, const std::string&, const std::string&) {
    write_set(draft, "decathlon", path, "a folder with dataset.json");
    draft.set("modalities", modalities, "as dataset.json has them");
    draft.set("classes", classes, "as dataset.json has them, with the background");
    draft.set("normalise_over", "nonzero", "voxels that mean and deviation are taken over; \"all\" for CT");
    if (labelled < 10) {
      draft.set("train", options.train, text("of the ", labelled, " labelled cases; few for a model"));
      draft.set("valid", options.valid);
      draft.set("test", options.test);
    }
  };
  found.write_task = [=, cells = found.cells](ConfigDraft& draft, const std::string& task,
                                              const std::string&) {
    write_classes(draft, task, {classes, index.labels});
    if (needs_crop(cells)) {
      draft.set("window", TomlText::raw(text("{ size = ", TomlText(crop_of(cells)).text, " }")),
                "voxels that are predicted at a time, as many as train.crop");
    }
  };
  return found;
}

}  // namespace weyl
