#include "weyl/data/open.h"

#include <algorithm>
#include <filesystem>

#include "weyl/carriers/tensor_format.h"
#include "weyl/core/check.h"
#include "weyl/core/safetensors.h"
#include "weyl/data/formats/frame_reader.h"
#include "weyl/data/formats/nifti.h"
#include "weyl/data/sets/cifar10.h"
#include "weyl/data/sets/decathlon.h"
#include "weyl/data/sets/image_files.h"
#include "weyl/data/sets/image_folder.h"
#include "weyl/data/sets/modelnet.h"
#include "weyl/data/sets/molecules.h"
#include "weyl/data/sets/nbody.h"
#include "weyl/data/sets/ph2.h"
#include "weyl/data/sets/pose_files.h"
#include "weyl/data/sets/pose_sequences.h"
#include "weyl/data/sets/rotated_mnist.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

std::shared_ptr<const Dataset> in_memory(TensorFile file) {
  return std::make_shared<InMemory>(std::move(file.batch), std::move(file.schema));
}

std::shared_ptr<const Dataset> open_tensors(const std::string& path, const Interface& interface) {
  return in_memory(read_tensor_file(path, schema_of(with_carrier_of(path, interface))));
}

std::string names(const std::vector<Quantity>& quantities) {
  std::string result;
  for (const auto& q : quantities) {
    result += (result.empty() ? "" : ", ") + q.name;
  }
  return result.empty() ? "nothing" : result;
}

/// The columns of a file must be those that the model is told of, in their order.
void require_features(const std::string& path, const std::vector<Quantity>& found,
                      const std::vector<Quantity>& wanted) {
  const bool equal =
      std::equal(found.begin(), found.end(), wanted.begin(), wanted.end(), [](const auto& a, const auto& b) {
        return a.name == b.name && a.level == b.level && a.kind == b.kind && a.channels == b.channels;
      });
  require<DataError>(equal, path, ": must give the model's features ", names(wanted), ", gives ",
                     names(found));
}

const Interface& required(const Interface* interface) {
  require<ConfigError>(interface != nullptr,
                       "data set `tensors`: needs an [interface] that says what its tensors are");
  return *interface;
}

Splits open(const NbodyDataOptions& options, const Interface*) {
  return open_nbody(options);
}

Splits open(const TensorsDataOptions& options, const Interface* interface) {
  required(interface);
  require<DataError>(fs::is_directory(options.path), options.path,
                     ": there is no such folder; it must hold train.safetensors and may hold valid and test");
  const auto split = [&](const char* name) -> std::shared_ptr<const Dataset> {
    const std::string path = (fs::path(options.path) / (std::string(name) + ".safetensors")).string();
    return fs::exists(path) ? open_tensors(path, *interface) : nullptr;
  };
  Splits splits{split("train"), split("valid"), split("test")};
  require<DataError>(splits.train || splits.valid || splits.test, options.path,
                     ": holds none of train.safetensors, valid.safetensors and test.safetensors");
  return splits;
}

Splits open(const PoseSequencesDataOptions& options, const Interface*) {
  return open_pose_sequences(options);
}

Splits open(const Cifar10DataOptions& options, const Interface*) {
  return open_cifar10(options);
}
Splits open(const ImagesDataOptions& options, const Interface*) {
  return open_images(options);
}
Splits open(const Ph2DataOptions& options, const Interface*) {
  return open_ph2(options);
}
Splits open(const RotatedMnistDataOptions& options, const Interface*) {
  return open_rotated_mnist(options);
}

Schema declared(const Cifar10DataOptions& options, const Interface*) {
  return cifar10_schema(options);
}
Schema declared(const ImagesDataOptions& options, const Interface*) {
  return images_schema(options);
}
Schema declared(const Ph2DataOptions& options, const Interface*) {
  return ph2_schema(options);
}
Schema declared(const RotatedMnistDataOptions& options, const Interface*) {
  return rotated_mnist_schema(options);
}
Splits open(const DecathlonDataOptions& options, const Interface*) {
  return open_decathlon(options);
}

Splits open(const ModelnetDataOptions& options, const Interface*) {
  return open_modelnet(options);
}

Splits open(const MoleculesDataOptions& options, const Interface*) {
  return open_molecules(options);
}
Splits open(const Md17DataOptions& options, const Interface*) {
  return open_md17(options);
}
Splits open(const Qm9DataOptions& options, const Interface*) {
  return open_qm9(options);
}

