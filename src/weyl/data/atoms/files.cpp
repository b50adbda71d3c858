// Frames of atoms as one of the file formats (formats.h).
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include "weyl/core/check.h"
#include "weyl/core/output_files.h"
#include "weyl/data/atoms/extended_xyz.h"
#include "weyl/data/atoms/files.h"
#include "weyl/data/atoms/inspect_frames.h"
#include "weyl/data/atoms/molecules.h"
#include "weyl/data/atoms/oc20.h"
#include "weyl/data/base/inspection.h"
#include "weyl/data/base/open_request.h"
#include "weyl/data/base/parts.h"

namespace weyl {
namespace {

/// How many frames a path has, and which of them are isolated atoms.
struct CountedFrames {
  int64_t count = 0;
  std::vector<int64_t> isolated;
};

CountedFrames frames_in(const std::string& path) {
  const auto reader = open_frames(path);
  CountedFrames found;
  for (AtomsFrame frame; reader->next(frame); ++found.count) {
    if (is_isolated_atom(frame, config_type_label)) {
      found.isolated.push_back(found.count);
    }
  }
  return found;
}

/// Isolated atoms are for training, as where a training splits the file itself.
void keep_isolated_for_training(SplitIndices& parts, const std::vector<int64_t>& isolated) {
  if (isolated.empty()) {
    return;
  }
  std::vector<std::vector<int64_t>> all{std::move(parts.train), std::move(parts.valid),
                                        std::move(parts.test)};
  keep_for_training(all, isolated);
  for (auto& samples : all) {
    std::ranges::sort(samples);
  }
  parts = {std::move(all[0]), std::move(all[1]), std::move(all[2])};
}

}  // namespace

bool FrameFiles::takes(const std::string& path, AskedSet asked) {
  // Folders of these sets are data sets of their own, with tables and lists beside their frames.
  const bool whole = asked.is<Molecule3dDataOptions>() || asked.is<Pcqm4mv2DataOptions>();
  return holds_frames(path) && !(whole && std::filesystem::is_directory(path));
}

std::shared_ptr<const Dataset> FrameFiles::open(const OpenRequest& request) {
  using Labels = FrameCollector::Labels;
  if (const auto* oc20 = request.asked.get_if<Oc20DataOptions>()) {
    return open_slabs(request.path, *oc20);
  }
  const FrameLayout layout = layout_of(request.asked);
  if (request.interface != nullptr) {
    return open_frames_file(request.path, as_told(layout, *request.interface), Labels::none, request.keep);
  }
  return open_frames_file(request.path, layout,
                          request.values == Values::any ? Labels::found : Labels::needed, request.keep);
}

bool FrameFiles::lays_out(const std::string& folder) {
  return !frames_of_split(folder, "train").empty();
}

void FrameFiles::inspect(const std::string& path, const FrameReport& report) {
  for (const auto& [split, found] : inspect_all_frames(path)) {
    report(split, found);
  }
}

bool FrameFiles::converts(const std::string& in, const std::string& out, const OptionTexts&) {
  return converts_frames(in, out);
}

Converted FrameFiles::convert(const std::string& in, const std::string& out,
                              const FrameConvertOptions& options) {
  return {{out}, convert_frames(in, out, options)};
}

SplitIndices FrameFiles::split(const std::string& path, const std::string& folder,
                               const SplitOptions& options, const FrameConvertOptions& conversion) {
  const auto [size, isolated] = frames_in(path);
  SplitIndices parts = random_split(size, options);
  keep_isolated_for_training(parts, isolated);
  NewFiles files;
  const auto filled = add_parts(files, folder, parts, splits_into);
  std::vector<size_t> file_of(static_cast<size_t>(size));
  for (size_t i = 0; i < filled.size(); ++i) {
    for (const int64_t frame : *filled[i]) {
      file_of[static_cast<size_t>(frame)] = i;
    }
  }
  files.keep_if([&](const NewFiles::Written& written) {
    std::vector<std::unique_ptr<ExtendedXyzWriter>> writers;
    for (size_t i = 0; i < filled.size(); ++i) {
      writers.push_back(std::make_unique<ExtendedXyzWriter>(files.path(i), Existing::keep));
    }
    const auto reader = open_frames(path);
    size_t i = 0;
    each_frame_for_xyz(*reader, conversion, [&](const AtomsFrame& frame) {
      require<DataError>(i < file_of.size(), path, ": must not change while it is read");
      writers[file_of[i++]]->write(frame);
    });
    for (size_t part = 0; part < writers.size(); ++part) {
      writers[part]->commit();
      written(part);
    }
    return true;
  });
  return parts;
}

}  // namespace weyl
