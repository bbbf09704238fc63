"""The report: statements judged by rows, and one page that shows them beside every figure and table."""
