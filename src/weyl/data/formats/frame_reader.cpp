#include "weyl/data/formats/frame_reader.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <vector>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/data/formats/deepmd.h"
#include "weyl/data/formats/extended_xyz.h"
#include "weyl/data/formats/molecule_npz.h"
#include "weyl/data/formats/qm9.h"
#include "weyl/data/formats/sdf.h"
#include "weyl/data/formats/tar_archive.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

constexpr size_t kPeeked = 4096;  // bytes, in which the second line of an xyz file begins

bool ends_with(std::string_view path, std::initializer_list<std::string_view> ends) {
  if (path.ends_with(".gz")) {
    path.remove_suffix(3);
  }
  return std::ranges::any_of(ends, [&](std::string_view end) { return path.ends_with(end); });
}

bool is_sdf(std::string_view path) {
  return ends_with(path, {".sdf", ".sd", ".mol"});
}

bool is_text(std::string_view path) {
  return is_sdf(path) || ends_with(path, {".xyz", ".extxyz"});
}

/// As the notes that some systems lay beside every file.
bool is_hidden(const std::string& path) {
  return fs::path(path).filename().string().starts_with('.');
}

/// The reader of a text, whose name says what it is; `where` names it in messages.
std::unique_ptr<FrameReader> open_text(std::unique_ptr<ByteSource> source, std::string_view name,
                                       std::string_view where) {
  if (is_sdf(name)) {
    return std::make_unique<SdfReader>(std::move(source), where);
  }
  const auto begin = peek(source, kPeeked);
  if (is_qm9({reinterpret_cast<const char*>(begin.data()), begin.size()})) {
    return std::make_unique<Qm9Reader>(std::move(source), where);
  }
  return std::make_unique<ExtendedXyzReader>(std::move(source), where);
}

/// The frames of readers one after the other; the last one is kept for its words after the end.
class Chain : public FrameReader {
 public:
  bool next(AtomsFrame& frame) override {
    while (!reader_ || !reader_->next(frame)) {
      auto following = open_next();
      if (!following) {
        return false;
      }
      reader_ = std::move(following);
    }
    return true;
  }
  std::string where() const override { return reader_ ? reader_->where() : std::string(); }
  std::string_view unit_of(std::string_view name) const override {
    return reader_ ? reader_->unit_of(name) : std::string_view();
  }
  std::string_view stated_unit_of(std::string_view name) const override {
    return reader_ ? reader_->stated_unit_of(name) : std::string_view();
  }

 private:
  /// Null when there is none.
  virtual std::unique_ptr<FrameReader> open_next() = 0;

  std::unique_ptr<FrameReader> reader_;
};

class FolderReader : public Chain {
 public:
  explicit FolderReader(std::vector<std::string> paths) : paths_(std::move(paths)) {}

 private:
  std::unique_ptr<FrameReader> open_next() override {
    return next_ == paths_.size() ? nullptr : open_frames(paths_[next_++]);
  }

  std::vector<std::string> paths_;
  size_t next_ = 0;
};

class TarReader : public Chain {
 public:
  explicit TarReader(const std::string& path) : path_(path), archive_(path) {}

 private:
  std::unique_ptr<FrameReader> open_next() override {
    while (archive_.next()) {
      if (is_text(archive_.name()) && !archive_.name().ends_with(".gz") && !is_hidden(archive_.name())) {
        found_ = true;
        return open_text(archive_.bytes(), archive_.name(), text(path_, ": ", printable(archive_.name())));
      }
    }
    require<DataError>(found_, path_, ": must hold files .xyz, .extxyz, .sdf or .mol, holds none");
    return nullptr;
  }

  std::string path_;
  TarArchive archive_;
  bool found_ = false;
};

/// Those of a folder that hold frames, by name.
std::vector<std::string> paths_of_frames(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string path = entry.path().string();
    if (!is_hidden(path) && (entry.is_directory() ? is_deepmd(path) : is_text(path))) {
      paths.push_back(path);
    }
  }
  require<DataError>(!error, folder, ": cannot read the folder: ", error.message());
  std::ranges::sort(paths);
  return paths;
}

}  // namespace

bool holds_frames(const std::string& path) {
  if (fs::is_directory(path)) {
    return is_deepmd(path) || !paths_of_frames(path).empty();
  }
  return is_text(path) || is_tar(path) || (path.ends_with(".npz") && is_molecule_npz(path));
}

std::unique_ptr<FrameReader> open_frames(const std::string& path) {
  if (fs::is_directory(path)) {
    if (is_deepmd(path)) {
      return std::make_unique<DeepmdReader>(path);
    }
    auto paths = paths_of_frames(path);
    require<DataError>(!paths.empty(), path,
                       ": must hold files .xyz, .extxyz, .sdf or .mol, or folders of DeePMD, holds none");
    return std::make_unique<FolderReader>(std::move(paths));
  }
  if (is_tar(path)) {
    return std::make_unique<TarReader>(path);
  }
  if (path.ends_with(".npz")) {
    return std::make_unique<MoleculeNpzReader>(path);
  }
  require<DataError>(
      is_text(path), path,
      ": frames of atoms must be .xyz, .extxyz, .sdf, .mol (or .gz of them), .npz, .tar (.gz, .bz2, .xz, "
      ".zst) or a folder");
  return open_text(open_bytes(path), path, path);
}

}  // namespace weyl
