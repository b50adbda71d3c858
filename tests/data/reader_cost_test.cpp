// The time and the memory that each reader takes for a byte of its file, as a table, and that the memory grows with the
// file alone. Times are told and not judged: a reader whose time grows faster than its file has a number well above 4 in
// the last column.
//
//   OMP_NUM_THREADS=1 build/release/bin/test.data.formats.base --file reader_cost_test.cpp
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <functional>
#include <random>

#include "tests/config/kitchen.h"
#include "tests/data/folder.h"
#include "tests/data/reader_files.h"
#include "tests/peak_memory.h"
#include "tests/sanitized.h"
#include "weyl/config/toml.h"
#include "weyl/core/check.h"
#include "weyl/core/input_file.h"
#include "weyl/core/json.h"
#include "weyl/core/safetensors.h"
#include "weyl/data/atoms/frame_reader.h"
#include "weyl/data/atoms/inspect_frames.h"
#include "weyl/data/atoms/molecule_npz.h"
#include "weyl/data/clouds/mesh_file.h"
#include "weyl/data/clouds/ply.h"
#include "weyl/data/clouds/point_clouds.h"
#include "weyl/data/clouds/point_text.h"
#include "weyl/data/containers/archives.h"
#include "weyl/data/containers/byte_source.h"
#include "weyl/data/containers/npy.h"
#include "weyl/data/containers/pytorch_zip.h"
#include "weyl/data/containers/weights.h"
#include "weyl/data/images/digit_files.h"
#include "weyl/data/images/image.h"
#include "weyl/data/poses/pose_file.h"
#include "weyl/data/volumes/nifti.h"
#include "weyl/data/volumes/volume_index.h"

namespace weyl {
namespace reader_cost_test {

// Copies of a few megabytes take as long as the system takes to give the pages, which varies by as much.
constexpr double kNoise = 0.002;  // seconds

/// A format: how a file of some size is made, and how it is read.
struct Reader {
  std::string name;
  std::string file;
  int64_t size;  // of the smaller file, in the writer's unit
  std::function<void(const std::string& path, int64_t)> make;
  std::function<void(const std::string& path)> read;
};

void PrintTo(const Reader& reader, std::ostream* out) {
  *out << reader.name;
}

/// Of the sizes, what is read under sanitizers, where all takes long and memory is not judged.
constexpr int64_t share = under_sanitizers(3, 1);

/// Seconds of the processor, of this process and the children that it has waited for: HDF5 is read in one.
double seconds_of_all() {
  timespec own{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own);
  rusage children{};
  ::getrusage(RUSAGE_CHILDREN, &children);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return static_cast<double>(own.tv_sec) + 1e-9 * static_cast<double>(own.tv_nsec) +
         seconds(children.ru_utime) + seconds(children.ru_stime);
}

struct Cost {
  int64_t file = 0, memory = 0;  // bytes
  double seconds = 1e9;
};

Cost cost_of(const Reader& reader, const std::string& path) {
  Cost cost;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(path).parent_path())) {
    cost.file += entry.is_regular_file() ? static_cast<int64_t>(entry.file_size()) : 0;
  }
  // A machine that does something else meanwhile spoils a measurement of time: the best of several is told.
  cost.memory = memory_of([&] {
    for (int trial = 0; trial < 3; ++trial) {
      const double begin = seconds_of_all();
      reader.read(path);
      cost.seconds = std::min(cost.seconds, seconds_of_all() - begin);
    }
  });
  return cost;
}

