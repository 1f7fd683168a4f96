"""Examining on many machines, through a cluster of dask.distributed."""
