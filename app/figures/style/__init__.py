"""What all figures share: colours, axes, units, reactions to the mouse, and the table behind a figure."""
