# Trains the potential of potential.toml with a program of weyl (-DWEYL=) in an empty folder (-DWORK=) and asks
# -DPROGRAM= for energies and forces: those of water must be finite and in eV.
file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}")
file(COPY "${CMAKE_CURRENT_LIST_DIR}/water.xyz" DESTINATION "${WORK}")

execute_process(COMMAND "${WEYL}" train "${CMAKE_CURRENT_LIST_DIR}/potential.toml" --out run --quiet
  WORKING_DIRECTORY "${WORK}" RESULT_VARIABLE code OUTPUT_QUIET)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "train: exit ${code}")
endif()
execute_process(COMMAND "${PROGRAM}" run WORKING_DIRECTORY "${WORK}" RESULT_VARIABLE code OUTPUT_VARIABLE said)
message(STATUS "${said}")
if(NOT code EQUAL 0 OR NOT said MATCHES "energy -13[0-9]\\.[0-9]+ eV" OR NOT said MATCHES "force +-?[0-9]+\\.[0-9]+ ")
  message(FATAL_ERROR "potential: exit ${code}")
endif()
