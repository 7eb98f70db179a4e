"""The parts of a report: figures and tables of one topic each."""
