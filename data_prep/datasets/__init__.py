"""One data set each: a file for a small one, a folder for a large one."""
