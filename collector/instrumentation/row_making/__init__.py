"""From notes to rows of the tables, in the writer's thread; asks nothing of the scheduler."""
