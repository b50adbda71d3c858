# What the project links. Everything is found, nothing is downloaded.
find_package(Threads REQUIRED)
find_package(CLI11 REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(spdlog REQUIRED)
find_package(ZLIB REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(libzip REQUIRED IMPORTED_TARGET libzip)  # its CMake package fails even when QUIET

if(NOT WEYL_BASE_ONLY)
  # LibTorch: WEYL_TORCH (environment or -D), else the wheel that scripts/setup installs in .venv.
  set(WEYL_TORCH "$ENV{WEYL_TORCH}" CACHE PATH "LibTorch: a `torch` package folder or an unpacked LibTorch")
  if(NOT WEYL_TORCH)
    file(GLOB torch_in_venv "${CMAKE_SOURCE_DIR}/.venv/lib/python3*/site-packages/torch")
    if(torch_in_venv)
      set(WEYL_TORCH "${torch_in_venv}" CACHE PATH "" FORCE)
    endif()
  endif()
  include(WeylTorch)
  weyl_find_torch()
endif()
