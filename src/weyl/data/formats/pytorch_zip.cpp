// The archive: NAME/data.pkl, NAME/data/<key> (one file a storage, stored), NAME/byteorder ("little" or
// "big").
#include "weyl/data/formats/pytorch_zip.h"

#include "weyl/core/check.h"
#include "weyl/core/mapped_file.h"
#include "weyl/core/quote.h"
#include "weyl/data/formats/zip_archive.h"

namespace weyl {
namespace {

constexpr std::string_view pickle_name = "data.pkl";

std::string_view text_of_bytes(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The same bytes, unless they are known to be something else: DataError that says what.
std::span<const std::byte> not_of_another_format(std::span<const std::byte> bytes, std::string_view where) {
  const std::string_view file = text_of_bytes(bytes);
  // Protocol 2, then the legacy format's magic number as a LONG1; before 0.1.10 it was a tar archive.
  const bool legacy = file.starts_with("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19") ||
                      (file.size() > 262 && file.substr(257, 5) == "ustar");
  require<DataError>(!legacy, where,
                     ": is of PyTorch's legacy format; convert it with python -c \"import torch; "
                     "torch.save(torch.load('OLD', map_location='cpu', weights_only=True), 'NEW')\"");
  require<DataError>(!file.starts_with('\x80'), where,
                     ": is a plain pickle; a PyTorch checkpoint is a zip archive");
  return bytes;
}

/// "NAME/" of the one entry NAME/data.pkl.
std::string root_of(const ZipArchive& archive, std::string_view where) {
  const std::string* root = nullptr;
  for (const auto& entry : archive.entries()) {
    const auto slash = entry.name.find('/');
    if (slash != std::string::npos && std::string_view(entry.name).substr(slash + 1) == pickle_name) {
      require<DataError>(root == nullptr, where, ": must hold one data.pkl, got ",
                         quote(root == nullptr ? "" : *root), " and ", quote(entry.name));
      root = &entry.name;
    }
  }
  require<DataError>(root != nullptr, where, ": is a zip archive without data.pkl, not a PyTorch checkpoint");
  return root->substr(0, root->size() - pickle_name.size());
}

}  // namespace

PytorchArchive::PytorchArchive(std::span<const std::byte> file, std::string_view where)
    : where_(where),
      limit_((uint64_t{64} << 20) + 16 * file.size()),
      archive_(not_of_another_format(file, where), where, limit_),
      root_(root_of(archive_, where)) {
  require<DataError>(!archive_.find(root_ + "constants.pkl"), where_,
                     ": is a TorchScript archive; save the module's state_dict() instead");
  if (const auto entry = archive_.find(root_ + "byteorder")) {
    const auto bytes = archive_.unpack(*entry);
    big_endian_ = text_of_bytes(bytes) == "big";
    require<DataError>(big_endian_ || text_of_bytes(bytes) == "little", where_,
                       ": byteorder must be little or big, got ", quote(text_of_bytes(bytes), 20));
  }
}

std::vector<std::byte> PytorchArchive::pickle() {
  return archive_.unpack(archive_.find(root_ + std::string(pickle_name)).value());
}

std::vector<NamedArray> PytorchArchive::arrays(const std::vector<PickledTensor>& views) {
  const auto storage = [&](std::string_view key) {
    const auto entry = archive_.find(text(root_, "data/", key));
    require<DataError>(entry.has_value(), where_, ": no storage ", quote(key));
    return archive_.unpack(*entry);
  };
  return arrays_of(views, storage, big_endian_, limit_, where_);
}

std::vector<NamedArray> parse_pytorch_zip(std::span<const std::byte> file, std::string_view where) {
  PytorchArchive archive(file, where);
  const std::vector<std::byte> bytes = archive.pickle();
  const Pickle pickle = parse_pickle(bytes, where);
  std::vector<PickledTensor> views = pickled_tensors(pickle, where);
  require<DataError>(!views.empty(), where, ": holds no tensor");
  return archive.arrays(views);
}

std::vector<NamedArray> read_pytorch_zip(const std::string& path) {
  return parse_pytorch_zip(MappedFile(path).bytes(), path);
}

}  // namespace weyl
