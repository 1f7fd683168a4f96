"""The mathematics of the lesson, held once."""
