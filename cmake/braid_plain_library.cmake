# A target for a library that ships neither a CMake config nor a usable .pc file. Installed beside
# braidConfig.cmake, which needs the same targets.
function(braid_plain_library target header library)
  if(TARGET ${target})
    return()
  endif()
  find_path(${library}_INCLUDE ${header} REQUIRED)
  find_library(${library}_LIBRARY ${library} REQUIRED)
  mark_as_advanced(${library}_INCLUDE ${library}_LIBRARY)
  add_library(${target} UNKNOWN IMPORTED)
  set_target_properties(${target} PROPERTIES IMPORTED_LOCATION ${${library}_LIBRARY}
                        INTERFACE_INCLUDE_DIRECTORIES ${${library}_INCLUDE})
endfunction()
