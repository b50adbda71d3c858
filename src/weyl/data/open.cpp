#include "weyl/data/open.h"

#include <filesystem>

#include "weyl/core/alternatives.h"
#include "weyl/core/check.h"
#include "weyl/data/files/advice.h"
#include "weyl/data/files/format_words.h"
#include "weyl/data/files/formats.h"
#include "weyl/data/files/open_request.h"
#include "weyl/data/sets/cifar10.h"
#include "weyl/data/sets/clouds.h"
#include "weyl/data/sets/decathlon.h"
#include "weyl/data/sets/image_folder.h"
#include "weyl/data/sets/modelnet.h"
#include "weyl/data/sets/molecules.h"
#include "weyl/data/sets/nbody.h"
#include "weyl/data/sets/ph2.h"
#include "weyl/data/sets/planets.h"
#include "weyl/data/sets/pose_sequences.h"
#include "weyl/data/sets/rigid_bodies.h"
#include "weyl/data/sets/rotated_mnist.h"
#include "weyl/data/sets/tensor_files.h"

namespace weyl {
namespace {

Splits open(const NbodyDataOptions& options, const Interface*) {
  return open_nbody(options);
}

Splits open(const TensorsDataOptions& options, const Interface* interface) {
  return open_tensors(options, interface);
}

Splits open(const PlanetsDataOptions& options, const Interface*) {
  return open_planets(options);
}

Splits open(const PoseSequencesDataOptions& options, const Interface*) {
  return open_pose_sequences(options);
}

Splits open(const RigidBodiesDataOptions& options, const Interface*) {
  return open_rigid_bodies(options);
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

Splits open(const CloudsDataOptions& options, const Interface*) {
  return open_clouds(options);
}

Splits open(const MoleculesDataOptions& options, const Interface*, Keep keep) {
  return open_molecules(options, keep);
}
Splits open(const Md17DataOptions& options, const Interface*, Keep keep) {
  return open_md17(options, keep);
}
Splits open(const Qm9DataOptions& options, const Interface*, Keep keep) {
  return open_qm9(options, keep);
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
Schema declared(const CloudsDataOptions& options, const Interface*) {
  return clouds_schema(options);
}
Schema declared(const PlanetsDataOptions& options, const Interface*) {
  return planets_schema(options);
}
Schema declared(const PoseSequencesDataOptions& options, const Interface*) {
  return pose_sequences_schema(options);
}
Schema declared(const RigidBodiesDataOptions& options, const Interface*) {
  return rigid_bodies_schema(options);
}
Schema declared(const NbodyDataOptions& options, const Interface*) {
  return nbody_schema(options);
}
Schema declared(const TensorsDataOptions&, const Interface* interface) {
  return tensors_schema(interface);
}

}  // namespace

Schema declared_schema(const DataOptions& options, const Interface* interface) {
  return std::visit([&](const auto& o) { return declared(o, interface); }, options.set);
}

Splits open_splits(const DataOptions& options, const Interface* interface, Keep keep) {
  return std::visit(
      [&](const auto& o) {
        if constexpr (requires { open(o, interface, keep); }) {
          return open(o, interface, keep);
        } else {
          return open(o, interface);
        }
      },
      options.set);
}

std::shared_ptr<const Dataset> open_file(const std::string& path, const DataOptions& options,
                                         const Interface* interface, Values values, Keep keep) {
  namespace fs = std::filesystem;
  require<DataError>(fs::exists(path), path, ": there is no such file");
  const OpenRequest request{path, options, interface, values, keep};
  std::shared_ptr<const Dataset> data;
  any_alternative<FileFormats>([&]<class Format>(std::type_identity<Format>) {
    if constexpr (CanOpen<Format>) {
      if (Format::takes(path, options)) {
        data = Format::open(request);
      }
    }
    return data != nullptr;
  });
  if (data == nullptr && fs::is_directory(path)) {
    const Splits splits = open_splits(all_of(options, path), interface, keep);
    data = splits.test ? splits.test : splits.valid ? splits.valid : splits.train;
  }
  if (data == nullptr) {
    const std::string advice = advice_for(path);
    throw DataError(text(
        path, ": ", advice.empty() ? "must be " + list_of_formats(FormatUse::open, "a folder") : advice));
  }
  return data;
}

}  // namespace weyl
