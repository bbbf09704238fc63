"""Every method with parameters for an audit: small forms that are published often, large ones that draw much."""

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
