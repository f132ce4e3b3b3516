"""The control plane's doors: command line, HTTP API, settings, access."""
