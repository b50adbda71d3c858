#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "weyl/config/fields.h"
#include "weyl/core/axis.h"

namespace weyl {

/// A simple prediction of the displacement; the model predicts what it leaves over.
enum class Baseline { none, straight_line, best_straight_line };
constexpr auto names_of(Baseline) {
  return std::array<std::string_view, 3>{"none", "straight_line", "best_straight_line"};
}

/// Predicts later positions from the present ones.
struct TrajectoryOptions {
  static constexpr const char* name_in_config = "trajectory";
  Baseline baseline = Baseline::none;  // the model predicts what it leaves over; every choice is equivariant
  bool normalise = true;               // outputs in units of the root mean square of what is to be predicted
};
void fields(Fields& f, TrajectoryOptions& o);

/// Predicts the missing element of a sequence of poses from the others, in any order.
/// What a model of completion gives: the correction of each token, coordinates of an algebra, or the missing element itself as
/// each token has it.
enum class CompletionAnswer { correction, element };
constexpr auto names_of(CompletionAnswer) {
  return std::array<std::string_view, 2>{"correction", "element"};
}

struct CompletionOptions {
  static constexpr const char* name_in_config = "completion";
  CompletionAnswer answer = CompletionAnswer::correction;
  bool whole = false;                      // of some sequences nothing is missing
  double gap_weight = 1, pose_weight = 1;  // of the two parts of the loss
};
void fields(Fields& f, CompletionOptions& o);

/// Predicts the true poses of tokens from those that are given (tasks/pose_correction.h).
struct PoseCorrectionOptions {
  static constexpr const char* name_in_config = "pose_correction";
  double angle_weight = 1;  // of rotations in the loss, beside translations
};
void fields(Fields& f, PoseCorrectionOptions& o);

/// Predicts the motion between two copies of a set of poses (tasks/registration.h).
struct RegistrationOptions {
  static constexpr const char* name_in_config = "registration";
  int64_t channels = 32;  // of the descriptor by which a token is matched
};
void fields(Fields& f, RegistrationOptions& o);

/// The rotations of an input over which a prediction is averaged.
struct TestTimeRotations {
  int64_t count = 1;    // 1: the input as it is; 24 in space: the rotations of the cube; else the
                        // multiples of 2 pi / count, in space about `axis`
  Axis axis = Axis::z;  // only in space
  bool random = false;  // points and poses: the input as it is, and count - 1 rotations drawn uniformly
};
void fields(Fields& f, TestTimeRotations& o);

/// The mirror images of a grid over which a prediction is averaged: all 2^n of n axes.
struct TestTimeMirrors {
  std::vector<int64_t> axes;  // by number, from 0; none: all
};
void fields(Fields& f, TestTimeMirrors& o);

/// Classes of which the largest connected part alone is kept.
struct LargestComponent {
  std::vector<int64_t> classes;  // none: all but 0
};
void fields(Fields& f, LargestComponent& o);

/// The loss of a classification, which predicts the class of an input.
enum class ClassLoss { cross_entropy, binary };
constexpr auto names_of(ClassLoss) {
  return std::array<std::string_view, 2>{"cross_entropy", "binary"};
}
struct ClassificationOptions {
  static constexpr const char* name_in_config = "classification";
  ClassLoss loss = ClassLoss::cross_entropy;
  double label_smoothing = 0;
  std::vector<double> class_weights;      // one a class, or none: all alike
  std::vector<std::string> names;         // of the classes in their order, for reports; none: their numbers
  TestTimeRotations test_time_rotations;  // at test time
};
void fields(Fields& f, ClassificationOptions& o);

/// Several classes that are scored as one: the tumour's core consists of two of its tissues.
struct Region {
  std::string name;
  std::vector<int64_t> labels;

