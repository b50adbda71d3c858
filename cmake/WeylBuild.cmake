# Compiler settings of the whole project, as one interface target.
add_library(weyl_flags INTERFACE)
target_compile_options(weyl_flags INTERFACE -Wall -Wextra -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 sees overlapping copies in `"literal" + std::string` where there are none (GCC bug 105651).
  target_compile_options(weyl_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC collects garbage less often: a tenth of the time for a tenth more memory.
  target_compile_options(weyl_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:--param=ggc-min-expand=1000;--param=ggc-min-heapsize=1000000>)
endif()
if(WEYL_WERROR)
  target_compile_options(weyl_flags INTERFACE -Werror)
endif()
if(WEYL_SANITIZE)
  list(JOIN WEYL_SANITIZE "," sanitizers)
  target_compile_options(weyl_flags INTERFACE
    -fsanitize=${sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
  target_compile_definitions(weyl_flags INTERFACE WEYL_SANITIZED)  # GCC and clang tell it in different ways
  target_link_options(weyl_flags INTERFACE -fsanitize=${sanitizers})
endif()

# Hardening. What it costs stands in docs/reliability.md. Sanitizers replace the checked string functions by their own.
include(CheckPIESupported)
check_pie_supported(LANGUAGES CXX)
target_compile_options(weyl_flags INTERFACE -fstack-protector-strong)
if(NOT WEYL_SANITIZE)
  # Some compilers define it already, with another value. Without optimisation it only warns: of a debug build, and of
  # targets with the property WEYL_UNOPTIMISED.
  set(weyl_optimised $<NOT:$<OR:$<CONFIG:Debug>,$<BOOL:$<TARGET_PROPERTY:WEYL_UNOPTIMISED>>>>)
  target_compile_options(weyl_flags INTERFACE $<${weyl_optimised}:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2>)
endif()
target_link_options(weyl_flags INTERFACE -Wl,-z,relro,-z,now,-z,noexecstack)

# ccache, when present. With precompiled headers it hits only with these settings.
find_program(WEYL_CCACHE ccache)
if(WEYL_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env
    "CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime"
    "CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}" "${WEYL_CCACHE}")
  set(CMAKE_C_COMPILER_LAUNCHER "${WEYL_CCACHE}")
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(weyl_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
  endif()
endif()

# mold, when it is new enough. Up to 2.42 it puts zero-length frames (GCC makes them of empty cold parts) into the
# table that the unwinder searches, and then a thrown Error ends the process where it should be caught (mold #1648).
find_program(WEYL_MOLD mold)
if(WEYL_MOLD)
  execute_process(COMMAND "${WEYL_MOLD}" --version OUTPUT_VARIABLE mold_version ERROR_QUIET)
  if(mold_version MATCHES "mold ([0-9.]+)" AND CMAKE_MATCH_1 VERSION_GREATER 2.42.99)
    add_link_options(-fuse-ld=mold)
  endif()
endif()

# As many jobs at a time as there are cores, and as memory takes: a torch translation unit needs 0.5 to 1 GB.
cmake_host_system_information(RESULT weyl_cores QUERY NUMBER_OF_LOGICAL_CORES)
cmake_host_system_information(RESULT weyl_mebibytes QUERY TOTAL_PHYSICAL_MEMORY)
math(EXPR weyl_jobs "${weyl_mebibytes} / 2048")
if(weyl_jobs GREATER weyl_cores)
  set(weyl_jobs "${weyl_cores}")
elseif(weyl_jobs LESS 1)
  set(weyl_jobs 1)
endif()
set(WEYL_JOBS "${weyl_jobs}" CACHE STRING "compile and link jobs at a time")
set_property(GLOBAL PROPERTY JOB_POOLS compile=${WEYL_JOBS} link=${WEYL_JOBS})
set(CMAKE_JOB_POOL_COMPILE compile)
set(CMAKE_JOB_POOL_LINK link)
