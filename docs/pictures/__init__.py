"""The pictures of the documentation, each made by the library from the bundled places: ``python -m docs.pictures``."""
