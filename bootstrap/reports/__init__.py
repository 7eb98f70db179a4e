"""The report of runs: figures and tables of their records, and the page that shows them."""
