#include "weyl/data/clouds/hdf5_module.h"

#include <hdf5.h>
#include <hdf5_hl.h>
#include <algorithm>
#include <optional>
#include <utility>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/data/containers/byte_source.h"

namespace weyl {
namespace {

constexpr size_t kImageGrowth = 1UL << 20U;  // of a file that is written

/// An identifier of the library with the call that closes it.
class Hdf5Handle {
 public:
  Hdf5Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~Hdf5Handle() {
    if (id_ >= 0) {
      close_(id_);
    }
  }
  Hdf5Handle(Hdf5Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Hdf5Handle& operator=(Hdf5Handle&&) = delete;
  operator hid_t() const { return id_; }
  bool ok() const { return id_ >= 0; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

/// One data set of the root group, with its shape, and the bytes that reading it takes besides its values.
struct Opened {
  Hdf5Handle set;
  std::vector<int64_t> shape;
  uint64_t chunk = 0;
};

Opened open_set(hid_t file, const char* name, H5T_class_t wanted, size_t file_size, std::string_view where) {
  H5L_info_t link{};
  require<DataError>(H5Lget_info(file, name, &link, H5P_DEFAULT) >= 0, where, ": there is no data set '",
                     name, "'");
  require<DataError>(link.type == H5L_TYPE_HARD, where, ": '", name,
                     "' must be in the file, it is a link to elsewhere");
  Opened result{Hdf5Handle(H5Dopen2(file, name, H5P_DEFAULT), H5Dclose), {}, 0};
  require<DataError>(result.set.ok(), where, ": '", name, "' cannot be opened as a data set");
  const Hdf5Handle type(H5Dget_type(result.set), H5Tclose);
  const Hdf5Handle space(H5Dget_space(result.set), H5Sclose);
  const Hdf5Handle creation(H5Dget_create_plist(result.set), H5Pclose);
  require<DataError>(type.ok() && space.ok() && creation.ok(), where, ": '", name, "' is corrupt");
  const H5T_class_t held = H5Tget_class(type);
  require<DataError>(held == wanted || (wanted == H5T_NO_CLASS && (held == H5T_FLOAT || held == H5T_INTEGER)),
                     where, ": '", name, "' must hold ",
                     wanted == H5T_FLOAT     ? "real numbers"
                     : wanted == H5T_INTEGER ? "whole numbers"
                                             : "numbers");
  require<DataError>(H5Tget_size(type) <= 8, where, ": '", name, "' has numbers of ", H5Tget_size(type),
                     " bytes");
  require<DataError>(H5Pget_layout(creation) != H5D_VIRTUAL && H5Pget_external_count(creation) == 0, where,
                     ": '", name, "' must be in the file, its values are stored elsewhere");
  const int axes = H5Sget_simple_extent_ndims(space);
  // A single number has none.
  require<DataError>(axes >= 0 && axes <= 4, where, ": '", name, "' must have at most 4 axes, got ", axes);
  std::vector<hsize_t> sizes(axes);
  H5Sget_simple_extent_dims(space, sizes.data(), nullptr);
  uint64_t values = 1;
  const uint64_t most = most_gzip_ratio * static_cast<uint64_t>(file_size);
  for (const hsize_t n : sizes) {
    require<DataError>(n == 0 || values <= most / n, where, ": '", name,
                       "' is larger than the file can hold");
    values *= n;
    result.shape.push_back(static_cast<int64_t>(n));
  }
  const uint64_t stored = H5Dget_storage_size(result.set);  // what is never written takes no room in the file
  require<DataError>(values * H5Tget_size(type) <= most_gzip_ratio * stored, where, ": '", name, "' has ",
                     values, " numbers, more than the ", stored, " bytes that are stored of it can hold");
  // A chunk may be larger than the data set.
  if (H5Pget_layout(creation) == H5D_CHUNKED) {
    std::vector<hsize_t> chunk(axes);
    require<DataError>(H5Pget_chunk(creation, axes, chunk.data()) == axes, where, ": '", name,
                       "' is corrupt");
    uint64_t chunk_values = H5Tget_size(type);
    for (const hsize_t n : chunk) {
      require<DataError>(n > 0 && chunk_values <= most / n, where, ": a chunk of '", name,
                         "' is larger than the file can hold");
      chunk_values *= n;
    }
    result.chunk = chunk_values;
  }
  return result;
}

/// The file whose bytes these are.
Hdf5Handle open_image(std::span<const std::byte> bytes, std::string_view where) {
  // The library does not write to the bytes of a file that is opened for reading.
  Hdf5Handle file(H5LTopen_file_image(const_cast<std::byte*>(bytes.data()), bytes.size(),
                                      H5LT_FILE_IMAGE_DONT_COPY | H5LT_FILE_IMAGE_DONT_RELEASE),
                  H5Fclose);
  require<DataError>(file.ok(), where, ": is no sound HDF5 file; it may be truncated");
  return file;
}

void write_set(hid_t file, const char* name, std::initializer_list<hsize_t> shape, hid_t stored, hid_t given,
               const void* values, const std::string& path) {
  const Hdf5Handle space(H5Screate_simple(static_cast<int>(shape.size()), std::data(shape), nullptr),
                         H5Sclose);
  const Hdf5Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_obj_track_times(creation, 0);
  const Hdf5Handle set(H5Dcreate2(file, name, stored, space, H5P_DEFAULT, creation, H5P_DEFAULT), H5Dclose);
  require<DataError>(set.ok() && H5Dwrite(set, given, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0, path,
                     ": '", name, "' cannot be written");
}

}  // namespace

/// Its errors would be printed, and a file must not choose libraries to load.
void weyl_hdf5_begin() {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  H5PLset_loading_state(0);
}

void weyl_hdf5_send_entries(std::span<const std::byte> bytes, std::string_view where,
                            ChildProcess::Sender& out) {
  const Hdf5Handle file = open_image(bytes, where);
  H5G_info_t root{};
  require<DataError>(H5Gget_info(file, &root) >= 0, where, ": is corrupt");
  std::vector<SentEntry> found;
  for (hsize_t i = 0; i < root.nlinks && std::ssize(found) < kMostEntries; ++i) {
    SentEntry entry;
    const ssize_t length = H5Lget_name_by_idx(file, ".", H5_INDEX_NAME, H5_ITER_INC, i, entry.name.data(),
                                              entry.name.size(), H5P_DEFAULT);
    H5L_info_t link{};
    if (length <= 0 || length >= std::ssize(entry.name) ||
        H5Lget_info(file, entry.name.data(), &link, H5P_DEFAULT) < 0 || link.type != H5L_TYPE_HARD) {
      continue;
    }
    const Hdf5Handle set(H5Dopen2(file, entry.name.data(), H5P_DEFAULT), H5Dclose);  // fails of a group
    const Hdf5Handle space(set.ok() ? H5Dget_space(set) : -1, H5Sclose);
    entry.axes = space.ok() ? H5Sget_simple_extent_ndims(space) : -1;
    std::array<hsize_t, 4> sizes{};
    if (entry.axes < 0 || entry.axes > std::ssize(sizes) ||
        H5Sget_simple_extent_dims(space, sizes.data(), nullptr) < 0) {
      continue;
    }
    std::ranges::copy(sizes, entry.shape.begin());
    found.push_back(entry);
  }
  const int64_t count = std::ssize(found);
  out.send(std::as_bytes(std::span(&count, 1)));
  for (const SentEntry& entry : found) {
    out.send(std::as_bytes(std::span(&entry, 1)));
  }
}

void weyl_hdf5_send_arrays(std::span<const std::byte> bytes, std::string_view where,
                           std::span<const std::vector<std::string>> wanted, uint64_t limit,
                           ChildProcess::Sender& out) {
  const Hdf5Handle file = open_image(bytes, where);
  std::vector<std::pair<SentArray, std::optional<Opened>>> all;
  uint64_t needed = 0, chunks = 0, most = 0;
  for (const auto& names : wanted) {
    auto& [said, opened] = all.emplace_back();
    const auto found = std::ranges::find_if(
        names, [&](const std::string& name) { return H5Lexists(file, name.c_str(), H5P_DEFAULT) > 0; });
    if (found == names.end()) {
      continue;
    }
    opened.emplace(open_set(file, found->c_str(), H5T_NO_CLASS, bytes.size(), where));
    const Hdf5Handle type(H5Dget_type(opened->set), H5Tclose);
    const bool real = H5Tget_class(type) == H5T_FLOAT;
    const ElementType element =
        real ? (H5Tget_size(type) <= sizeof(float) ? ElementType::f32 : ElementType::f64)
        : H5Tget_size(type) == 1 && H5Tget_sign(type) == H5T_SGN_NONE ? ElementType::u8
                                                                      : ElementType::i64;
    said = {found - names.begin(), static_cast<int64_t>(element), std::ssize(opened->shape), {}};
    std::ranges::copy(opened->shape, said.shape.begin());
    const auto size = byte_count(element, opened->shape);
    require<DataError>(size && *size <= limit - std::min(needed, limit), where, ": '", *found, "' ",
                       shape_text(opened->shape), " needs more bytes than the limit of ", limit);
    needed += *size;
    most = std::max(most, *size);
    chunks += opened->chunk;
  }
  out.allow(needed + most + 4 * chunks);
  for (const auto& [said, opened] : all) {
    out.send(std::as_bytes(std::span(&said, 1)));
    if (!opened) {
      continue;
    }
    const auto element = static_cast<ElementType>(said.type);
    std::vector<std::byte> values(*byte_count(element, opened->shape));
    const hid_t to = element == ElementType::f32   ? H5T_NATIVE_FLOAT
                     : element == ElementType::f64 ? H5T_NATIVE_DOUBLE
                     : element == ElementType::u8  ? H5T_NATIVE_UINT8
                                                   : H5T_NATIVE_INT64;
    require<DataError>(
        H5Dread(opened->set, to, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) >= 0, where,
        ": an array cannot be read; it may be truncated, corrupt or compressed in a way other than deflate");
    out.send(values);
  }
}

void weyl_hdf5_send_point_clouds(std::span<const std::byte> bytes, std::string_view where, uint64_t limit,
                                 ChildProcess::Sender& out) {
  const Hdf5Handle file = open_image(bytes, where);
  const Opened data = open_set(file, "data", H5T_FLOAT, bytes.size(), where);
  const Opened label = open_set(file, "label", H5T_INTEGER, bytes.size(), where);
  require<DataError>(data.shape.size() == 3 && data.shape[2] == 3 && data.shape[0] > 0 && data.shape[1] > 0,
                     where, ": 'data' must be (samples, points, 3), got ", shape_text(data.shape));
  require<DataError>(!label.shape.empty() && label.shape[0] == data.shape[0] &&
                         (label.shape.size() == 1 || (label.shape.size() == 2 && label.shape[1] == 1)),
                     where, ": 'label' must be [", data.shape[0], ", 1], got ", shape_text(label.shape));
  const std::array<int64_t, 2> shape{data.shape[0], data.shape[1]};
  const uint64_t needed = static_cast<uint64_t>(shape[0]) * static_cast<uint64_t>(shape[1]) * kPoint;
  require<DataError>(needed <= limit, where, ": 'data' ", shape_text(data.shape), " needs ", needed,
                     " bytes, more than the limit of ", limit);
  out.allow(2 * needed + 4 * (data.chunk + label.chunk) + static_cast<uint64_t>(shape[0]) * sizeof(int64_t));
  std::vector<float> positions(shape[0] * shape[1] * 3);
  std::vector<int64_t> labels(shape[0]);
  const auto read = [&](const Opened& from, const char* name, hid_t type, void* to) {
    require<DataError>(
        H5Dread(from.set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, to) >= 0, where, ": '", name,
        "' cannot be read; it may be truncated, corrupt or compressed in a way other than deflate");
  };
  read(data, "data", H5T_NATIVE_FLOAT, positions.data());
  read(label, "label", H5T_NATIVE_INT64, labels.data());
  out.send(std::as_bytes(std::span(shape)));
  out.send(std::as_bytes(std::span(positions)));
  out.send(std::as_bytes(std::span(labels)));
}

void weyl_hdf5_write(const PointClouds& clouds, const std::string& path, std::vector<std::byte>& image) {
  const auto count = static_cast<hsize_t>(clouds.count()), points = static_cast<hsize_t>(clouds.points);
  const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fapl_core(access, kImageGrowth, 0);
  const Hdf5Handle file(H5Fcreate("image", H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose);
  require<DataError>(file.ok(), path, ": there is no memory to write it");
  write_set(file, "data", {count, points, 3}, H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, clouds.positions.data(),
            path);
  write_set(file, "label", {count, 1}, H5T_STD_I64LE, H5T_NATIVE_INT64, clouds.labels.data(), path);
  H5Fflush(file, H5F_SCOPE_GLOBAL);
  const ssize_t size = H5Fget_file_image(file, nullptr, 0);
  require<DataError>(size > 0, path, ": there is no memory to write it");
  image.resize(size);
  H5Fget_file_image(file, image.data(), image.size());
}

}  // namespace weyl
