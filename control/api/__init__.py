"""The HTTP API: routes over the collector's store and the SLO engine."""
