#include "weyl/data/makers/smiles.h"

#include <dlfcn.h>

#include <mutex>

#include "weyl/core/check.h"
#include "weyl/core/library_folder.h"
#include "weyl/data/makers/rdkit_module.h"

namespace weyl {
namespace {

/// The module beside this library.
struct RdkitModule {
  std::string fault;  // why it cannot be used
  decltype(&weyl_rdkit_version) version = nullptr;
  decltype(&weyl_rdkit_read) read = nullptr;
  decltype(&weyl_rdkit_embed) embed = nullptr;

  RdkitModule();

 private:
  template <class F>
  void find(void* handle, F*& function, const char* name) {
    function = reinterpret_cast<F*>(dlsym(handle, name));
    if (function == nullptr) {
      fault = text("the module has no ", name);
    }
  }
};

RdkitModule::RdkitModule() {
  const std::string name = WEYL_RDKIT_MODULE;
  if (name.empty()) {
    fault = "which this build is without; run scripts/setup --with rdkit, then scripts/build";
    return;
  }
  void* handle = nullptr;
  try {
    require_absolute_library_path();
    handle = dlopen((library_folder() / name).c_str(), RTLD_NOW | RTLD_LOCAL);
  } catch (const ConfigError& error) {
    fault = text("which cannot be opened: ", error.what());
    return;
  }
  if (handle == nullptr) {
    fault = text("which cannot be opened: ", dlerror());
    return;
  }
  find(handle, version, "weyl_rdkit_version");
  find(handle, read, "weyl_rdkit_read");
  find(handle, embed, "weyl_rdkit_embed");
}

const RdkitModule& rdkit_module() {
  static const RdkitModule opened;
  return opened;
}

/// One call at a time: the module catches what RDKit writes to a log that all threads share.
std::unique_lock<std::mutex> use() {
  static std::mutex mutex;
  require<ConfigError>(rdkit_module().fault.empty(), "molecules: smiles needs RDKit, ", rdkit_module().fault);
  return std::unique_lock(mutex);
}

}  // namespace

std::string rdkit_version() {
  std::string version;
  if (rdkit_module().fault.empty()) {
    rdkit_module().version(version);
  }
  return version;
}

SmilesMolecule read_smiles(const std::string& smiles) {
  const auto lock = use();
  SmilesMolecule molecule;
  rdkit_module().read(smiles, molecule);
  return molecule;
}

std::vector<double> conformer_of_smiles(const std::string& smiles, uint64_t seed) {
  const auto lock = use();
  std::vector<double> positions;
  rdkit_module().embed(smiles, seed, positions);
  return positions;
}

}  // namespace weyl
