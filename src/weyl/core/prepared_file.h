#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "weyl/core/safetensors.h"

namespace weyl {

/// What was made of other files at some cost and is kept for whoever needs it next: prepared volumes, what is known of a
/// stream. It is a safetensors file with a key, a text of all that it depends on; a file with another key is not taken
/// for it. Nothing is lost with it: it may be deleted at any time.
class PreparedFile {
 public:
  PreparedFile() = default;  // keeps nothing
  /// At a path of the caller's. An empty path keeps nothing.
  PreparedFile(const std::string& path, std::string key);
  /// Beside `of`, a file or folder, in `.weyl/NAME.safetensors` of the folder that holds it; where that cannot be
  /// written, in weyl/ of the user's cache folder ($XDG_CACHE_HOME, else ~/.cache). NAME is the name of `of` with a
  /// checksum of where it is and of `kind`, so that a file of an older key is replaced. A file that belongs neither to
  /// this user nor to root nor to the owner of `of` is not believed, and no link is followed.
  static PreparedFile beside(const std::string& of, const std::string& kind, std::string key);

  bool keeps() const { return !places_.empty(); }
  const std::string& key() const { return key_; }

  /// The file, open; null: there is none, or none that is whole at its header and has the key. Then `fault`, if it is
  /// given, says of a file that is there what is wrong with it. Tensors are compared with their checksums as they are read
  /// (SafetensorsFile).
  std::unique_ptr<const SafetensorsFile> open(std::string* fault = nullptr) const;

  /// Has `write` write the file at a path, with these metadata; it is to be written whole or not at all, a link in its
  /// place replaced. The folder is made. False: nothing could be kept.
  using Metadata = std::map<std::string, std::string>;
  using Write = std::function<void(const std::string& path, const Metadata& metadata)>;
  bool save(const Write& write) const;
  bool save(std::span<const TensorBytes> tensors, Metadata metadata) const;

  /// While this object lives, whoever else asks for what is prepared of the same waits: the first makes it, and the others
  /// find it. Where the file system knows no locks, all make it. Whoever has
  /// a turn must not take another of the same meanwhile, which would wait for itself.
  class Turn {
   public:
    explicit Turn(const PreparedFile& file);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    int descriptor_ = -1;
  };

 private:
  struct Place {
    std::string path, lock;
    bool ours = false;  // the folder is of our making
  };
  std::vector<Place> places_;  // the first that can be written is taken
  std::string key_;
  std::vector<uint64_t> owners_;  // who may have written it; empty: anyone
};

/// What tells whether a file or folder is as it was: where it is, its size and when it was written.
std::string state_of(const std::string& path);

/// The same of files, with a checksum of 4 KiB at up to 64 places evenly spread over each, the first and the last bytes
/// among them; of many files fewer places, 3 at least. Names are those below `folder`.
std::string state_of_contents(const std::string& folder, std::span<const std::string> files);

}  // namespace weyl
