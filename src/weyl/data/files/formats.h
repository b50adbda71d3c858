#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "weyl/data/atoms/convert_frames.h"
#include "weyl/data/formats/frame_formats.h"
#include "weyl/data/options.h"
#include "weyl/data/parts.h"

/// The file formats that weyl knows, in one list: `FileFormats` at the end of this header. A format is a
/// struct without members. Its first two functions are its words in messages and help pages; each of the
/// others is there where the format can do what it says, and whoever needs it (named in brackets) goes over
/// the list for it:
///
///   holds, names()         "poses", ".txt, .csv, .tum, .kitti"
///   takes(path, options)   whether a path is of this format: by its name, and where names do not tell, by its
///                          content. The options are those of the data set that is asked for
///   open(request)          a path that it takes, as a data set                    [open_file, data inspect]
///   sets(folder)           the splits of a folder in this format's layout; none: it has another
///                                                                                 [data inspect]
///   sound_sets(folder, faults)   the same without the files that are broken, a line of each in `faults`
///   inspect(path, report)  what `data inspect` says of it, where it is no data set
///   converts(in, out, options), convert(in, out, options)                         [data convert]
///                          `converts_to` are the words for `out`, ConvertOptions the options, if it has any
///   split(path, folder, options)                                                  [data split]
///                          `splits_into` is the ending of the parts
///   as_tensors             true: its data sets are converted to, and split into, carrier tensor files
///
/// This header is free of torch, and so are the words: help pages need them. What makes a data set is defined
/// in the torch library; a function that is declared here and defined nowhere is a link error that names it.
/// To add a format: its reader, its struct here with its functions in a .cpp, its place in the list.
namespace weyl {

class Dataset;
struct Splits;
struct OpenRequest;  // open_request.h
struct Inspection;   // inspect.h
struct FrameInspection;

/// Sets by the names of their splits; the name of a single set is empty.
using NamedSets = std::vector<std::pair<std::string, std::shared_ptr<const Dataset>>>;
/// Those of the splits that are there.
NamedSets named_sets(const Splits& splits);

/// Takes what was found in a path, split by split.
using AnyInspection = std::variant<Inspection, FrameInspection>;
using InspectionReport = std::function<void(const std::string& split, const AnyInspection& found)>;

/// What a conversion wrote, and the names of what it found no place for.
struct Converted {
  std::vector<std::string> files, left_out;
};

/// The key=value arguments of `data convert`.
using OptionTexts = std::vector<std::string>;

/// Point clouds (sets/clouds.h); what other formats take by its name too is theirs unless the set `clouds` is asked for.
struct CloudFiles {
  static constexpr const char* holds = "point clouds";
  static std::string names() { return ".ply, .npz"; }
  static bool takes(const std::string& path, const DataOptions& options);
  static std::shared_ptr<const Dataset> open(const OpenRequest& request);
  static NamedSets sets(const std::string& folder);
  static NamedSets sound_sets(const std::string& folder, std::vector<std::string>& faults);
};

/// Frames of atoms; their formats have a table of their own (formats/frame_formats.cpp).
struct FrameFiles {
  static constexpr const char* holds = "frames of atoms";
  static std::string names() { return frame_format_names(); }
  static bool takes(const std::string& path, const DataOptions& options);
  static std::shared_ptr<const Dataset> open(const OpenRequest& request);
  static void inspect(const std::string& path, const InspectionReport& report);
  static constexpr const char* converts_to = ".xyz, .extxyz (or .gz of them) or .npz";
  using ConvertOptions = FrameConvertOptions;
  static bool converts(const std::string& in, const std::string& out, const OptionTexts& options);
  static Converted convert(const std::string& in, const std::string& out, const FrameConvertOptions& options);
  static constexpr const char* splits_into = ".extxyz";
  static SplitIndices split(const std::string& path, const std::string& folder, const SplitOptions& options);
};

/// Particles in motion, as `weyl data make nbody` writes them (sets/nbody.h).
struct NbodyFiles {
  static constexpr const char* holds = "particles";
  static std::string names() { return ".safetensors"; }
  static bool takes(const std::string& path, const DataOptions& options);
  static std::shared_ptr<const Dataset> open(const OpenRequest& request);
  static constexpr const char* splits_into = ".safetensors";
  static SplitIndices split(const std::string& path, const std::string& folder, const SplitOptions& options);
};

/// Rigid bodies in motion, as `weyl data make rigid_bodies` writes them (sets/rigid_bodies.h); split by scenes.
struct RigidBodyFiles {
  static constexpr const char* holds = "rigid bodies";
  static std::string names() { return ".safetensors"; }
  static bool takes(const std::string& path, const DataOptions& options);
  static std::shared_ptr<const Dataset> open(const OpenRequest& request);
  static constexpr const char* splits_into = ".safetensors";
  static SplitIndices split(const std::string& path, const std::string& folder, const SplitOptions& options);
};

/// Predictions, as `weyl predict` writes them (saved/tensors.h): outputs alone.
struct PredictionFiles {
  static constexpr const char* holds = "predictions";
  static std::string names() { return ".safetensors"; }
  static bool takes(const std::string& path, const DataOptions& options);
  static void inspect(const std::string& path, const InspectionReport& report);
};

/// Carrier tensor files (carriers/tensor_format.h).
struct TensorFiles {
  static constexpr const char* holds = "tensors";
  static std::string names() { return ".safetensors"; }
  static bool takes(const std::string& path, const DataOptions& options);
  static std::shared_ptr<const Dataset> open(const OpenRequest& request);
  static NamedSets sets(const std::string& folder);  // train.safetensors, valid, test: also of the two above
  static constexpr const char* converts_to = ".npz";
  static bool converts(const std::string& in, const std::string& out, const OptionTexts& options);
  static Converted convert(const std::string& in, const std::string& out);  // any tensors, array by array
  static constexpr const char* splits_into = ".safetensors";
  static SplitIndices split(const std::string& path, const std::string& folder, const SplitOptions& options);
};

/// Volumes of images (sets/decathlon.h): one, a folder of them, or a set with its dataset.json.
struct VolumeFiles {
  static constexpr const char* holds = "volumes";
  static std::string names() { return ".nii, .nii.gz"; }
  static bool takes(const std::string& path, const DataOptions& options);
  static std::shared_ptr<const Dataset> open(const OpenRequest& request);
  static NamedSets sets(const std::string& folder);
};

/// Point clouds and meshes (sets/modelnet.h).
struct ShapeFiles {
  static constexpr const char* holds = "shapes";
  static std::string names() { return ".h5, .off"; }
  static bool takes(const std::string& path, const DataOptions& options);
  static std::shared_ptr<const Dataset> open(const OpenRequest& request);
  static NamedSets sets(const std::string& folder);
};

/// Trajectories of a rigid body as text (formats/pose_file.h).
struct PoseFiles {
  static constexpr const char* holds = "poses";
  static std::string names() { return ".txt, .csv, .tum, .kitti"; }
  static bool takes(const std::string& path, const DataOptions& options);
  static std::shared_ptr<const Dataset> open(const OpenRequest& request);
  static constexpr const char* converts_to = ".safetensors";
  using ConvertOptions = PoseFileOptions;
  /// A file of any name when the options say its format.
  static bool converts(const std::string& in, const std::string& out, const OptionTexts& options);
  static Converted convert(const std::string& in, const std::string& out, const PoseFileOptions& options);
};

/// The original files of particles in motion (sets/nbody.h).
struct NbodyOriginals {
  static constexpr const char* holds = "original N-body files";
  static std::string names() { return "folder of .npy"; }
  static NamedSets sets(const std::string& folder);
  static constexpr const char* converts_to = "a folder";
  static bool converts(const std::string& in, const std::string& out, const OptionTexts& options);
  static Converted convert(const std::string& in, const std::string& out);
};

/// CIFAR-10's binary batches (sets/cifar10.h).
struct CifarBatches {
  static constexpr const char* holds = "CIFAR-10";
  static std::string names() { return ".bin"; }
  static bool takes(const std::string& path, const DataOptions& options);
  static std::shared_ptr<const Dataset> open(const OpenRequest& request);
  static NamedSets sets(const std::string& folder);
  static constexpr bool as_tensors = true;
};

/// Images of digits, many in a file (sets/rotated_mnist.h); .npz files of the set `rotated_mnist` alone.
struct DigitFiles {
  static constexpr const char* holds = "digits";
  static std::string names() { return ".amat, IDX"; }
  static bool takes(const std::string& path, const DataOptions& options);
  static std::shared_ptr<const Dataset> open(const OpenRequest& request);
  static NamedSets sets(const std::string& folder);
  static constexpr bool as_tensors = true;
};

/// Pictures (formats/image.h): one, a folder of them, or a set of the layouts `images` and `ph2`.
struct PictureFiles {
  static constexpr const char* holds = "images";
  static std::string names() { return ".png, .jpg, .bmp"; }
  static bool takes(const std::string& path, const DataOptions& options);
  static std::shared_ptr<const Dataset> open(const OpenRequest& request);
  static NamedSets sets(const std::string& folder);
  static constexpr bool as_tensors = true;
};

/// Arrays by name, which nobody says the meaning of.
struct ArrayArchives {
  static constexpr const char* holds = "arrays";
  static std::string names() { return ".npz"; }
  static constexpr const char* converts_to = ".safetensors";
  static bool converts(const std::string& in, const std::string& out, const OptionTexts& options);
  static Converted convert(const std::string& in, const std::string& out);  // array by array
};

/// The list. Its order is the order in which a path is recognised:
///
///   CloudFiles first       a set that is asked for by name says what its files are; else they take little
///   FrameFiles             what lies beside frames in a folder is of less interest, and an .npz with places
///                          and atomic numbers is frames, not digits or arrays
///   NbodyFiles, RigidBodyFiles, PredictionFiles   before TensorFiles, which take every .safetensors
///   PictureFiles           last of the data sets: a picture may lie beside anything
///   ArrayArchives          take every .npz that nobody else did
using FileFormats = std::variant<CloudFiles, FrameFiles, NbodyFiles, RigidBodyFiles, PredictionFiles,
                                 TensorFiles, VolumeFiles, ShapeFiles, PoseFiles, NbodyOriginals,
                                 CifarBatches, DigitFiles, PictureFiles, ArrayArchives>;

/// What a format can do, told by the functions that it has.
template <class Format>
concept CanOpen = requires(const OpenRequest& request) { Format::open(request); };
template <class Format>
concept HasLayout = requires(const std::string& folder) { Format::sets(folder); };
template <class Format>
concept LeavesOutFaults = requires(const std::string& folder, std::vector<std::string>& faults) {
  Format::sound_sets(folder, faults);
};
template <class Format>
concept CanInspect =
    requires(const std::string& path, const InspectionReport& report) { Format::inspect(path, report); };
template <class Format>
concept AsTensors = requires { requires Format::as_tensors; };
template <class Format>
concept CanConvert = requires { Format::converts_to; };
template <class Format>
concept CanSplit = requires { Format::splits_into; };

}  // namespace weyl
