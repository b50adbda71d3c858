#include "weyl/data/volumes/prepared_volumes.h"

#include <ATen/ops/empty.h>
#include <unistd.h>

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

VolumeBox box_of(std::span<const std::byte> bytes) {
  VolumeBox box;
  require<DataError>(bytes.size() == sizeof(box), "a box must be six numbers");
  std::memcpy(box.begin.data(), bytes.data(), sizeof(box.begin));
  std::memcpy(box.kept.data(), bytes.data() + sizeof(box.begin), sizeof(box.kept));
  return box;
}

}  // namespace

PreparedFile prepared_volume(const std::string& folder, const VolumeCase& files, const std::string& how) {
  if (folder.empty()) {
    return {};
  }
  std::string key = how + "\n";
  for (const std::string& file : files.channels) {
    key += state_of(file);
  }
  key += files.mask.empty() ? "" : state_of(files.mask);
  const std::string name = files.name.empty() ? fs::path(files.channels[0]).filename().string() : files.name;
  const auto path =
      fs::path(folder) / text(name, ".", checksum(std::as_bytes(std::span(key))), ".safetensors");
  return {path.string(), std::move(key)};
}

int64_t Volume::bytes() const {
  return static_cast<int64_t>(image.nbytes()) + (mask.defined() ? static_cast<int64_t>(mask.nbytes()) : 0);
}

std::optional<Volume> VolumeCache::find(int64_t index) {
  const std::lock_guard lock(mutex_);
  const auto found = by_index_.find(index);
  if (found == by_index_.end()) {
    return {};
  }
  by_use_.splice(by_use_.begin(), by_use_, found->second);
  return found->second->second;
}

void VolumeCache::keep(int64_t index, const Volume& volume) {
  const std::lock_guard lock(mutex_);
  if (by_index_.contains(index) || volume.bytes() > most_) {
    return;
  }
  held_ += volume.bytes();
  by_use_.emplace_front(index, volume);
  by_index_[index] = by_use_.begin();
  while (held_ > most_) {
    held_ -= by_use_.back().second.bytes();
    by_index_.erase(by_use_.back().first);
    by_use_.pop_back();
  }
}

std::optional<Volume> load_volume(const PreparedFile& kept) {
  const auto file = kept.open();
  if (file == nullptr) {
    return {};
  }
  try {
    NamedTensors tensors = load_tensors(*file);
    Volume volume{tensors["image"], tensors["mask"]};
    const bool fits =
        volume.image.defined() && volume.image.dim() == 4 && volume.image.scalar_type() == at::kFloat &&
        (!volume.mask.defined() ||
         (volume.mask.scalar_type() == at::kByte && volume.mask.sizes() == volume.image.sizes().slice(1)));
    return fits ? std::optional(volume) : std::nullopt;
  } catch (const DataError&) {
    return {};
  }
}

std::optional<VolumeBox> load_box(const PreparedFile& kept) {
  const auto file = kept.open();
  if (file == nullptr) {
    return {};
  }
  try {
    return box_of(file->bytes("box"));
  } catch (const DataError&) {
    return {};
  }
}

void save_volume(const PreparedFile& file, const Volume& volume, const VolumeBox& box) {
  Tensor numbers = at::empty({6}, at::kLong);
  std::ranges::copy(box.begin, numbers.mutable_data_ptr<int64_t>());
  std::ranges::copy(box.kept, numbers.mutable_data_ptr<int64_t>() + 3);
  NamedTensors tensors{{"box", numbers}};
  for (const auto& [name, tensor] : {std::pair{"image", volume.image}, {"mask", volume.mask}}) {
    if (tensor.defined()) {
      tensors[name] = tensor;
    }
  }
  // A full disk costs time, not the training: fault_of_prepared has told of folders that cannot be written at all.
  file.save([&](const std::string& path, const PreparedFile::Metadata& metadata) {
    save_tensors(path, tensors, metadata, Existing::replace_link);
  });
}

std::string fault_of_prepared(const std::string& folder) {
  if (folder.empty()) {
    return "";
  }
  try {
    make_folder(folder);
  } catch (const DataError& error) {
    return error.what();
  }
  return ::access(folder.c_str(), W_OK) == 0 ? "" : folder + ": cannot be written";
}

}  // namespace weyl
