# FlatBuffers builds its tests too unless told otherwise: they take most of the time and serve nobody here.
set(FLATBUFFERS_BUILD_TESTS OFF CACHE BOOL "")
