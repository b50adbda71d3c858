#include "weyl/data/poses/options.h"

#include "weyl/config/unused_options.h"
#include "weyl/data/poses/sequence_gap.h"

namespace weyl {

namespace {

constexpr const char* words_of_group =
    "the Lie group of the poses; the files must hold the same; of a trajectory se3, or what is left of its poses in so3 (the "
    "rotations), se2 or so2 (those on a plane)";
constexpr const char* words_of_up = "the axis that the plane of se2 and so2 is across";
constexpr const char* words_of_repeated =
    "what is done with a pose that has the time of the one before, as TUM's own ground truth has one";
constexpr const char* words_of_whole =
    "of samples with a hole: the share of which nothing is missing, their last pose is left out, so that they are as long as the others "
    "(task.completion.whole learns them)";
constexpr const char* words_of_noise =
    "standard deviation of noise on the translations of the poses that are given, in the unit of lengths";
constexpr const char* words_of_angle_noise = "the same of their rotations, in radians";

bool is_planar(LieGroup group) {
  return group == LieGroup::se2 || group == LieGroup::so2;
}

}  // namespace

void fields(Fields& f, PoseSequencesDataOptions& o) {
  f("path", o.path,
    "folder with train, valid and test: made by `weyl data make pose_sequences`; or one trajectory (TUM, "
    "KITTI, EuRoC)");
  f("group", o.group, words_of_group);
  f("train", o.train, "samples used of the training split; 0: all", {0, 1e9});
  f("valid", o.valid, "samples used of the validation split; 0: all", {0, 1e9});
  f("test", o.test, "samples used of the test split; 0: all", {0, 1e9});
  f("length", o.length, "of a trajectory: poses of a sample, one of which is taken out", {kLeastOfGap, 1e6});
  f("stride", o.stride, "of a trajectory: poses between the beginnings of two samples; 0: the length",
    {0, 1e9});
  f("fractions", o.fractions,
    "of a trajectory: its first part is for training, the next for validation, the last for testing", {0, 1});
  f("whole", o.whole, words_of_whole, {0, 1});
  f("times", o.times,
    "a feature `time` of the poses, which says how unevenly they follow each other: seconds since the first of the sample "
    "(poses, where there are no times)");
  f("up", o.up, words_of_up);
  f("repeated", o.repeated, words_of_repeated);
  f("seed", o.seed, "of a trajectory: of the poses taken out and of the order of the others", {0, 9.2e18});
}

void require_effects(const PoseSequencesDataOptions& o) {
  const bool trajectory = is_pose_file(o.path);
  const char* of_folder = "on a folder, whose files are sequences already";
  const Conditional options[] = {
      {"length", trajectory, of_folder},
      {"stride", trajectory, of_folder},
      {"fractions", trajectory, of_folder},
      {"whole", trajectory, of_folder},
      {"up", trajectory && is_planar(o.group), trajectory ? "of poses in space" : of_folder},
      {"repeated", trajectory, of_folder},
      {"seed", trajectory, of_folder}};
  refuse_unused("data.pose_sequences", o, PoseSequencesDataOptions{}, options);
}

void fields(Fields& f, PoseWindowsDataOptions& o) {
  f("path", o.path,
    "folder with train, valid and test: made by `weyl data make pose_windows` or `data convert ... ahead=`; or one "
    "trajectory (TUM, KITTI, EuRoC)");
  f("group", o.group, words_of_group);
  f("train", o.train, "samples used of the training split; 0: all", {0, 1e9});
  f("valid", o.valid, "samples used of the validation split; 0: all", {0, 1e9});
  f("test", o.test, "samples used of the test split; 0: all", {0, 1e9});
  f("length", o.length,
    "of a trajectory: poses of a sample, those that are asked for included; of a folder its files say it",
    {1, 1e6});
  f("ahead", o.ahead,
    "of a trajectory: how many poses at the end of a sample are asked for, from those before; 0: all are, which are given "
    "with noise; of a folder its files say it",
    {0, 1e6});
  f("stride", o.stride, "of a trajectory: poses between the beginnings of two samples; 0: the length",
    {0, 1e9});
  f("fractions", o.fractions,
    "of a trajectory: its first part is for training, the next for validation, the last for testing", {0, 1});
  f("noise", o.noise, words_of_noise, {0, 1e6});
  f("angle_noise", o.angle_noise, words_of_angle_noise, {0, 3});
  f("up", o.up, words_of_up);
  f("repeated", o.repeated, words_of_repeated);
  f("seed", o.seed, "of the noise", {0, 9.2e18});
}

void require_effects(const PoseWindowsDataOptions& o) {
  const bool trajectory = is_pose_file(o.path);
  const char* of_folder = "on a folder, whose files are windows already";
  // length and ahead of a folder are compared with its files (as_opened).
  const Conditional options[] = {
      {"stride", trajectory, of_folder},
      {"fractions", trajectory, of_folder},
      {"noise", trajectory && o.group != LieGroup::so3 && o.group != LieGroup::so2,
       trajectory ? "on rotations alone" : of_folder},
      {"angle_noise", trajectory, of_folder},
      {"up", trajectory && is_planar(o.group), trajectory ? "of poses in space" : of_folder},
      {"repeated", trajectory, of_folder},
      {"seed", trajectory && (o.noise > 0 || o.angle_noise > 0), trajectory ? "without noise" : of_folder}};
  refuse_unused("data.pose_windows", o, PoseWindowsDataOptions{}, options);
}

void fields(Fields& f, PoseFileOptions& o) {
  f("format", o.format, "of the file; told from its first line unless given");
  f("length", o.length, "tokens of a sample; 0: the whole trajectory is one", {0, 1e9});
  f("stride", o.stride, "poses between the beginnings of two samples; 0: the length", {0, 1e9});
  f("hole", o.hole,
    "takes one inner pose out of each sample as the label `element`, marks its neighbours by the label "
    "`flank` and shuffles the tokens");
  f("whole", o.whole, words_of_whole, {0, 1});
  f("ahead", o.ahead,
    "asks for the last poses of each sample, from those before: they stand where a constant velocity leads, their own are "
    "the label `pose`, and features `time` and `asked` say when they are and which",
    {0, 1e6});
  f("noise", o.noise,
    "standard deviation of noise on the translations of the poses that are given, in metres; with ahead=0 all are asked for");
  f("angle_noise", o.angle_noise, words_of_angle_noise, {0, 3});
  f("times", o.times, "with hole: a feature `time`, seconds since the first pose of the sample");
  f("group", o.group, "what the poses are taken as: se3, so3 (rotations), se2 or so2 (those on a plane)");
  f("up", o.up, words_of_up);
  f("repeated", o.repeated, words_of_repeated);
  f("seed", o.seed, "of the holes, of the order of the tokens and of the noise", {0, 9.2e18});
}

}  // namespace weyl
