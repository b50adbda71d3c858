#include "weyl/data/poses/options.h"

#include "weyl/config/unused_options.h"
#include "weyl/data/poses/sequence_gap.h"

namespace weyl {

void fields(Fields& f, PoseSequencesDataOptions& o) {
  f("path", o.path,
    "folder with train, valid and test: made by `weyl data make pose_sequences`; or one trajectory (TUM, "
    "KITTI, EuRoC)");
  f("group", o.group, "the Lie group of the poses; the files must hold the same; se3 of a trajectory");
  f("train", o.train, "samples used of the training split; 0: all", {0, 1e9});
  f("valid", o.valid, "samples used of the validation split; 0: all", {0, 1e9});
  f("test", o.test, "samples used of the test split; 0: all", {0, 1e9});
  f("length", o.length, "of a trajectory: poses of a sample, one of which is taken out", {kLeastOfGap, 1e6});
  f("stride", o.stride, "of a trajectory: poses between the beginnings of two samples; 0: the length",
    {0, 1e9});
  f("fractions", o.fractions,
    "of a trajectory: its first part is for training, the next for validation, the last for testing", {0, 1});
  f("seed", o.seed, "of a trajectory: of the poses taken out and of the order of the others", {0, 9.2e18});
}

void require_effects(const PoseSequencesDataOptions& o) {
  const bool trajectory = is_pose_file(o.path);
  const char* of_folder = "on a folder, whose files are sequences already";
  const Conditional options[] = {{"length", trajectory, of_folder},
                                 {"stride", trajectory, of_folder},
                                 {"fractions", trajectory, of_folder},
                                 {"seed", trajectory, of_folder}};
  refuse_unused("data.pose_sequences", o, PoseSequencesDataOptions{}, options);
}

void fields(Fields& f, PoseFileOptions& o) {
  f("format", o.format, "of the file; told from its first line unless given");
  f("length", o.length, "tokens of a sample; 0: the whole trajectory is one", {0, 1e9});
  f("stride", o.stride, "poses between the beginnings of two samples; 0: the length", {0, 1e9});
  f("hole", o.hole,
    "takes one inner pose out of each sample as the label `element`, marks its neighbours by the label "
    "`flank` and shuffles the tokens");
  f("seed", o.seed, "of the holes and of the order of the tokens", {0, 9.2e18});
}

}  // namespace weyl
