#include "weyl/core/mapped_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <system_error>

#include "weyl/core/available_memory.h"
#include "weyl/core/check.h"
#include "weyl/core/input_file.h"
#include "weyl/core/quote.h"

namespace weyl {

/// Places are never given back to the system, only to the next file, so that a handler of signals, which may
/// interrupt anything, can walk them. `begin` is set last and cleared first.
struct MappedFile::Place {
  std::atomic<bool> taken{true};
  std::atomic<const std::byte*> begin{nullptr}, end{nullptr};
  std::atomic<const char*> line{nullptr};
  Place* next = nullptr;

  static std::atomic<Place*> first;
  static_assert(decltype(first)::is_always_lock_free && decltype(line)::is_always_lock_free);

  static Place& take() {
    for (Place* place = first; place != nullptr; place = place->next) {
      bool taken = false;
      if (place->taken.compare_exchange_strong(taken, true)) {
        return *place;
      }
    }
    auto* place = new Place;
    place->next = first;
    while (!first.compare_exchange_weak(place->next, place)) {
    }
    return *place;
  }
};

std::atomic<MappedFile::Place*> MappedFile::Place::first{nullptr};

MappedFile::MappedFile(const std::string& path) {
  const InputFile file(path);
  if (file.size() == 0) {
    return;  // nothing can be mapped
  }
  line_ = visible(path) + ": must stay as it is while it is read, but was shortened, or its disk failed";
  place_ = &Place::take();
  const auto size = static_cast<size_t>(file.size());
  void* begin = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
  if (begin == MAP_FAILED) {
    const int error = errno;
    place_->taken = false;
    const std::string said = text(path, ": cannot map: ", std::generic_category().message(error));
    require<MemoryError>(error != ENOMEM && error != EAGAIN, said);
    throw DataError(said);
  }
  bytes_ = {static_cast<const std::byte*>(begin), size};
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  place_->line = line_.c_str();
  place_->end = bytes_.data() + (size + page - 1) / page * page;  // reads of words end behind the last byte
  place_->begin = bytes_.data();
}

MappedFile::~MappedFile() {
  if (place_ != nullptr) {
    place_->begin = nullptr;
    ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
    place_->taken = false;
  }
}

const char* lost_file(const void* address) {
  for (const auto* place = MappedFile::Place::first.load(); place != nullptr; place = place->next) {
    const std::byte* begin = place->begin;
    const bool inside = begin != nullptr && begin <= address && address < place->end.load();
    const char* line = place->line;
    if (inside && place->begin == begin) {  // else the place was given to another file meanwhile
      return line;
    }
  }
  return nullptr;
}

}  // namespace weyl
