"""The command line of streamrelay: parse, call the library, print."""
