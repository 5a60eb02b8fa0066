"""From frames of a screen to what the program said: lines, who wrote them, and turns. `stream` is the door."""
