"""Programs that keep a transcript on a screen which they paint themselves: what they answered, read off it."""
