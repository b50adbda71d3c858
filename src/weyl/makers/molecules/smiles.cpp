#include "weyl/makers/molecules/smiles.h"

#include <mutex>

#include "weyl/core/check.h"
#include "weyl/core/module.h"
#include "weyl/makers/molecules/rdkit_module.h"

namespace weyl {
namespace {

struct RdkitModule : OpenedModule {
  decltype(&weyl_rdkit_version) version = nullptr;
  decltype(&weyl_rdkit_read) read = nullptr;
  decltype(&weyl_rdkit_embed) embed = nullptr;
  decltype(&weyl_rdkit_conformers) conformers = nullptr;
  decltype(&weyl_rdkit_canonical) canonical = nullptr;

  RdkitModule()
      : OpenedModule(WEYL_RDKIT_MODULE,
                     "which this build is without; run scripts/setup --with rdkit, then scripts/build") {
    find(version, "weyl_rdkit_version");
    find(read, "weyl_rdkit_read");
    find(embed, "weyl_rdkit_embed");
    find(conformers, "weyl_rdkit_conformers");
    find(canonical, "weyl_rdkit_canonical");
  }
};

const RdkitModule& rdkit_module() {
  static const RdkitModule opened;
  return opened;
}

/// One call at a time: the module catches what RDKit writes to a log that all threads share.
std::unique_lock<std::mutex> use() {
  static std::mutex mutex;
  require<ConfigError>(rdkit_module().fault().empty(), "molecules: smiles needs RDKit, ",
                       rdkit_module().fault());
  return std::unique_lock(mutex);
}

}  // namespace

std::string rdkit_version() {
  std::string version;
  if (rdkit_module().fault().empty()) {
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

std::vector<AtomsFrame> conformers_of_smiles(const std::string& smiles, int64_t count, uint64_t seed,
                                             int64_t threads) {
  const auto lock = use();
  std::vector<AtomsFrame> conformers;
  rdkit_module().conformers(smiles, count, seed, threads, conformers);
  return conformers;
}

std::string canonical_smiles(const std::string& smiles) {
  const auto lock = use();
  std::string canonical;
  rdkit_module().canonical(smiles, canonical);
  return canonical;
}

}  // namespace weyl
