"""Training that several data sets share."""
