// Files of a size that is asked for, for the costs of readers (reader_cost_test.cpp).
#pragma once

#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/data/atoms/lmdb_files.h"
#include "weyl/core/check.h"
#include "weyl/core/safetensors.h"
#include "weyl/data/atoms/frame_reader.h"
#include "weyl/data/atoms/inspect_frames.h"
#include "weyl/data/atoms/molecule_npz.h"
#include "weyl/data/containers/archives.h"
#include "weyl/data/containers/npy.h"
#include "weyl/data/images/image.h"
#include "weyl/data/volumes/nifti.h"

namespace weyl {

namespace fs = std::filesystem;

using Bytes = std::vector<std::byte>;

inline void write(const std::string& path, std::string_view contents) {
  std::ofstream(path, std::ios::binary).write(contents.data(), static_cast<std::streamsize>(contents.size()));
}

inline void write(const std::string& path, const Bytes& bytes) {
  write(path, std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

inline std::string repeated(const std::string& part, int64_t times) {
  std::string all;
  all.reserve(part.size() * static_cast<size_t>(times));
  for (int64_t i = 0; i < times; ++i) {
    all += part;
  }
  return all;
}

inline Bytes random_bytes(int64_t count) {
  Bytes bytes(static_cast<size_t>(count));
  std::mt19937 random(7);
  for (auto& b : bytes) {
    b = static_cast<std::byte>(random() % 16);
  }
  return bytes;
}

inline std::string ply_header(const char* encoding, int64_t n) {
  return text("ply\nformat ", encoding, " 1.0\nelement vertex ", n,
              "\nproperty float x\nproperty float y\nproperty float z\nproperty float quality\n"
              "property uchar red\nend_header\n");
}

inline std::string atoms(int64_t n) {
  std::string rows;
  static std::mt19937 random(7);  // no two frames are alike, or they would be packed into nothing
  for (int64_t i = 0; i < n; ++i) {
    rows += text("C ", 3 * i, ".25 ", static_cast<double>(random()) * 1e-9, " 0.5 -1.25 0.125 2.5\n");
  }
  return text(n, "\nProperties=species:S:1:pos:R:3:forces:R:3 energy=-12.5 config_type=\"a b\"\n", rows);
}

inline std::string frames(int64_t count) {
  std::string all;
  for (int64_t i = 0; i < count; ++i) {
    all += atoms(12);
  }
  return all;
}

inline std::string sdf(int64_t fields) {
  std::string file =
      "name\n program\n\n  1  0  0  0  0  0  0  0  0  0999 V2000\n"
      "    0.0000    0.0000    0.5000 C   0  0\nM  END\n";
  for (int64_t i = 0; i < fields; ++i) {
    file += text("> <field", i, ">\n1.5\n\n");
  }
  return file + "$$$$\n";
}

/// A tar archive of files `name(i)`, all with the same contents.
inline std::string tar(int64_t files, const std::string& contents) {
  std::string all;
  for (int64_t i = 0; i < files; ++i) {
    std::string header(512, '\0');
    const std::string name = text("m", i, ".xyz");
    name.copy(header.data(), 99);
    std::snprintf(header.data() + 100, 8, "%07o", 0644);
    std::snprintf(header.data() + 124, 12, "%011o", static_cast<unsigned>(contents.size()));
    std::memset(header.data() + 148, ' ', 8);
    header[156] = '0';
    std::memcpy(header.data() + 257, "ustar\00000", 8);
    unsigned sum = 0;
    for (const char c : header) {
      sum += static_cast<unsigned char>(c);
    }
    std::snprintf(header.data() + 148, 8, "%06o", sum);
    all += header + contents + std::string((512 - contents.size() % 512) % 512, '\0');
  }
  return all + std::string(1024, '\0');
}

/// A checkpoint of PyTorch, of `count` tensors of one float.
inline Bytes checkpoint(int64_t count) {
  const auto string = [](const std::string& s) {
    std::string out = "X";
    const auto length = static_cast<uint32_t>(s.size());
    out.append(reinterpret_cast<const char*>(&length), sizeof length);
    return out + s;
  };
  std::string pickle = "\x80\x02}(";
  for (int64_t i = 0; i < count; ++i) {
    pickle += string(text("layer.", i));
    pickle += "ctorch._utils\n_rebuild_tensor_v2\n((";
    pickle += string("storage") + "ctorch\nFloatStorage\n" + string("0") + string("cpu") + "K\x01tQ";
    pickle += std::string("K\0K\x01\x85K\x01\x85\x89", 8) + "ccollections\nOrderedDict\n)RtR";
  }
  pickle += "u.";
  const Bytes one(4);
  const std::vector<ZipMember> members{{"m/data.pkl", std::as_bytes(std::span(pickle))}, {"m/data/0", one}};
  return zip_bytes(members, false);
}

inline void read_frames(const std::string& path) {
  const auto reader = open_frames(path);
  for (AtomsFrame frame; reader->next(frame);) {
  }
}

inline void inspect_all(const std::string& path) {
  const auto reader = open_frames(path);
  inspect_frames(*reader);
}

inline Array image(int64_t side, int64_t channels) {
  return {ElementType::u8, {side, side, channels}, random_bytes(side * side * channels)};
}

inline NiftiHeader volume(int64_t depth) {
  NiftiHeader header;
  header.type = ElementType::i16;
  header.shape = {128, 128, depth};
  return header;
}

inline void make_rmd17(const std::string& path, int64_t frames) {
  Rmd17Writer writer(path, {.energy = "", .forces = "", .length_unit = "", .energy_unit = ""});
  AtomsFrame frame;
  frame.numbers.assign(20, 6);
  for (int i = 0; i < 60; ++i) {
    frame.positions.push_back(i);
  }
  for (int64_t t = 0; t < frames; ++t) {
    writer.write(frame);
  }
  writer.commit();
}

inline void make_deepmd(const std::string& path, int64_t frames) {
  const fs::path folder = fs::path(path).parent_path();
  write((folder / "type.raw").string(), repeated("0 ", 20));
  write((folder / "type_map.raw").string(), "C\n");
  write((folder / "nopbc").string(), "");
  fs::create_directories(folder / "set.000");
  write_npy((folder / "set.000" / "coord.npy").string(),
            {ElementType::f64, {frames, 60}, Bytes(static_cast<size_t>(frames * 60 * 8))});
}

inline void make_ase_lmdb(const std::string& path, int64_t rows) {
  write(path, LmdbPages(ase_rows(rows), 4096).file());
}

}  // namespace weyl
