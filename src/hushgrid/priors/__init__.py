"""Public knowledge of where points may lie, and how it sharpens a release."""
