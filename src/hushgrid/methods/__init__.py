"""One published method a file, and the names they go by."""

from collections.abc import Mapping
from types import MappingProxyType

from hushgrid.methods.adaptive_grid import AdaptiveGrid
from hushgrid.methods.method import Method
from hushgrid.methods.uniform_grid import UniformGrid

METHODS: Mapping[str, type[Method]] = MappingProxyType({"ug": UniformGrid, "ag": AdaptiveGrid})