const std::vector<Reader>& readers() {
  static const std::vector<Reader> all{
      {"JSON, keys of an object", "a.json", 20'000,
       [](const std::string& path, int64_t n) {
         Json json = Json::object();
         for (int64_t i = 0; i < n; ++i) {
           json.set(text("key", i), i);
         }
         write(path, json.dump());
       },
       [](const std::string& path) {
         const MappedFile file(path);
         const Json json =
             Json::parse({reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()}, path);
         EXPECT_NE(json.find("key7"), nullptr);
         EXPECT_FALSE(json.dump().empty());
       }},
      {"JSON, items of an array", "a.json", 100'000,
       [](const std::string& path, int64_t n) { write(path, "[" + repeated("[0],", n) + "1]"); },
       [](const std::string& path) {
         const MappedFile file(path);
         Json::parse({reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()}, path);
       }},
      {"TOML, tables of an array", "a.toml", 2'000,
       [](const std::string& path, int64_t n) {
         write(path, repeated("[[dishes]]\nname = \"a\"\nherbs = [\"b\", \"c\"]\n", n));
       },
       [](const std::string& path) {
         Kitchen kitchen;
         read_toml(path, {}, [&](Fields& f) { fields(f, kitchen); });
         EXPECT_GE(kitchen.dishes.size(), 2'000u / share);
       }},
      {"TOML, keys of a table", "a.toml", 8'000,
       [](const std::string& path, int64_t n) {
         std::string file;
         for (int64_t i = 0; i < n; ++i) {
           file += text("key", i, " = 1\n");
         }
         write(path, file);
       },
       [](const std::string& path) {
         Kitchen kitchen;
         EXPECT_THROW(read_toml(path, {}, [&](Fields& f) { fields(f, kitchen); }), ConfigError);
       }},
      {"safetensors, tensors", "a.safetensors", 5'000,
       [](const std::string& path, int64_t n) {
         std::vector<TensorBytes> tensors;
         static const Bytes one(4);
         for (int64_t i = 0; i < n; ++i) {
           tensors.push_back({text("tensor", i), ElementType::f32, {1}, one});
         }
         write_safetensors(path, tensors);
       },
       [](const std::string& path) { read_weights(path); }},
      {"PyTorch checkpoint, tensors", "a.pt", 5'000,
       [](const std::string& path, int64_t n) { write(path, checkpoint(n)); },
       [](const std::string& path) { read_weights(path); }},
      {"npy, C order", "a.npy", 1 << 20,
       [](const std::string& path, int64_t n) {
         write_npy(path, {ElementType::f64, {n}, Bytes(static_cast<size_t>(8 * n))});
       },
       [](const std::string& path) { read_npy(path); }},
      {"npz, deflated", "a.npz", 1 << 20,
       [](const std::string& path, int64_t n) {
         write_npz(path, std::vector<NamedArray>{{"a", {ElementType::u8, {n}, random_bytes(n)}}}, true);
       },
       [](const std::string& path) { read_npz(path); }},
      {"npz, arrays", "a.npz", 1'000,
       [](const std::string& path, int64_t n) {
         std::vector<NamedArray> arrays;
         for (int64_t i = 0; i < n; ++i) {
           arrays.push_back({text("array", i), {ElementType::u8, {1}, Bytes(1)}});
         }
         write_npz(path, arrays);
       },
       [](const std::string& path) { read_npz(path); }},
      {"npz of a molecule (rMD17)", "a.npz", 4'000, make_rmd17, read_frames},
      {"DeePMD folder", "type.raw", 8'000, make_deepmd,
       [](const std::string& path) { read_frames(fs::path(path).parent_path().string()); }},
      {"ASE-LMDB, rows", "a.aselmdb", 10'000, make_ase_lmdb, read_frames},
      {"extended xyz, frames", "a.xyz", 1'000,
       [](const std::string& path, int64_t n) { write(path, frames(n)); }, read_frames},
      {"extended xyz, one frame, inspected", "a.xyz", 10'000,
       [](const std::string& path, int64_t n) { write(path, atoms(n)); }, inspect_all},
      {"extended xyz, keys, inspected", "a.xyz", 4'000,
       [](const std::string& path, int64_t n) {
         std::string keys;
         for (int64_t i = 0; i < n; ++i) {
           keys += text(" key", i, "=1.5");
         }
         write(path, repeated("1\n" + keys + "\nC 0 0 0\n", 2));
       },
       inspect_all},
      {"extended xyz.gz, frames", "a.xyz.gz", 1'000,
       [](const std::string& path, int64_t n) {
         const std::string all = frames(n);
         write(path, gzip(std::as_bytes(std::span(all)), path));
       },
       read_frames},
      {"QM9, tar", "a.tar", 500,
       [](const std::string& path, int64_t n) {
         const MappedFile one(WEYL_SOURCE_DIR "/tests/fixtures/molecules/qm9/dsgdb9nsd_000001.xyz");
         const auto bytes = one.bytes();
         write(path, tar(n, std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())));
       },
       read_frames},
      {"SDF, molecules", "a.sdf", 4'000,
       [](const std::string& path, int64_t n) { write(path, repeated(sdf(2), n)); }, read_frames},
      {"SDF, fields", "a.sdf", 8'000, [](const std::string& path, int64_t n) { write(path, sdf(n)); },
       read_frames},
      {"poses (TUM)", "a.txt", 5'000,
       [](const std::string& path, int64_t n) {
         std::string file;
         for (int64_t i = 0; i < n; ++i) {
           file += text(i, ".5 0.25 1.5 -2.5 0 0 0.6 0.8\n");
         }
         write(path, file);
       },
       [](const std::string& path) { read_poses(path); }},
      {"OFF mesh", "a.off", 10'000,
       [](const std::string& path, int64_t n) {
         std::string file = text("OFF\n", n, " ", n, " 0\n");
         for (int64_t i = 0; i < n; ++i) {
           file += text(i, " 0.25 ", -i, ".5\n");
         }
         write(path, file + repeated("3 0 1 2\n", n));
       },
       [](const std::string& path) { read_off(path); }},
      {"PLY text", "a.ply", 20'000,
       [](const std::string& path, int64_t n) {
         write(path, ply_header("ascii", n) + repeated("0.25 -1.5 3e2 0.125 7\n", n));
       },
       [](const std::string& path) { read_ply(path); }},
      {"PLY binary", "b.ply", 200'000,
       [](const std::string& path, int64_t n) {
         const Bytes row = random_bytes(17);  // small numbers of every type
         write(path, ply_header("binary_little_endian", n) +
                         repeated({reinterpret_cast<const char*>(row.data()), row.size()}, n));
       },
       [](const std::string& path) { read_ply(path); }},
      {"points text", "a.pts", 20'000,
       [](const std::string& path, int64_t n) { write(path, repeated("0.25 -1.5 3e2 0.125 7\n", n)); },
       [](const std::string& path) { read_point_text(path); }},
      {"amat digits", "a.amat", 500,
       [](const std::string& path, int64_t n) {
         write(path, amat_text(std::vector<float>(static_cast<size_t>(n * amat_pixels), 0.25F),
                               std::vector<int64_t>(static_cast<size_t>(n), 3)));
       },
       [](const std::string& path) { read_amat(path); }},
      {"IDX.gz digits", "a.idx.gz", 1 << 20,
       [](const std::string& path, int64_t n) {
         write(path, gzip(idx_bytes({ElementType::u8, {n}, random_bytes(n)}), path));
       },
       [](const std::string& path) { read_idx(path); }},
      {"CIFAR-10", "a.bin", 1'000,
       [](const std::string& path, int64_t n) {
         write(path, Bytes(static_cast<size_t>(n * (1 + cifar_pixels))));
       },
       [](const std::string& path) { read_cifar10(path); }},
      {"PNG", "a.png", 1,
       [](const std::string& path, int64_t n) { write_image(path, image(n == 1 ? 512 : 1024, 3)); },
       [](const std::string& path) { read_image(path); }},
      {"BMP", "a.bmp", 1,
       [](const std::string& path, int64_t n) { write_image(path, image(n == 1 ? 1024 : 2048, 3)); },
       [](const std::string& path) { read_image(path); }},
      {"NIfTI", "a.nii", 128,
       [](const std::string& path, int64_t n) {
         write_nifti(path, volume(n), random_bytes(128 * 128 * 2 * n));
       },
       [](const std::string& path) { values_of(read_nifti(path)); }},
      {"NIfTI.gz", "a.nii.gz", 16,
       [](const std::string& path, int64_t n) {
         write_nifti(path, volume(n), random_bytes(128 * 128 * 2 * n));
       },
       [](const std::string& path) { values_of(read_nifti(path)); }},
      {"Decathlon's dataset.json, cases", "dataset.json", 4'000,
       [](const std::string& path, int64_t n) {
         VolumeIndex index{"x", {"MRI"}, {"background", "tumour"}, {}, {}};
         for (int64_t i = 0; i < n; ++i) {
           index.training.push_back(
               {"", {text("imagesTr/a", i, ".nii.gz")}, text("labelsTr/a", i, ".nii.gz")});
         }
         write(path, decathlon_json(index));
       },
       [](const std::string& path) { read_volume_index(fs::path(path).parent_path().string()); }},
      {"Decathlon's dataset.json, classes", "dataset.json", 10'000,
       [](const std::string& path, int64_t n) {
         VolumeIndex index{"x", {"MRI"}, {}, {{"", {"a.nii"}, "b.nii"}}, {}};
         for (int64_t i = 0; i < n; ++i) {
           index.labels.push_back(text("class", i));
         }
         write(path, decathlon_json(index));
       },
       [](const std::string& path) { read_volume_index(fs::path(path).parent_path().string()); }},
      {"HDF5 point clouds", "a.h5", 500,
       [](const std::string& path, int64_t n) {
         write_point_clouds(path, {256, std::vector<float>(static_cast<size_t>(n * 256 * 3), 0.5F),
                                   std::vector<int64_t>(static_cast<size_t>(n), 1)});
       },
       [](const std::string& path) { read_point_clouds(path); }},
  };
  return all;
}

class ReaderCost : public ::testing::TestWithParam<Reader> {};

TEST_P(ReaderCost, MemoryGrowsNoFasterThanTheFile) {
  const Reader& reader = GetParam();
  const Folder small, large;
  const int64_t size = reader.size / share;
  reader.make(small / reader.file, size);
  reader.make(large / reader.file, 4 * size);
  const Cost one = cost_of(reader, small / reader.file), four = cost_of(reader, large / reader.file);
  const double ratio = (four.seconds + kNoise) / (one.seconds + kNoise) * 4 * static_cast<double>(one.file) /
                       static_cast<double>(four.file);
  static const bool heading = [] {
    std::printf("| reader | file, MB | s/MB | peak bytes per byte | time at four times the size |\n");
    std::printf("|---|---|---|---|---|\n");
    return true;
  }();
  (void)heading;
  std::printf("| %s | %.2f | %.4f | %.1f | %.1f |\n", reader.name.c_str(),
              static_cast<double>(four.file) / 1e6, four.seconds * 1e6 / static_cast<double>(four.file),
              static_cast<double>(four.memory) / static_cast<double>(four.file), ratio);
#ifndef WEYL_SANITIZED  // which keeps what is freed
  EXPECT_LT(four.memory, 64 * four.file + (1 << 25));
#endif
}

INSTANTIATE_TEST_SUITE_P(Readers, ReaderCost, ::testing::ValuesIn(readers()),
                         [](const auto& info) { return text("Reader", info.index); });

}  // namespace reader_cost_test
}  // namespace weyl
