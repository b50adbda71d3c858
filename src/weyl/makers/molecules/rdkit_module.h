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
}
