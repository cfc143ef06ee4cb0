# Third-party packages, all from Debian (tools/setup installs them). Each is named by one folder only.
find_package(Threads REQUIRED)
find_package(tl-expected REQUIRED)
find_package(simdjson REQUIRED)                         # src/json
find_package(CURL REQUIRED)                             # src/net

# A target for a library that ships neither a CMake config nor a usable .pc file.
function(braid_plain_library target header library)
  find_path(${library}_INCLUDE ${header} REQUIRED)
  find_library(${library}_LIBRARY ${library} REQUIRED)
  add_library(${target} UNKNOWN IMPORTED)
  set_target_properties(${target} PROPERTIES IMPORTED_LOCATION ${${library}_LIBRARY}
                        INTERFACE_INCLUDE_DIRECTORIES ${${library}_INCLUDE})
endfunction()
braid_plain_library(utf8proc::utf8proc utf8proc.h utf8proc)      # src/text, src/embed
braid_plain_library(stemmer::stemmer libstemmer.h stemmer)       # src/text
find_path(XXHASH_INCLUDE xxhash.h REQUIRED)                      # src/core, header only
add_library(xxhash::xxhash INTERFACE IMPORTED)
set_target_properties(xxhash::xxhash PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ${XXHASH_INCLUDE})
