# The program knows its commands and options; this asks it at the first Tab.
command tiro completion fish 2>/dev/null | source
