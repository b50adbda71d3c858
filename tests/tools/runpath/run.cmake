# cmake -DSOURCE=<source tree> -DWORK=<scratch> -DREADELF= -DCOMPILER=<cc> -P run.cmake
# Configures, builds and installs a tiny project for several layouts of the prefix and values of WEYL_TORCH_RUNPATH,
# reads the RUNPATHs and runs what was installed.
function(run expected what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT code EQUAL expected)
    message(FATAL_ERROR "${what}: exit code ${code}, expected ${expected}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

# Configures build/ anew; the compiler is looked at once.
function(configure expected)
  run(${expected} "configure ${ARGN}" "${CMAKE_COMMAND}" -S "${SOURCE}/tests/tools/runpath" -B "${WORK}/build"
    "-DSOURCE=${SOURCE}" "-DWEYL_TORCH=${WORK}/torch" "-DCMAKE_C_COMPILER=${COMPILER}" ${ARGN})
  set(output "${output}" PARENT_SCOPE)
endfunction()

# `program` and `library` must have exactly these RUNPATHs.
function(runpaths bin program lib library)
  foreach(pair "${bin}/program|${program}" "${lib}/libweyl.so|${library}")
    string(REPLACE "|" ";" pair "${pair}")
    list(GET pair 0 file)
    list(GET pair 1 wanted)
    run(0 "readelf" "${READELF}" -W -d "${file}")
    string(FIND "${output}" "runpath: [${wanted}]" at)
    if(at EQUAL -1)
      message(FATAL_ERROR "RUNPATH of ${file}: must be ${wanted}\n${output}")
    endif()
  endforeach()
endfunction()

file(REMOVE_RECURSE "${WORK}")
set(prefix "${WORK}/prefix")

# Plain: the build tree runs, the installed library has forgotten where LibTorch was, and finds it in PREFIX/lib.
configure(0 -DCMAKE_INSTALL_LIBDIR=lib -DWEYL_TORCH_RUNPATH=)
run(0 "build" "${CMAKE_COMMAND}" --build "${WORK}/build")
runpaths("${WORK}/build/bin" "$ORIGIN/../lib" "${WORK}/build/lib" "$ORIGIN:${WORK}/torch/lib")
run(7 "the built program" "${WORK}/build/bin/program")
run(0 "install" "${CMAKE_COMMAND}" --install "${WORK}/build" --prefix "${prefix}")
runpaths("${prefix}/bin" "$ORIGIN/../lib" "${prefix}/lib" "$ORIGIN")
run(127 "without LibTorch" "${prefix}/bin/program")
file(CREATE_LINK "${WORK}/torch/lib/libtorch.so" "${prefix}/lib/libtorch.so" SYMBOLIC)
run(7 "with LibTorch beside it" "${prefix}/bin/program")
run(0 "install once more" "${CMAKE_COMMAND}" --install "${WORK}/build" --prefix "${prefix}")
runpaths("${prefix}/bin" "$ORIGIN/../lib" "${prefix}/lib" "$ORIGIN")

# Told, in a layout of a distribution: beside itself, then PREFIX/lib, then as told.
configure(0 -DCMAKE_INSTALL_LIBDIR=lib/x86_64-linux-gnu "-DWEYL_TORCH_RUNPATH=${WORK}/torch/lib:$ORIGIN/../torch/lib")
run(0 "build" "${CMAKE_COMMAND}" --build "${WORK}/build")
file(REMOVE_RECURSE "${prefix}")
run(0 "install" "${CMAKE_COMMAND}" --install "${WORK}/build" --prefix "${prefix}")
runpaths("${prefix}/bin" "$ORIGIN/../lib:$ORIGIN/../lib/x86_64-linux-gnu"
  "${prefix}/lib/x86_64-linux-gnu" "$ORIGIN:$ORIGIN/..:${WORK}/torch/lib:$ORIGIN/../torch/lib")
run(7 "as told" "${prefix}/bin/program")

# Libraries in a folder of their own, with DESTDIR as packagers install.
configure(0 "-DCMAKE_INSTALL_LIBDIR=${WORK}/elsewhere/lib" "-DCMAKE_INSTALL_PREFIX=/usr/local" "-DWEYL_TORCH_RUNPATH=$ORIGIN/torch")
run(0 "build" "${CMAKE_COMMAND}" --build "${WORK}/build")
run(0 "install" "${CMAKE_COMMAND}" -E env "DESTDIR=${WORK}/stage" "${CMAKE_COMMAND}" --install "${WORK}/build")
runpaths("${WORK}/stage/usr/local/bin" "$ORIGIN/../lib:${WORK}/elsewhere/lib"
  "${WORK}/stage${WORK}/elsewhere/lib" "$ORIGIN:/usr/local/lib:$ORIGIN/torch")

# What is no such folder is an error of one line.
foreach(wrong lib ./lib . ../torch/lib "$ORIGINAL/lib" "$LIB" "/opt/$LIB" "/opt/a::/opt/b" ":/opt/a" "/opt/a:")
  configure(1 "-DWEYL_TORCH_RUNPATH=${wrong}")
  string(REGEX REPLACE "\n *" " " output "${output}")  # CMake breaks lines
  string(REGEX MATCHALL "WEYL_TORCH_RUNPATH: must be folders, absolute or below [$]ORIGIN, has '[^']*' " lines "${output}")
  list(LENGTH lines count)
  if(NOT count EQUAL 1)
    message(FATAL_ERROR "WEYL_TORCH_RUNPATH=${wrong}: must be one line\n${output}")
  endif()
endforeach()
