#include "weyl/core/elements.h"

#include <array>
#include <cctype>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"

namespace weyl {
namespace {

struct ChemicalElement {
  std::string_view symbol;
  double mass;  // amu
};

constexpr std::array<ChemicalElement, most_elements + 1> elements{
    {{"X", 0},          {"H", 1.008},        {"He", 4.002602},  {"Li", 6.94},
     {"Be", 9.0121831}, {"B", 10.81},        {"C", 12.011},     {"N", 14.007},
     {"O", 15.999},     {"F", 18.998403162}, {"Ne", 20.1797},   {"Na", 22.98976928},
     {"Mg", 24.305},    {"Al", 26.9815384},  {"Si", 28.085},    {"P", 30.973761998},
     {"S", 32.06},      {"Cl", 35.45},       {"Ar", 39.95},     {"K", 39.0983},
     {"Ca", 40.078},    {"Sc", 44.955907},   {"Ti", 47.867},    {"V", 50.9415},
     {"Cr", 51.9961},   {"Mn", 54.938043},   {"Fe", 55.845},    {"Co", 58.933194},
     {"Ni", 58.6934},   {"Cu", 63.546},      {"Zn", 65.38},     {"Ga", 69.723},
     {"Ge", 72.63},     {"As", 74.921595},   {"Se", 78.971},    {"Br", 79.904},
     {"Kr", 83.798},    {"Rb", 85.4678},     {"Sr", 87.62},     {"Y", 88.905838},
     {"Zr", 91.224},    {"Nb", 92.90637},    {"Mo", 95.95},     {"Tc", 97.90721},
     {"Ru", 101.07},    {"Rh", 102.90549},   {"Pd", 106.42},    {"Ag", 107.8682},
     {"Cd", 112.414},   {"In", 114.818},     {"Sn", 118.71},    {"Sb", 121.76},
     {"Te", 127.6},     {"I", 126.90447},    {"Xe", 131.293},   {"Cs", 132.90545196},
     {"Ba", 137.327},   {"La", 138.90547},   {"Ce", 140.116},   {"Pr", 140.90766},
     {"Nd", 144.242},   {"Pm", 144.91276},   {"Sm", 150.36},    {"Eu", 151.964},
     {"Gd", 157.25},    {"Tb", 158.925354},  {"Dy", 162.5},     {"Ho", 164.930329},
     {"Er", 167.259},   {"Tm", 168.934219},  {"Yb", 173.045},   {"Lu", 174.9668},
     {"Hf", 178.486},   {"Ta", 180.94788},   {"W", 183.84},     {"Re", 186.207},
     {"Os", 190.23},    {"Ir", 192.217},     {"Pt", 195.084},   {"Au", 196.96657},
     {"Hg", 200.592},   {"Tl", 204.38},      {"Pb", 207.2},     {"Bi", 208.9804},
     {"Po", 208.98243}, {"At", 209.98715},   {"Rn", 222.01758}, {"Fr", 223.01974},
     {"Ra", 226.02541}, {"Ac", 227.02775},   {"Th", 232.0377},  {"Pa", 231.03588},
     {"U", 238.02891},  {"Np", 237.04817},   {"Pu", 244.06421}, {"Am", 243.06138},
     {"Cm", 247.07035}, {"Bk", 247.07031},   {"Cf", 251.07959}, {"Es", 252.083},
     {"Fm", 257.09511}, {"Md", 258.09843},   {"No", 259.101},   {"Lr", 262.11},
     {"Rf", 267.122},   {"Db", 268.126},     {"Sg", 271.134},   {"Bh", 270.133},
     {"Hs", 269.1338},  {"Mt", 278.156},     {"Ds", 281.165},   {"Rg", 281.166},
     {"Cn", 285.177},   {"Nh", 286.182},     {"Fl", 289.19},    {"Mc", 289.194},
     {"Lv", 293.204},   {"Ts", 293.208},     {"Og", 294.214}}};

/// One or two letters as a number; symbols have no more.
constexpr size_t key(char first, char second) {
  return static_cast<size_t>(first - 'A') * 27 + (second == 0 ? 0 : static_cast<size_t>(second - 'a') + 1);
}

constexpr auto numbers_by_key = [] {
  std::array<int8_t, 26 * 27> table{};
  table.fill(-1);
  for (size_t z = 0; z < elements.size(); ++z) {
    const auto symbol = elements[z].symbol;
    table[key(symbol[0], symbol.size() == 2 ? symbol[1] : '\0')] = static_cast<int8_t>(z);
  }
  return table;
}();

const ChemicalElement& element(int z) {
  require(z >= 0 && z <= most_elements, "elements: the atomic number must be 0 .. ", most_elements, ", got ",
          z);
  return elements[z];
}

}  // namespace

int atomic_number(std::string_view symbol) {
  if (symbol.empty() || symbol.size() > 2 || symbol[0] < 'A' || symbol[0] > 'Z' ||
      (symbol.size() == 2 && (symbol[1] < 'a' || symbol[1] > 'z'))) {
    return -1;
  }
  return numbers_by_key[key(symbol[0], symbol.size() == 2 ? symbol[1] : '\0')];
}

int64_t hydrogen_isotope(std::string_view symbol) {
  return symbol == "D" ? 2 : symbol == "T" ? 3 : 0;
}

std::string unknown_element(std::string_view symbol) {
  std::string folded(symbol.substr(0, 3));
  for (size_t i = 0; i < folded.size(); ++i) {
    const auto c = static_cast<unsigned char>(folded[i]);
    folded[i] = static_cast<char>(i == 0 ? std::toupper(c) : std::tolower(c));
  }
  return text("unknown element ", quote(symbol, 40),
              atomic_number(folded) > 0      ? text(" (did you mean ", quote(folded), "?)")
              : hydrogen_isotope(symbol) > 0 ? " (an isotope of hydrogen, H)"
                                             : "");
}

std::string_view element_symbol(int z) {
  return element(z).symbol;
}

double standard_mass(int z) {
  return element(z).mass;
}

double isotope_mass(int z, int64_t mass_number) {
  constexpr std::array hydrogen{1.00782503190, 2.01410177784, 3.01604928132};
  if (mass_number == 0) {
    return standard_mass(z);
  }
  return z == 1 && mass_number <= std::ssize(hydrogen) ? hydrogen[static_cast<size_t>(mass_number - 1)]
                                                       : static_cast<double>(mass_number);
}

}  // namespace weyl
