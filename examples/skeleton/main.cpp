// A whole tiny system outside the library: options that a config sets, a layer, a model, and the program `weyl` with
// this system among its own. Every verb knows it:
//
//   skeleton data make nbody --out skeleton-data train=300 valid=100 test=100
//   skeleton train skeleton.toml --out run
//   skeleton audit run
//   skeleton predict run skeleton-data/test.safetensors --out predicted.safetensors
//
// To make it a system of `weyl` itself, do what docs/map.md says under "To add".
#include <weyl/program.h>

#include "model.h"

int main(int argc, char** argv) {
  weyl::Systems systems = weyl::built_in_systems();
  systems.push_back(weyl::system_of<skeleton::Skeleton>());
  return weyl::run_program(argc, argv, systems);
}
