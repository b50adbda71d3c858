#include "weyl/predict/trajectory.h"

#include <ATen/ops/isfinite.h>

#include <vector>

#include "weyl/core/check.h"
#include "weyl/data/poses/pose_file.h"

namespace weyl {
namespace {

/// The index that the missing pose gets: between k - 1 and k, of which the logits `gap` (N) are largest together.
int64_t place_of(const Tensor& gap) {
  const Tensor logits = gap.to(at::kCPU, at::kDouble).reshape({-1}).contiguous();
  const auto* x = logits.const_data_ptr<double>();
  int64_t place = 1;
  for (int64_t k = 2; k < logits.size(0); ++k) {
    place = x[k - 1] + x[k] > x[place - 1] + x[place] ? k : place;
  }
  return place;
}

}  // namespace

bool is_written_trajectory(std::string_view path) {
  return path.ends_with(".tum") || path.ends_with(".kitti");
}

FilledTrajectory predict_trajectory(const Predictor& predictor, const std::shared_ptr<const Dataset>& data,
                                    const std::string& path, const std::string& out, Existing existing,
                                    const PredictorCalls& calls) {
  require<ConfigError>(is_written_trajectory(out), out, ": a trajectory is written as .tum or .kitti");
  const auto gives = [&](const char* name) { return find_quantity(predictor.outputs(), name) != nullptr; };
  require<ConfigError>(
      gives("element") && gives("gap") && predictor.interface().group == LieGroup::se3,
      "a trajectory takes the missing pose of the task completion of se3 alone, this model gives others: "
      "give a .safetensors file");
  require<ConfigError>(
      is_pose_file(path), path,
      ": a trajectory is written of one of text (.txt, .csv, .tum, .kitti): give a .safetensors file");
  PoseTrajectory found = read_poses(path);
  const bool tum = out.ends_with(".tum");
  require<ConfigError>(!tum || !found.stamps.empty(), path,
                       ": has no times, which TUM needs: give a .kitti file");
  require<DataError>(found.size() >= 2, path,
                     ": must have at least 2 poses, between which one is missing, got ", found.size());
  FilledTrajectory filled;
  Tensor element;
  predictor.each(
      data, path,
      [&](const Batch& batch) {
        const Named predictions = predictor(batch.input);
        element = predictions.at("element").to(at::kCPU, at::kDouble).reshape({-1}).contiguous();
        require(element.numel() == 16 && at::isfinite(element).all().item<bool>(),
                "the missing pose must be finite, got NaN");
        filled.place = place_of(predictions.at("gap"));
      },
      calls);
  if (filled.place < 0) {
    return filled;
  }
  const auto* g = element.const_data_ptr<double>();
  const auto k = filled.place;
  found.matrices.insert(found.matrices.begin() + 16 * k, g, g + 16);
  if (tum) {
    found.stamps.insert(found.stamps.begin() + k, stamp_between(found.stamps[k - 1], found.stamps[k], path));
  }
  write_file_atomically(
      out, pose_text(tum ? PoseFormat::tum : PoseFormat::kitti, found.matrices, found.stamps), existing);
  filled.poses = found.size();
  return filled;
}

}  // namespace weyl
