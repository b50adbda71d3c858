# What the project links. Everything is found, nothing is downloaded.
find_package(Threads REQUIRED)
find_package(CLI11 REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(spdlog REQUIRED)
find_package(ZLIB REQUIRED)
find_package(LibArchive REQUIRED)
find_package(HDF5 REQUIRED COMPONENTS C HL)
find_package(PkgConfig REQUIRED)
pkg_check_modules(libzip REQUIRED IMPORTED_TARGET libzip)  # its CMake package fails even when QUIET
pkg_check_modules(freetype REQUIRED IMPORTED_TARGET freetype2)
pkg_check_modules(lbfgs REQUIRED IMPORTED_TARGET liblbfgs)  # fits of scaling laws
pkg_check_modules(jpeg REQUIRED IMPORTED_TARGET libjpeg)
find_path(WEYL_STB stb_image.h PATH_SUFFIXES stb REQUIRED)
find_path(WEYL_XXHASH xxhash.h REQUIRED)  # checksums; the header alone, nothing is linked

# Few need RDKit (molecules from SMILES).
set(WEYL_RDKIT AUTO CACHE STRING "molecules from SMILES by RDKit: AUTO (when it is there), ON or OFF")
set_property(CACHE WEYL_RDKIT PROPERTY STRINGS AUTO ON OFF)
if(WEYL_RDKIT STREQUAL "AUTO")
  find_package(RDKit QUIET)
elseif(WEYL_RDKIT STREQUAL "ON")
  find_package(RDKit REQUIRED)
elseif(NOT WEYL_RDKIT STREQUAL "OFF")
  message(FATAL_ERROR "WEYL_RDKIT must be AUTO, ON or OFF, is ${WEYL_RDKIT}")
endif()

# Rigid bodies. The package of the float64 build has the types of the other under the same names: its flags say which.
set(WEYL_BULLET AUTO CACHE STRING "rigid bodies by Bullet: AUTO (when it is there), ON or OFF")
set_property(CACHE WEYL_BULLET PROPERTY STRINGS AUTO ON OFF)
if(WEYL_BULLET STREQUAL "AUTO")
  pkg_check_modules(bullet QUIET IMPORTED_TARGET bullet-float64)
elseif(WEYL_BULLET STREQUAL "ON")
  pkg_check_modules(bullet REQUIRED IMPORTED_TARGET bullet-float64)
elseif(NOT WEYL_BULLET STREQUAL "OFF")
  message(FATAL_ERROR "WEYL_BULLET must be AUTO, ON or OFF, is ${WEYL_BULLET}")
endif()

if(NOT WEYL_BASE_ONLY)
  # LibTorch: WEYL_TORCH (environment or -D), else the wheel that scripts/setup installs in .venv.
  set(WEYL_TORCH "" CACHE PATH "LibTorch: a `torch` package folder or an unpacked LibTorch")
  if(NOT WEYL_TORCH)  # an empty value may be that of an earlier try, before there was one
    file(GLOB torch_found "${CMAKE_SOURCE_DIR}/.venv/lib/python3*/site-packages/torch")
    if(DEFINED ENV{WEYL_TORCH})
      set(torch_found "$ENV{WEYL_TORCH}")
      cmake_path(ABSOLUTE_PATH torch_found BASE_DIRECTORY "${CMAKE_SOURCE_DIR}")
    endif()
    set_property(CACHE WEYL_TORCH PROPERTY VALUE "${torch_found}")
  endif()
  include(WeylTorch)
  weyl_find_torch()
  if(WEYL_CUDA)
    # Kernels for CUDA are compiled by nvcc as it is, of a toolkit or of PyPI's wheels, and linked with the runtime library
    # that LibTorch brings.
    find_program(WEYL_NVCC nvcc HINTS /usr/local/cuda/bin REQUIRED)
    set(WEYL_CUDA_ARCHITECTURES "-gencode;arch=compute_80,code=sm_80;-gencode;arch=compute_90,code=[sm_90,compute_90]"
      CACHE STRING "what nvcc generates code for")
    find_library(WEYL_CUDART NAMES cudart libcudart.so.13 libcudart.so.12 HINTS ${WEYL_TORCH_COMPANIONS} /usr/local/cuda/lib64 REQUIRED)
  endif()
endif()
