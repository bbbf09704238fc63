"""Methods with parameters for an audit.

Small ones are published thousands of times, large ones draw much noise.
"""

from collections.abc import Mapping
from types import MappingProxyType

from hushgrid.methods import METHODS
from hushgrid.methods.method import Method

SMALL: Mapping[str, Method] = MappingProxyType(
    {name: method(**method.examples.small) for name, method in METHODS.items()}
)
LARGE: Mapping[str, Method] = MappingProxyType(
    {name: method(**method.examples.large) for name, method in METHODS.items()}
)
