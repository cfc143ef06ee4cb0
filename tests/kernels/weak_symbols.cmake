# Fails if an object compiled for one CPU level defines a symbol that the linker could use elsewhere:
# a weak one, or any global one besides its entry point.
#   cmake -DNM=nm -DOBJECTS=a.o,b.o -P weak_symbols.cmake
string(REPLACE "," ";" objects "${OBJECTS}")
if(NOT objects)
  message(FATAL_ERROR "no objects to look at")
endif()

foreach(object IN LISTS objects)
  execute_process(COMMAND ${NM} -g --defined-only --format=posix ${object}
                  OUTPUT_VARIABLE listing COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[^\n]+" lines "${listing}")
  set(entry_points 0)
  foreach(line IN LISTS lines)
    if(line MATCHES "^[^ ]+ T " AND line MATCHES "_level")
      math(EXPR entry_points "${entry_points} + 1")
    else()
      message(SEND_ERROR "${object} defines ${line}")
    endif()
  endforeach()
  if(NOT entry_points EQUAL 1)
    message(SEND_ERROR "${object} has ${entry_points} entry points, not one")
  endif()
endforeach()