Schema declared(const MoleculesDataOptions& options, const Interface*) {
  return frames_schema(layout_of({options}));
}
Schema declared(const Md17DataOptions& options, const Interface*) {
  return frames_schema(layout_of({options}));
}
Schema declared(const Qm9DataOptions& options, const Interface*) {
  return frames_schema(layout_of({options}));
}
Schema declared(const DecathlonDataOptions& options, const Interface*) {
  return decathlon_schema(options);
}
Schema declared(const ModelnetDataOptions& options, const Interface*) {
  return modelnet_schema(options);
}
Schema declared(const PoseSequencesDataOptions& options, const Interface*) {
  return pose_sequences_schema(options);
}
Schema declared(const NbodyDataOptions& options, const Interface*) {
  return nbody_schema(options);
}
Schema declared(const TensorsDataOptions&, const Interface* interface) {
  return schema_of(required(interface));
}

/// How a file of shapes is read: as the set's options say, else as the model takes it.
ModelnetDataOptions modelnet_options(const DataOptions& options, const Interface* interface) {
  if (const auto* chosen = std::get_if<ModelnetDataOptions>(&options.set)) {
    return *chosen;
  }
  ModelnetDataOptions o;
  o.classes = 0;
  o.points = 0;
  if (interface != nullptr && interface->features.empty()) {
    o.carrier = ShapeCarrier::points;
  }
  return o;
}

/// The same of volumes.
DecathlonDataOptions decathlon_options(const DataOptions& options, const Interface* interface) {
  const auto* chosen = std::get_if<DecathlonDataOptions>(&options.set);
  DecathlonDataOptions o = chosen ? *chosen : DecathlonDataOptions{};
  if (!chosen) {
    o.modalities = interface && interface->features.size() == 1 ? interface->features[0].channels : 0;
  }
  return o;
}

}  // namespace

Schema declared_schema(const DataOptions& options, const Interface* interface) {
  return std::visit([&](const auto& o) { return declared(o, interface); }, options.set);
}

Splits open_splits(const DataOptions& options, const Interface* interface) {
  return std::visit([&](const auto& o) { return open(o, interface); }, options.set);
}

std::shared_ptr<const Dataset> open_file(const std::string& path, const DataOptions& options,
                                         const Interface* interface, Values values) {
  require<DataError>(fs::exists(path), path, ": there is no such file");
  if (is_nifti(path) || (fs::is_directory(path) && is_volume_folder(path))) {
    return open_volume_files(path, decathlon_options(options, interface));
  }
  if (auto images = open_image_file(path, options)) {
    if (interface != nullptr) {
      require_features(path, images->schema().interface.features, interface->features);
    }
    return images;
  }
  if (holds_frames(path)) {
    const auto rule = interface != nullptr    ? FrameCollector::Labels::none
                      : values == Values::any ? FrameCollector::Labels::found
                                              : FrameCollector::Labels::needed;
    const FrameLayout layout = layout_of(options);
    return open_frames_file(path, interface != nullptr ? as_told(layout, *interface) : layout, rule);
  }
  if (fs::is_directory(path)) {
    const Splits splits = open_splits(all_of(options, path), interface);
    return splits.test ? splits.test : splits.valid ? splits.valid : splits.train;
  }
  if (path.ends_with(".h5") || path.ends_with(".off")) {
    return open_modelnet_file(path, modelnet_options(options, interface));
  }
  if (is_pose_file(path)) {
    auto set = open_pose_file(path);
    if (interface != nullptr) {
      require<DataError>(interface->group == LieGroup::se3, path, ": holds poses of se3, the model takes ",
                         interface->group ? name_of(*interface->group) : "none");
      require_features(path, set->schema().interface.features, interface->features);
    }
    return set;
  }
  require<DataError>(path.ends_with(".safetensors"), path,
                     ": must be a .safetensors file, poses (.txt, .csv, .tum, .kitti), images (.png, .jpg, "
                     ".bmp, .amat, IDX), frames of atoms (.xyz, .extxyz, .npz, ...) or a folder");
  const SafetensorsFile file(path);
  const auto format = file.header().metadata.find("format");
  if (format != file.header().metadata.end() && format->second == nbody_format) {
    const auto* nbody = std::get_if<NbodyDataOptions>(&options.set);
    NbodyDataOptions chosen = nbody ? *nbody : NbodyDataOptions{};
    if (interface != nullptr) {  // the model decides whether it is told the speed
      chosen.speed = find_quantity(interface->features, "speed") != nullptr;
    }
    auto set = open_nbody_file(path, chosen, false);
    if (interface != nullptr) {
      require_features(path, set->schema().interface.features, interface->features);
    }
    return set;
  }
  return interface ? open_tensors(path, *interface) : in_memory(read_tensor_file(path, values));
}

}  // namespace weyl