  bool operator==(const Region&) const = default;
};
void fields(Fields& f, Region& o);

/// Inputs larger than `size` are predicted window by window. Inputs and predictions must fit the main memory.
struct WindowOptions {
  std::vector<int64_t> size;  // cells along each axis; one number: all alike; none: the whole input at once
  double overlap = 0.5;       // least overlap of neighbouring windows, as a share
};
void fields(Fields& f, WindowOptions& o);

/// Which 95th percentile a Hausdorff distance is: the larger of those of both directions, or that of all distances together.
enum class Percentile95 { larger, pooled };
constexpr auto names_of(Percentile95) {
  return std::array<std::string_view, 2>{"larger", "pooled"};
}

/// Predicts the class of every pixel or voxel of a grid.
struct SegmentationOptions {
  static constexpr const char* name_in_config = "segmentation";
  double cross_entropy = 1, focal = 0, dice = 0;  // weights of the parts of the loss
  double focal_alpha = 1, focal_gamma = 2;
  std::vector<double> class_weights;  // of cross-entropy and focal loss
  std::vector<std::string> names;     // of the classes in their order
  std::vector<Region> regions;        // nested ones, scored beside the classes
  double tolerance = 1;               // of surface Dice, in the data's unit of length
  Percentile95 hd95 = Percentile95::larger;
  TestTimeRotations test_time_rotations;
  std::optional<TestTimeMirrors> test_time_mirrors;
  WindowOptions window;
  std::optional<LargestComponent> largest_component;
};
void fields(Fields& f, SegmentationOptions& o);

/// What an error x costs: |x|, x^2, or x^2 / 2 up to |x| = delta and delta (|x| - delta / 2) beyond.
enum class ErrorLaw { l1, l2, huber };
constexpr auto names_of(ErrorLaw) {
  return std::array<std::string_view, 3>{"l1", "l2", "huber"};
}

/// What an error dF of a force costs: what ErrorLaw says for each of its components, or the length |dF| of the vector.
enum class ForceLaw { l1, l2, huber, norm };
constexpr auto names_of(ForceLaw) {
  return std::array<std::string_view, 4>{"l1", "l2", "huber", "norm"};
}

/// What is subtracted from an extensive number before it is learned: nothing, a number for each node, or a number for
/// each node by its type.
enum class Reference { none, mean, elements };
constexpr auto names_of(Reference) {
  return std::array<std::string_view, 3>{"none", "mean", "elements"};
}

/// Where forces come from: F = -dE/dx, an output of the model, or nowhere.
enum class ForceSource { gradient, direct, none };
constexpr auto names_of(ForceSource) {
  return std::array<std::string_view, 3>{"gradient", "direct", "none"};
}

/// Predicts energy, forces and stress of atoms (tasks/force_field.h).
struct ForceFieldOptions {
  static constexpr const char* name_in_config = "force_field";
  ForceSource forces = ForceSource::gradient;
  bool stress = false;  // learns the stress, the derivative with respect to strain
  Reference reference = Reference::elements;
  std::string
      references;  // file of energies of single atoms (force_field_statistics.h); empty: by least squares
  bool normalise = true;  // outputs and loss in units of the forces of the training set
  bool pooled = false;    // the energy as a function of pooled nodes, not as a sum over them
  double energy_weight = 1, force_weight = 10, stress_weight = 1;
  ErrorLaw energy_loss = ErrorLaw::l2;
  ForceLaw force_loss = ForceLaw::l2;
  ErrorLaw stress_loss = ErrorLaw::l2;
  double huber_delta = 1;
  bool energy_per_atom = true;  // the error of energies in the loss is divided by the number of atoms
  std::string units = "meV";    // of energies in reports
};
void fields(Fields& f, ForceFieldOptions& o);

/// A target of nodes whose sum over a graph is known: that of charges is the graph's charge.
struct HeldSum {
  std::string target, to;  // `to`: a feature of graphs; empty: zero
};
void fields(Fields& f, HeldSum& o);

/// Predicts numbers, vectors and symmetric tensors of graphs and of nodes (tasks/property.h).
struct PropertyOptions {
  static constexpr const char* name_in_config = "property";
  std::vector<std::string> targets;
  std::vector<double> weights;  // of the targets in the loss; none: all alike
  std::vector<HeldSum> held;
  Reference reference = Reference::mean;
  bool normalise = true;  // by the standard deviation on the training set
  bool pooled = false;    // extensive targets as functions of pooled nodes, not as sums over them
  ErrorLaw loss = ErrorLaw::l2;
  double huber_delta = 1;
  TestTimeRotations test_time_rotations;
};
void fields(Fields& f, PropertyOptions& o);

/// A simple prediction of the motion; the model predicts what it leaves over.
enum class MotionBaseline { none, constant_velocity };
constexpr auto names_of(MotionBaseline) {
  return std::array<std::string_view, 2>{"none", "constant_velocity"};
}

/// Predicts how rigid objects move from one frame to the next (tasks/rigid_motion.h).
struct RigidMotionOptions {
  static constexpr const char* name_in_config = "rigid_motion";
  MotionBaseline baseline = MotionBaseline::none;  // every choice is equivariant
  bool normalise = true;   // outputs and loss in units of the motions of the training set
  double norm_weight = 0;  // of the root of each object's mean square error, a further term of the loss
  int64_t rollout = 1;     // steps of a prediction, each from the result of the one before
};
void fields(Fields& f, RigidMotionOptions& o);

/// A weight of the loss that goes linearly from its start to its end while the training goes on.
struct WeightCourse {
  double start = 0, end = 0;
};
void fields(Fields& f, WeightCourse& o);

/// Predicts the relaxed places of the nodes of a structure, and a number of it (tasks/relaxation.h).
struct RelaxationOptions {
  static constexpr const char* name_in_config = "relaxation";
  std::string target;  // a label of graphs; empty: places alone
  WeightCourse displacement_weight{1, 1};
  WeightCourse distance_weight;
  bool normalise = true;  // lengths in units of the displacements of the training set
};
void fields(Fields& f, RelaxationOptions& o);

using TaskChoice = std::variant<TrajectoryOptions, CompletionOptions, ClassificationOptions,
                                SegmentationOptions, ForceFieldOptions, PropertyOptions, RigidMotionOptions,
                                RelaxationOptions, PoseCorrectionOptions, RegistrationOptions>;
struct TaskOptions {
  TaskChoice task;
};
void fields(Fields& f, TaskOptions& o);

/// Reports options that are set but have no effect (config/unused_options.h).
void require_effects(const TaskOptions& options);

/// What everyone who uses the predictions of such a task must know, a sentence each.
std::vector<std::string> notes_of(const TaskOptions& options);

}  // namespace weyl
