"""Results on disk: files of a variant, directories of a run, how they are found and written."""
