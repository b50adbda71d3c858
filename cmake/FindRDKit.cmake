# RDKit as distributions install it, without a CMake package: RDKit_FOUND and the target RDKit::RDKit of the parts that
# weyl uses. Hints: RDKit_ROOT.
find_path(RDKit_INCLUDE_DIR GraphMol/ROMol.h PATH_SUFFIXES rdkit)
set(RDKit_LIBRARIES "")
set(rdkit_wanted RDKit_INCLUDE_DIR)
foreach(rdkit_part SmilesParse Depictor DistGeomHelpers ForceFieldHelpers ForceField GraphMol RDGeneral)
  find_library(RDKit_${rdkit_part}_LIBRARY RDKit${rdkit_part})
  mark_as_advanced(RDKit_${rdkit_part}_LIBRARY)
  list(APPEND RDKit_LIBRARIES "${RDKit_${rdkit_part}_LIBRARY}")
  list(APPEND rdkit_wanted RDKit_${rdkit_part}_LIBRARY)
endforeach()
mark_as_advanced(RDKit_INCLUDE_DIR)
find_package(Boost QUIET CONFIG)  # headers alone, which RDKit's include

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(RDKit REQUIRED_VARS ${rdkit_wanted} Boost_FOUND)
if(RDKit_FOUND AND NOT TARGET RDKit::RDKit)
  add_library(RDKit::RDKit INTERFACE IMPORTED)
  set_target_properties(RDKit::RDKit PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${RDKit_INCLUDE_DIR}" INTERFACE_LINK_LIBRARIES "${RDKit_LIBRARIES};Boost::headers")
endif()
