#include "weyl/makers/molecules/small_molecules.h"

#include <map>
#include <string_view>

#include "weyl/makers/molecules/smiles.h"

namespace weyl {
namespace {

// A core in SMILES, with %a and %b where its two substituents are.
constexpr std::string_view cores[] = {
    "C%a%b",        "C%aC%b",       "C%aCC%b",      "C%a=C%b",     "C%a#C%b",     "C%a(=O)C%b",
    "C%aC(=O)C%b",  "C%aC(=O)NC%b", "C%aC(=O)OC%b", "C%aOC%b",     "C%aNC%b",     "C%aSC%b",
    "C%a=NC%b",     "C%a=CC=C%b",   "C1%aCC1%b",    "C1%aCC%bC1",  "C1%aOC1%b",   "c1%accc%bcc1",
    "c1%acc%bccc1", "c1%accc%bnc1", "c1%acnc%bnc1", "c1%accc%bo1", "c1%accc%bs1", "c1%accc%b[nH]1"};
// Behind the atom of the core that they hang on; the first is hydrogen.
constexpr std::string_view substituents[] = {"",  "C",     "CC", "C=C", "C#C", "O",   "OC",
                                             "N", "N(C)C", "F",  "Cl",  "C#N", "C=O", "C(N)=O"};

std::string with(std::string_view core, std::string_view a, std::string_view b) {
  std::string smiles(core);
  for (const auto& [mark, substituent] : {std::pair{"%a", a}, {"%b", b}}) {
    smiles.replace(smiles.find(mark), 2, substituent.empty() ? "" : "(" + std::string(substituent) + ")");
  }
  return smiles;
}

}  // namespace

std::vector<std::string> small_molecules() {
  std::map<std::string, std::string> found;
  for (const std::string_view core : cores) {
    for (const std::string_view a : substituents) {
      for (const std::string_view b : substituents) {
        std::string smiles = with(core, a, b);
        found.try_emplace(canonical_smiles(smiles), smiles);
      }
    }
  }
  std::vector<std::string> all;
  for (auto& [canonical, smiles] : found) {
    all.push_back(std::move(smiles));
  }
  return all;
}

}  // namespace weyl
