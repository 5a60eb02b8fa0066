"""The delta stream: from frames of a screen to a program's lines, their authors and turns. Callers use `stream`."""
