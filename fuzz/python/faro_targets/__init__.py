"""The fuzz targets of ../TARGETS.md for the Python library; plain Python, with or without Atheris."""
