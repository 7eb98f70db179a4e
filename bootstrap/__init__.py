"""The loop, selection, runs on disk, configuration and the command line."""
