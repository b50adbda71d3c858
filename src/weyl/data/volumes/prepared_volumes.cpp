#include "weyl/data/volumes/prepared_volumes.h"

#include <ATen/ops/empty.h>
#include <algorithm>
#include <cstring>
#include <filesystem>

#include "weyl/core/check.h"
#include "weyl/core/checksum.h"
#include "weyl/core/own_folder.h"
#include "weyl/core/tensor_file.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

constexpr const char* kKey = "prepared_volume";

std::string state_of(const std::string& path) {
  std::error_code error;
  return text(fs::weakly_canonical(path, error).string(), " ", fs::file_size(path, error), " ",
              fs::last_write_time(path, error).time_since_epoch().count(), "\n");
}

VolumeBox box_of(std::span<const std::byte> bytes) {
  VolumeBox box;
  require<DataError>(bytes.size() == sizeof(box), "a box must be six numbers");
  std::memcpy(box.begin.data(), bytes.data(), sizeof(box.begin));
  std::memcpy(box.kept.data(), bytes.data() + sizeof(box.begin), sizeof(box.kept));
  return box;
}

}  // namespace

PreparedFile::PreparedFile(const std::string& folder, const VolumeCase& files, const std::string& how)
    : folder_(folder), key_(how + "\n") {
  if (folder.empty()) {
    return;
  }
  for (const std::string& file : files.channels) {
    key_ += state_of(file);
  }
  key_ += files.mask.empty() ? "" : state_of(files.mask);
  const std::string name = files.name.empty() ? fs::path(files.channels[0]).filename().string() : files.name;
  path_ =
      (fs::path(folder) / text(name, ".", checksum(std::as_bytes(std::span(key_))), ".safetensors")).string();
}

std::optional<PreparedVolume> PreparedFile::load() const {
  if (path_.empty() || !fs::exists(path_)) {
    return {};
  }
  try {
    const SafetensorsFile file(path_);
    const auto key = file.header().metadata.find(kKey);
    if (key == file.header().metadata.end() || key->second != key_) {
      return {};
    }
    NamedTensors tensors = load_tensors(file);
    PreparedVolume volume{tensors["image"], tensors["mask"], box_of(file.bytes("box"))};
    const bool fits =
        volume.image.defined() && volume.image.dim() == 4 && volume.image.scalar_type() == at::kFloat &&
        (!volume.mask.defined() ||
         (volume.mask.scalar_type() == at::kByte && volume.mask.sizes() == volume.image.sizes().slice(1)));
    return fits ? std::optional(volume) : std::nullopt;
  } catch (const DataError&) {
    return {};
  }
}

std::optional<VolumeBox> PreparedFile::load_box() const {
  if (path_.empty() || !fs::exists(path_)) {
    return {};
  }
  try {
    const SafetensorsFile file(path_);
    const auto key = file.header().metadata.find(kKey);
    return key != file.header().metadata.end() && key->second == key_
               ? std::optional(box_of(file.bytes("box")))
               : std::nullopt;
  } catch (const DataError&) {
    return {};
  }
}

void PreparedFile::save(const PreparedVolume& volume) const {
  if (path_.empty()) {
    return;
  }
  make_folder(folder_);
  Tensor box = at::empty({6}, at::kLong);
  std::ranges::copy(volume.box.begin, box.mutable_data_ptr<int64_t>());
  std::ranges::copy(volume.box.kept, box.mutable_data_ptr<int64_t>() + 3);
  NamedTensors tensors{{"image", volume.image}, {"box", box}};
  if (volume.mask.defined()) {
    tensors["mask"] = volume.mask;
  }
  save_tensors(path_, tensors, {{kKey, key_}});
}

}  // namespace weyl
