"""The commands, one chapter each; what they share is a folder up."""
