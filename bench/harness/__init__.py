"""Runs comparisons: contestants in processes of their own, rounds interleaved, one report."""
