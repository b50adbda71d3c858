#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weyl/makers/makers.h"

namespace weyl {

// What the library weyl_makers has for makers.cpp, which belongs to weyl_base and finds the functions by their names.
extern "C" {
void weyl_makers_describe(const std::string& maker, std::string& described);
void weyl_makers_plan(const std::string& maker, const std::vector<std::string>& overrides, int64_t threads,
                      MakerPlan& plan);
void weyl_makers_libraries(MakersLibraries& libraries);
}

}  // namespace weyl
