"""From rows in memory to segments on the disk, behind the back of whoever appends them."""
