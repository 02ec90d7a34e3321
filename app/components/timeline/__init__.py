"""The controls of the timeline: which window is visible, what is selected, and the figure in the browser."""
