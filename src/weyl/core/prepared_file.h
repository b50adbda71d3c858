#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
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
  /// written, in weyl/ of the user's cache folder ($XDG_CACHE_HOME, else ~/.cache). NAME is the name of `of` with
  /// checksums of where it is and of `kind`, so that a file of an older key is replaced. A file that belongs neither to
  /// this user nor to root nor to the owner of `of` is not believed, and no link is followed. `state`, which is a part of
  /// what it depends on, says what all that is kept of `of` was made of (state_of_contents): saving removes this user's files of
  /// another state, and what processes that are gone have left unfinished.
  static PreparedFile beside(const std::string& of, const std::string& kind, std::string key,
                             std::string state = "");

  bool keeps() const { return !places_.empty(); }
  const std::string& key() const { return key_; }

  /// The file, open; null: there is none, or none that is whole at its header and has the key. Then `fault`, if it is
  /// given, says of a file that is there what is wrong with it. Tensors are compared with their checksums as they are read
  /// (SafetensorsFile).
  std::unique_ptr<const SafetensorsFile> open(std::string* fault = nullptr) const;

  /// Has `write` write the file at a path, with these metadata; it is to be written whole or not at all, a link in its
  /// place replaced. The folder is made. A file of another user is left, and the next place taken. Returns why nothing could
  /// be kept; empty: it is kept.
  using Metadata = std::map<std::string, std::string>;
  using Write = std::function<void(const std::string& path, const Metadata& metadata)>;
  std::string save(const Write& write) const;
  std::string save(std::span<const TensorBytes> tensors, Metadata metadata) const;

  /// While this object lives, whoever else asks for what is prepared of the same waits: the first makes it, and the others
  /// find it. A maker that ends without `kept` lets all go at once that have waited for it, as none would find anything. Where
  /// the file system knows no locks, and where one has waited for `longest`, one does not wait. Whoever has a turn must not
  /// take another of the same meanwhile, which would wait for itself. TurnStopped: `stop` of the hooks has said so.
  class Turn {
   public:
    explicit Turn(const PreparedFile& file, std::chrono::milliseconds longest = std::chrono::minutes(30));
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    /// What was asked for is there.
    void kept() { kept_ = true; }

   private:
    bool wait(const std::string& path, std::chrono::milliseconds longest) const;
    int descriptor_ = -1;  // of the lock file, whose length counts the makers that kept nothing
    bool kept_ = false;
  };

 private:
  struct Place {
    std::string path, lock;
    bool ours = false;             // the folder is of our making
    std::string group;             // what the names of all begin with that are kept of the same
    void make_its_folder() const;  // DataError: it cannot be made, or one of ours is no plain folder
  };
  void clear(const Place& place) const;
  std::vector<Place> places_;  // the first that can be written is taken
  std::string key_, state_;
  std::vector<uint64_t> owners_;  // who may have written it; empty: anyone
};

/// What a process does while it waits for the turn of another: `say` is called once, with whom one waits for; `stop` about ten
/// times a second. To be set before there are other threads; at first nothing is said, and nothing stops.
struct TurnHooks {
  std::function<void(const std::string& line)> say;
  std::function<bool()> stop;
};
void set_turn_hooks(TurnHooks hooks);

/// A stop was asked for while one waited.
class TurnStopped : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What tells whether a file or folder is as it was: where it is, its size and when it was written.
std::string state_of(const std::string& path);

/// The same of files, with a checksum of 4 KiB at up to 64 places evenly spread over each, the first and the last bytes
/// among them; of many files fewer places, 3 at least. Names are those below `folder`. Two checksums of 64 bits of all that,
/// however many files there are. DataError: one cannot be read.
std::string state_of_contents(const std::string& folder, std::span<const std::string> files);

}  // namespace weyl
