"""The only code that makes noise: sources of bits, exact samplers, the budget."""
