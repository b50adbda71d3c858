#include "weyl/data/formats/point_clouds.h"

#include <hdf5.h>
#include <hdf5_hl.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <optional>
#include <utility>

#include "weyl/core/available_memory.h"
#include "weyl/core/check.h"
#include "weyl/core/child_process.h"
#include "weyl/core/mapped_file.h"
#include "weyl/core/quote.h"
#include "weyl/data/formats/gzip.h"

namespace weyl {
namespace {

constexpr uint64_t kPoint = 3 * sizeof(float);
constexpr uint64_t kDecoded = 1UL << 20U;    // bytes of a file, at the best ratio, that take a second at most
constexpr uint64_t kMetadata = 1UL << 26U;   // bytes that the library may take before sizes are known
constexpr size_t kImageGrowth = 1UL << 20U;  // of a file that is written

/// The library is not made for several threads, and its errors would be printed.
std::unique_lock<std::mutex> hdf5() {
  static std::mutex mutex;
  std::unique_lock lock(mutex);
  static const bool once = [] {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    H5PLset_loading_state(0);  // a file must not choose libraries to load
    return true;
  }();
  (void)once;
  return lock;
}

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

/// What the child says of an array before its bytes: which of its names it has, the type, the axes.
struct SentArray {
  int64_t name = -1, type = 0, axes = 0;
  std::array<int64_t, 4> shape{};
};

/// What the child says of a data set that nobody asked for by name.
struct SentEntry {
  std::array<char, 65> name{};
  int64_t axes = 0;
  std::array<int64_t, 4> shape{};
};
constexpr int64_t kMostEntries = 64;

/// What runs in the child: how many data sets there are in the root, and each.
void send_entries(std::span<const std::byte> bytes, std::string_view where, ChildProcess::Sender& out) {
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

/// What runs in the child: of each list of names the array that is there.
void send_arrays(std::span<const std::byte> bytes, std::string_view where,
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

/// What runs in the child: (S, P), the positions, the labels.
void send_point_clouds(std::span<const std::byte> bytes, std::string_view where, uint64_t limit,
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

void require_signature(std::span<const std::byte> bytes, std::string_view where) {
  constexpr std::string_view kSignature("\x89HDF\r\n\x1a\n", 8);
  require<DataError>(bytes.size() >= kSignature.size() &&
                         std::equal(kSignature.begin(), kSignature.end(), bytes.begin(),
                                    [](char a, std::byte b) { return static_cast<std::byte>(a) == b; }),
                     where, ": is no HDF5 file");
}

ChildLimits limits_for(std::span<const std::byte> bytes) {
  return {.memory = kMetadata + 4 * bytes.size(), .seconds = 5 + bytes.size() / kDecoded};
}

}  // namespace

PointClouds parse_point_clouds(std::span<const std::byte> bytes, std::string_view where, uint64_t limit) {
  require_signature(bytes, where);
  const ChildLimits limits = limits_for(bytes);
  auto lock = hdf5();  // or the child would wait for another thread that is inside of the library
  ChildProcess child(std::string(where), limits,
                     [&](ChildProcess::Sender& out) { send_point_clouds(bytes, where, limit, out); });
  lock.unlock();
  PointClouds clouds;
  std::array<int64_t, 2> shape{};
  child.receive(std::as_writable_bytes(std::span(shape)));
  const auto [samples, points] = shape;
  require<DataError>(samples > 0 && points > 0 &&
                         static_cast<uint64_t>(points) <= limit / kPoint / static_cast<uint64_t>(samples),
                     where, ": is corrupt");
  clouds.points = points;
  clouds.positions.resize(samples * points * 3);
  clouds.labels.resize(samples);
  child.receive(std::as_writable_bytes(std::span(clouds.positions)));
  child.receive(std::as_writable_bytes(std::span(clouds.labels)));
  const auto bad = std::find_if(clouds.positions.begin(), clouds.positions.end(),
                                [](float x) { return !std::isfinite(x); });
  require<DataError>(bad == clouds.positions.end(), where, ": positions must be finite, those of sample ",
                     (bad - clouds.positions.begin()) / (3 * clouds.points), " are not");
  return clouds;
}

PointClouds read_point_clouds(const std::string& path, uint64_t limit) {
  const MappedFile file(path);
  return parse_point_clouds(file.bytes(), path, limit);
}

std::vector<Hdf5Entry> parse_hdf5_entries(std::span<const std::byte> bytes, std::string_view where) {
  require_signature(bytes, where);
  auto lock = hdf5();  // as above
  ChildProcess child(std::string(where), limits_for(bytes),
                     [&](ChildProcess::Sender& out) { send_entries(bytes, where, out); });
  lock.unlock();
  int64_t count = 0;
  child.receive(std::as_writable_bytes(std::span(&count, 1)));
  require<DataError>(count >= 0 && count <= kMostEntries, where, ": is corrupt");
  std::vector<Hdf5Entry> entries;
  for (int64_t i = 0; i < count; ++i) {
    SentEntry said;
    child.receive(std::as_writable_bytes(std::span(&said, 1)));
    require<DataError>(said.axes >= 0 && said.axes <= 4 && said.name.back() == '\0', where, ": is corrupt");
    entries.push_back({said.name.data(), {said.shape.begin(), said.shape.begin() + said.axes}});
  }
  return entries;
}

std::vector<Hdf5Entry> read_hdf5_entries(const std::string& path) {
  const MappedFile file(path);
  return parse_hdf5_entries(file.bytes(), path);
}

std::vector<NamedArray> parse_hdf5_arrays(std::span<const std::byte> bytes, std::string_view where,
                                          std::span<const std::vector<std::string>> wanted, uint64_t limit) {
  require_signature(bytes, where);
  auto lock = hdf5();  // as above
  ChildProcess child(std::string(where), limits_for(bytes),
                     [&](ChildProcess::Sender& out) { send_arrays(bytes, where, wanted, limit, out); });
  lock.unlock();
  std::vector<NamedArray> arrays;
  uint64_t all = 0;
  for (const auto& names : wanted) {
    SentArray said;
    child.receive(std::as_writable_bytes(std::span(&said, 1)));
    if (said.name < 0) {
      continue;
    }
    const auto sound = [&](bool holds) { require<DataError>(holds, where, ": is corrupt"); };
    sound(said.name < std::ssize(names) && said.axes >= 0 && said.axes <= 4);
    const auto type = static_cast<ElementType>(said.type);
    sound(type == ElementType::f32 || type == ElementType::f64 || type == ElementType::u8 ||
          type == ElementType::i64);
    std::vector<int64_t> shape(said.shape.begin(), said.shape.begin() + said.axes);
    const auto size = byte_count(type, shape);
    sound(size && *size <= limit - std::min(all, limit));
    all += *size;
    require_memory(*size, where);
    NamedArray& to = arrays.emplace_back(names[said.name], Array{type, shape, std::vector<std::byte>(*size)});
    child.receive(to.array.bytes);
  }
  return arrays;
}

std::vector<NamedArray> read_hdf5_arrays(const std::string& path,
                                         std::span<const std::vector<std::string>> wanted, uint64_t limit) {
  const MappedFile file(path);
  return parse_hdf5_arrays(file.bytes(), path, wanted, limit);
}

void write_point_clouds(const std::string& path, const PointClouds& clouds, Existing existing) {
  const auto count = static_cast<hsize_t>(clouds.count()), points = static_cast<hsize_t>(clouds.points);
  require(count > 0 && points > 0 && clouds.positions.size() == count * points * 3,
          "write_point_clouds: there must be (", count, ", ", points, ", 3) positions, got ",
          clouds.positions.size());
  std::vector<std::byte> image;
  {
    const auto lock = hdf5();
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
  AtomicFile out(path, existing);
  out.write(image);
  out.commit();
}

}  // namespace weyl
