#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weyl/makers/molecules/smiles.h"

// What the module weyl_rdkit has for molecules/smiles.cpp, which finds the functions by their names. It is built
// when RDKit is there, and from the same tree: the types need no stable layout.
extern "C" {
void weyl_rdkit_version(std::string& version);
void weyl_rdkit_read(const std::string& smiles, weyl::SmilesMolecule& molecule);
void weyl_rdkit_embed(const std::string& smiles, uint64_t seed, std::vector<double>& positions);
void weyl_rdkit_conformers(const std::string& smiles, int64_t count, uint64_t seed, int64_t threads,
                           std::vector<weyl::AtomsFrame>& conformers);
void weyl_rdkit_canonical(const std::string& smiles, std::string& canonical);
}
