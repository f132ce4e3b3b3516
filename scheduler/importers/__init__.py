"""Other schedulers' files to job files: one pure importer for each kind of source. No file and no clock is read."""
