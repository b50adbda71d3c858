#pragma once

#include <filesystem>
#include <string>

namespace weyl {

/// The folder of the library libweyl_base that this process runs, always absolute: what belongs to weyl and is opened
/// while it runs (libweyl_hdf5.so) stands there, and is opened by its whole path, never by
/// a name that the loader would search. ConfigError: the loader found the library by a relative path, as a relative
/// entry of LD_LIBRARY_PATH gives it, so that another current folder would mean another file.
std::filesystem::path library_folder();

/// Asked before a library is opened while the program runs. ConfigError: LD_LIBRARY_PATH has an empty or a relative
/// entry, so that the loader would look in the current folder for the library or for one that it needs. (The loader reads
/// that variable once, when the program starts: to change it here would change nothing.)
void require_absolute_library_path();

/// A library of weyl's own that is opened when it is first needed, for what it is linked to would be loaded at every start
/// of the program. It stands in library_folder(), is built from the same tree (the types of its functions need no stable
/// layout), and stays open until the process ends.
class OpenedModule {
 public:
  /// One that every build has. Its name is `file`. LD_LIBRARY_PATH may be as it likes: what the module is linked to is
  /// looked for as what the program is linked to was.
  explicit OpenedModule(const std::string& file);
  /// One that a build may be without: `file` is then empty, and `absence` the fault. The fault is also what
  /// require_absolute_library_path says.
  OpenedModule(const std::string& file, const std::string& absence);

  /// Sets a pointer to the module's function of this name; one that it lacks is a fault.
  template <class F>
  void find(F*& function, const char* name) {
    function = reinterpret_cast<F*>(address_of(name));
  }

  /// Why it cannot be used, as the end of a sentence: "which cannot be opened: ..."; empty where it can.
  const std::string& fault() const { return fault_; }

 private:
  void open(const std::string& file);
  void* address_of(const char* name);

  void* handle_ = nullptr;
  std::string fault_;
};

}  // namespace weyl
